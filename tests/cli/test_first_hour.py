"""What somebody meets who has an agent, a file of questions and old logs, and only the help."""

from __future__ import annotations

import json
import shutil
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from assay.agents.models.endpoint import Endpoint
from assay.agents.models.http1 import Response
from assay.cli.main import main
from assay.errors import MissingExtra, ModelError
from assay.formats import inspect_archive
from assay.ledger.layout import list_runs
from assay.ledger.run import Run

FOREIGN = Path(__file__).parents[1] / "data/foreign"
CAPITALS = {"France": "Paris", "Japan": "Tokyo", "Peru": "Lima", "Kenya": "Nairobi"}
AGENTS = """
CAPITALS = {"France": "Paris", "Japan": "Tokyo", "Peru": "Lima", "Kenya": "Nairobi"}

def answer(q):
    return CAPITALS[q.split()[-1].strip("?")]

def missing(q):
    import no_such_module

def mistaken(q):
    return q.missing_method()

def unknown(q):
    raise ValueError("not today")

def returns_nothing(q):
    return None

class Takes:
    def act(self, observation):
        return answer(observation.replace("!", ""))

class TakesText:
    def act(self, observation: str):
        return answer(observation)

class TakesTextAsync:
    async def start(self, task, *, limits):
        pass
    async def act(self, observation: str, *, step):
        return answer(observation)
    async def close(self):
        pass
"""
REWARDS = """
def bad(final_response):
    return 1 / 0

def picky(final_response):
    return 1.0 if final_response != "Lima" else {}["Lima"]
"""
REWARD = ("--reward", "qa_f1_reward")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [{"q": f"What is the capital of {k}?", "gold": v} for k, v in CAPITALS.items()]
    Path(tmp_path, "qs.jsonl").write_text("\n".join(map(json.dumps, rows)))
    Path(tmp_path, "mine.py").write_text(AGENTS)
    Path(tmp_path, "rew.py").write_text(REWARDS)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    Path(tmp_path, "talks.py").write_text(
        "import sys\nsys.stderr.write('first' + ' words' * 2000 + ' last')\nsys.exit(3)\n"
    )
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.chdir(tmp_path)


