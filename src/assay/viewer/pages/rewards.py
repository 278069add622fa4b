"""The registered rewards with their documentation, and a form to try one on text."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from assay.errors import AssayError, BadParameter, UnknownName
from assay.registry import REWARDS, RewardSpec, find_reward
from assay.report.sensitivity import Sensitivity
from assay.schema.audit import Severity
from assay.schema.score import Score
from assay.viewer.audits import Audits, StoredAudit
from assay.viewer.pages.episode import ScoreView, score_view
from assay.viewer.tryout import RewardTryout

MOST_CHARS = 20_000
"""Of one field of the form."""
SAMPLE = '[{"role": "user", "content": "…"}, {"role": "assistant", "content": "…"}]'

TryoutKind: TypeAlias = Literal["score", "probe"]
_TRYOUT_KINDS: dict[str, TryoutKind] = {"score": "score", "probe": "probe"}


@dataclass(frozen=True, slots=True)
class RewardItem:
    """A registered reward."""

    name: str
    version: int
    summary: str
    needs: tuple[str, ...]
    world: bool
    """Whether it scores a live world, so that there is no text to try it on."""


@dataclass(frozen=True, slots=True)
class AuditItem:
    """The outcome of the latest audit of a reward."""

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
    trial: TryoutKind | None
    score: ScoreView | None
    probed: Sensitivity | None
    sentence: str
    problem: str
    """Why there is no result."""
    audit: StoredAudit | None
    """The latest that was saved."""


def rewards_page(audits: Audits) -> RewardsPage:
    """Every reward that is registered here, built in or installed."""
    rewards, broken = [], []
    for name in REWARDS.names():
        try:
            item = _item(find_reward(name))
            rewards.append(ListedReward(item, _audit_item(audits, item)))
        except AssayError as error:
            # A broken plug-in must not hide the others.
            broken.append(str(error))
    return RewardsPage(tuple(rewards), tuple(broken))


def _audit_item(audits: Audits, item: RewardItem) -> AuditItem | None:
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
    kind = _TRYOUT_KINDS.get(form.get("do", ""))
    score, probed, problem = None, None, ""
    if kind is not None:
        try:
            if kind == "score":
                score = score_view(_score(name, spec, form, tryout))
            else:
                probed = _probe(name, spec, form, tryout)
        except AssayError as error:
            problem = str(error)
    return RewardPage(
        reward=_item(spec),
        documentation=tuple(_paragraphs(inspect.getdoc(spec.function) or "")),
        parts=spec.parts,
        columns=_columns(spec, form),
        options=_options(spec, form),
        can_probe=not _of_a_world(spec) and "final_response" in _needs(spec),
        trial=kind,
        score=score,
        probed=probed,
        sentence=probed.sentence if probed is not None else "",
        problem=problem,
        audit=audits.latest(spec.name, spec.version),
    )


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
    return tuple(
        FieldView(
            name=f"c.{name}",
            title=name,
            required=name in spec.required,
            value=form.get(f"c.{name}", ""),
            hint=_hint(name),
        )
        for name in _needs(spec)
        if name != "context"
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


def _score(name: str, spec: RewardSpec, form: Mapping[str, str], tryout: RewardTryout) -> Score:
    _refuse_worlds(spec)
    columns = {
        field: text if field == "final_response" else _value(text, strict=field == "trajectory")
        for field, text in _filled_fields(form, "c.").items()
    }
    # An answer that was left empty is an empty answer; any other empty field is left out.
    if "final_response" in _needs(spec):
        columns.setdefault("final_response", "")
    return tryout.score(name, columns, _params(form))


def _probe(
    name: str, spec: RewardSpec, form: Mapping[str, str], tryout: RewardTryout
) -> Sensitivity:
    _refuse_worlds(spec)
    fields = _filled_fields(form, "c.")
    reference = fields.pop("answer", "") or fields.pop("golden_answers", "")
    others = {
        field: _value(text)
        for field, text in fields.items()
        if field not in ("final_response", "trajectory")
    }
    return tryout.probe(name, reference, others, _params(form))


def _refuse_worlds(spec: RewardSpec) -> None:
    if _of_a_world(spec):
        raise UnknownName(f"{spec.name} judges a live world; there is no text to try it on")


def _params(form: Mapping[str, str]) -> dict[str, Any]:
    params: dict[str, Any] = {}
    for name, text in _filled_fields(form, "o.").items():
        try:
            params[name] = json.loads(text)
        except (ValueError, RecursionError):
            params[name] = text
    return params


def _filled_fields(form: Mapping[str, str], prefix: str) -> dict[str, str]:
    """The fields with that prefix that are not empty, without it."""
    fields = {}
    for name, text in form.items():
        if not name.startswith(prefix) or not text:
            continue
        if len(text) > MOST_CHARS:
            raise BadParameter(
                f"{name[2:]!r} has {len(text):,} characters; {MOST_CHARS:,} fit here"
            )
        fields[name.removeprefix(prefix)] = text
    return fields


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
