"""Whether two runs can be compared at all, and what differs between them."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from difflib import unified_diff
from itertools import islice, zip_longest
from typing import Any

from assay.errors import AssayError, BadRecord
from assay.ledger.layout import RunLayout, list_runs
from assay.ledger.run import read_manifest
from assay.registry import AGENTS, MODELS
from assay.report.attempts import RunAttempts, read_attempts
from assay.schema.manifest import MODEL_ACCESS_OPTIONS, RunManifest

NOT_THE_CONFIGURATION = ("expect", "repeats", "reported", "imported", "seed", "budget")
"""What a manifest keeps that is no configuration: predictions, counts, numbers from elsewhere, the
log that it was imported from, what chance is drawn from, and what a run may spend."""
NO_STEP_BUDGET = "one run records no step budget"
LINE_NUMBER = re.compile(r"(?:line|row)\.\d+")
"""The id of a task that has none of its own, by its place in its file."""
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]{4,16}>")
SHOWN_CHANGES = 12
MOST_IDENTICAL = 5


def obstacles(base: RunAttempts, cand: RunAttempts) -> tuple[str, ...]:
    """The differences that make two runs incomparable, in words."""
    cand = with_ids_of(base, cand)
    budgets = [step_budget(run.manifest) for run in (base, cand)]
    rewards = [primary_reward(run) for run in (base, cand)]
    differences = (
        _difference("rewards", *rewards, words=_or_not_recorded),
        _task_sets(base, cand),
        # One that is not recorded is not another one.
        "" if None in budgets else _difference("step budgets", *budgets, unit=" steps"),
    )
    return tuple(difference for difference in differences if difference)


def labels(base: RunManifest, cand: RunManifest) -> tuple[str, ...]:
    """Labels of a comparison: other models or sampling, or an unrecorded step budget."""
    models, model = (model_of(base), model_of(cand)), ""
    if models[0] != models[1]:
        # Only now: the defaults are read from the model's own module.
        model = _difference("models", *map(_set_options, models), words=_describe_model)
    known = {step_budget(run) is None for run in (base, cand)}
    return tuple(filter(None, (model, NO_STEP_BUDGET if len(known) > 1 else "")))


def changes(base: RunManifest, cand: RunManifest) -> tuple[str, ...]:
    """The other differences between two runs: agent, commit and configuration."""
    before, after = (
        # An object that was written as text stands there without its place in memory.
        {
            key: _ADDRESS.sub(">", value) if isinstance(value, str) else value
            for key, value in dotted_items(run.config)
        }
        for run in (base, cand)
    )
    rows: list[tuple[str, Any, Any]] = [
        ("agent", base.agent, cand.agent),
        ("commit", _commit(base), _commit(cand)),
    ]
    if not base.commit and not cand.commit:
        # Of an agent that is in no repository a hash of its files is known.
        rows[1] = ("agent's files", base.dirty[:7] or None, cand.dirty[:7] or None)
    # A log records less than a run does: what it lacks has not changed.
    imported = base.is_imported or cand.is_imported
    keys = before.keys() & after.keys() if imported else before.keys() | after.keys()
    rows += [
        (key, before.get(key), after.get(key))
        for key in sorted(keys)
        if key.partition(".")[0] not in NOT_THE_CONFIGURATION
    ]
    sentences = [f"{name}: {_words(was)} → {_words(now)}" for name, was, now in rows if was != now]
    more = len(sentences) - SHOWN_CHANGES
    return (*sentences[:SHOWN_CHANGES], *([f"and {more} more"] if more > 0 else []))


def identical_runs(attempts: RunAttempts) -> list[RunAttempts]:
    """Other runs of the same folder with exactly this configuration, code and task set."""
    identity = _identity(attempts.manifest)
    if identity is None:
        return []
    runs = []
    for path in reversed(list_runs(attempts.path.parent)):
        try:
            manifest = read_manifest(RunLayout(path))
        except BadRecord:
            continue
        if manifest.run_id != attempts.run_id and _identity(manifest) == identity:
            runs.append(read_attempts(path))
        if len(runs) == MOST_IDENTICAL:
            break
    return runs


def _identity(manifest: RunManifest) -> tuple[Any, ...] | None:
    """An identity that runs of one configuration share; `None` for an unknown configuration."""
    if manifest.dirty == "unknown" or not manifest.config or manifest.parent is not None:
        return None
    if manifest.is_imported or not _code_is_known(manifest):
        return None
    config = {k: v for k, v in manifest.config.items() if k not in NOT_THE_CONFIGURATION}
    played = (manifest.agent, manifest.benchmark, config, manifest.rewards, manifest.task_set)
    return (*played, manifest.commit, manifest.dirty, manifest.versions.get("assay"))


def _code_is_known(manifest: RunManifest) -> bool:
    """Whether the manifest identifies the version of the agent's code."""
    if manifest.agent == "http":
        return False
    own = manifest.agent == "stdio" or manifest.agent not in AGENTS.names()
    return bool(manifest.commit or manifest.dirty) or not own


