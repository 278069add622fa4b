"""The rewards: what each one says of itself, and a form to try it on text."""

from __future__ import annotations

import inspect
import json
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from concurrent.futures import TimeoutError as TooLate
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, TypeVar

from assay.errors import AssayError, BadParameter, UnknownName
from assay.registry import REWARDS, RewardSpec, find_reward
from assay.report.sensitivity import Sensitivity, probe
from assay.schema.audit import Severity
from assay.scoring.scorer import Scorer
from assay.viewer.audits import Audits, StoredAudit
from assay.viewer.pages.episode import ScoreView, score_view

T = TypeVar("T")
MOST_CHARS = 20_000
"""Of one field of the form."""
TRIAL_S = 20.0
SAMPLE = '[{"role": "user", "content": "…"}, {"role": "assistant", "content": "…"}]'

Trial: TypeAlias = Literal["score", "probe"]
_TRIALS: dict[str, Trial] = {"score": "score", "probe": "probe"}


@dataclass(frozen=True, slots=True)
class RewardItem:
    """A registered reward."""

    name: str
    version: int
    summary: str
    needs: tuple[str, ...]
    world: bool
    """Whether it judges a live world, and has nothing to try."""


@dataclass(frozen=True, slots=True)
class AuditItem:
    """What the latest audit of a reward came to."""

    version: int
    worst: Severity | None
    passes_at: Severity | None
    readable: bool


@dataclass(frozen=True, slots=True)
class ListedReward:
    """A reward of the list."""

    reward: RewardItem
    audit: AuditItem | None
    """`None` when no audit was saved."""


