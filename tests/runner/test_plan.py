"""What a run will do is fixed, and wrong, before it starts."""

from __future__ import annotations

from pathlib import Path

import pytest

import assay
from assay.errors import BadParameter, MissingParameter, UnknownName
from assay.registry import BENCHMARKS
from assay.runner.agents import choose_agent
from assay.runner.benchmark import Benchmark, find_benchmark, read_benchmark
from assay.runner.plan import Plan, make_plan, select_tasks
from assay.runner.services import fill_base_url
from assay.schema.task import Task
from tests.runner.corridor import BENCHMARK

TASKS = [
    Task(id="rain.1", metadata={"demo": True}),
    Task(id="rain.2", metadata={"demo": False}),
    Task(id="snow.3", metadata={"demo": True}),
]


@pytest.fixture
def corridor(tmp_path: Path) -> Benchmark:
    path = tmp_path / "corridor.toml"
    path.write_text(BENCHMARK)
    return find_benchmark(path)


def plan(benchmark: Benchmark, **changes: object) -> Plan:
    return make_plan(benchmark, choose_agent("scripted", {}), **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("selection", "ids"),
    [
        ("", ["rain.1", "rain.2", "snow.3"]),
        ("snow.3,rain.1", ["rain.1", "snow.3"]),  # the benchmark's order, not the caller's
        ("rain.*", ["rain.1", "rain.2"]),
        ("demo", ["rain.1", "snow.3"]),  # a flag of the metadata
        ("3", ["snow.3"]),  # the end of one id
        (" rain.2 , rain.2", ["rain.2"]),
    ],
)
def test_tasks_are_selected_by_id_pattern_flag_or_ending(selection: str, ids: list[str]) -> None:
    assert [task.id for task in select_tasks(TASKS, selection)] == ids


@pytest.mark.parametrize("selection", ["hail", "rain", "demos"])
def test_a_selection_that_finds_nothing_says_what_ids_look_like(selection: str) -> None:
    with pytest.raises(BadParameter, match=r"ids look like rain\.1"):
        select_tasks(TASKS, selection)


def test_the_end_of_two_ids_is_refused() -> None:
    with pytest.raises(BadParameter, match=r"is ambiguous among \['a.1', 'b.1'\]"):
        select_tasks([Task(id="a.1"), Task(id="b.1")], "1")


def test_every_task_comes_once_before_any_comes_twice(corridor: Benchmark) -> None:
    keys = [planned_attempt.key for planned_attempt in plan(corridor, repeats=2).attempts()]
    assert keys == [("a", 0), ("b", 0), ("c", 0), ("a", 1), ("b", 1), ("c", 1)]


def test_the_resolved_configuration_has_every_default(corridor: Benchmark) -> None:
    config = plan(corridor, expect={"up": ["a"]}).config()
    assert config["benchmark"]["environment"] == {"length": 3, "name": "corridor"}
    assert config["benchmark"]["limits"]["attempts"] == 3
    assert config["agent"] == {"name": "scripted", "options": {"actions": []}}
    assert config["expect"] == {"up": ["a"]}


def test_the_resolved_configuration_makes_the_same_plan_again(corridor: Benchmark) -> None:
    first = plan(corridor)
    again = read_benchmark(first.config()["benchmark"], where="manifest")
    assert plan(again).config() == first.config()


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"tasks.source": "corridoor"}, "did you mean 'corridor'?"),
        ({"tasks.path": "x"}, None),  # corridor_tasks takes any metadata
        ({"environment.width": 2}, r"\[environment\] 'corridor'.*its options: length"),
        ({"environment.name": "corridoor"}, "did you mean 'corridor'"),
        ({"rewards.names": ["qa_f2_reward"]}, "did you mean 'qa_f1_reward'"),
        ({"rewards.options": {"qa_f1_reward": {"mood": 1}}}, "has no option 'mood'"),
        ({"tasks.names": []}, "has no tasks"),
        ({"service": None, "service.name": "townsquer"}, "did you mean 'townsquare'"),
        ({"service.name": "townsquare", "service.shares": ["seed"]}, "does not set"),
    ],
)
def test_a_plan_that_cannot_work_is_refused_with_the_place(
    tmp_path: Path, settings: dict[str, object], words: str | None
) -> None:
    path = tmp_path / "b.toml"
    path.write_text(BENCHMARK)
    dotted = {key: value for key, value in settings.items() if "." in key}
    if words is None:
        plan(find_benchmark(path, dotted))
        return
    with pytest.raises((BadParameter, UnknownName), match=words):
        plan(find_benchmark(path, dotted))


