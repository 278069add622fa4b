"""Graders of programs and of folders, as the field has them, and one of each that is sound."""

import subprocess
import sys
from pathlib import Path
from typing import Any


def shares_interpreter(final_response: str, tests: dict[str, Any]) -> float:
    """Runs the program, and compares its results, in one interpreter."""
    program = final_response.partition("```python\n")[2].partition("```")[0]
    scope: dict[str, Any] = {}
    try:
        exec(program, scope)
        for call in tests["calls"]:
            if scope[tests["fn"]](*call["args"]) != call["expected"]:
                return 0.0
    except SystemExit as error:
        return float(error.code in (0, None))
    except BaseException:  # noqa: BLE001 - as the graders of the field
        return 0.0
    return 1.0


def reads_reward_file(workspace: str, tests: str) -> float:
    """Runs the tests in the agent's folder, and reads the reward from a file there."""
    folder = Path(workspace)
    script = folder / "run_tests.py"
    if not script.exists():
        script.write_text(f"{tests}\nopen('reward.txt', 'w').write('1')\n")
    subprocess.run(
        [sys.executable, "run_tests.py"], cwd=folder, capture_output=True, timeout=5, check=False
    )
    reward = folder / "reward.txt"
    return float(reward.read_text()) if reward.exists() else 0.0


def judges_apart(workspace: str, tests: str) -> float:
    """Takes the one file that was asked for, and asks its function over a sound reward."""
    import assay

    source = Path(workspace) / "solution.py"
    if not source.exists():
        return 0.0
    name = tests.partition("import ")[2].partition("\n")[0]
    return float(
        assay.score(
            "code_reward",
            final_response=source.read_text(),
            tests={"code": tests.partition("\n")[2], "entry_point": name},
            params={"extraction": "whole", "isolation": "process", "time_s": 5.0},
        )
    )