@dataclass(frozen=True, slots=True)
class RewardsPage:
    """Every registered reward."""

    rewards: tuple[ListedReward, ...]
    broken: tuple[str, ...]
    """Those that cannot be loaded, with the reason."""


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A piece of documentation; one with a shape of its own keeps its line breaks."""

    text: str
    shaped: bool


@dataclass(frozen=True, slots=True)
class FieldView:
    """One field of the form."""

    name: str
    """As the form sends it: `c.` before a column, `o.` before an option."""
    title: str
    required: bool
    value: str
    hint: str


@dataclass(frozen=True, slots=True)
class RewardPage:
    """One reward, and what came of trying it."""

    reward: RewardItem
    documentation: tuple[Paragraph, ...]
    parts: tuple[str, ...] | None
    columns: tuple[FieldView, ...]
    options: tuple[FieldView, ...]
    can_probe: bool
    trial: Trial | None
    score: ScoreView | None
    probed: Sensitivity | None
    sentence: str
    problem: str
    """Why there is no result, in words."""
    audit: StoredAudit | None
    """The latest that was saved."""


def rewards_page(audits: Audits) -> RewardsPage:
    """Every reward that is registered here, built in or installed."""
    found, broken = [], []
    for name in REWARDS.names():
        try:
            item = _item(find_reward(name))
            found.append(ListedReward(item, _audited(audits, item)))
        except AssayError as error:
            # A broken plug-in must not hide the others.
            broken.append(str(error))
    return RewardsPage(tuple(found), tuple(broken))


def _audited(audits: Audits, item: RewardItem) -> AuditItem | None:
    stored = audits.latest(item.name, item.version)
    if stored is None:
        return None
    if stored.report is None:
        return AuditItem(stored.version, None, None, readable=False)
    return AuditItem(stored.version, stored.report.worst, stored.report.passes_at, readable=True)


def reward_page(
    name: str, form: Mapping[str, str], *, tryout: RewardTryout, audits: Audits
) -> RewardPage:
    """The reward; where the form was sent, with its result or the reason why there is none."""
    spec = find_reward(name)
    trial = _TRIALS.get(form.get("do", ""))
    score, probed, problem = None, None, ""
    if trial is not None:
        try:
            if trial == "score":
                score = score_view(tryout.run(lambda: _scored(spec, form)))
            else:
                probed = tryout.run(lambda: _probed(spec, form))
        except AssayError as error:
            problem = str(error)
    return RewardPage(
        reward=_item(spec),
        documentation=tuple(_paragraphs(inspect.getdoc(spec.function) or "")),
        parts=spec.parts,
        columns=_columns(spec, form),
        options=_options(spec, form),
        can_probe=not _of_a_world(spec) and "final_response" in _needs(spec),
        trial=trial,
        score=score,
        probed=probed,
        sentence=probed.sentence if probed is not None else "",
        problem=problem,
        audit=audits.latest(spec.name, spec.version),
    )


class RewardTryout:
    """Runs trials beside the server, a few at a time, each for so long at most.

    A thread cannot be stopped: a reward that never ends keeps its place until the process ends,
    which it does not hold up, and when all places are taken the next trial is told so.
    """

    def __init__(self, *, places: int = 2, limit_s: float = TRIAL_S) -> None:
        self._places = threading.Semaphore(places)
        self._limit_s = limit_s

    def run(self, work: Callable[[], T]) -> T:
        """The result of the work, or an error that says that it took too long."""
        if not self._places.acquire(timeout=self._limit_s):
            raise BadParameter("rewards that were tried before hang; start the viewer again")
        outcome: Future[T] = Future()
        threading.Thread(target=self._work, args=(work, outcome), daemon=True).start()
        try:
            return outcome.result(self._limit_s)
        except TooLate as error:
            raise BadParameter(f"no result within {self._limit_s:g} s") from error

    def _work(self, work: Callable[[], T], outcome: Future[T]) -> None:
        try:
            # Whatever a reward raises is an abstention already; this is about the call.
            outcome.set_result(work())
        except AssayError as error:
            outcome.set_exception(error)
        finally:
            self._places.release()
            if not outcome.done():
                # The traceback is on stderr; nobody waits for a result that will not come.
                outcome.set_exception(BadParameter("the trial broke; the viewer's log says where"))


def _item(spec: RewardSpec) -> RewardItem:
    return RewardItem(spec.name, spec.version, spec.summary, spec.required, _of_a_world(spec))


def _paragraphs(text: str) -> Iterator[Paragraph]:
    for block in text.split("\n\n"):
        shaped = any(line[:1] in (" ", "|", "-", "*") for line in block.splitlines())
        if block.strip():
            yield Paragraph(block if shaped else " ".join(block.split()), shaped)


def _needs(spec: RewardSpec) -> tuple[str, ...]:
    return (*spec.required, *spec.optional)


def _of_a_world(spec: RewardSpec) -> bool:
    return "context" in spec.required


def _columns(spec: RewardSpec, form: Mapping[str, str]) -> tuple[FieldView, ...]:
    wanted = [name for name in _needs(spec) if name != "context"]
    return tuple(
        FieldView(
            name=f"c.{name}",
            title=name,
            required=name in spec.required,
            value=form.get(f"c.{name}", ""),
            hint=_hint(name),
        )
        for name in wanted
    )


def _hint(name: str) -> str:
    if name == "trajectory":
        return f"a JSON list of messages, such as {SAMPLE}"
    return "text; a JSON list or object is read as such" if name != "final_response" else ""


def _options(spec: RewardSpec, form: Mapping[str, str]) -> tuple[FieldView, ...]:
    return tuple(
        FieldView(
            name=f"o.{option.name}",
            title=option.name,
            required=option.default is option.empty,
            value=form.get(f"o.{option.name}", ""),
            hint="" if option.default is option.empty else f"default {option.default!r}",
        )
        for option in spec.options.values()
    )


def _scored(spec: RewardSpec, form: Mapping[str, str]) -> Any:
    _refuse_worlds(spec)
    given = _given(form, "c.")
    columns = {
        name: text if name == "final_response" else _value(text, strict=name == "trajectory")
        for name, text in given.items()
    }
    # An answer that was left empty is an empty answer; any other empty field was not given.
    if "final_response" in _needs(spec):
        columns.setdefault("final_response", "")
    return Scorer(spec.function, _params(form))(columns)


def _probed(spec: RewardSpec, form: Mapping[str, str]) -> Sensitivity:
    _refuse_worlds(spec)
    given = _given(form, "c.")
    gold = given.pop("answer", "") or given.pop("golden_answers", "")
    others = {name: _value(text) for name, text in given.items()}
    others.pop("final_response", None)
    others.pop("trajectory", None)
    return probe(spec.name, gold, params=_params(form), columns=others)


def _refuse_worlds(spec: RewardSpec) -> None:
    if _of_a_world(spec):
        raise UnknownName(f"{spec.name} judges a live world; there is no text to try it on")


def _params(form: Mapping[str, str]) -> dict[str, Any]:
    params: dict[str, Any] = {}
    for name, text in _given(form, "o.").items():
        try:
            params[name] = json.loads(text)
        except (ValueError, RecursionError):
            params[name] = text
    return params


def _given(form: Mapping[str, str], prefix: str) -> dict[str, str]:
    found = {}
    for name, text in form.items():
        if not name.startswith(prefix) or not text:
            continue
        if len(text) > MOST_CHARS:
            raise BadParameter(
                f"{name[2:]!r} has {len(text):,} characters; {MOST_CHARS:,} fit here"
            )
        found[name.removeprefix(prefix)] = text
    return found


def _value(text: str, *, strict: bool = False) -> Any:
    """A JSON list or object as such, any other text as it is."""
    if not strict and text.lstrip()[:1] not in ("[", "{"):
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        if strict:
            raise BadParameter(f"the trajectory is not JSON: {error!s:.200}") from error
        return text
