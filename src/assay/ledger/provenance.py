"""The origin of a run: its id, tasks, package versions and the agent's repository."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import secrets
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from assay.formats.lines import dump_json, load_record
from assay.schema.secrets import is_secret_name, redact, redact_source
from assay.schema.task import Task

GIT_TIMEOUT_S = 10.0
LARGEST_UNTRACKED = 16 * 2**20
DIFF_BYTES = 256 * 1024
"""Of uncommitted changes that a run keeps."""
DIFF_FILE_BYTES = 128 * 1024
DIFF_FILES = 50
CODE = frozenset(
    ".py .ipynb .js .mjs .cjs .jsx .ts .tsx .go .rs .java .kt .rb .php .c .h .cc .cpp .cs .sh "
    ".bash .toml .yaml .yml .ini .cfg .md .txt .rst .j2 .jinja .jinja2 .prompt .tmpl .sql".split()
)
"""Endings of files that are kept although git does not know them: code, settings, prompts."""
SETTINGS = frozenset("txt json toml yaml yml ini cfg conf properties csv".split())
"""Endings of files that hold a secret where their name is one's; `tokens.py` is code."""
UNKNOWN = "unknown"
_EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"


@dataclass(frozen=True, slots=True)
class RepositoryState:
    """The version of an agent's code: its commit and its uncommitted changes."""

    commit: str = ""
    """Empty also in a repository without a commit."""
    dirty: str = ""
    """A hash of everything that is not committed, or outside a repository of the agent's own files;
    empty for none, `unknown` when git failed."""


def new_run_id(now: datetime | None = None, suffix: str | None = None) -> str:
    """An id that sorts by time and is a safe folder name, such as `20260329-122135-9f6c65`."""
    moment = (now or datetime.now(UTC)).astimezone(UTC)
    return f"{moment:%Y%m%d-%H%M%S}-{suffix or secrets.token_hex(3)}"


