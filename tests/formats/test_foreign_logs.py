"""Logs that other tools wrote become runs with their counts, their means and their failures."""

from __future__ import annotations

import csv
import json
import re
import shutil
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assay.errors import BadParameter, BadRecord, UnknownName, UsageError
from assay.formats import recognise
from assay.formats.foreign import ReadProblems, failure, json_rows, top_keys, utc
from assay.ledger.layout import list_runs
from assay.ledger.run import Run, open_run
from assay.ledger.summary import summarise
from assay.ledger.transfer import export_run, import_run, import_runs, skipped_of
from assay.report.comparability import model_of
from assay.report.comparison import compare
from assay.report.diagnosis import diagnose
from assay.schema.episode import FailureKind
from tests.ledger.example import write_example

DATA = Path(__file__).parents[1] / "data" / "foreign"
EVAL = DATA / "inspect-0.3.285" / "questions.eval"
JSON = DATA / "inspect-0.3.285" / "questions.json"
LM_EVAL = DATA / "lm-eval-0.4.13"
SAMPLES = next(LM_EVAL.glob("samples_scripted_questions_*.jsonl"))
CHOICES = next(LM_EVAL.glob("samples_scripted_choices_*.jsonl"))
RESULTS = DATA / "verifiers-0.1.14" / "results.jsonl"
TRACES = DATA / "verifiers-0.4.0" / "traces.jsonl"
STUDY = next((DATA / "agentlab-0.4.2").iterdir())
JOB = DATA / "harbor-0.25.0"
ROLLOUTS = DATA / "nemo-gym-0.4.0" / "rollouts.jsonl"


def test_no_log_names_a_folder_of_the_machine_that_wrote_it() -> None:
    place = re.compile(rb"/(?:tmp|root|work)/")
    files = [path for path in DATA.rglob("*") if path.is_file()]
    assert [path for path in files if place.search(path.read_bytes())] == []


def test_a_log_of_inspect_has_the_counts_and_means_of_inspect(tmp_path: Path) -> None:
    for log in (EVAL, JSON):
        run = import_run(log, tmp_path)
        header = json.loads(JSON.read_text()) if log == JSON else _zstandard_member(log)
        results = header["results"]
        counts = summarise(run).counts
        assert counts.n == results["total_samples"]
        assert counts.scored == results["completed_samples"]
        (first, second) = (score["metrics"]["accuracy"]["value"] for score in results["scores"])
        assert counts.mean == pytest.approx(first)
        values = [float(e.scores[1]) for e in run.final() if not e.no_fault]
        assert sum(values) / len(values) == pytest.approx(second)
        spec = header["eval"]
        assert run.manifest.rewards == ("match", "includes")
        assert run.manifest.benchmark == spec["task"]
        assert run.manifest.commit == spec["revision"]["commit"]
        assert run.manifest.created_at == utc(spec["created"])
        assert run.manifest.config["task"]["version"] == 3
        assert model_of(run.manifest) == {
            "client": "openai/scripted-1",
            **spec["model_generate_config"],
        }
        usage = header["stats"]["model_usage"]["openai/scripted-1"]
        total = summarise(run).usage
        assert (total.prompt_tokens, total.completion_tokens) == (
            usage["input_tokens"],
            usage["output_tokens"],
        )
        assert total.calls == counts.scored
        assert dict(next(iter(run.final())).scores[0].params) == {"location": "any"}


def _zstandard_member(log: Path) -> dict[str, Any]:
    import pyarrow as pa

    with zipfile.ZipFile(log) as file:
        info = file.getinfo("header.json")
    start = info.header_offset + 30 + len(info.filename)
    packed = log.read_bytes()[start : start + info.compress_size]
    text = pa.decompress(packed, info.file_size, codec="zstd", asbytes=True)
    header: dict[str, Any] = json.loads(text)
    return header


def results_of(samples: Path) -> Path:
    return samples.with_name(f"results_{samples.stem.rpartition('_')[2]}.json")


def test_a_choice_among_continuations_has_the_likeliest_for_its_response(tmp_path: Path) -> None:
    run = import_run(CHOICES, tmp_path)
    results = json.loads(results_of(CHOICES).read_text())
    own = results["results"]["scripted_choices"]
    counts = summarise(run).counts
    assert counts.mean == pytest.approx(own["acc,none"])
    second = [float(episode.scores[1]) for episode in run.final()]
    assert sum(second) / len(second) == pytest.approx(own["acc_norm,none"])
    assert run.manifest.rewards == ("acc@1.0", "acc_norm@1.0")
    for episode in run.final():
        right = episode.final_response == episode.task.answer
        assert float(episode.scores[0]) == right
        assert episode.task.answer == episode.task.metadata["answer"]


