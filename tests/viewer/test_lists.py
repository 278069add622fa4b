"""The lists of runs and attempts: what is on them, and what a query leaves."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from assay.ledger.layout import archive
from assay.ledger.writer import RunWriter
from assay.report.timeline import history
from assay.schema.episode import Episode, Failure, Trajectory
from assay.schema.score import Scored
from assay.schema.task import Task
from assay.viewer import rendering
from assay.viewer.links import ServerLinks
from assay.viewer.pages import run as run_module
from assay.viewer.pages.compare import CompareQuery, compare_page, in_order
from assay.viewer.pages.records import PageRecord
from assay.viewer.pages.run import RunQuery, run_page, settings_of_causes
from assay.viewer.pages.runs import RunsQuery, runs_page
from assay.viewer.rendering import Templates, coded
from assay.viewer.runs_reader import RunsReader
from assay.viewer.words import CAUSES, page_words
from tests.report.ledgers import config, write_run
from tests.viewer.ledgers import SCORER, manifest

QUESTION = "Which club meets at the Granary?"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs of six tasks: one right, one half right, one wrong, three without a model."""
    runs_dir = tmp_path_factory.mktemp("runs")
    for name, half in (("one", 0.25), ("two", 0.5)):
        head = manifest(name, n_tasks=6, created_at=f"2026-01-0{len(name)}T00:00:00Z{name}")
        with RunWriter.create(runs_dir, head) as writer:
            for i, reward in enumerate((1.0, half, 0.0)):
                task = Task(
                    id=f"task.{i}", goal=QUESTION, answer="Rowers", metadata={"domain": f"d{i}"}
                )
                writer.append(
                    Episode(
                        attempt=writer.new_attempt(task),
                        task=task,
                        final_response="Rowers" if reward else "unknown",
                        scores=(Scored(reward, "compared", scorer=SCORER),),
                        elapsed_s=float(i),
                    )
                )
            for i in range(3):
                task = Task(id=f"down.{i}")
                failure = Failure(kind="model_error", message=f"status 401: no key, req_{i}f3")
                writer.append(
                    Episode(
                        attempt=writer.new_attempt(task),
                        task=task,
                        trajectory=Trajectory(stop_reason="model_error"),
                        failure=failure,
                    )
                )
    return runs_dir


def page_of_run(folder: Path, **query: object) -> PageRecord:
    return run_page(RunsReader(folder), "two", RunQuery.model_validate(query), wait=True)


def names(page: PageRecord) -> list[str]:
    return [item["task_id"] for item in page["episodes"]]


def test_an_attempt_says_what_was_asked_submitted_right_and_why_points_were_lost(
    folder: Path,
) -> None:
    (lost,) = page_of_run(folder, q="task.2")["episodes"]
    assert (lost["question"], lost["submitted"], lost["reference"]) == (
        QUESTION,
        "unknown",
        "Rowers",
    )
    assert lost["cause"] == "no_answer"
    assert "'unknown' submitted" in lost["evidence"]
    assert lost["evidence_step"] is not None


@pytest.mark.parametrize(
    ("query", "left"),
    [
        ({"q": "GRANARY unknown"}, ["task.2"]),
        ({"q": "no key"}, ["down.0", "down.1", "down.2"]),
        ({"ending": "model_error"}, ["down.0", "down.1", "down.2"]),
        ({"domain": "d1"}, ["task.1"]),
        ({"least": "0.5"}, ["task.1", "task.0"]),
        ({"most": "0"}, ["task.2"]),
        ({"least": "", "most": "", "q": "task"}, ["task.2", "task.1", "task.0"]),
        ({"cause": "no_answer"}, ["task.2"]),
        ({"changed": "any"}, ["task.1"]),
        ({"changed": "up"}, ["task.1"]),
        ({"changed": "down"}, []),
        ({"error": "STATUS 401: no key, req_99"}, ["down.0", "down.1", "down.2"]),
        ({"error": "status 500"}, []),
        ({"show": "lost", "domain": "d1"}, ["task.1"]),
        ({"sort": "time", "order": "desc", "least": "0"}, ["task.2", "task.1", "task.0"]),
        ({"sort": "before", "q": "task"}, ["task.0", "task.2", "task.1"]),
        ({"sort": "reward"}, ["task.2", "task.1", "task.0", "down.0", "down.1", "down.2"]),
    ],
)
def test_a_query_leaves_what_it_asks_for(
    folder: Path, query: dict[str, str], left: list[str]
) -> None:
    assert names(page_of_run(folder, **query)) == left


