"""What groups of rollouts would make of a reward: warned of before training, with numbers."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from rich.console import Console

from assay.audit.data import built_in
from assay.audit.group_audit import GroupAudit
from assay.audit.groups import audit_groups
from assay.audit.simulation import advantages
from assay.cli.audit import print_groups
from assay.cli.main import main
from assay.errors import BadParameter
from assay.schema.audit import AuditTarget
from assay.scoring.composition import compose
from tests.audit.in_process import InProcess

LINEAR = {"curve": "linear", "max_length": 512}


def audit(reward: Any, *, seed: int = 0, **options: Any) -> GroupAudit:
    session = InProcess(reward)
    spec = getattr(reward, "__assay__", None)
    parts = None if spec is None else spec.parts
    target = SimpleNamespace(name=getattr(reward, "__name__", "reward"), parts=parts)
    session._target = cast(AuditTarget, target)
    return audit_groups(session, "maths", built_in("maths"), seed=seed, **options)


def shaped(weight: float, **more: Any) -> Any:
    """The reward of a published study: the outcome, less a part of the length up to 512 chars."""
    length = {"reward": "length_reward", "weight": weight, "params": LINEAR, **more}
    components: dict[str, Any] = {"correct": "math_equal_reward", "length": length}
    return compose("shaped", components, register=False)


def checks(result: GroupAudit) -> list[str]:
    return [finding.check for finding in result.findings]


@pytest.mark.parametrize(
    ("weight", "published"), [(0.1, 0.055), (0.3, 0.102), (0.5, 0.0)], ids=["0.1", "0.3", "0.5"]
)
def test_a_length_term_without_a_gate_is_predicted_to_collapse(
    weight: float, published: float
) -> None:
    """It did, from 0.715 to the published rate of right answers, at every weight that was tried."""
    result = audit(shaped(weight))
    assert result.collapses, published
    assert checks(result) == ["collapse", "pay_out_of_nothing"]
    assert result.spread == 1.0
    assert result.fails("critical")


@pytest.mark.parametrize(("weight", "published"), [(0.1, 0.764), (0.3, 0.753), (0.5, 0.736)])
def test_behind_a_gate_on_the_outcome_it_is_not(weight: float, published: float) -> None:
    result = audit(shaped(weight, gate="correct"))
    assert not result.collapses, published
    assert min(result.success) > 0.85 * result.success[0]
    assert result.findings == ()
    assert (result.spread, result.phantom) == (0.0, 0.0)
    assert 0 < result.gates["length"] < 1


def test_a_term_that_prefers_long_failures_pays_for_nothing_and_collapses_nothing() -> None:
    result = audit(shaped(-0.3))
    assert not result.collapses
    assert checks(result) == ["pay_out_of_nothing"]


def test_the_prediction_does_not_hang_on_the_seed() -> None:
    first = audit(shaped(0.3), seed=1)
    assert first.collapses
    assert not audit(shaped(0.3, gate="correct"), seed=1).collapses
    assert audit(shaped(0.3), seed=1).to_record() == first.to_record()


def test_a_component_that_makes_most_of_the_spread_is_named() -> None:
    result = audit(shaped(3.0))
    assert "dominates" in checks(result)
    assert "wrong_not_below_right" in checks(result)
    assert result.components["length"] > 0.5


def test_a_gate_that_never_opens_or_never_closes_is_named() -> None:
    assert "gate_never_opens" in checks(audit(shaped(0.3, gate="correct", opens_at=2.0)))
    assert "gate_never_closes" in checks(audit(shaped(0.3, gate="correct", opens_at=0.0)))


def test_a_reward_that_is_no_composition_names_its_outcome() -> None:
    def by_hand(final_response: str, answer: str) -> dict[str, float]:
        acc = float(f"\\boxed{{{answer}}}" in final_response)
        return {"reward": acc - 0.3 * min(len(final_response) / 512, 1.0), "acc": acc}

    def unnamed(final_response: str, answer: str) -> float:
        return float(f"\\boxed{{{answer}}}" in final_response)

    result = audit(by_hand)
    assert result.collapses
    assert result.outcome == "acc"
    assert set(result.components) == {"acc", "the rest"}
    with pytest.raises(BadParameter, match="choose a part with --outcome"):
        audit(unnamed)
    with pytest.raises(BadParameter, match="parts: acc"):
        audit(by_hand, outcome="right")


def test_a_group_that_earns_alike_has_no_advantage() -> None:
    assert advantages([0.3, 0.3, 0.3]) == [0.0, 0.0, 0.0]
    assert advantages([1.0, 0.0]) == pytest.approx([1.0, -1.0], abs=1e-4)


def test_the_command_prints_it_and_closes_its_gate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mine.py").write_text(
        "import assay\n"
        "loose = assay.compose('loose', {'correct': 'math_equal_reward', 'length': {'reward': "
        "'length_reward', 'weight': 0.3, 'params': {'curve': 'linear', 'max_length': 512}}})\n"
    )
    monkeypatch.chdir(tmp_path)
    command = ["audit", "--group", "mine.py:loose", "--kind", "maths"]
    assert main([*command, "--json", "--fail-on", "high"]) == 3
    record = json.loads(capsys.readouterr().out)
    assert record["schema"] == "assay.audit-group/1"
    assert record["collapse"]
    assert main([*command, "--family", "spray"]) == 2


def test_the_report_leads_with_the_prediction(capsys: pytest.CaptureFixture[str]) -> None:
    print_groups(Console(width=200), audit(shaped(0.3)))
    out = capsys.readouterr().out
    assert out.index("collapse predicted") < out.index("pay_out_of_nothing") < out.index("variance")


@pytest.mark.parametrize("gated", [False, True])
def test_an_answer_without_a_number_is_no_zero_of_its_group(gated: bool) -> None:
    def brittle(final_response: str) -> float:
        return [1.0][len(final_response) // 1_000]

    gate = {"gate": "correct"} if gated else {}
    components: dict[str, Any] = {
        "correct": "math_equal_reward",
        "short": {"reward": brittle, "weight": 0.1, **gate},
    }
    result = audit(compose("brittle", components, register=False))
    # Only the rambling answers are so long: two of 26, which taken for zeros would be taught away.
    assert "ungraded" in checks(result)
    assert result.ungraded == pytest.approx(2 / 26)
    assert result.policies[-1]["rambling"] > 0.01
    assert result.gates == ({"short": pytest.approx(0.5, abs=0.2)} if gated else {})
    assert result.to_record()["ungraded"] == round(2 / 26, 4)


def test_a_reward_that_raises_for_some_answers_is_audited_all_the_same() -> None:
    def raising(final_response: str, answer: str) -> dict[str, float]:
        right = float(answer in final_response)
        if not final_response:
            raise ValueError("nothing")
        return {"reward": right, "acc": right}

    result = audit(raising, outcome="acc")
    assert checks(result)[-1] == "ungraded"
