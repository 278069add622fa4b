"""Call a grader of another Python interpreter or an earlier git revision as a reward.

The grader runs in the audit's bounded process. Where it is asked for rows one by one or by the
hundred, a call that hangs or crashes is an abstention of that row alone.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from math import isfinite
from multiprocessing.util import Finalize
from pathlib import Path
from typing import Any, Final

from assay.audit.findings import CallResult, GraderCall
from assay.audit.isolation import ProcessLimits, TargetProcess
from assay.audit.target import TargetSpec, parse_target, to_target
from assay.errors import BadParameter, UnknownName
from assay.formats.lines import dump_json
from assay.resources.scratch import scratch_prefix
from assay.schema.score import Abstained, Score, Scored

CALL_S = 30.0
LIMITS: Final = ProcessLimits(call_s=CALL_S, cpu_s=30 * 24 * 3600)
"""A file of a million rows may take a grader hours; one row may not."""
REASONS: Final[Mapping[str, str]] = {"abstained": "abstained", "timeout": "grader_timeout"}
"""Why there is no score; whatever else ends a call is an error of the grader."""
_PLAIN = (str, int, float, bool, type(None))
_REVISION = re.compile(r"(?P<address>.+\.py:[\w.]+)@(?P<revision>[^@\s]\S*)")


class IsolatedGrader:
    """A reward that calls a function in a separate process, which starts with the first call."""

    def __init__(self, spec: TargetSpec, limits: ProcessLimits = LIMITS) -> None:
        self.spec = spec
        self.limits = limits
        self.__name__ = re.sub(r"\W", "_", spec.attribute or spec.location)[-100:]
        self._target: TargetProcess | None = None
        self._shape = ""
        self._lock = threading.Lock()

    def __reduce__(self) -> tuple[type[IsolatedGrader], tuple[TargetSpec, ProcessLimits]]:
        return IsolatedGrader, (self.spec, self.limits)

    def __call__(self, final_response: str, **columns: Any) -> Score:
        return self.call_many([{"final_response": final_response, **columns}])[0]

    def start(self) -> None:
        """Load the grader; raise `UnknownName` or `BadParameter` on failure."""
        with self._lock:
            self._open()

    def call_many(self, arguments: Sequence[Mapping[str, Any]]) -> list[Score]:
        calls = [_call_of(each) for each in arguments]
        with self._lock:
            target = self._open()
            results = [each.result for each in target.ask(calls, shape=self._shape)]
            for at, result in enumerate(results):
                # What it had used up before may have ended it: a row is asked once more, alone.
                if result.status == "crashed":
                    results[at] = target.ask([calls[at]], shape=self._shape)[0].result
        return [_score_of(result) for result in results]

    def close(self) -> None:
        target, self._target = self._target, None
        if target is not None:
            target.close()

    def _open(self) -> TargetProcess:
        if self._target is None:
            target = TargetProcess(self.spec, self.limits)
            try:
                self._shape = to_target(self.spec, target.start()).shape
            except BaseException:
                target.close()
                raise
            self._target = target
            # In a worker no exit handler runs but those of multiprocessing.
            Finalize(self, target.close, exitpriority=10)
        return self._target


def _call_of(arguments: Mapping[str, Any]) -> GraderCall:
    columns = {
        name: value
        for name, value in arguments.items()
        if name not in ("final_response", "trajectory", "context")
    }
    if not all(type(value) in _PLAIN for value in columns.values()):
        columns = json.loads(dump_json(columns))
    response = str(arguments["final_response"])
    return GraderCall(response, columns, _messages(arguments, columns, response))


def _messages(
    arguments: Mapping[str, Any], columns: Mapping[str, Any], response: str
) -> tuple[dict[str, Any], ...] | None:
    """Return the recorded conversation, or the prompt's messages with the response."""
    trajectory = arguments.get("trajectory")
    if trajectory:
        messages = [
            message.model_dump(mode="json", exclude_none=True)
            if hasattr(message, "model_dump")
            else json.loads(dump_json(message))
            for message in trajectory
        ]
    elif isinstance(columns.get("prompt"), list):
        messages = [*columns["prompt"], {"role": "assistant", "content": response}]
    else:
        return None
    return tuple(messages) if all(isinstance(one, dict) for one in messages) else None