def test_samples_of_lm_eval_have_its_counts_and_means(tmp_path: Path) -> None:
    run = import_run(SAMPLES, tmp_path)
    results = json.loads(results_of(SAMPLES).read_text())
    own = results["results"]["scripted_questions"]
    counts = summarise(run).counts
    assert counts.n == results["n-samples"]["scripted_questions"]["effective"]
    assert counts.mean == pytest.approx(own["exact_match,strict-match"])
    second = [float(episode.scores[1]) for episode in run.final()]
    assert sum(second) / len(second) == pytest.approx(own["exact_match,flexible-extract"])
    assert run.manifest.rewards == (
        "exact_match,strict-match@2.1",
        "exact_match,flexible-extract@2.1",
    )
    assert (run.manifest.benchmark, run.manifest.agent) == ("scripted_questions", "scripted-1")
    assert run.manifest.versions["lm_eval"] == "0.4.13"
    assert run.manifest.created_at == utc(results["date"])
    first = next(iter(run.final()))
    assert (first.task.goal, first.task.answer) == ("Question: What is 2 + 3?", "5")
    assert (first.final_response, first.scores[0].notes["extracted"]) == ("5", "5")


def test_a_file_of_results_leads_to_its_samples(tmp_path: Path) -> None:
    found = recognise(results_of(SAMPLES))
    assert (found.format.name, found.logs) == ("lm-eval", (SAMPLES,))


def test_results_of_verifiers_have_its_counts_and_its_failures_are_no_zeros(
    tmp_path: Path,
) -> None:
    run = import_run(RESULTS, tmp_path)
    own = json.loads(RESULTS.with_name("metadata.json").read_text())
    counts = summarise(run).counts
    assert counts.n == own["num_examples"] * own["rollouts_per_example"]
    assert counts.model_errors / counts.n == own["avg_error"]
    assert counts.mean is not None
    assert counts.mean * counts.scored / counts.n == pytest.approx(own["avg_reward"])
    assert next(iter(run.final())).scores[0].parts["right_answer"] == 1.0
    assert run.manifest.config["imported"]["reported"][0]["value"] == own["avg_reward"]
    assert (run.manifest.benchmark, run.manifest.agent) == ("scripted-questions", "scripted-1")
    assert (run.manifest.repeats, run.manifest.versions["verifiers"]) == (2, "0.1.14")


def test_traces_of_verifiers_have_its_rewards(tmp_path: Path) -> None:
    run = import_run(TRACES, tmp_path)
    rows = [json.loads(line) for line in TRACES.read_text().splitlines()]
    rewards = [
        sum(each["score"] * each["weight"] for each in row["traces"][0]["rewards"].values())
        for row in rows
        if row["ok"]
    ]
    counts = summarise(run).counts
    assert (counts.n, counts.scored) == (len(rows), len(rewards))
    assert counts.mean == pytest.approx(sum(rewards) / len(rewards))
    assert counts.model_errors == sum(not row["ok"] for row in rows) == 2
    episode = next(e for e in run.final(full=True) if e.task.id == "sum.1")
    assert [m.role for m in episode.trajectory.messages] == ["system", "user", "assistant"]
    assert (episode.final_response, episode.task.answer) == ("5", "5")
    assert run.manifest.versions["verifiers"] == "0.4.0"


def test_a_study_of_agentlab_has_its_counts_pages_and_prompts(tmp_path: Path) -> None:
    run = import_run(STUDY, tmp_path, unpickle=True)
    (table,) = csv.DictReader(
        (STUDY / "summary_df_trial_1_of_1.csv").read_text(encoding="utf-8").splitlines()
    )
    counts = summarise(run).counts
    assert f"{counts.n}/{counts.n}" == table["n_completed"]
    assert counts.model_errors == int(table["n_err"])
    assert counts.mean is not None
    assert counts.mean * counts.scored / counts.n == pytest.approx(float(table["avg_reward"]))
    assert run.manifest.created_at.startswith("2026-11-15T19:25:27")
    assert model_of(run.manifest) == {"client": "scripted-1"}
    episode = next(e for e in run.final(full=True) if e.task.id == "scripted.capital.2")
    page = run.text(episode.trajectory.steps[1].observation)
    assert "What is the capital of Österreich?" in page
    system, user, reply = episode.trajectory.messages
    assert (system.content, reply.content) == ("Answer with one word.", "Wien")
    assert page in str(user.content)
    assert [each["role"] for each in episode.metadata["chat"]][-1] == "assistant"
    assert (episode.usage.prompt_tokens, episode.usage.cost_usd) == (38, None)


