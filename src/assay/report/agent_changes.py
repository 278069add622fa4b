"""What changed in the agent's code between two runs, by the diffs that they kept."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from difflib import unified_diff
from itertools import islice

from assay.ledger.layout import RunLayout
from assay.report.attempts import RunAttempts
from assay.schema.manifest import RunManifest

LARGEST_DIFF = 2**20
"""Bytes of a kept diff that are read: what a run writes is smaller."""
LONGEST_FILES = 20_000
"""Lines of both versions of a file, beyond which they are not compared."""
MOST_LINES = 2_000
"""Of the difference of one file."""


@dataclass(frozen=True, slots=True)
class CodeChange:
    """One file that differs between two runs."""

    path: str
    added: int
    removed: int
    diff: str
    """Unified, from the base run's file to the candidate's."""


@dataclass(frozen=True, slots=True)
class CodeChanges:
    """What is known of the difference of the agent's code."""

    files: tuple[CodeChange, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(slots=True)
class _File:
    """A file of a kept diff: as its commit has it, and as the run did; `None` for no such file."""

    committed: list[str] | None = field(default_factory=list)
    present: list[str] | None = field(default_factory=list)

    def add(self, line: str) -> None:
        """Add a line of the diff, whose first character says where it is."""
        if line[:1] in (" ", "-") and self.committed is not None:
            self.committed.append(line[1:])
        if line[:1] in (" ", "+") and self.present is not None:
            self.present.append(line[1:])


def code_changes(base: RunAttempts, cand: RunAttempts) -> CodeChanges:
    """The files that differ, as far as the two runs kept what was not committed.

    Committed changes are git's to show. A file that only one of two runs of different commits had
    changed is named in a note, since what the other one had is not recorded.
    """
    before, after = base.manifest, cand.manifest
    if (before.commit, before.dirty) == (after.commit, after.dirty):
        return CodeChanges()
    notes = [note for note in (_committed(before, after), *map(_not_kept, (base, cand))) if note]
    old, new = _read(base), _read(cand)
    files, unknown = [], []
    for path in sorted(old.keys() | new.keys()):
        here, there = old.get(path), new.get(path)
        if before.commit != after.commit and (here is None or there is None):
            unknown.append(path)
            continue
        # A run without the file in its diff has what the commit has.
        present = here.present if here is not None else new[path].committed
        later = there.present if there is not None else old[path].committed
        if present != later:
            files.append(_change(path, present, later))
    if unknown:
        notes.append(f"not committed in one of the runs alone: {', '.join(unknown[:5])}")
    return CodeChanges(tuple(files), tuple(notes))


def _committed(before: RunManifest, after: RunManifest) -> str:
    if before.commit == after.commit or not (before.commit and after.commit):
        return ""
    return f"`git diff {before.commit[:12]} {after.commit[:12]}` shows what was committed"


def _not_kept(run: RunAttempts) -> str:
    if not run.manifest.dirty or RunLayout(run.path).agent_diff.is_file():
        return ""
    return f"{run.run_id} did not keep what was not committed then"


def _change(path: str, before: list[str] | None, after: list[str] | None) -> CodeChange:
    old, new = before or [], after or []
    if len(old) + len(new) > LONGEST_FILES:
        return CodeChange(path, len(new), len(old), "too long to be compared line by line")
    here, there = ("/dev/null" if lines is None else path for lines in (before, after))
    lines = list(islice(unified_diff(old, new, here, there, lineterm=""), MOST_LINES))
    return CodeChange(
        path,
        added=sum(line.startswith("+") for line in lines[2:]),
        removed=sum(line.startswith("-") for line in lines[2:]),
        diff="\n".join(lines),
    )


def _read(run: RunAttempts) -> dict[str, _File]:
    """The files of the diff that the run kept; none where it kept nothing that can be read."""
    try:
        with RunLayout(run.path).agent_diff.open("rb") as stream:
            text = stream.read(LARGEST_DIFF).decode("utf-8", "replace")
    except OSError:
        return {}
    return dict(_files(text.split("\n")))


def _files(lines: Sequence[str]) -> Iterator[tuple[str, _File]]:
    path, file, inside = "", _File(), False
    # The last line is no file's: it ends the last one.
    for line in (*lines, "diff --git "):
        if line.startswith("diff --git "):
            if path:
                yield path, file
            path, file, inside = "", _File(), False
        elif not inside and line.startswith(("--- ", "+++ ")):
            name = line[4:].rstrip("\t")
            if name != "/dev/null":
                path = name[2:]
            elif line[0] == "-":
                file.committed = None
            else:
                file.present = None
        elif line.startswith("@@ "):
            inside = True
        elif inside:
            file.add(line)
