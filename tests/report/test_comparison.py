"""A comparison says what the data can say, and refuses the rest in words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay.errors import AssayError
from assay.ledger.run import Run
from assay.report import compare, compare_many, statistics
from assay.report.attempts import ScoredAttempt
from assay.report.comparison import Comparison
from assay.report.statistics import needed_repeats, sign_flip
from assay.report.task_changes import PairedTask, task_drops
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
    found = compared(tmp_path / "b", tasks(3, 0.0), {**tasks(2, 0.0), "task.2": 1.0})
    assert found.because.endswith(
        "about 1,044 more tasks (repeats of these are not enough) would show a change of 0.05"
    )


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
        ({"task_set": "another", "n_tasks": 9}, "the task sets differ: 8 tasks against 9"),
        ({"config": config(steps=30)}, "the step budgets differ: 15 against 30 steps"),
    ],
    ids=["reward", "tasks", "budget"],
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
    ("fields", "words"),
    [
        (
            {"model": "openai", "model_options": {"model": "a"}},
            "the models differ: rules against openai:a",
        ),
        (
            {"model_options": {"temperature": 0.7}},
            "the models differ: rules against rules temperature=0.7",
        ),
    ],
    ids=["model", "sampling"],
)
def test_two_models_are_compared_and_the_headline_names_them(
    tmp_path: Path, fields: dict[str, Any], words: str
) -> None:
    base = write_run(tmp_path, "run-1", tasks(8, 0.0))
    cand = write_run(tmp_path, "run-2", tasks(8, 1.0), config=config(**fields))
    found = compare(base, cand)
    assert (found.verdict, found.obstacles, found.labels) == ("improved", (), (words,))
    assert found.because.startswith(f"({words}) the mean moved by +1.000 over 8 tasks")
    same = write_run(tmp_path, "run-3", tasks(8, 1.0), config=config(**fields))
    assert compare(cand, same).labels == ()


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
    ("model", "options", "same"),
    [
        ("anthropic", {"max_tokens": 4096}, True),
        ("anthropic", {"max_tokens": 1024}, False),
        ("cli", {"stale": ["No conversation found with session ID"]}, True),
        ("not_installed_here", {"max_tokens": 4096}, False),
    ],
)
def test_an_option_of_a_model_with_its_default_changes_nothing(
    model: str, options: dict[str, Any], same: bool, tmp_path: Path
) -> None:
    plain = config(model=model, model_options={"model": "m"})
    named = config(model=model, model_options={"model": "m", **options})
    base = write_run(tmp_path, "run-1", tasks(6, 0.0), config=plain)
    cand = write_run(tmp_path, "run-2", tasks(6, 1.0), config=named)
    assert (not compare(base.path, cand.path).labels) == same


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


def test_an_object_that_is_elsewhere_in_memory_is_no_change(tmp_path: Path) -> None:
    models = ("<m.Talker object at 0x7f9865154d90>", "<m.Talker object at 0x7f98645a30d0>")
    for name, model in zip(("run-1", "run-2"), models, strict=True):
        write_run(tmp_path, name, {"a": 1.0}, config=config(model=model))
    write_run(tmp_path, "run-3", {"a": 1.0}, config=config(model="<m.Reader object at 0x7f98645a>"))
    assert compare(tmp_path / "run-1", tmp_path / "run-2").changes == ()
    (change,) = compare(tmp_path / "run-2", tmp_path / "run-3").changes
    assert change == "agent.options.model: <m.Talker object> → <m.Reader object>"


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
    assert "no attempt of run-2 has a reward (4 × grader_error)" in found.because
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


def moved(n: int, fell: int, rose: int, *, by: float = 0.8) -> tuple[Rewards, Rewards]:
    """Tasks of which so many fell and rose by as much, and the others stayed."""
    base = {f"task.{i}": 1.0 if i < fell or i % 2 else 0.0 for i in range(n)}
    cand = dict(base)
    for i in range(fell):
        cand[f"task.{i}"] = 1.0 - by
    for i in range(fell, fell + rose):
        base[f"task.{i}"], cand[f"task.{i}"] = 1.0 - by, 1.0
    return base, cand


@pytest.mark.parametrize(
    ("fell", "rose", "alarm"),
    [
        (3, 0, True),  # one in eight
        (2, 0, False),  # one in four
        (3, 1, False),  # 5 in 16
        (5, 1, True),  # 7 in 64
        (6, 2, False),  # 37 in 256
        (7, 2, True),  # 46 in 512
        (0, 3, False),
        (0, 0, False),
    ],
)
def test_single_runs_alarm_when_tasks_that_fell_outnumber_those_that_rose(
    tmp_path: Path, fell: int, rose: int, alarm: bool
) -> None:
    found = compared(tmp_path, *moved(20, fell, rose))
    assert found.drops is not None
    assert (len(found.drops.fell), found.drops.rose, found.drops.alarm) == (fell, rose, alarm)


def test_small_falls_are_no_alarm_unless_they_are_asked_for(tmp_path: Path) -> None:
    base, cand = moved(20, 3, 0, by=0.4)
    before, after = write_run(tmp_path, "run-1", base), write_run(tmp_path, "run-2", cand)
    found, small = compare(before, after).drops, compare(before, after, drop=0.4).drops
    assert found is not None
    assert small is not None
    assert (found.fell, found.alarm, small.alarm) == ((), False, True)
    assert small.sentence == "3 tasks fell by 0.4 or more, none rose: task.0, task.1, task.2"
    with pytest.raises(AssayError, match="drop is 0"):
        compare(before, after, drop=0)


def test_repeats_alarm_too(tmp_path: Path) -> None:
    base = {f"task.{i}": [1.0, 1.0] for i in range(8)}
    cand = base | {f"task.{i}": [0.0, 0.5] for i in range(3)}
    found = compared(tmp_path, base, cand).drops
    assert found is not None
    assert found.alarm


def test_chance_alone_closes_the_gate_on_falling_tasks_once_in_eight_at_most(
    tmp_path: Path,
) -> None:
    rng = np.random.default_rng(7)
    alarms = 0
    for _ in range(400):
        chances = rng.choice([0.0, 0.3, 0.5, 0.7, 1.0], size=30)
        pairs = [
            PairedTask(f"{i}", (attempt(rng.random() < p),), (attempt(rng.random() < p),))
            for i, p in enumerate(chances)
        ]
        alarms += task_drops(pairs).alarm
    # The bound, and three standard errors.
    assert alarms / 400 <= 0.125 + 0.05
    assert alarms > 0


def attempt(passed: bool) -> ScoredAttempt:
    return ScoredAttempt("", "", 0, "answered", float(passed), "", "", "", 1, None, 0.0)


def test_the_headline_names_passes_that_changed_where_the_mean_hides_it(tmp_path: Path) -> None:
    base = tasks(10, 0.98) | {"up": 0.1, "down": 0.6}
    cand = tasks(10, 1.0) | {"up": 0.5, "down": 0.25}
    found = compared(tmp_path, base, cand)
    assert found.p is not None
    assert found.p > 0.05
    assert found.verdict == "improved"
    assert found.because.startswith("more tasks pass: 10 gained, 0 lost, McNemar p = 0.00195; ")
    assert "the mean moved by +0.021 over 12 tasks, p = " in found.because


def test_passes_that_change_against_the_mean_are_mixed(tmp_path: Path) -> None:
    base = tasks(10, 1.0) | {"up": 0.1, "more": 0.1}
    cand = tasks(10, 0.98) | {"up": 0.5, "more": 0.7}
    found = compared(tmp_path, base, cand)
    assert found.verdict == "mixed"
    assert "fewer tasks pass: 0 gained, 10 lost" in found.because
    assert found.regressed


def test_an_improvement_does_not_hide_tasks_that_fell_in_every_repeat(tmp_path: Path) -> None:
    base = {f"task.{i}": [0.0] * 3 for i in range(12)} | {"lost": [1.0] * 3}
    cand = {f"task.{i}": [0.5] * 3 for i in range(12)} | {"lost": [0.0] * 3}
    found = compared(tmp_path, base, cand)
    # Of thirteen tasks that split, one on the losing side is what chance gives.
    assert (found.verdict, found.steady_drops) == ("improved", ())
    cand |= {f"also.{i}": [0.0] * 3 for i in range(5)}
    base |= {f"also.{i}": [1.0] * 3 for i in range(5)}
    base |= {f"more.{i}": [0.0] * 3 for i in range(20)}
    cand |= {f"more.{i}": [0.5] * 3 for i in range(20)}
    found = compared(tmp_path / "b", base, cand)
    assert found.verdict == "mixed"
    assert "lower in every repeat: lost, also.0" in found.because
    assert found.regressed


def test_pass_rates_stand_beside_means(tmp_path: Path) -> None:
    base = {"a": [1.0, 0.0], "b": [1.0, 1.0]}
    cand = {"a": [0.5, 0.0], "b": [1.0, 0.5]}
    found = compared(tmp_path, base, cand)
    assert found.pass_rate is not None
    assert (found.pass_rate.base, found.pass_rate.cand) == (0.75, 0.25)
    record = found.to_record()
    assert record["pass_rate"]["difference"] == -0.5
    json.dumps(record)


@pytest.fixture
def few_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """A coarser p is enough to count how often it is below 5 %."""
    monkeypatch.setattr(statistics, "PERMUTATIONS", 500)


@pytest.mark.usefixtures("few_draws")
def test_the_price_of_a_small_change_follows_from_the_spread(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    base = {f"task.{i}": float(rng.random() < 0.5) for i in range(200)}
    cand = {task: float(rng.random() < 0.5) for task in base}
    before, after = write_run(tmp_path, "run-1", base), write_run(tmp_path, "run-2", cand)
    found = compare(before, after, change=0.1)
    assert found.needed is not None
    assert found.needed.at_least
    differences = np.array([after - before for before, after in zip(
        base.values(), cand.values(), strict=True)])  # fmt: skip
    centred = differences - differences.mean()
    hits = 0
    for _ in range(300):
        sample = rng.choice(centred, size=found.needed.tasks) + 0.1
        hits += sign_flip(sample.tolist()).p <= 0.05
    assert 0.72 <= hits / 300 <= 0.88
    assert f"about {found.needed.tasks - 200} more tasks, or at least" in found.because
    assert "would show a change of 0.1" in found.because


@pytest.mark.usefixtures("few_draws")
def test_the_price_in_repeats_follows_from_the_spread_within_tasks(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    chances = rng.uniform(0.3, 0.6, size=150)
    n, change = chances.size, 0.06
    within = float(np.sqrt(np.mean(2 * chances * (1 - chances))))
    repeats = needed_repeats(0.0, within, n, change)
    assert repeats is not None
    hits = 0
    for _ in range(300):
        before = rng.binomial(repeats, chances) / repeats
        after = rng.binomial(repeats, chances + change) / repeats
        hits += sign_flip((after - before).tolist()).p <= 0.05
    assert 0.72 <= hits / 300 <= 0.88
    # A spread that repeats do not narrow can be too much for any number of them.
    assert needed_repeats(0.5, within, n, change) is None
    base = {f"t{i}": [float(rng.random() < p) for _ in range(4)] for i, p in enumerate(chances)}
    cand = {f"t{i}": [float(rng.random() < p) for _ in range(4)] for i, p in enumerate(chances)}
    found = compare(
        write_run(tmp_path, "run-1", base), write_run(tmp_path, "run-2", cand), change=change
    )
    assert found.needed is not None
    assert not found.needed.at_least
    assert found.needed.repeats is not None
    assert repeats * 0.7 <= found.needed.repeats <= repeats * 2


def test_enough_tasks_are_enough(tmp_path: Path) -> None:
    base = {f"task.{i}": i / 1000 for i in range(300)}
    cand = {task: value + 0.001 * (i % 2) for i, (task, value) in enumerate(base.items())}
    found = compared(tmp_path, base, cand)
    assert found.needed is not None
    assert found.needed.sentence == "these 300 tasks are enough to show a change of 0.05"


def test_thousands_of_tasks_with_repeats_can_be_compared(tmp_path: Path) -> None:
    base = {f"task.{i}": [1.0] * 3 for i in range(1200)}
    cand = {f"task.{i}": [0.0] * 3 if i < 600 else [1.5] * 3 for i in range(1200)}
    found = compared(tmp_path, base, cand)
    assert len(found.steady_drops) == 600