def _words(value: Any) -> str:
    text = "not recorded" if value is None else value if isinstance(value, str) else repr(value)
    return text if len(text) <= 60 else f"{text[:59]}…"


def _difference(
    what: str, before: Any, after: Any, *, words: Callable[[Any], str] = _words, unit: str = ""
) -> str:
    """How a property of two runs differs, in words; empty if both are equal."""
    if before == after:
        return ""
    return f"the {what} differ: {words(before)} against {words(after)}{unit}"


def _or_not_recorded(text: str) -> str:
    return text or "not recorded"


def primary_reward(attempts: RunAttempts) -> str:
    """The primary reward as `name@version(options)`; empty if it is not recorded."""
    scorers = {
        f"{a.scorer}({a.params})" if a.params else a.scorer for a in attempts.final if a.scorer
    }
    return ", ".join(sorted(scorers)) or next(iter(attempts.manifest.rewards), "")


def _task_sets(base: RunAttempts, cand: RunAttempts) -> str:
    before, after = base.manifest.task_set, cand.manifest.task_set
    here, there = {a.task_id for a in base.final}, {a.task_id for a in cand.final}
    sizes = (base.manifest.n_tasks or len(here), cand.manifest.n_tasks or len(there))
    if before and before == after:
        return ""
    if sizes[0] != sizes[1]:
        return f"the task sets differ: {_tasks(sizes[0])} against {sizes[1]}"
    if here != there:
        return f"the task sets differ: {len(here & there)} of {_tasks(sizes[0])} are in both"
    return _contents(base, cand)


def _contents(base: RunAttempts, cand: RunAttempts) -> str:
    """A sentence if tasks with equal ids have other questions or references; else empty."""
    others: dict[str, None] = {}
    after = {a.task_id: a for a in cand.final}
    for one in base.final:
        other = after[one.task_id]
        known = one.reference and other.reference
        if one.question != other.question or (known and one.reference != other.reference):
            others[one.task_id] = None
    if not others:
        return ""
    names = ", ".join(list(others)[:3]) + (" …" if len(others) > 3 else "")
    return f"the task sets differ: the same ids, but other questions or references ({names})"


def with_ids_of(base: RunAttempts, cand: RunAttempts) -> RunAttempts:
    """The candidate with the base's task ids for equal questions, if ids are line numbers.

    A line number says nothing of its question once a file is sorted or shortened. A question
    that the base has not keeps an id that no task of it has.
    """
    here, there = {a.task_id for a in base.final}, {a.task_id for a in cand.final}
    numbered = any(ids and all(map(LINE_NUMBER.fullmatch, ids)) for ids in (here, there))
    questions = {a.task_id: a.question for a in (*base.final, *cand.final)}
    if not numbered or not all(questions.values()):
        return cand
    before, after = _by_question(base), _by_question(cand)
    names = {
        task: same if same is not None else f"{task} of {cand.run_id}" if task in here else task
        for question, tasks in after.items()
        for task, same in zip_longest(tasks, before.get(question, [])[: len(tasks)])
    }
    if all(task == name for task, name in names.items()):
        return cand
    return replace(cand, final=tuple(replace(a, task_id=names[a.task_id]) for a in cand.final))


