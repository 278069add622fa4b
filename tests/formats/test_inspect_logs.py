"""A log of Inspect AI becomes a run that says what the log says."""

from __future__ import annotations

import json
import shutil
import sys
import zipfile
from pathlib import Path

import pytest

from assay.errors import BadParameter, BadRecord, MissingExtra, UsageError
from assay.formats import inspect_logs, recognise
from assay.ledger.layout import list_runs
from assay.ledger.summary import summarise
from assay.ledger.transfer import import_run, import_runs, skipped_of
from assay.schema.score import Abstained, Scored

LOG = Path(__file__).parents[1] / "data" / "inspect" / "sums.json"


def write_eval(path: Path) -> Path:
    """The log as the zip file that Inspect writes too; older versions with deflate, as here."""
    log = json.loads(LOG.read_text())
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for sample in log.pop("samples"):
            file.writestr(f"samples/{sample['id']}_epoch_1.json", json.dumps(sample))
        file.writestr("header.json", json.dumps(log))
    return path


def test_samples_become_episodes_with_their_conversation() -> None:
    done, unknown, broken = inspect_logs.read_log(LOG)
    assert (done.task.id, done.task.goal, done.task.answer) == ("sum", "What is 2 + 3?", "5")
    assert (done.domain, done.final_response, done.stop_reason) == ("sums", "ANSWER: 5", "answered")
    system, user, call, result, answer = done.trajectory.messages
    assert (system.role, user.content, answer.content) == ("system", done.task.goal, "ANSWER: 5")
    assert call.tool_calls[0].function.arguments == '{"x": 2, "y": 3}'
    assert (result["name"], result.content, result["is_error"]) == ("add", "5", False)
    assert result.tool_call_id == call.tool_calls[0].id
    assert (done.usage.prompt_tokens, done.usage.completion_tokens) == (16, 8)
    assert (done.started_at[:10], done.elapsed_s) == ("2026-11-15", 0.059)
    assert unknown.task.answer is None, "an empty target is no reference"
    assert (broken.stop_reason, broken.final_response) == ("env_error", None)
    assert broken.failure is not None
    assert "the sandbox died" in broken.failure.message


def test_letters_are_numbers_and_what_is_unscored_abstains() -> None:
    done, unknown, broken = inspect_logs.read_log(LOG)
    assert done.scores == (
        Scored(1.0, "ANSWER: 5", scorer="match"),
        Scored(0.5, "half", scorer="unsure"),
    ), "the third scorer's value is no number"
    assert unknown.scores[1] == Abstained("no_reference", "cannot tell", scorer="unsure")
    assert broken.scores == ()


@pytest.mark.parametrize("packed", [True, False])
def test_a_log_is_imported_as_a_run(packed: bool, tmp_path: Path) -> None:
    source = write_eval(tmp_path / "sums.eval") if packed else LOG
    run = import_run(source, tmp_path / "runs")
    assert (run.manifest.benchmark, run.manifest.agent) == ("sums", "mockllm/model")
    assert run.manifest.versions["inspect_ai"] == "0.3.285"
    assert run.manifest.rewards == ("match", "unsure")
    assert (run.manifest.n_tasks, run.manifest.repeats) == (3, 1)
    counts = summarise(run).counts
    assert (counts.n, counts.mean, counts.env_errors) == (3, 1.0, 1)
    assert [len(each.trajectory.messages) for each in run.episodes(full=True)] == [5, 3, 2]


def test_each_log_of_a_folder_is_a_run(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    write_eval(logs / "one.eval")
    assert recognise(logs).format.name == "inspect"
    first = import_run(logs, tmp_path / "runs")
    shutil.copy(LOG, logs / "two.json")
    with pytest.raises(UsageError, match=r"2 logs of inspect; name one log, such as \['one.eval'"):
        import_run(logs, tmp_path / "runs")
    runs = list(import_runs(logs, tmp_path / "runs"))
    assert [run.id for run in runs] == [first.id, runs[1].id]
    assert len(list_runs(tmp_path / "runs")) == 2


def test_an_option_of_another_format_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadParameter, match="inspect has no option 'unpickle'"):
        import_run(LOG, tmp_path, format="inspect", unpickle=True)


def test_long_texts_are_taken_from_the_attachments(tmp_path: Path) -> None:
    log = json.loads(LOG.read_text())
    sample = log["samples"][1]
    sample["attachments"] = {"5f3a": "many, many"}
    sample["messages"][-1]["content"] = "attachment://5f3a"
    path = tmp_path / "log.json"
    path.write_text(json.dumps(log))
    assert list(inspect_logs.read_log(path))[1].trajectory.messages[-1].content == "many, many"


def test_a_log_packed_with_zstandard_says_what_unpacks_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("compression.zstd", "backports.zstd", "zstandard", "pyarrow"):
        monkeypatch.setitem(sys.modules, module, None)
    path = tmp_path / "new.eval"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("header.json", "{}")
    data = bytearray(path.read_bytes())
    central = data.index(b"PK\x01\x02")
    data[8:10] = data[central + 10 : central + 12] = (93).to_bytes(2, "little")
    path.write_bytes(data)
    with pytest.raises(MissingExtra, match="inspect log convert --to json"):
        list(inspect_logs.read_log(path))


@pytest.mark.parametrize(
    "content",
    [b"", b"[]", b"{", b'{"samples": [{"id": 1}]}', b'{"samples": [3]}', b"PK\x05\x06" + bytes(18)],
)
def test_what_is_no_log_is_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "log.json"
    path.write_bytes(content)
    with pytest.raises(BadRecord):
        list(inspect_logs.read_log(path))
    with pytest.raises(BadRecord, match="there is no file"):
        inspect_logs.read(tmp_path / "nowhere.json")


def test_the_samples_of_a_log_are_those_of_its_own_list(tmp_path: Path) -> None:
    log = json.loads(LOG.read_text())
    samples = log.pop("samples")
    log["eval"]["task_args"] = {"text": '"samples": [', "samples": [{"id": "not one of the log"}]}
    path = tmp_path / "log.json"
    path.write_text(json.dumps({**log, "samples": samples}))
    run = inspect_logs.read(path)
    assert [each.task.id for each in inspect_logs.read_log(path)] == [s["id"] for s in samples]
    assert run.manifest.config["task"]["args"] == log["eval"]["task_args"]


def test_a_sample_that_is_none_is_skipped_and_named(tmp_path: Path) -> None:
    log = json.loads(LOG.read_text())
    log["samples"][1:1] = [3, {"id": "without input"}]
    path = tmp_path / "log.json"
    path.write_text(json.dumps(log))
    run = import_run(path, tmp_path / "runs")
    assert [episode.task.id for episode in run.final()] == [s["id"] for s in json_samples(LOG)]
    count, texts = skipped_of(run.manifest)
    assert count == 2
    assert texts == [
        "sample 1: not an object but a int",
        "sample 2: it has no 'input'",
    ]


def json_samples(path: Path) -> list[dict[str, object]]:
    samples: list[dict[str, object]] = json.loads(path.read_text())["samples"]
    return samples