def assay(capfd: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    for module in ("mine", "rew"):
        sys.modules.pop(module, None)  # each call is a process of its own
    code: Any = main(list(arguments))
    shown = capfd.readouterr()
    return code, shown.out, shown.err


def asked(
    capfd: pytest.CaptureFixture[str], agent: str, *more: str, code: int = 0
) -> tuple[dict[str, Any], str]:
    column = () if "--column" in more else ("--column", "question=q")
    status, out, err = assay(
        capfd, "run", "qs.jsonl", "--agent", agent, *column, *REWARD, "--json", *more
    )
    assert status == code, err
    return json.loads(out), err


@pytest.mark.parametrize("name", ["TakesText", "TakesTextAsync"])
def test_a_class_that_annotates_a_text_gets_one(
    name: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert asked(capfd, f"mine.py:{name}")[0]["mean"] == 1.0


@pytest.mark.parametrize(
    ("agent", "words"),
    [
        pytest.param("mine.py:Takes", "whose text is `observation.text`", id="text of a class"),
        pytest.param("mine.py:missing", "No module named 'no_such_module'", id="import"),
        pytest.param("stdio:python3 nosuch.py", "can't open file", id="program ends"),
        pytest.param(
            "stdio:python3 talks.py",
            "ended with status 3: first",
            id="first words of a program",
        ),
    ],
)
def test_an_agent_that_cannot_work_ends_the_run_early_with_the_reason(
    agent: str, words: str, capfd: pytest.CaptureFixture[str]
) -> None:
    record, err = asked(capfd, agent, code=1)
    assert record["counts"]["n"] == 3
    assert "stopped early" in err
    assert words in err
    assert "--retry-errors=agent" in err


@pytest.mark.parametrize("name", ["unknown", "mistaken", "returns_nothing"])
def test_an_error_that_may_be_of_one_question_counts_for_every_one(
    name: str, capfd: pytest.CaptureFixture[str]
) -> None:
    record, err = asked(capfd, f"mine.py:{name}", code=1)
    assert (record["counts"]["n"], record["mean"]) == (4, 0.0)
    assert "every attempt ended in the same agent_error" in err


def test_an_error_names_the_option_and_the_exit_code_says_that_the_call_is_wrong(
    capfd: pytest.CaptureFixture[str],
) -> None:
    Path("dup.jsonl").write_text('{"id": 1, "q": "a"}\n{"id": 1, "q": "b"}')
    agent = ("--agent", "mine.py:answer", *REWARD)
    for arguments, words in (
        (("qs.jsonl",), "--column question=q"),
        (("none.jsonl",), "cannot be read"),
        (("dup.jsonl", "--column", "question=q"), "give every task an id of its own"),
    ):
        code, _, err = assay(capfd, "run", *arguments, *agent)
        assert (code, words in err) == (2, True), err


def test_tables_and_arrays_of_questions_are_read(capfd: pytest.CaptureFixture[str]) -> None:
    Path("q.csv").write_text(
        'question,answer\n"What, is the capital of Peru?",Lima\ncapital of Kenya,Nairobi\n'
    )
    Path("q.json").write_text(
        json.dumps([{"question": "capital of Peru", "answer": "Lima"}, {"question": "of Kenya"}])
    )
    for name, mean in (("q.csv", 1.0), ("q.json", 1.0)):
        _, out, _ = assay(capfd, "run", name, "--agent", "mine.py:answer", *REWARD, "--json")
        assert json.loads(out)["mean"] == mean
        assert [task["task_id"] for task in json.loads(out)["tasks"]] == ["row.1", "row.2"]
    Path("q.json").write_text('{"question": "a"}')
    code, _, err = assay(capfd, "run", "q.json", "--agent", "mine.py:answer", *REWARD)
    assert (code, "a JSON array of objects" in err) == (2, True)


def test_an_agent_outside_a_repository_is_told_apart(capfd: pytest.CaptureFixture[str]) -> None:
    first, _ = asked(capfd, "mine.py:answer")
    Path("mine.py").write_text(AGENTS.replace('"Kenya": "Nairobi"}', '"Kenya": "Mombasa"}'))
    second, _ = asked(capfd, "mine.py:answer")
    assert (first["mean"], second["mean"]) == (1.0, 0.75)
    _, out, _ = assay(capfd, "compare", "@-2", "@-1")
    assert "code     mine.py: +1 -1 lines" in out
    assert "regressed" in out
    assert "flaky" not in out
    manifests = [Run(path).manifest for path in list_runs(Path("runs"))]
    assert all(manifest.dirty and not manifest.commit for manifest in manifests)


def test_a_run_resumed_with_other_code_says_so_in_its_summary(
    capfd: pytest.CaptureFixture[str],
) -> None:
    Path("mine.py").write_text(
        AGENTS
        + """
import os, signal
def stops(q):
    if "Peru" in q:
        os.kill(os.getpid(), signal.SIGINT)
        __import__("time").sleep(5)
    return "x"
"""
    )
    handler = signal.getsignal(signal.SIGINT)
    code, out, err = assay(
        capfd, "run", "qs.jsonl", "--agent", "mine.py:stops", "--column", "question=q", *REWARD,
        "--workers", "1",
    )  # fmt: skip
    signal.signal(signal.SIGINT, handler)
    assert code == 130
    assert err.count("stopped") == 1
    Path("mine.py").write_text(AGENTS + "\ndef stops(q):\n    return 'y'\n")
    code, out, err = assay(capfd, "run", "--resume", "latest")
    assert "the agent's code is not what it was" in err
    assert "2 of 4 attempts were played by other code" in " ".join(out.split())
    _, out, _ = assay(capfd, "history")
    assert "2 of 4 attempts were played by other code" in " ".join(out.split())
    _, _, err = assay(capfd, "run", "--resume", "latest")
    assert "nothing was left to run: all 4 episodes were there" in err


def test_the_hint_after_a_reward_that_raises_works(capfd: pytest.CaptureFixture[str]) -> None:
    code, _, err = assay(
        capfd, "run", "qs.jsonl", "--agent", "mine.py:answer", "--column", "question=q",
        "--reward", "rew.py:bad",
    )  # fmt: skip
    assert code == 1
    hint = err.strip().rpartition("assay score ")[2]
    code, _, err = assay(capfd, "score", *hint.split())
    assert (code, "division by zero" in err) == (1, True)  # found, and not mended


def test_every_reward_is_in_the_summary_and_the_diagnosis(
    capfd: pytest.CaptureFixture[str],
) -> None:
    both = ("--reward", "qa_f1_reward,fuzzy_answer_reward")
    record, _ = asked(capfd, "mine.py:answer", *both)
    expected = [("qa_f1_reward@1", 1.0, 4), ("fuzzy_answer_reward@1", 1.0, 4)]
    assert [(r["scorer"], r["mean"], r["scored"]) for r in record["rewards"]] == expected
    _, out, _ = assay(capfd, "run", "--resume", "latest")
    assert "beside it         1.0000 of 4 (fuzzy_answer_reward@1)" in out
    diagnosis = json.loads(assay(capfd, "diagnose", "--json")[1])
    assert [(r["scorer"], r["mean"], r["scored"]) for r in diagnosis["rewards"]] == expected


def test_a_file_of_questions_is_run_twice_to_see_the_noise(
    capfd: pytest.CaptureFixture[str],
) -> None:
    call = (
        "run", "qs.jsonl", "--agent", "mine.py:answer", *REWARD, "--column", "question=q",
        "--repeat-run", "2", "--focus", "noise",
    )  # fmt: skip
    code, out, err = assay(capfd, *call, "--json")
    assert code == 0, err
    records = json.loads(out)
    assert [record["mean"] for record in records] == [1.0, 1.0]
    paths = [record["path"] for record in records]
    focus = [Run(path).manifest.focus for path in paths]
    assert focus == ["noise, run 1 of 2", "noise, run 2 of 2"]
    assert f"assay compare --noise {' '.join(paths)}" in err
    code, out, err = assay(capfd, "compare", "--noise", *paths, "--json")
    assert code == 0, err
    assert json.loads(out)["means"] == [1.0, 1.0]
    code, out, err = assay(capfd, *call)
    assert code == 0, err
    assert out.count("mean reward") == 2
    code, _, err = assay(capfd, "run", "--resume", "latest", "--repeat-run", "2")
    assert code == 2
    assert "--resume continues a single run" in err


OLD = [
    {"question": f"What is the capital of {k}?", "response": v, "answer": v, "score": float(i > 0)}
    for i, (k, v) in enumerate(CAPITALS.items())
]


def wrote(name: str, rows: list[dict[str, Any]]) -> str:
    Path(name).write_text("\n".join(map(json.dumps, rows)))
    return name


def test_a_run_is_compared_with_a_log_that_records_less_and_has_another_order(
    capfd: pytest.CaptureFixture[str],
) -> None:
    mine = asked(capfd, "mine.py:answer")[0]["run_id"]
    unscored = [{k: v for k, v in row.items() if k != "score"} for row in reversed(OLD)]
    unscored[0]["response"] = "no idea"
    _, out, _ = assay(capfd, "import", wrote("old.jsonl", unscored))
    hint = next(line for line in out.splitlines() if line.startswith("not scored yet: assay score"))
    assert "(not scored yet)" in out
    _, shown, _ = assay(capfd, "diagnose", hint.split()[5])
    assert "not scored" in shown
    assert "scorer error" not in shown
    code, out, err = assay(capfd, "score", hint.split()[5], "--reward", "qa_f1_reward", "--json")
    assert (code, "scoring" in err) == (0, False)
    child = json.loads(out)["run_id"]
    code, out, err = assay(capfd, "compare", mine, child)
    assert code == 0, out + err
    assert "one run records no step budget" in out
    assert "paired by their questions" in out
    # The first line of the log is the last question of the run.
    assert next(line for line in out.splitlines() if "-1.000" in line).startswith("line.4 ")
    assert "limits" not in out
    assert "1 task differs" in out


def test_another_column_makes_no_other_questions(capfd: pytest.CaptureFixture[str]) -> None:
    asked(capfd, "mine.py:answer")
    rows = [json.loads(line) for line in Path("qs.jsonl").read_text().splitlines()]
    wrote("qs.jsonl", [{**row, "topic": "geo"} for row in rows])
    asked(capfd, "mine.py:answer")
    assert assay(capfd, "compare", "@-2", "@-1")[0] == 0
    wrote("qs.jsonl", [{**row, "gold": "Rome"} for row in rows])
    asked(capfd, "mine.py:answer")
    code, out, _ = assay(capfd, "compare", "@-3", "@-1")
    assert (code, "other questions or references" in out) == (2, True)


def test_an_answer_in_a_sentence_is_not_called_a_near_miss(
    capfd: pytest.CaptureFixture[str],
) -> None:
    Path("mine.py").write_text(
        AGENTS + "\ndef says(q):\n    return f'The capital is {answer(q)}.'\n"
    )
    asked(capfd, "mine.py:says")
    found = json.loads(assay(capfd, "diagnose", "--json", "--task", "1")[1])
    assert [(row["cause"], row["attempts"]) for row in found["causes"]] == [("extra_words", 1)]
    assert "ask for the bare answer" in found["causes"][0]["suggestion"]
    assert assay(capfd, "diagnose", "--task", "9")[0] == 2


def test_the_import_of_a_log_names_the_command_that_comes_next(
    capfd: pytest.CaptureFixture[str],
) -> None:
    _, out, _ = assay(capfd, "import", wrote("old.jsonl", OLD))
    run = Path(list_runs(Path("runs"))[0]).name
    assert f"next: assay diagnose {run}" in out
    code, out, _ = assay(capfd, "diagnose", run)
    assert (code, "1 below full reward" in " ".join(out.split())) == (0, True)


def test_a_run_that_was_cut_says_how_much_of_it_there_is(
    capfd: pytest.CaptureFixture[str],
) -> None:
    asked(capfd, "stdio:python3 nosuch.py", code=1)
    _, out, _ = assay(capfd, "diagnose")
    assert "3 of 4 attempts are there" in " ".join(out.split())


def test_eighty_columns_are_enough_for_the_list_of_runs(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    asked(capfd, "mine.py:answer", "--focus", "capitals by heart")
    _, out, _ = assay(capfd, "list", "runs")
    lines = out.splitlines()
    assert len(lines) == 3
    assert lines[1].split()[1:] == ["qs", "mine.py:answer", "4/4", "1.0000", "0"]
    assert "capitals by heart" in lines[2]
    _, out, _ = assay(capfd, "history")
    assert "no focus given" not in out


def test_a_folder_is_imported_although_one_log_needs_a_library(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(FOREIGN / "inspect-0.3.285", "logs")

    def refuse(path: Path) -> Any:
        raise MissingExtra(f"{path.name} is packed: run: pip install zstandard")

    monkeypatch.setattr(inspect_archive, "_zstandard", refuse)
    code, out, err = assay(capfd, "import", "logs")
    assert (code, "skipped: questions.eval is packed" in err) == (0, True), err
    assert "mean reward" in out


def test_a_refusal_without_a_key_names_the_empty_variable() -> None:
    endpoint = Endpoint("http://127.0.0.1:9/v1", headers={}, key_env="OPENAI_API_KEY")
    response = Response(401, {}, b"Incorrect API key provided")
    with pytest.raises(ModelError, match=r"status 401: Incorrect .*'OPENAI_API_KEY' is empty"):
        endpoint._temporary_problem(response)
    with pytest.raises(ModelError, match=r"provided$"):
        Endpoint("http://127.0.0.1:9/v1", headers={}, secret="x", key_env="A")._temporary_problem(
            response
        )


TRIPS = [
    {"id": f"t{i}", "wording": f"What is the capital of {k}?", "expected": v, "topic": "geo"}
    for i, (k, v) in enumerate(CAPITALS.items())
]


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        (("question=wording",), "topic, wording; name the column of references: --column a"),
        (("question=wording", "answr=expected"), "did you mean answer=expected?"),
        (("qestion=wording", "answer=expected"), "did you mean question=wording?"),
        (("answer=expected",), "columns there are: expected, id, topic, wording; say which"),
        (("question=wordng", "answer=expected"), "did you mean 'wording'?"),
    ],
)  # fmt: skip
def test_a_column_that_is_not_named_is_told_before_the_run(
    columns: tuple[str, ...], words: str, capfd: pytest.CaptureFixture[str]
) -> None:
    named = [text for column in columns for text in ("--column", column)]
    call = ("run", wrote("trips.jsonl", TRIPS), "--agent", "mine.py:answer", *REWARD, *named)
    code, _, err = assay(capfd, *call)
    assert (code, words in err, list_runs(Path("runs"))) == (2, True, []), err


def test_a_reward_that_admits_no_reference_gets_none(capfd: pytest.CaptureFixture[str]) -> None:
    Path("rew.py").write_text(
        "def fluent(final_response, answer: str | None):\n    return float(answer is None)\n"
    )
    named = ("--column", "question=wording", "--reward", "rew.py:fluent", "--json")
    file = wrote("trips.jsonl", TRIPS)
    _, out, err = assay(capfd, "run", file, "--agent", "mine.py:answer", *named)
    assert json.loads(out)["mean"] == 1.0, err


def german(scores: list[Any]) -> str:
    rows = [
        {"Was wurde gefragt?": f"{i} + 1?", "Modell sagte": "2", "Soll": "2", "Pkt.": score}
        for i, score in enumerate(scores)
    ]
    return wrote("old.jsonl", rows)


GERMAN = (
    "--column", "question=Was wurde gefragt?", "--column", "response=Modell sagte",
    "--column", "answer=Soll", "--column", "score=Pkt.",
)  # fmt: skip


def test_columns_that_are_named_let_lines_be_recognised_and_scores_be_read(
    capfd: pytest.CaptureFixture[str],
) -> None:
    file = german([1, "0", "ok", None, " 0.5 ", "ok", True, "NaN"])
    code, out, err = assay(capfd, "import", file, *GERMAN)
    assert (code, "0.6250 of 4" in out) == (0, True), err
    lines = [line for line in out.splitlines() if "without a score" in line]
    assert lines == [
        '2 without a score: the score is "ok", first at old.jsonl line 3',
        "1 without a score: the score is null, first at old.jsonl line 4",
        '1 without a score: the score is "NaN", first at old.jsonl line 8',
    ]
    code, _, err = assay(capfd, "import", file, *GERMAN[:2], "--column", "respons=Modell sagte")
    assert (code, "did you mean 'response'?" in err) == (2, True)


def test_rows_without_a_result_are_no_attempts(capfd: pytest.CaptureFixture[str]) -> None:
    file = wrote("old.jsonl", [{"q": "1 + 1?", "a": "2"}] * 3)
    for more in (("--column", "question=q"), ("--column", "question=q", "--format", "jsonl")):
        code, _, err = assay(capfd, "import", file, *more)
        assert (code, "no response and no score; its columns are: a, q" in err) == (2, True)
    rows = [{"question": "1?", "response": r} for r in ("1", None, "")]
    wrote("old.jsonl", [*rows, {"question": "2?"}, {"question": "3?", "error": "it broke"}])
    code, out, _ = assay(capfd, "import", file)
    assert (code, "answered          1 of 4" in out) == (0, True), out
    assert "skipped: old.jsonl line 4: the row has neither a response nor a score" in out


def test_a_log_that_is_not_there_is_a_wrong_call(capfd: pytest.CaptureFixture[str]) -> None:
    code, _, err = assay(capfd, "import", "nosuch.jsonl")
    assert (code, "there is no file or folder 'nosuch.jsonl'" in err) == (2, True)


def test_a_run_without_scores_is_the_base_of_none(capfd: pytest.CaptureFixture[str]) -> None:
    Path("mine.py").write_text(
        AGENTS + "\ndef wrong(q):\n    return 'Rome'\n\ndef refused(q):\n"
        "    from assay.errors import ModelError\n    raise ModelError('no key')\n"
    )
    first = asked(capfd, "mine.py:wrong")[0]["run_id"]
    dead = asked(capfd, "mine.py:refused", code=1)[0]["run_id"]
    asked(capfd, "mine.py:answer", "--expect", "up:1,2")
    rows = json.loads(assay(capfd, "history", "--json")[1])["rows"]
    assert rows[2]["change"]["against"] == first
    assert (rows[2]["prediction"]["came_true"], rows[2]["commit"]) == (True, "")
    code, out, _ = assay(capfd, "compare", "@-2", "@-1")
    assert code == 0
    line = f"{dead} has no scores; perhaps you meant assay compare @-3 @-1; assay history --archive"
    assert line in out
    asked(capfd, "mine.py:refused", "--expect", "up:1", code=1)
    _, out, _ = assay(capfd, "history")
    assert "1 unknown, 0 down (cannot be said)" in out
    assert "commit" not in out
    _, out, _ = assay(capfd, "compare", "@-4", "@-2")
    assert "agent's files" not in out
    Path("mine.py").write_text(AGENTS)
    asked(capfd, "mine.py:answer")
    _, out, _ = assay(capfd, "compare", "@-3", "@-1")
    assert ("agent's files: " in out, "commit" in out) == (True, False)


def test_an_empty_answer_is_none(capfd: pytest.CaptureFixture[str]) -> None:
    Path("mine.py").write_text(
        AGENTS + "\ndef silent(q):\n    return ' ' if 'Peru' in q else answer(q)\n"
    )
    record, _ = asked(capfd, "mine.py:silent")
    assert (record["counts"]["answered"], record["endings"]["gave_up"]) == (3, 1)
    causes = json.loads(assay(capfd, "diagnose", "--json")[1])["causes"]
    assert [(row["cause"], row["attempts"]) for row in causes] == [("no_answer", 1)]


RUN = ("run", "qs.jsonl", "--column", "question=q", *REWARD)
ANSWER = ("--agent", "mine.py:answer")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("history", "nosuch"), "no runs of nosuch in runs"),
        ((*RUN, *ANSWER, "--set", "limit.steps=3"), "did you mean limits.steps?"),
        ((*RUN, "--agent", "mine.py:loud", "--set", "verbos=false"), "did you mean 'verbose'?"),
        (("run", "q.jsonl", *ANSWER, *REWARD), "did you mean 'qs.jsonl'?"),
        ((*RUN, "--agent", "min.py:answer"), "did you mean 'mine.py'?"),
        ((*RUN, "--agent", "min.py"), "did you mean 'mine.py'?"),
        ((*RUN, "--agent", "mine.py"), "as mine.py:answer (it has: answer, missing, mistaken"),
        ((*RUN, "--agent", "stido:node cal.js"), "did you mean 'stdio:'? stdio:COMMAND is a"),
        ((*RUN, *ANSWER, "--max-cost", "5usd"), "'5usd' is not a number of dollars, such as 5"),
        ((*RUN, *ANSWER, "--max-tokens", "5k"), "'5k' is not a valid whole number"),
        (RUN, "the agent is missing: --agent FILE.py:NAME"),
    ],
)
def test_a_slip_is_answered_with_what_was_meant(
    arguments: tuple[str, ...], words: str, capfd: pytest.CaptureFixture[str]
) -> None:
    Path("mine.py").write_text(
        AGENTS + "\ndef loud(q, *, verbose: bool = True):\n    return answer(q)\n"
    )
    code, _, err = assay(capfd, *arguments)
    assert (code, words in err) == (2, True), err