def test_two_studies_are_two_runs(tmp_path: Path) -> None:
    for name in ("one", "two"):
        shutil.copytree(STUDY, tmp_path / "studies" / name)
    (tmp_path / "studies" / "two" / "study.pkl.gz").unlink()
    with pytest.raises(UsageError, match="has 2 logs of browsergym"):
        import_run(tmp_path / "studies", tmp_path / "runs")
    (tmp_path / "studies" / "two" / next(STUDY.glob("*sum.3*")).name / "experiment.log").unlink()
    assert len({run.id for run in import_runs(tmp_path / "studies", tmp_path / "runs")}) == 2


def test_trajectories_of_a_job_of_harbor_have_the_rewards_of_their_trials(tmp_path: Path) -> None:
    run = import_run(JOB, tmp_path)
    results = [json.loads(file.read_text()) for file in JOB.glob("*/result.json")]
    rewards = [r["verifier_result"]["rewards"]["reward"] for r in results if r["verifier_result"]]
    counts = summarise(run).counts
    assert (counts.n, counts.scored, counts.model_errors) == (len(results), len(rewards), 1)
    assert counts.mean == pytest.approx(sum(rewards) / len(rewards))
    episode = next(e for e in run.final(full=True) if e.task.id == "sum.1")
    assert [step.action[:7] for step in episode.trajectory.steps] == ["", "look_up", "5"]
    assert run.text(episode.trajectory.steps[1].observation) == "It may be 5."
    assert (episode.usage.cost_usd, episode.usage.calls, episode.elapsed_s) == (0.003, 2, 12.0)
    assert (run.manifest.created_at, run.manifest.versions["looker"]) == (
        "2026-11-15T19:00:00.000Z",
        "1.2",
    )


def test_rollouts_of_nemo_gym_have_the_mean_of_its_aggregation(tmp_path: Path) -> None:
    run = import_run(ROLLOUTS, tmp_path)
    (own,) = json.loads(ROLLOUTS.with_name("rollouts_aggregate_metrics.json").read_text())
    counts = summarise(run).counts
    assert counts.scored == len(ROLLOUTS.read_text().splitlines())
    assert counts.mean == pytest.approx(own["agent_metrics"]["mean/reward"])
    assert counts.model_errors == 2, "the failures are in a file of their own"
    assert (run.manifest.agent, run.manifest.repeats) == ("scripted-1", 2)


LOGS = (EVAL, JSON, SAMPLES, CHOICES, RESULTS, TRACES, STUDY, JOB, ROLLOUTS)


@pytest.mark.parametrize("log", LOGS, ids=lambda log: f"{log.parent.name}/{log.suffix}")
def test_the_same_log_is_the_same_run(log: Path, tmp_path: Path) -> None:
    first = import_run(log, tmp_path)
    before = sorted(first.path.iterdir()), first.manifest
    assert import_run(log, tmp_path).id == first.id
    assert list_runs(tmp_path) == [first.path]
    again = Run(first.path)
    assert (sorted(again.path.iterdir()), again.manifest) == before
    other = import_run(log, tmp_path, focus="a look at the same")
    assert other.id != first.id
    assert (other.manifest.focus, other.manifest.created_at) == (
        "a look at the same",
        first.manifest.created_at,
    )
    assert not any(text.startswith(("sk-", "/tmp/assay")) for text in other.manifest.versions)


def test_a_copy_of_a_log_under_another_name_is_recognised(tmp_path: Path) -> None:
    first = import_run(EVAL, tmp_path / "runs")
    shutil.copy(EVAL, tmp_path / "renamed.eval")
    assert import_run(tmp_path / "renamed.eval", tmp_path / "runs").id == first.id


