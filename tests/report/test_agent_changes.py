"""A run keeps what was not committed of its agent, and a comparison shows what changed."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

import assay
from assay.cli.main import main
from assay.ledger.provenance import uncommitted_changes
from assay.report import compare

AGENT = "def answer(question: str) -> str:\n    return {text!r}\n"
LOOKS = "sk-" + "a1b2" * 8


def git(folder: Path, *arguments: str) -> None:
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *who, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with an agent and its questions, which is the working folder."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "mine.py").write_text(AGENT.format(text="one"))
    (folder / "questions.jsonl").write_text(
        "".join(
            json.dumps({"id": f"q{i}", "question": "?", "answer": "two"}) + "\n" for i in range(8)
        )
    )
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "one")
    monkeypatch.chdir(folder)
    return folder


def run(*, keep_diff: bool = True) -> Path:
    # A function, since a module is imported once in a process.
    done = assay.run("questions.jsonl", agent=answer, rewards=["qa_f1_reward"], keep_diff=keep_diff)
    return done.path


def answer(question: str) -> str:
    return "one" if question else "none"


def test_a_comparison_shows_what_changed_in_the_code(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    clean = run()
    assert not (clean / "agent.diff").exists()
    (project / "mine.py").write_text(AGENT.format(text="two"))
    (project / "prompt.txt").write_text("Be brief.\n")
    first = run()
    (project / "mine.py").write_text("# Again.\n" + AGENT.format(text="two"))
    second = run()
    changes = compare(clean, first).code
    assert [(each.path, each.added, each.removed) for each in changes.files] == [
        ("mine.py", 1, 1),
        ("prompt.txt", 1, 0),
    ]
    assert "-    return 'one'\n+    return 'two'" in changes.files[0].diff
    (change,) = compare(first, second).code.files
    assert change.diff.splitlines()[:4] == [
        "--- mine.py",
        "+++ mine.py",
        "@@ -1,2 +1,3 @@",
        "+# Again.",
    ]
    back = compare(second, clean).code.files
    assert [(each.path, each.removed) for each in back] == [("mine.py", 2), ("prompt.txt", 1)]
    assert main(["compare", clean.name, first.name]) == 0
    out = capsys.readouterr().out
    assert "code     mine.py: +1 -1 lines" in out
    assert "+    return 'two'" in out


def test_committed_changes_are_left_to_git(project: Path) -> None:
    (project / "mine.py").write_text(AGENT.format(text="two"))
    first = run()
    git(project, "commit", "-q", "-a", "-m", "two")
    second = run()
    changes = compare(first, second).code
    assert changes.files == ()
    assert "`git diff " in changes.notes[0]
    assert changes.notes[1] == "not committed in one of the runs alone: mine.py"


def test_nothing_is_kept_when_it_is_not_wanted(project: Path) -> None:
    clean = run()
    (project / "mine.py").write_text(AGENT.format(text="two"))
    path = run(keep_diff=False)
    assert not (path / "agent.diff").exists()
    (note,) = compare(clean, path).code.notes
    assert note == f"{path.name} did not keep what was not committed then"
    (project / "without_diff.py").write_text(AGENT.format(text="two"))
    command = ["run", "questions.jsonl", "--agent", "without_diff.py:answer"]
    assert main([*command, "--reward", "qa_f1_reward", "--no-diff"]) == 0
    assert not list((project / "runs").glob("*/agent.diff"))


def test_what_is_kept_holds_no_secret(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_SERVICE_TOKEN", "known-to-this-process")
    secrets = ("hunter2-hunter2", LOOKS, "s3cr3t-in-yaml", "in-a-shell-line", "typed-secret")
    (project / "mine.py").write_text(
        f'api_key = "{secrets[0]}"\nask("{secrets[1]}")\nx = "known-to-this-process"\n'
        f'password: str = "{secrets[4]}"\n' + AGENT.format(text="two")
    )
    (project / "settings.yaml").write_text(
        f"client_secret: {secrets[2]}\nlevel: debug-everything\n"
    )
    (project / "go.sh").write_text(f"OPENAI_API_KEY={secrets[3]} python mine.py\n")
    (project / ".env").write_text("ANYTHING=at-all-here\n")
    (project / "api_key.txt").write_text("at-all-here\n")
    (project / "key.yaml").write_text("private: |\n  -----BEGIN PRIVATE KEY-----\n  AAh3re\n")
    text = (run() / "agent.diff").read_text()
    for secret in (*secrets, "known-to-this-process", "at-all-here", "AAh3re"):
        assert secret not in text, secret
    assert "level: debug-everything" in text
    assert '+api_key = "[secret]"' in text
    assert "# left out: '.env'" in text
    assert "# left out: 'api_key.txt'" in text


def test_what_is_kept_is_bounded(project: Path) -> None:
    (project / "data.txt").write_text("x" * 60 + "\n")
    (project / "large.txt").write_text("a line of data\n" * 20_000)
    (project / "binary.md").write_bytes(b"\0\1\2")
    (project / "results.json").write_text("{}")
    (project / "mine.py").write_bytes(b"\xff\xfe no text")
    text = uncommitted_changes(project, most_bytes=400)
    assert len(text) < 1_000
    assert "+" + "x" * 60 in text
    for name in ("large.txt", "binary.md", "results.json"):
        assert f"# left out: {name!r}" in text
    for i in range(80):
        (project / f"many{i}.py").write_text("x = 1\n")
    assert uncommitted_changes(project).count("diff --git") == 50
    assert uncommitted_changes(project.parent / "nowhere") == ""


def test_a_hostile_diff_is_only_text(project: Path) -> None:
    first = run()
    (project / "mine.py").write_text(AGENT.format(text="two"))
    second = run()
    for content in (
        b"\xff" * 100,
        b"diff --git a/x\n+++ b/x\n@@ \n+\x1b[31m\n",
        b"@@ \n+a\n",
        b"-- \n",
    ):
        (second / "agent.diff").write_bytes(content)
        compare(first, second)
        assert main(["compare", first.name, second.name]) == 0