def _by_question(attempts: RunAttempts) -> dict[str, list[str]]:
    """The task ids of each question, in their order."""
    tasks: dict[str, dict[str, None]] = {}
    for attempt in attempts.final:
        tasks.setdefault(attempt.question, {})[attempt.task_id] = None
    return {question: list(ids) for question, ids in tasks.items()}


def step_budget(manifest: RunManifest) -> int | None:
    """The number of actions that an episode may take; `None` if the manifest has no limit."""
    steps = _at(manifest.config, "benchmark", "limits", "steps")
    return steps if isinstance(steps, int) else None


def model_of(manifest: RunManifest) -> dict[str, Any]:
    """The model and its sampling options; empty if the manifest names no model."""
    options = _at(manifest.config, "agent", "options")
    if not isinstance(options, Mapping) or "model" not in options:
        return {}
    inner = options.get("model_options")
    details = inner if isinstance(inner, Mapping) else {}
    sampled = {k: v for k, v in details.items() if k not in MODEL_ACCESS_OPTIONS and v is not None}
    return {"client": options["model"], **sampled}


def _set_options(model: Mapping[str, Any]) -> dict[str, Any]:
    """The options of the model that differ from the defaults of its class."""
    defaults: dict[str, Any] = {}
    # A model that is not installed here, or has no signature, keeps every option.
    with suppress(AssayError, TypeError, ValueError):
        parameters = inspect.signature(MODELS.get(str(model.get("client")))).parameters.items()
        for key, each in parameters:
            defaults[key] = list(each.default) if isinstance(each.default, tuple) else each.default
    return {key: value for key, value in model.items() if value != defaults.get(key)}


def _describe_model(model: Mapping[str, Any]) -> str:
    """The model in words, such as `openai:NAME top_p=0.9`."""
    name = ":".join(str(model[key]) for key in ("client", "model") if key in model)
    sampling = (f"{key}={value}" for key, value in model.items() if key not in ("client", "model"))
    return _or_not_recorded(" ".join([name, *sampling]).strip())


def _at(config: Any, *path: str) -> Any:
    for key in path:
        if not isinstance(config, Mapping):
            return None
        config = config.get(key)
    return config


def dotted_items(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every value inside nested mappings, with its keys joined by dots."""
    if isinstance(value, Mapping) and value:
        for key, inner in value.items():
            yield from dotted_items(inner, f"{path}.{key}" if path else str(key))
    else:
        yield path, value


def _commit(manifest: RunManifest) -> str:
    if not manifest.commit:
        return "no commit"
    return manifest.commit[:7] + (f"+{manifest.dirty[:7]}" if manifest.dirty else "")


def _tasks(n: int) -> str:
    return f"{n} task{'' if n == 1 else 's'}"


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
    """The differences in an agent's code between two runs, as far as the runs kept the code."""

    files: tuple[CodeChange, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(slots=True)
class _File:
    """A file of a kept diff: its lines in the commit and in the run; `None` for no file."""

    committed: list[str] | None = field(default_factory=list)
    present: list[str] | None = field(default_factory=list)

    def add(self, line: str) -> None:
        """Add a line of the diff; its first character says which version has the line."""
        if line[:1] in (" ", "-") and self.committed is not None:
            self.committed.append(line[1:])
        if line[:1] in (" ", "+") and self.present is not None:
            self.present.append(line[1:])


def code_changes(base: RunAttempts, cand: RunAttempts) -> CodeChanges:
    """The files that differ, as far as the two runs kept their uncommitted changes.

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
    """The files of the diff that the run kept; empty if there is no readable diff."""
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