def damaged_member(path: Path) -> None:
    """One byte in the middle of a sample's content."""
    data = bytearray(EVAL.read_bytes())
    with zipfile.ZipFile(EVAL) as file:
        info = file.getinfo("samples/sum.2_epoch_1.json")
    data[info.header_offset + 60 + info.compress_size // 2] ^= 0xFF
    path.write_bytes(data)


def cut_off(path: Path) -> None:
    """A kill in the middle of the file: the directory at its end is not there."""
    path.write_bytes(EVAL.read_bytes()[: EVAL.stat().st_size // 2])


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        (damaged_member, "samples/sum.2_epoch_1.json: the sample "),
        (cut_off, "log.eval: it was cut off"),
    ],
)
def test_what_is_whole_of_a_damaged_zip_file_is_read(
    damage: Callable[[Path], None], problem: str, tmp_path: Path
) -> None:
    damage(tmp_path / "log.eval")
    run = import_run(tmp_path / "log.eval", tmp_path / "runs")
    count, texts = skipped_of(run.manifest)
    assert (count, texts[0][: len(problem)]) == (1, problem)
    n = summarise(run).counts.n
    assert n == 15 if damage is damaged_member else 3 < n < 16
    assert {episode.task.id for episode in run.final()} >= {"sum.1", "sum.3"}


def test_a_log_in_json_that_was_cut_off_is_read_up_to_there(tmp_path: Path) -> None:
    text = JSON.read_text()
    (tmp_path / "log.json").write_text(text[: text.index('"id": "product.2"')])
    run = import_run(tmp_path / "log.json", tmp_path / "runs")
    count, texts = skipped_of(run.manifest)
    assert count == 1
    assert "and what comes after it: not JSON" in texts[0]
    assert 0 < summarise(run).counts.n < 7


@pytest.mark.parametrize("log", [SAMPLES, RESULTS, TRACES, ROLLOUTS], ids=lambda log: log.name)
def test_a_bad_line_is_named_and_the_others_are_read(log: Path, tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    shutil.copytree(log.parent, folder)
    lines = log.read_text().splitlines()
    other = json.loads(lines[2])
    for key in ("doc", "completion", "task", "responses_create_params"):
        other.pop(key, None)
    lines[1], lines[2] = lines[1][:-40], json.dumps(other)
    lines.append('{"example_id": 3, "pro')
    (folder / log.name).write_text("\n".join([*lines[:3], "", "[1]", *lines[3:]]))
    whole = summarise(import_run(log, tmp_path / "whole")).counts.n
    run = import_run(folder / log.name, tmp_path / "runs")
    _, texts = skipped_of(run.manifest)
    assert summarise(run).counts.n == whole - 2
    named = " ".join(texts)
    for number in (2, 3, 5, len(lines) + 2):
        assert f"{log.name} line {number}: " in named
    assert "it has no " in named


def test_a_number_that_is_none_damages_its_sample_alone(tmp_path: Path) -> None:
    log = json.loads(JSON.read_text())
    log["samples"][0]["epoch"] = float("inf")
    log["samples"][1]["scores"]["match"]["value"] = 10**400
    path = tmp_path / "questions.json"
    path.write_text(json.dumps(log))
    run = import_run(path, tmp_path / "runs")
    count, texts = skipped_of(run.manifest)
    assert count == 2
    assert [text.partition(":")[0] for text in texts] == ["sample 0", "sample 1"]


def test_a_reference_that_is_no_choice_is_not_taken_for_the_last_one(tmp_path: Path) -> None:
    path = tmp_path / CHOICES.name
    rows = [{**json.loads(line), "target": -1} for line in CHOICES.read_text().splitlines()]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    answers = {episode.task.answer for episode in import_run(path, tmp_path / "runs").final()}
    assert answers == {-1}


def test_a_damaged_row_of_a_second_filter_is_named(tmp_path: Path) -> None:
    path = tmp_path / SAMPLES.name
    rows = [json.loads(line) for line in SAMPLES.read_text().splitlines()]
    second = next(row for row in rows if row["filter"] != rows[0]["filter"])
    second["metrics"] = 3
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    run = import_run(path, tmp_path / "runs")
    count, texts = skipped_of(run.manifest)
    assert (count, f"{path.name} line {rows.index(second) + 1}: " in texts[0]) == (1, True)


@pytest.mark.parametrize(
    ("log", "damage"),
    [
        (JSON, {"results": {"scores": "none"}}),
        (JSON, {"eval": [1]}),
        (ROLLOUTS, {"response": "x"}),
        (ROLLOUTS, {"agent_ref": 5}),
    ],
)
def test_a_log_that_is_wrong_about_itself_is_an_error_that_names_it(
    log: Path, damage: dict[str, Any], tmp_path: Path
) -> None:
    path = tmp_path / log.name
    if log.suffix == ".json":
        path.write_text(json.dumps(json.loads(log.read_text()) | damage))
    else:
        first, *rest = log.read_text().splitlines()
        path.write_text("\n".join([json.dumps(json.loads(first) | damage), *rest]))
    with pytest.raises(BadRecord, match=f"the header of '{path}' is not valid"):
        import_run(path, tmp_path / "runs")


def test_a_file_of_quotes_without_an_end_is_looked_at_once(tmp_path: Path) -> None:
    path = tmp_path / "quotes.json"
    path.write_text('{"eval": 1, ' + '\\"' * 40_000)
    assert top_keys(path) == {"eval"}


def test_a_log_of_which_nothing_can_be_read_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    path.write_text('{"example_id": 1, "prompt": 3, "completion": [3], "reward": 1}\n')
    with pytest.raises(BadRecord, match=r"no sample of 'results.jsonl' can be read: .*line 1"):
        import_run(path, tmp_path / "runs", format="verifiers")
    assert list_runs(tmp_path / "runs") == []


def test_lines_are_read_one_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "large.jsonl"
    path.write_text("".join(json.dumps({"text": "x" * 20_000}) + "\n" for _ in range(400)))
    tracemalloc.start()
    try:
        assert sum(1 for _ in json_rows(path, ReadProblems())) == 400
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("openai.RateLimitError: Error code: 429", "model_error"),
        ("AuthenticationError('Incorrect API key provided')", "model_error"),
        ("anthropic.APIConnectionError: Connection error.", "model_error"),
        ("litellm.exceptions.ServiceUnavailableError: 503", "model_error"),
        ("ModelError() -> InternalServerError('500')", "model_error"),
        ("ProviderError: upstream 500", "model_error"),
        ("botocore.exceptions.ReadTimeoutError: read timed out", "model_error"),
        ("RetryError:\nFailed to get a response from the API after 4 retries", "model_error"),
        ("BadRequestError: maximum context length is 8192 tokens", "agent_error"),
        ("KeyError: 'action'", "env_error"),
        ("TimeoutError: Page.goto: Timeout 30000ms exceeded", "env_error"),
        ("the sandbox died", "env_error"),
        ("PermissionError: [Errno 13]", "env_error"),
    ],
)
def test_who_failed_is_told_by_the_error(text: str, expected: FailureKind) -> None:
    assert failure(text, otherwise="env_error").kind == expected