def _score_of(result: CallResult) -> Score:
    if result.number is not None:
        parts = result.parts.items()
        finite = {name: value for name, value in parts if value is None or isfinite(value)}
        return Scored(result.number, result.because, finite)
    if result.status == "scored":
        return Abstained("grader_error", f"the grader returned {result.value!r}")
    return Abstained(REASONS.get(result.status, "grader_error"), result.because or result.status)


def is_revision(text: str) -> bool:
    return _REVISION.fullmatch(text) is not None


@contextmanager
def open_revision(text: str, *, python: str | None = None) -> Iterator[IsolatedGrader]:
    """Load a function from a file at an earlier git revision.

    The files of that revision are checked out into a temporary folder, from which the function and
    what it imports of its repository are loaded; installed packages are those of the interpreter.
    Raises `UnknownName` where there is no such file or revision.
    """
    file, attribute, top, commit = _find_commit(text)
    inside = file.parent.resolve().relative_to(top) / file.name
    with tempfile.TemporaryDirectory(prefix=scratch_prefix("revision")) as folder:
        tree = Path(folder) / "tree"
        _check_out(top, commit, tree)
        if not (tree / inside).is_file():
            raise UnknownName(f"{text!r}: commit {commit[:12]} has no file {inside.as_posix()!r}")
        address = f"{tree / inside}:{attribute}"
        spec = parse_target(address, python=python, folder=Path.cwd())
        grader = IsolatedGrader(
            replace(spec, text=text, folder=str(_folder_in(tree, top)), paths=_roots(tree, inside))
        )
        try:
            yield grader
        finally:
            grader.close()


def commit_of(text: str) -> str:
    """Return the commit hash of `FILE.py:NAME@REVISION`; raise `UnknownName` if not found."""
    return _find_commit(text)[-1]


def _find_commit(text: str) -> tuple[Path, str, Path, str]:
    """Return the file, the function name, the repository folder and the commit hash."""
    match = _REVISION.fullmatch(text)
    if match is None:
        raise UnknownName(f"{text!r} is not FILE.py:NAME@REVISION")
    place, _, attribute = match["address"].rpartition(":")
    file, revision = Path(place).absolute(), match["revision"]
    folder = next(parent for parent in file.parents if parent.is_dir())
    try:
        top = Path(_git(folder, "rev-parse", "--show-toplevel")).resolve()
    except UnknownName as error:
        raise UnknownName(f"{text!r}: {str(folder)!r} is not in a git repository") from error
    try:
        name = f"{revision}^{{commit}}"
        commit = _git(top, "rev-parse", "--verify", "--quiet", "--end-of-options", name)
        return file, attribute, top, commit
    except UnknownName as error:
        raise UnknownName(
            f"{text!r}: {str(top)!r} has no revision {revision!r}; `git log` lists revisions"
        ) from error


def _check_out(top: Path, commit: str, tree: Path) -> None:
    """Write all files of a commit into the folder `tree` without changing the repository."""
    index = {"GIT_INDEX_FILE": str(tree.with_name("index"))}
    _git(top, "read-tree", commit, variables=index)
    _git(top, "checkout-index", "--all", "--quiet", f"--prefix={tree}/", variables=index)
    tree.mkdir(exist_ok=True)


def _git(folder: Path, *words: str, variables: Mapping[str, str] | None = None) -> str:
    program = shutil.which("git")
    if program is None:
        raise BadParameter("git is not installed; install git to use a revision of a file")
    done = subprocess.run(
        [program, "-C", str(folder), *words],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **(variables or {})},
    )
    if done.returncode:
        raise UnknownName(f"git {words[0]}: {done.stderr.strip()[:300] or 'failed'}")
    return done.stdout.strip()


def _folder_in(tree: Path, top: Path) -> Path:
    """Return the folder in `tree` that corresponds to the working folder."""
    here = Path.cwd().resolve()
    return tree / here.relative_to(top) if here.is_relative_to(top) else tree


def _roots(tree: Path, inside: Path) -> tuple[str, ...]:
    """Return the folders from which the repository's modules are imported."""
    package = (tree / inside).parent
    while package != tree and (package / "__init__.py").is_file():
        package = package.parent
    roots = (package, tree / "src", tree)
    return tuple(str(root) for root in dict.fromkeys(roots) if root.is_dir())