def test_what_is_shared_names_no_folder_and_no_commit_that_there_is_not(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    asked(capfd, str(tmp_path / "mine.py") + ":answer")
    code, _, err = assay(capfd, "diagnose", "lates")
    assert (code, "did you mean 'latest'?" in err) == (2, True)
    for option in ("--html", "--out"):
        code, _, err = assay(capfd, "export", "latest", option, "nosuch/r.html")
        assert (code, "there is no folder 'nosuch'" in err) == (2, True), err
    assert assay(capfd, "export", "latest", "--html", "r.html")[0] == 0
    page = Path("r.html").read_text()
    assert ("qs.jsonl" in page, str(tmp_path) in page) == (True, False)


def test_a_list_of_runs_in_a_pipe_is_whole(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    shutil.copy("mine.py", "an_agent_with_a_name_that_is_rather_long.py")
    agent = "an_agent_with_a_name_that_is_rather_long.py:answer"
    asked(capfd, agent, "--focus", "f" * 100)
    _, out, _ = assay(capfd, "list", "runs")
    assert agent in out
    assert "f" * 100 in out
    assert max(map(len, out.splitlines())) < 300


def test_a_reward_of_ones_own_is_listed(capfd: pytest.CaptureFixture[str]) -> None:
    code, out, err = assay(capfd, "list", "rewards", "rew.py:bad")
    assert (code, "bad@1" in out) == (0, True), err


def test_a_log_with_a_reward_of_its_own_is_scored_again(capfd: pytest.CaptureFixture[str]) -> None:
    mine = asked(capfd, "mine.py:answer")[0]["run_id"]
    assay(capfd, "import", wrote("old.jsonl", OLD))
    log = next(run.name for run in list_runs(Path("runs")) if run.name != mine)
    code, out, _ = assay(capfd, "compare", log, mine)
    hint = f"assay score {log} --reward qa_f1_reward"
    assert (code, hint in out) == (2, True), out
    child = json.loads(assay(capfd, *hint.split()[1:], "--json")[1])["run_id"]
    assert assay(capfd, "compare", child, mine)[0] == 0


def test_an_option_of_the_wrong_type_is_refused_before_the_run(
    capfd: pytest.CaptureFixture[str],
) -> None:
    Path("typed.py").write_text("def reply(question, *, loud: bool = False):\n    return 'Paris'\n")
    code, _, err = assay(
        capfd, "run", "qs.jsonl", "--agent", "typed.py:reply", "--reward", "qa_f1_reward",
        "--column", "question=q", "--set", "loud=flase",
    )  # fmt: skip
    assert code == 2
    assert "loud is 'flase'; it must be true or false" in err


def test_a_reward_with_a_column_of_its_own_is_not_audited_on_rows_without_it(
    capfd: pytest.CaptureFixture[str],
) -> None:
    Path("topical.py").write_text(
        "def kind(final_response, answer, topic):\n    return float(final_response == answer)\n"
    )
    code, _, err = assay(capfd, "audit", "topical.py:kind")
    assert code == 2
    assert "needs 'topic', which the rows of the audit do not have" in err
    assert "--data FILE.jsonl" in err


def test_a_program_that_greets_before_it_replies_ends_the_run_early(
    capfd: pytest.CaptureFixture[str],
) -> None:
    Path("greets.py").write_text("print('starting up...', flush=True)\ninput()\ninput()\n")
    code, _, err = assay(
        capfd, "run", "qs.jsonl", "--agent", f"stdio:{sys.executable} greets.py", "--reward",
        "qa_f1_reward", "--column", "question=q", "--stop-after-errors", "2",
    )  # fmt: skip
    assert code == 1
    assert "stopped early" in err
    assert "must write only replies to standard output" in err


def test_a_program_that_keeps_one_waiting_is_named(
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("assay.agents.outside.PATIENCE_S", 0.05)
    Path("waits.py").write_text("import time\ntime.sleep(60)\n")
    assay(
        capfd, "run", "qs.jsonl", "--agent", f"stdio:{sys.executable} waits.py", "--reward",
        "qa_f1_reward", "--column", "question=q", "--tasks", "line.1", "--set", "limits.step_s=0.3",
    )  # fmt: skip
    assert "does it keep its input or output in a buffer?" in caplog.text


def test_attempts_that_a_reward_did_not_grade_are_said_and_can_close_the_gate(
    capfd: pytest.CaptureFixture[str],
) -> None:
    words = ["run", "qs.jsonl", "--agent", "mine.py:answer", "--column", "question=q",
             "--reward", "rew.py:picky"]  # fmt: skip
    code, out, _ = assay(capfd, *words)
    assert code == 0
    assert "picky@1 did not grade 1 of 4 attempts (25%), 1 since picky raised KeyError" in out
    for most, expected in (("0", 3), ("1", 0), ("20%", 3), ("0.25", 0)):
        code, out, err = assay(capfd, *words, "--max-abstained", most)
        assert code == expected, err
        assert ("abstained from 1 of 4" in err) is (expected == 3)
    code, _, err = assay(capfd, *words, "--max-abstained", "many")
    assert (code, "--max-abstained 'many'" in err) == (2, True)
    code, out, _ = assay(capfd, *words[:-1], "qa_f1_reward", "--max-abstained", "0")
    assert (code, "did not grade" in out) == (0, False)