@pytest.mark.parametrize("log", [EVAL, RESULTS, TRACES, STUDY, JOB, ROLLOUTS])
def test_an_endpoint_that_fails_is_no_score_of_the_agent(log: Path, tmp_path: Path) -> None:
    run = import_run(log, tmp_path)
    failed = [episode for episode in run.final() if episode.failure is not None]
    assert {episode.stop_reason for episode in failed} == {"model_error"}
    assert all(score.get("reward") is None for e in failed for score in e.scores)
    assert summarise(run).counts.model_errors == len(failed) > 0


def test_references_come_from_a_file(tmp_path: Path) -> None:
    gold = tmp_path / "gold.jsonl"
    gold.write_text('{"id": "scripted.sum.3", "answer": "17"}\n{"id": "other", "answer": 1}\n')
    run = import_run(STUDY, tmp_path / "runs", references=gold, commit="1f2e3d4")
    answers = {episode.task.id: episode.task.answer for episode in run.final()}
    assert (answers["scripted.sum.3"], answers["scripted.sum.1"]) == ("17", None)
    assert run.manifest.commit == "1f2e3d4"
    with pytest.raises(BadRecord, match=r"no reference is for a task of this log: it has 'script"):
        import_run(STUDY, tmp_path / "runs", references={"sum.3": 17})
    gold.write_text('{"answer": "17"}\n')
    with pytest.raises(
        BadRecord, match=r"gold.jsonl line 1: each reference line needs the keys 'id' and"
    ):
        import_run(STUDY, tmp_path / "runs", references=gold)


