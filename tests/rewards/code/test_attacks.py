"""Programs of somebody who had not read the sandbox: none is paid, and none ends the reward.

`perf/code.py` runs all of them, and those of the audit, with their effects on the machine; here
are those that try to be paid, and take no limit to its end.
"""

import pytest

import assay
from assay.isolation.sandbox import NoSandbox, shared_sandbox
from assay.schema.score import Score
from perf.code_cases.attacks import Attack, attacks

SLOW = ("06", "07", "08", "09", "10", "11", "19/5", "19/8", "20/2")
"""Attacks on time, memory and disk."""


def missing() -> str:
    try:
        shared_sandbox().check()
    except NoSandbox as error:
        return str(error)
    return ""


def quick() -> list[Attack]:
    return [
        attack
        for attack in attacks()
        if attack.author == "outside" and not attack.name.startswith(SLOW)
    ]


@pytest.mark.skipif(bool(missing()), reason=missing() or "isolated")
def test_no_program_of_a_stranger_is_paid() -> None:
    paid: list[tuple[str, Score]] = []
    others: list[tuple[str, Score]] = []
    for attack in quick():
        score = assay.score(
            "code_reward",
            final_response=f"```python\n{attack.program}\n```",
            tests=attack.tests,
            params={"time_s": 5.0},
        )
        if score["reward"] != 0.0:
            (paid if score["reward"] else others).append((attack.name, score))
    assert paid == []
    assert others == []
    assert len({attack.program for attack in quick()}) >= 18