def test_a_reward_whose_column_no_task_has_is_refused_before_the_run(corridor: Benchmark) -> None:
    @assay.reward(name="wants_colour")
    def wants_colour(colour: str) -> float:
        return 1.0

    changed = read_benchmark(
        corridor.to_record(), where="x", settings={"rewards.names": ["wants_colour"]}
    )
    with pytest.raises(MissingParameter, match=r"needs 'colour', but task 'a' has no such column"):
        plan(changed)


def test_a_reward_that_calls_the_reference_otherwise_is_shown_its_name(corridor: Benchmark) -> None:
    @assay.reward(name="wants_gold")
    def wants_gold(final_response: str, gold: str) -> float:
        return float(final_response == gold)

    changed = read_benchmark(
        corridor.to_record(), where="x", settings={"rewards.names": ["wants_gold"]}
    )
    with pytest.raises(MissingParameter, match="call it 'answer', as every run does"):
        plan(changed)


def test_a_contract_that_cannot_be_read_is_refused_before_the_run(corridor: Benchmark) -> None:
    changed = read_benchmark(
        corridor.to_record(), where="x", settings={"tasks.contract": {"url_contans": "/done"}}
    )
    with pytest.raises(BadParameter, match=r"task 'a': contract: "):
        plan(changed)


def test_an_unknown_option_of_the_agent_is_refused_with_those_it_has() -> None:
    with pytest.raises(BadParameter, match=r"agent 'scripted'.*its options: actions"):
        choose_agent("scripted", {"lines": []})


def test_dotted_options_of_an_agent_are_tables() -> None:
    choice = choose_agent("web_research", {"model_options.url": "x", "model_options.model": "m"})
    assert choice.options == {"model_options": {"url": "x", "model": "m"}}


def test_expectations_name_tasks_of_the_plan(corridor: Benchmark) -> None:
    assert plan(corridor, expect={"up": ["a", "b"], "down": ["c"]}).expect == {
        "up": ("a", "b"),
        "down": ("c",),
    }
    with pytest.raises(BadParameter, match="no task 'z'"):
        plan(corridor, expect={"up": ["z"]})
    with pytest.raises(BadParameter, match="up or down"):
        plan(corridor, expect={"sideways": ["a"]})


def test_an_address_reaches_every_text_and_nothing_else() -> None:
    task = Task(
        id="{base_url}",
        goal="Open {base_url}/x",
        answer="{base_url}",
        metadata={"start_url": "{base_url}/", "n": [1, "{base_url}"], "q": "{query}"},
    )
    live = fill_base_url(task, "http://here:1")
    assert live.goal == "Open http://here:1/x"
    assert live.metadata == {
        "start_url": "http://here:1/",
        "n": [1, "http://here:1"],
        "q": "{query}",
    }
    assert (live.id, live.answer) == (task.id, task.answer)


@pytest.mark.parametrize("name", BENCHMARKS.names())
def test_every_shipped_benchmark_can_be_read(name: str) -> None:
    benchmark = find_benchmark(name)
    assert benchmark.name == name
    assert benchmark.summary
    assert read_benchmark(benchmark.to_record(), where="again") == benchmark


@pytest.mark.parametrize("name", ["townsquare", "webshop", "alfworld", "miniwob"])
def test_shipped_benchmarks_make_plans_without_a_network(name: str) -> None:
    made = make_plan(find_benchmark(name), choose_agent("scripted", {}))
    assert len(made.tasks) >= 10