def test_what_the_list_can_be_filtered_by_comes_with_how_many_there_are(folder: Path) -> None:
    choices = page_of_run(folder)["choices"]
    assert {(choice["value"], choice["count"]) for choice in choices["endings"]} == {
        ("answered", 3),
        ("model_error", 3),
    }
    assert [choice["value"] for choice in choices["domains"]] == ["d0", "d1", "d2"]
    assert ("model_error", 3) in {
        (choice["value"], choice["count"]) for choice in choices["causes"]
    }


def test_errors_are_grouped_by_what_they_say(folder: Path) -> None:
    page = page_of_run(folder)
    (error,) = page["errors"]
    assert (error.kind, error.count) == ("model_error", 3)
    assert error.message == "status 401: no key, req_0f3"
    assert page["diagnosis"] is not None
    assert not any("401" in note for note in page["diagnosis"]["notes"]), "said once"


def test_the_pass_rate_is_beside_the_mean(folder: Path, tmp_path: Path) -> None:
    run = page_of_run(folder)["run"]
    assert run["mean"] == 0.5
    assert run["pass_rate"] is not None
    assert run["pass_rate"].rate == pytest.approx(1 / 3)
    assert run["pass_rate"].interval is None, "too few tasks"
    write_run(tmp_path, "all-1", {f"task {i}": 1.0 for i in range(12)})
    rate = run_page(RunsReader(tmp_path), "all-1", RunQuery())["run"]["pass_rate"]
    assert rate is not None
    assert rate.interval is not None
    assert rate.interval.low < 0.8, "twelve of twelve is no certainty"


def test_a_list_by_cause_waits_for_the_diagnosis(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_module, "AT_ONCE", -1)
    reader = RunsReader(folder)
    query = RunQuery(cause="no_answer")
    waiting = run_page(reader, "two", query)
    assert (waiting["pending"], waiting["episodes"], waiting["diagnosis"]) == (True, [], None)
    assert [item["cause"] for item in run_page(reader, "two", RunQuery())["episodes"]] == [None] * 6
    reader.diagnosis("two")
    assert names(run_page(reader, "two", query)) == ["task.2"]


def runs(folder: Path, **query: object) -> PageRecord:
    reader, asks = RunsReader(folder), RunsQuery.model_validate(query)
    return runs_page(reader, asks, reader.listed_runs(archived=asks.archived), wait=True)


def test_each_benchmark_and_agent_has_a_line_of_its_own(tmp_path: Path) -> None:
    for day, (name, benchmark, agent) in enumerate(
        (("a", "x", "one"), ("b", "y", "one"), ("c", "x", "one"), ("d", "x", "two")), 1
    ):
        head = manifest(name, benchmark=benchmark, agent=agent, created_at=f"2026-01-0{day}T00")
        with RunWriter.create(tmp_path, head) as writer:
            task = Task(id="t")
            score = Scored(day / 10, scorer=SCORER)
            writer.append(Episode(attempt=writer.new_attempt(task), task=task, scores=(score,)))
    chart = runs(tmp_path)["chart"]
    assert chart["run_ids"] == ["a", "b", "c", "d"]
    assert {(line["benchmark"], line["agent"]): line["means"] for line in chart["lines"]} == {
        ("x", "one"): [0.1, None, 0.3, None],
        ("y", "one"): [None, 0.2, None, None],
        ("x", "two"): [None, None, None, 0.4],
    }
    (heat,) = runs(tmp_path)["maps"]
    assert [run["run_id"] for run in heat["runs"]] == ["a", "c", "d"]
    assert [cell and cell["mean"] for cell in heat["tasks"][0]["cells"]] == [0.1, 0.3, 0.4]


def test_the_change_of_a_run_is_that_of_the_history(tmp_path: Path) -> None:
    rewards = {f"task {i}": 0.0 for i in range(12)}
    for name, value in (("run-1", 0.0), ("run-2", 1.0), ("run-3", 0.25)):
        write_run(tmp_path, name, dict.fromkeys(rewards, value))
    write_run(tmp_path, "other-4", {"elsewhere": 1.0})
    page = {run["run_id"]: run for run in runs(tmp_path)["runs"]}
    table = {row.run_id: row for row in history(runs_dir=tmp_path).rows}
    assert {name: run["change"] for name, run in page.items()} == {
        name: row.change for name, row in table.items()
    }
    changes = [run["change"].verdict for run in page.values() if run["change"] is not None]
    assert sorted(changes) == ["improved", "regressed"]


