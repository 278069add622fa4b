"""An agent of your own: a plain function from the question to the answer.

    assay run my_questions.jsonl --agent my_agent.py:answer --reward math_equal_reward

It does sums, and nothing else. Yours would ask a model, search, or run a program.
"""

import re


def answer(question: str, *, halves: bool = False) -> str:
    """The value of the sum in the question; with `--set halves=true` also half of a number."""
    term = re.search(r"(\d+) ([-+*]) (\d+)", question)
    if term:
        a, b = int(term[1]), int(term[3])
        return str({"+": a + b, "-": a - b, "*": a * b}[term[2]])
    half = re.search(r"half of (\d+)", question)
    return str(int(half[1]) / 2) if half and halves else "unknown"