def rows(path: Path, *lines: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_plain_lines_are_read_by_their_usual_names(tmp_path: Path) -> None:
    path = rows(
        tmp_path / "mine.jsonl",
        {"id": "a", "question": "1 + 1?", "answer": "2", "response": "2", "score": 1, "kind": "x"},
        {"id": "a", "question": "1 + 1?", "answer": "2", "response": "3", "score": False},
        {
            "id": "b",
            "question": "?",
            "response": None,
            "score": 0.0,
            "error": "RateLimitError: 429",
        },
        {"id": "c", "question": "?", "response": "y", "score": None},
    )
    run = import_run(path, tmp_path / "runs")
    one, two, broken, unscored = run.episodes()
    assert (one.task.goal, one.task.answer, one.final_response) == ("1 + 1?", "2", "2")
    assert (one.task.metadata, one.repeat, two.repeat) == ({"kind": "x"}, 0, 1)
    assert (float(one.scores[0]), float(two.scores[0])) == (1.0, 0.0)
    assert (broken.stop_reason, broken.scores[0]["reward"]) == ("model_error", None)
    assert unscored.scores[0]["reward"] is None
    counts = summarise(run).counts
    assert (counts.n, counts.mean, counts.model_errors, counts.abstained) == (4, 0.5, 1, 1)


def test_a_column_map_says_what_other_columns_are(tmp_path: Path) -> None:
    path = rows(tmp_path / "mine.jsonl", {"q": "1 + 1?", "gold_2": "2", "model_out": "2", "pt": 1})
    with pytest.raises(BadRecord, match="has no log of a known format"):
        import_run(path, tmp_path / "runs")
    with pytest.raises(BadRecord, match=r"no question; its columns are: gold_2, model_out"):
        import_run(path, tmp_path / "runs", format="jsonl")
    columns = {"question": "q", "answer": "gold_2", "response": "model_out", "score": "pt"}
    run = import_run(path, tmp_path / "runs", format="jsonl", columns=columns)
    (episode,) = run.final()
    assert (episode.task.id, episode.task.goal, episode.task.answer) == ("line.1", "1 + 1?", "2")
    assert (episode.final_response, float(episode.scores[0])) == ("2", 1.0)
    with pytest.raises(BadParameter, match=r"unknown part 'respons'; did you mean 'response'"):
        import_run(path, tmp_path / "runs", format="jsonl", columns={"respons": "q"})
    with pytest.raises(BadParameter, match=r"has no 'gold'; did you mean 'gold_2'"):
        import_run(path, tmp_path / "runs", format="jsonl", columns={"answer": "gold"})


def test_our_own_export_comes_back(tmp_path: Path) -> None:
    run = write_example(tmp_path / "ours")
    for name, kind in (("out.jsonl", "jsonl"), ("out", "atif")):
        export_run(run, tmp_path / name, kind)
        again = import_run(tmp_path / name, tmp_path / "runs")
        counts, before = summarise(again).counts, summarise(run).counts
        assert counts.mean == before.mean
        assert {e.task.id: e.final_response for e in again.final()} == {
            e.task.id: e.final_response for e in run.final()
        }


def test_a_log_is_looked_at_without_becoming_a_run(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    comparison = compare(str(JSON), str(EVAL), runs_dir=runs, force=True)
    assert comparison.n == 7
    assert comparison.reward is not None
    assert comparison.reward.difference == 0.0
    assert diagnose(str(EVAL), runs_dir=runs).mean == pytest.approx(5 / 7)
    assert list_runs(runs) == []
    assert len(list_runs(runs / ".imported")) == 2
    imported = import_run(EVAL, runs)
    assert open_run(EVAL, runs).path == imported.path == list_runs(runs)[0]
    with pytest.raises(BadRecord, match="has no log of a known format"):
        open_run(Path(__file__), runs)
    with pytest.raises(UsageError, match="has 2 logs of inspect; name one"):
        open_run(EVAL.parent, runs)
    with pytest.raises(UnknownName, match=r"no run 'nowhere.eval'"):
        open_run("nowhere.eval", runs)
    with pytest.raises(UnknownName, match="no run"):
        open_run(str(runs), runs)


def test_logs_of_several_tools_in_one_folder_are_not_guessed_at(tmp_path: Path) -> None:
    shutil.copy(EVAL, tmp_path / "a.eval")
    shutil.copy(RESULTS, tmp_path / "results.jsonl")
    with pytest.raises(UsageError, match=r"logs of several tools \(inspect, verifiers\)"):
        recognise(tmp_path)
    assert recognise(tmp_path, "verifiers").logs == (tmp_path / "results.jsonl",)