def test_a_page_of_many_attempts_is_sent_before_their_changes_are_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assay.viewer.pages.runs.AT_ONCE", 0)
    for name in ("run-1", "run-2"):
        write_run(tmp_path, name, {f"task {i}": 1.0 for i in range(6)})
    reader = RunsReader(tmp_path)
    rows = reader.listed_runs()
    assert runs_page(reader, RunsQuery(), rows)["pending"] == 2
    assert runs_page(reader, RunsQuery(fill=True), rows)["pending"] == 0
    assert runs_page(reader, RunsQuery(), rows)["pending"] == 0


def test_archived_runs_are_listed_when_they_are_asked_for(tmp_path: Path) -> None:
    for name in ("kept-1", "old-2"):
        write_run(tmp_path, name, {"task": 1.0})
    archive(tmp_path / "old-2")
    assert [run["run_id"] for run in runs(tmp_path)["runs"]] == ["kept-1"]
    page = runs(tmp_path, archived=True)
    assert {run["run_id"]: run["archived"] for run in page["runs"]} == {
        "kept-1": False,
        "old-2": True,
    }
    assert page["n_archived"] == 1


def test_the_older_of_two_picks_is_the_base(folder: Path) -> None:
    reader = RunsReader(folder)
    assert in_order(reader, ["two", "one", "nobody"]) == ("one", "two")


def test_every_word_has_a_sentence_without_backticks() -> None:
    words = page_words()
    for table in (words.words, words.endings, words.verdicts, CAUSES):
        for word, sentence in table.items():
            assert sentence.endswith("."), word
            assert "`" not in sentence, word


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("run `a <b>` now", "run <code>a &lt;b&gt;</code> now"),
        ("<i> no code", "&lt;i&gt; no code"),
        ("one ` alone", "one ` alone"),
        ("`a` and ` b", "<code>a</code> and ` b"),
        ("\u202e", "⟨U+202E⟩"),
    ],
)
def test_what_stands_between_backticks_is_code(text: str, html: str) -> None:
    assert coded(text) == html


def test_the_run_page_says_what_changed_since_the_run_before_and_which_tasks_moved(
    tmp_path: Path,
) -> None:
    write_run(tmp_path, "run-1", {"a": 1.0, "b": 0.0, "c": 0.5}, config=config(knob=24_000))
    write_run(tmp_path, "run-2", {"a": 0.0, "b": 1.0, "c": 1.0}, config=config(knob=1_500))
    page = run_page(RunsReader(tmp_path), "run-2", RunQuery(), wait=True)
    assert page["changes"] == ("agent.options.knob: 24000 → 1500",)
    assert (page["better"], page["worse"]) == (2, 1)
    html = Templates().render("run.html", page, ServerLinks(), twin="", poll="", here="", fill="")
    assert "agent.options.knob: 24000 → 1500" in html
    assert "▲ 2 tasks better" in html
    assert "▼ 1 task worse" in html


def test_what_fell_most_since_the_run_before_comes_first_then_the_least_reward(
    tmp_path: Path,
) -> None:
    write_run(tmp_path, "run-1", {"a": 0.0, "b": 0.9, "c": 1.0, "d": 0.2, "e": 1.0, "f": 1.0})
    write_run(tmp_path, "run-2", {"a": 1.0, "b": 0.5, "c": 0.0, "d": 0.2, "e": None, "f": 1.0})
    reader = RunsReader(tmp_path)
    assert names(run_page(reader, "run-2", RunQuery(), wait=True)) == ["c", "b", "e", "d", "a", "f"]
    assert names(run_page(reader, "run-1", RunQuery(), wait=True)) == ["a", "d", "b", "c", "e", "f"]
    recorded = run_page(reader, "run-2", RunQuery(sort="line"), wait=True)
    assert names(recorded) == ["a", "b", "c", "d", "e", "f"]


def test_a_cause_names_the_setting_that_was_changed_and_may_have_brought_it() -> None:
    changes = (
        "agent.options.observation_chars: 24000 → 1500",
        "agent.options.knob: 1 → 2",
        "benchmark.limits.steps: 15 → 5",
    )
    assert settings_of_causes(changes) == {
        "observation_truncated": "observation_chars: 24000 → 1500",
        "step_budget": "steps: 15 → 5",
    }


def test_lists_of_other_tasks_share_neither_a_line_nor_a_map(tmp_path: Path) -> None:
    for day, (name, task_set) in enumerate((("a", "x"), ("b", "y"), ("c", "x")), 1):
        head = manifest(
            name, benchmark="tasks", task_set=task_set, focus=name, created_at=f"2026-01-0{day}T00"
        )
        with RunWriter.create(tmp_path, head) as writer:
            task = Task(id="task.1", goal=task_set)
            score = Scored(day / 10, scorer=SCORER)
            writer.append(Episode(attempt=writer.new_attempt(task), task=task, scores=(score,)))
    page = runs(tmp_path)
    assert {line["focus"]: line["means"] for line in page["chart"]["lines"]} == {
        "c": [0.1, None, 0.3],
        "b": [None, 0.2, None],
    }
    (heat,) = page["maps"]
    assert [run["run_id"] for run in heat["runs"]] == ["a", "c"]
    assert compare_page(RunsReader(tmp_path), CompareQuery())["suggested"] == []


