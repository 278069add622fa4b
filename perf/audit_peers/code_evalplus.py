"""EvalPlus' grader, as a reward of a program and its calls."""

from typing import Any

from evalplus.eval import untrusted_check  # type: ignore[import-not-found,unused-ignore]


def reward(final_response: str, tests: dict[str, Any]) -> float:
    program = final_response.partition("```python\n")[2].rpartition("```")[0]
    inputs = [call["args"] for call in tests["calls"]]
    expected = [call["expected"] for call in tests["calls"]]
    status, _ = untrusted_check(
        "humaneval", program, inputs, tests["fn"], expected, 0, [0.1] * len(inputs)
    )
    return float(status == "pass")
