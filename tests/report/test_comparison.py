"""A comparison says what the data can say, and refuses the rest in words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from assay.errors import AssayError
from assay.ledger.run import Run
from assay.report import compare, compare_many
from assay.report.comparison import Comparison
from assay.schema.episode import Episode, Failure, Trajectory
from assay.schema.task import Task
from tests.report.ledgers import Rewards, config, manifest, score, write, write_run


def tasks(n: int, value: float) -> dict[str, float]:
    return {f"task.{i}": value for i in range(n)}


def compared(folder: Path, base: Rewards, cand: Rewards, **fields: Any) -> Comparison:
    before = write_run(folder, "run-1", base)
    after = write_run(folder, "run-2", cand, **fields)
    return compare(before, after, force=bool(fields.get("task_set")))


def test_three_tasks_allow_no_verdict(tmp_path: Path) -> None:
    found = compared(tmp_path, tasks(3, 0.0), tasks(3, 1.0))
    assert found.verdict == "no verdict possible"
    assert found.because == "no verdict possible: n=3, the best possible p is 0.25"
    assert found.p == 0.25


def test_six_tasks_that_all_rise_are_an_improvement(tmp_path: Path) -> None:
    found = compared(tmp_path, tasks(6, 0.0), tasks(6, 1.0))
    assert found.verdict == "improved"
    assert found.p == 0.03125
    assert found.mcnemar is not None
    assert (found.mcnemar.gained, found.mcnemar.lost, found.mcnemar.p) == (6, 0, 0.03125)
    assert found.reward is not None
    assert found.reward.difference == 1.0


def test_a_significant_drop_is_a_regression_and_comes_first(tmp_path: Path) -> None:
    base = {**tasks(8, 1.0), "better": 0.0}
    cand = {**tasks(8, 0.5), "better": 0.2}
    found = compared(tmp_path, base, cand)
    assert found.verdict == "regressed"
    assert [row.change for row in found.tasks] == ["regressed"] * 8 + ["improved"]


def test_equal_runs_show_no_difference(tmp_path: Path) -> None:
    found = compared(tmp_path, tasks(10, 0.5), tasks(10, 0.5))
    assert found.verdict == "no difference shown"
    assert "all 10 tasks have the same reward" in found.because
    assert found.detectable is None


def test_a_small_change_names_what_could_hide(tmp_path: Path) -> None:
    base = {f"task.{i}": i % 2 / 1 for i in range(12)}
    cand = base | {"task.0": 1.0, "task.1": 0.0, "task.2": 1.0}
    found = compared(tmp_path, base, cand)
    assert found.verdict == "no difference shown"
    assert "is likely to hide" in found.because


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"scorer": "qa_f1_reward@1"}, "the rewards differ: assistantbench_reward@1 against qa"),
        ({"task_set": "another"}, "the same ids, but other questions or golds"),
        ({"config": config(steps=30)}, "the step budgets differ: 15 against 30 steps"),
        ({"config": config(model="openai")}, "the models differ: client=rules against"),
        (
            {"config": config(model_options={"temperature": 0.7})},
            "the models differ: client=rules against client=rules temperature=0.7",
        ),
    ],
    ids=["reward", "tasks", "budget", "model", "sampling"],
)
def test_runs_that_measure_different_things_are_refused(
    tmp_path: Path, fields: dict[str, Any], words: str
) -> None:
    base = write_run(tmp_path, "run-1", tasks(8, 0.0))
    cand = write_run(tmp_path, "run-2", tasks(8, 1.0), **fields)
    found = compare(base, cand)
    assert found.verdict == "not comparable"
    assert words in found.because
    assert found.reward is None
    forced = compare(base, cand, force=True)
    assert forced.verdict == "improved"
    assert forced.because.startswith(f"(forced although {forced.obstacles[0]}")


@pytest.mark.parametrize(
    ("scorer", "params", "comparable"),
    [
        ("qa_f1_reward@1", {"mode": "squad2"}, True),
        ("qa_f1_reward@1", {"mode": "hotpot"}, False),
        ("qa_f1_reward@999", {"mode": "squad2"}, False),
        ("somebodys_own_reward@1", {"mode": "squad2"}, False),
    ],
)
def test_an_option_that_was_recorded_with_its_default_changes_nothing(
    scorer: str, params: dict[str, str], comparable: bool, tmp_path: Path
) -> None:
    write_run(tmp_path, "run-1", tasks(6, 0.5), scorer=scorer)
    run = write_run(tmp_path, "run-2", tasks(6, 0.9), scorer=scorer)
    path = run.path / "episodes.jsonl"
    lines = [json.loads(line) for line in path.read_bytes().splitlines()]
    for line in lines:
        line["scores"][0]["params"] = params
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    found = compare(tmp_path / "run-1", run.path)
    assert (found.verdict != "not comparable") == comparable


@pytest.mark.parametrize(
    ("model", "options", "comparable"),
    [
        ("anthropic", {"max_tokens": 4096}, True),
        ("anthropic", {"max_tokens": 1024}, False),
        ("cli", {"stale": ["No conversation found with session ID"]}, True),
        ("not_installed_here", {"max_tokens": 4096}, False),
    ],
)
def test_an_option_of_a_model_with_its_default_changes_nothing(
    model: str, options: dict[str, Any], comparable: bool, tmp_path: Path
) -> None:
    plain = config(model=model, model_options={"model": "m"})
    named = config(model=model, model_options={"model": "m", **options})
    base = write_run(tmp_path, "run-1", tasks(6, 0.0), config=plain)
    cand = write_run(tmp_path, "run-2", tasks(6, 1.0), config=named)
    assert (compare(base.path, cand.path).verdict != "not comparable") == comparable


def test_where_a_model_is_and_what_it_costs_does_not_matter(tmp_path: Path) -> None:
    here = config(model_options={"model": "m", "base_url": "http://a", "api_key_env": "A"})
    there = config(model_options={"model": "m", "base_url": "http://b", "api_key_env": "B"})
    base = write_run(tmp_path, "run-1", tasks(6, 0.0), config=here)
    cand = write_run(tmp_path, "run-2", tasks(6, 1.0), config=there)
    assert compare(base, cand).verdict == "improved"


def test_what_was_changed_is_named(tmp_path: Path) -> None:
    base = write_run(tmp_path, "run-1", tasks(6, 0.0), config=config(knob=1))
    cand = write_run(tmp_path, "run-2", tasks(6, 1.0), config=config(knob=2), commit="4c7640b")
    changes = compare(base, cand).changes
    assert changes == ("commit: d4b692e → 4c7640b", "agent.options.knob: 1 → 2")


def test_tasks_of_one_run_only_are_counted(tmp_path: Path) -> None:
    found = compared(tmp_path, tasks(10, 0.5), tasks(7, 0.5), task_set="another")
    assert (found.n, found.only_base, found.only_cand) == (7, 3, 0)


def test_runs_with_nothing_in_common_give_a_sentence(tmp_path: Path) -> None:
    base = write_run(tmp_path, "run-1", {"a": 1.0})
    cand = write_run(tmp_path, "run-2", {"b": 1.0})
    found = compare(base, cand, force=True)
    assert found.because == "no verdict possible: no task was scored in both runs"


def test_a_run_that_abstained_throughout_gives_a_sentence(tmp_path: Path) -> None:
    found = compared(tmp_path, tasks(4, 1.0), dict.fromkeys(tasks(4, 0.0)))
    assert found.verdict == "no verdict possible"
    assert "run run-2 does not record per-task rewards" in found.because
    assert any("4 of 4 attempts of run-2 have no reward" in note for note in found.notes)


def test_a_task_that_ceased_to_be_scored_is_shown(tmp_path: Path) -> None:
    found = compared(tmp_path, tasks(7, 1.0), {**tasks(7, 1.0), "task.3": None})
    assert found.tasks[0].change == "newly abstained"
    assert found.tasks[0].cand_ending == "grader_error"
    assert found.n == 6


def test_a_task_that_broke_is_newly_errored(tmp_path: Path) -> None:
    base = write_run(tmp_path, "run-1", tasks(2, 1.0))
    task = Task(id="task.0", answer="14.2")
    broken = Episode(
        attempt="task-0.r0.a1",
        task=task,
        trajectory=Trajectory(stop_reason="agent_error"),
        scores=(score(0.0),),
        failure=Failure(kind="agent_error", message="gone"),
    )
    cand = write(tmp_path, manifest("run-2", 2), [broken])
    found = compare(base, cand, force=True)
    assert found.tasks[0].change == "newly errored"
    assert (found.tasks[0].base_ending, found.tasks[0].cand_ending) == ("answered", "agent_error")


def test_a_single_task_with_enough_repeats_that_always_drops_is_a_regression(
    tmp_path: Path,
) -> None:
    steady = {f"steady.{i}": [1.0, 1.0, 1.0] for i in range(9)}
    found = compared(
        tmp_path, {**steady, "broken": [1.0, 0.9, 1.0]}, {**steady, "broken": [0.2, 0.0, 0.1]}
    )
    assert found.verdict == "regressed"
    assert found.steady_drops == ("broken",)
    assert "lower in every repeat: broken" in found.because


def test_two_repeats_are_not_enough_for_that(tmp_path: Path) -> None:
    steady = {f"steady.{i}": [1.0, 1.0] for i in range(9)}
    found = compared(tmp_path, {**steady, "broken": [1.0] * 2}, {**steady, "broken": [0.0] * 2})
    assert found.verdict == "no difference shown"


def test_one_drop_among_many_noisy_tasks_is_chance(tmp_path: Path) -> None:
    up = {f"up.{i}": [0.0, 0.0, 0.0] for i in range(4)}
    found = compared(
        tmp_path,
        {**up, "drop": [1.0, 1.0, 1.0]},
        {**{task: [1.0, 1.0, 1.0] for task in up}, "drop": [0.0, 0.0, 0.0]},
    )
    assert found.steady_drops == ()
    assert found.verdict == "no verdict possible"


def test_tasks_that_vary_without_a_change_are_flaky(tmp_path: Path) -> None:
    base: dict[str, float | list[float | None]] = {**tasks(6, 0.5), "task.0": [0.0, 1.0]}
    found = compared(tmp_path, base, {**base, "task.0": [1.0, 0.0]})
    assert found.flaky == ("task.0",)


def test_runs_of_the_same_configuration_reveal_flaky_tasks(tmp_path: Path) -> None:
    write_run(tmp_path, "run-1", {**tasks(6, 0.5), "task.2": 1.0})
    base = write_run(tmp_path, "run-2", tasks(6, 0.5))
    cand = write_run(tmp_path, "run-3", tasks(6, 0.6), commit="4c7640b")
    assert compare(base, cand).flaky == ("task.2",)


def test_several_candidates_are_corrected_for_their_number(tmp_path: Path) -> None:
    base = write_run(tmp_path, "run-1", tasks(6, 0.0))
    cands = [write_run(tmp_path, f"run-{i}", tasks(6, 1.0)) for i in (2, 3)]
    alone, pair = compare(base, cands[0]), compare_many(base, cands)
    assert alone.verdict == "improved"
    assert [c.p for c in pair] == [0.0625, 0.0625]
    assert {c.verdict for c in pair} == {"no difference shown"}
    assert "Holm's correction for 2 runs" in pair[0].because


def test_steps_cost_and_time_are_paired_too(tmp_path: Path) -> None:
    found = compared(tmp_path, tasks(6, 0.0), tasks(6, 1.0))
    assert found.steps is not None
    assert found.cost_usd is not None
    assert found.elapsed_s is not None
    assert (found.steps.base, found.steps.difference) == (4.0, 0.0)
    assert found.cost_usd.cand == pytest.approx(0.001)


def test_a_torn_ledger_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    base = write_run(tmp_path, "run-1", tasks(8, 0.0))
    cand = write_run(tmp_path, "run-2", tasks(8, 1.0))
    lines = (cand.path / "episodes.jsonl").read_bytes().splitlines(keepends=True)
    lines[2] = b'{"schema_id": "assay.run/1", "att\n'
    (cand.path / "episodes.jsonl").write_bytes(b"".join(lines)[:-40])
    found = compare(base.path, cand.path)
    assert found.n == 6
    assert any("line 3 of run-2" in note for note in found.notes)
    with pytest.raises(AssayError, match="line 3"):
        compare(base, Run(cand.path))


def test_a_duplicated_line_counts_once(tmp_path: Path) -> None:
    base = write_run(tmp_path, "run-1", tasks(6, 0.0))
    cand = write_run(tmp_path, "run-2", tasks(6, 1.0))
    path = cand.path / "episodes.jsonl"
    path.write_bytes(path.read_bytes() + path.read_bytes().splitlines(keepends=True)[0])
    found = compare(base.path, cand.path)
    assert found.n == 6
    assert any("repeats attempt" in note for note in found.notes)


def test_a_comparison_is_plain_json(tmp_path: Path) -> None:
    found = compared(tmp_path, tasks(6, 0.0), tasks(6, 1.0))
    record = json.loads(json.dumps(found.to_record()))
    assert record["verdict"] == "improved"
    assert record["reward"]["interval"] == {"low": 1.0, "high": 1.0, "level": 0.95}