def test_each_run_is_offered_for_comparison_with_the_one_before_it(tmp_path: Path) -> None:
    for name in ("run-1", "run-2", "run-3"):
        write_run(tmp_path, name, {"a": 1.0})
    reader = RunsReader(tmp_path)
    page = compare_page(reader, CompareQuery())
    pairs = [(pair["base"].run_id, pair["cand"].run_id) for pair in page["suggested"]]
    assert pairs == [("run-2", "run-3"), ("run-1", "run-2")]
    assert compare_page(reader, CompareQuery(base="run-1", cand="run-2"))["suggested"] == []


def test_a_comparison_says_why_the_candidate_lost(folder: Path) -> None:
    page = compare_page(RunsReader(folder), CompareQuery(base="one", cand="two", force=True))
    assert page["diagnosed"]
    causes = {row["task"].task_id: row["cause"] for row in page["rows"]}
    assert causes["task.2"] == "no_answer"
    assert causes["task.0"] == ""
    (row,) = (row for row in page["rows"] if row["task"].task_id == "task.2")
    assert "'unknown' submitted" in row["evidence"]
    html = Templates().render("compare.html", page, ServerLinks(), twin="", poll="")
    assert "no answer" in html


def test_the_same_id_with_another_question_is_another_task(tmp_path: Path) -> None:
    for run_id, goals in (("one", ("France?", "Spain?")), ("two", ("Peru?", "Spain?"))):
        head = manifest(run_id, n_tasks=2, task_set=run_id)
        with RunWriter.create(tmp_path, head) as writer:
            for i, goal in enumerate(goals):
                task = Task(id=f"line.{i}", goal=goal, answer="x")
                writer.append(
                    Episode(
                        attempt=writer.new_attempt(task),
                        task=task,
                        final_response="x",
                        scores=(Scored(float(run_id == "two"), scorer=SCORER),),
                    )
                )
    page = run_page(RunsReader(tmp_path), "two", RunQuery(), wait=True)
    assert [item["before"] for item in page["episodes"]] == [None, 0.0]
    assert (page["better"], page["worse"]) == (1, 0)


def test_what_has_no_reward_is_not_counted_as_below_full_reward(folder: Path) -> None:
    diagnosis = page_of_run(folder)["diagnosis"]
    assert diagnosis is not None
    assert (diagnosis["scored"], diagnosis["lost"]) == (3, 2)


def test_columns_that_no_attempt_fills_are_left_out(tmp_path: Path) -> None:
    with RunWriter.create(tmp_path, manifest("house")) as writer:
        task = Task(id="house", goal="Heat the potato.")
        score = Scored(0.0, "the goal was not reached", scorer="alfworld_episode_reward@1")
        writer.append(Episode(attempt=writer.new_attempt(task), task=task, scores=(score,)))
    page = run_page(RunsReader(tmp_path), "house", RunQuery(), wait=True)
    assert (page["answers"], page["references"], page["steps"]) == (False, False, False)
    html = Templates().render("run.html", page, ServerLinks(), twin="", poll="", here="", fill="")
    heads = html.partition('<table class="attempts"')[2].partition("</thead>")[0]
    assert "reward" in heads
    assert not any(name in heads for name in (">submitted<", ">reference<", ">steps<"))


def test_a_model_that_is_an_object_has_the_name_of_its_class() -> None:
    options = {"model": "<my_agent.Script object at 0x7f913a502e10>"}
    head = manifest("run", config={"agent": {"options": options}})
    assert head.model_name == "Script"
    options["model"] = "openai/gpt <object at 1>"
    assert manifest("run", config={"agent": {"options": options}}).model_name == options["model"]


def test_every_word_that_a_template_asks_for_has_a_sentence() -> None:
    folder, words = Path(rendering.__file__).with_name("templates"), page_words().words
    for path in folder.glob("*.html"):
        text = path.read_text("utf-8")
        asked = set(re.findall(r'parts\.word\("([^"]+)"', text))
        asked |= set(re.findall(r'says\.word\["([^"]+)"\]', text))
        for names in re.findall(r"parts\.help\(\(([^()]*)\)", text):
            asked |= set(re.findall(r'"([^"]+)"', names))
        assert asked <= words.keys(), (path.name, asked - words.keys())
