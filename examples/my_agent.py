"""An agent of your own: a plain function from the question to the answer.

    assay run my_questions.jsonl --agent my_agent.py:answer --reward math_equal_reward

It does sums, and nothing else. Yours would ask a model, search, or run a program.
"""

import re


def answer(question: str, *, verbose: bool = False) -> str:
    """The value of the first sum in the question; `--set verbose=true` says how it came about."""
    sum_ = re.search(r"(\d+) ([-+*]) (\d+)", question)
    if sum_ is None:
        return "unknown"
    a, b = int(sum_[1]), int(sum_[3])
    value = {"+": a + b, "-": a - b, "*": a * b}[sum_[2]]
    return f"{a} {sum_[2]} {b} is {value}" if verbose else str(value)