def utc_now(now: datetime | None = None) -> str:
    """The time in the ledger's format, ISO 8601 in UTC."""
    moment = (now or datetime.now(UTC)).astimezone(UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def canonical_hash(value: Any) -> str:
    """A hash that is the same for equal JSON values, in any order of their keys."""
    plain = json.loads(dump_json(value))
    text = json.dumps(plain, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def task_set_hash(tasks: Iterable[Task]) -> str:
    """A hash of a set of tasks, which does not depend on the order of the tasks."""
    return canonical_hash(sorted(canonical_hash(task.model_dump()) for task in tasks))


def resolved_config(config: Mapping[str, Any]) -> dict[str, Any]:
    """The configuration as JSON values with its secrets replaced, for a manifest."""
    return dict(redact(load_record(dump_json(config))))


def installed_versions(packages: Iterable[str] = ()) -> dict[str, str]:
    """The versions of Assay, Python, the platform and the installed packages of the list."""
    versions = {"python": platform.python_version(), "platform": platform.platform()}
    for package in ("assay", *packages):
        with suppress(metadata.PackageNotFoundError):
            versions[package] = metadata.version(package)
    return versions


def repository_state(folder: str | Path, *, exclude: Sequence[str | Path] = ()) -> RepositoryState:
    """The commit of the repository around `folder`, and a hash of uncommitted changes.

    Untracked files count unless git ignores them or they are under `exclude` (the runs' own
    folder, most of all). Of one that is larger than 16 MiB only name and size count. Nothing
    that the repository configures is executed.
    """
    git, commit = _repository(folder), ""
    if git is None:
        return RepositoryState()
    try:
        commit = git.head()
        return RepositoryState(commit, _difference(git, commit or _EMPTY_TREE, exclude))
    except (OSError, subprocess.SubprocessError):
        return RepositoryState(commit, UNKNOWN)


def uncommitted_changes(
    folder: str | Path, *, exclude: Sequence[str | Path] = (), most_bytes: int = DIFF_BYTES
) -> str:
    """The uncommitted changes of the repository around `folder` as a diff.

    Every file of it stands there whole, so that two such diffs can be compared. Files that git
    does not know are additions. Secrets are replaced. What is too large, no text, or named like a
    secret is left out and named, and so are data that git does not know, and what does not fit into
    `most_bytes`.
    """
    git = _repository(folder)
    if git is None:
        return ""
    try:
        base = git.head() or _EMPTY_TREE
        where = _everything_but(git.folder, exclude)
        tracked = git.names("diff", "--name-only", "--no-renames", "-z", base, *where)
        untracked = git.names("ls-files", "--others", "--exclude-standard", "-z", *where)
        pieces: list[str] = []
        left_out: list[str] = []
        room = most_bytes
        for name in (*tracked, *untracked):
            piece = None
            if len(pieces) < DIFF_FILES and not _is_private(name) and _is_small(git.folder / name):
                is_known = name in tracked
                piece = _change(git, name, base) if is_known else _addition(git.folder / name, name)
            size = 0 if piece is None else len(piece.encode())
            if piece is None or size > room:
                left_out.append(name)
                continue
            pieces.append(piece)
            room -= size
    except (OSError, subprocess.SubprocessError):
        return ""
    if len(left_out) > DIFF_FILES:
        left_out[DIFF_FILES:] = [f"{len(left_out) - DIFF_FILES} more files"]
    return "".join(pieces) + "".join(f"# left out: {name!a}\n" for name in left_out)


def _change(git: _Git, name: str, base: str) -> str | None:
    """The diff of one tracked file, or `None` if the file cannot be kept."""
    with suppress(subprocess.CalledProcessError, ValueError):
        if int(git.text("cat-file", "-s", f"{base}:{name}")) > DIFF_FILE_BYTES:
            return None
    options = (
        "--no-ext-diff", "--no-textconv", "--no-color", "--no-renames", "--src-prefix=a/",
        "--dst-prefix=b/", f"--unified={DIFF_FILE_BYTES}",
    )  # fmt: skip
    return _redacted_diff(git.bytes("diff", *options, base, "--", f":(top,literal){name}"))


def _addition(path: Path, name: str) -> str | None:
    """The diff that adds a whole file, or `None` if the file cannot be kept."""
    if path.suffix.lower() not in CODE or _is_private(name) or not _is_small(path):
        return None
    if path.is_symlink() or not path.is_file():
        return None
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (UnicodeDecodeError, OSError):
        return None
    ends = lines[-1] == ""
    body = [f"+{line}" for line in (lines[:-1] if ends else lines)]
    body += [] if ends else ["\\ No newline at end of file"]
    head = [f"diff --git a/{name} b/{name}", "new file mode 100644", "--- /dev/null"]
    hunk = f"@@ -0,0 +1,{len(lines) - ends} @@"
    return _redacted_diff("\n".join([*head, f"+++ b/{name}", hunk, *body, ""]).encode())


def state_of_files(files: Sequence[Path]) -> RepositoryState:
    """A hash of files that are outside a repository; empty without files."""
    if not files:
        return RepositoryState()
    digest = hashlib.sha256()
    try:
        for path in files:
            name = os.fsencode(_name_here(path))
            digest.update(b"\0" + name + b"\0" + _fingerprint(path))
    except OSError:
        return RepositoryState(dirty=UNKNOWN)
    return RepositoryState(dirty=digest.hexdigest())


def source_of_files(files: Sequence[Path]) -> str:
    """The files as additions in a diff, in the format of `uncommitted_changes`."""
    pieces = [
        _addition(path, _name_here(path)) or f"# left out: {_name_here(path)!a}\n"
        for path in files[:DIFF_FILES]
    ]
    text = "".join(pieces)
    return text if len(text.encode()) <= DIFF_BYTES else ""


def _name_here(path: Path) -> str:
    here = Path.cwd().resolve()
    whole = path.resolve()
    return whole.relative_to(here).as_posix() if whole.is_relative_to(here) else path.name


def _redacted_diff(diff: bytes) -> str | None:
    """The diff with its secrets replaced, or `None` for a binary file."""
    if b"\0" in diff:
        return None
    lines = diff.decode("utf-8", "backslashreplace").split("\n")
    start = next((i for i, line in enumerate(lines) if line.startswith("@@")), len(lines))
    body = lines[start:]
    clean = redact_source("\n".join(line[1:] for line in body)).split("\n")
    redacted = (line[:1] + rest for line, rest in zip(body, clean, strict=True))
    return "\n".join([*lines[:start], *redacted])


def _is_private(name: str) -> bool:
    """Whether the name of a file suggests secrets rather than code."""
    last = name.rpartition("/")[2].lower()
    stem, _, ending = last.rpartition(".")
    if is_secret_name(stem or ending) and ending in SETTINGS:
        return True
    return last.startswith((".env", ".netrc", "id_rsa", "id_ed25519", "credentials")) or (
        last.endswith((".pem", ".key", ".p12", ".pfx", ".keystore"))
    )


def _is_small(path: Path) -> bool:
    try:
        return path.lstat().st_size <= DIFF_FILE_BYTES
    except OSError:
        # It was deleted, which is a change too.
        return True


def _repository(folder: str | Path) -> _Git | None:
    try:
        return _Git(Path(_Git(Path(folder)).text("rev-parse", "--show-toplevel")))
    except (OSError, subprocess.SubprocessError):
        return None


@dataclass(frozen=True, slots=True)
class _Git:
    folder: Path

    def bytes(self, *arguments: str) -> bytes:
        return subprocess.run(
            ["git", "-c", "core.fsmonitor=false", *arguments],
            cwd=self.folder,
            env={**os.environ, "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=GIT_TIMEOUT_S,
            check=True,
        ).stdout

    def text(self, *arguments: str) -> str:
        return os.fsdecode(self.bytes(*arguments)).rstrip("\n")

    def names(self, *arguments: str) -> list[str]:
        return sorted(os.fsdecode(each) for each in self.bytes(*arguments).split(b"\0") if each)

    def head(self) -> str:
        try:
            return self.text("rev-parse", "HEAD")
        except subprocess.CalledProcessError:
            return ""


def _everything_but(folder: Path, exclude: Sequence[str | Path]) -> list[str]:
    top = folder.resolve()
    left_out = [
        f":(exclude,literal,top){path.relative_to(top)}"
        for path in (Path(item).resolve() for item in exclude)
        if path.is_relative_to(top) and path != top
    ]
    return ["--", ":(top)", *left_out]


def _difference(git: _Git, base: str, exclude: Sequence[str | Path]) -> str:
    top = git.folder.resolve()
    where = _everything_but(top, exclude)
    options = ("--binary", "--no-ext-diff", "--no-textconv", "--no-color", "--full-index")
    diff = git.bytes("diff", *options, base, *where)
    untracked = git.bytes("ls-files", "--others", "--exclude-standard", "-z", *where)
    names = sorted(name for name in untracked.split(b"\0") if name)
    if not diff and not names:
        return ""
    digest = hashlib.sha256(diff)
    for name in names:
        digest.update(b"\0" + name + b"\0" + _fingerprint(top / os.fsdecode(name)))
    return digest.hexdigest()


def _fingerprint(path: Path) -> bytes:
    if path.is_symlink():
        return os.fsencode(path.readlink())
    if not path.is_file():
        return b""
    size = path.stat().st_size
    if size > LARGEST_UNTRACKED:
        return str(size).encode()
    return hashlib.sha256(path.read_bytes()).digest()
