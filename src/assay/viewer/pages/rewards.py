"""The pages of the registered rewards, with a form to try a reward on text."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from assay.errors import AssayError, BadParameter, BadRecord, UnknownName
from assay.registry import REWARDS, RewardSpec, find_reward
from assay.report.form_sensitivity import FormSensitivity
from assay.schema.score import score_from_record
from assay.viewer.audits import Audits
from assay.viewer.pages.episode import score_view
from assay.viewer.pages.records import PageRecord, pick
from assay.web.strict_json import read_json
from assay.web.tryout import RewardTryout

MOST_CHARS = 20_000
"""Of one field of the form."""
SAMPLE = '[{"role": "user", "content": "…"}, {"role": "assistant", "content": "…"}]'


def rewards_page(audits: Audits) -> PageRecord:
    """The record of the list: every registered reward, with its latest audit."""
    rewards, broken = [], []
    for name in REWARDS.names():
        try:
            spec = find_reward(name)
            rewards.append({"reward": _item(spec), "audit": _audit_item(audits, spec)})
        except AssayError as error:
            # A broken plug-in must not hide the others.
            broken.append(str(error))
    return {"rewards": rewards, "broken": broken}


def _item(spec: RewardSpec) -> PageRecord:
    # A live environment leaves no text to try the reward on.
    return pick(spec, "name version summary", needs=spec.required, world="context" in spec.required)


def _audit_item(audits: Audits, spec: RewardSpec) -> PageRecord | None:
    """The outcome of the reward's latest audit; `None` if no audit was saved."""
    stored = audits.latest(spec.name, spec.version)
    if stored is None:
        return None
    report = stored.report
    return {
        "version": stored.version,
        "worst": None if report is None else report.worst,
        "passes_at": None if report is None else report.passes_at,
        "readable": report is not None,
    }


def reward_page(
    name: str,
    form: Mapping[str, str],
    *,
    tryout: RewardTryout | None,
    audits: Audits,
    form_token: str = "",
) -> PageRecord:
    """The record of a reward's page; with a `tryout` also the result of the form."""
    spec = find_reward(name)
    item = _item(spec)
    needs = (*spec.required, *spec.optional)
    trial = form.get("do") if form.get("do") in ("score", "probe") else None
    score, probed, problem = None, None, ""
    try:
        if tryout is None:
            trial = None
        elif trial is not None and item["world"]:
            raise UnknownName(
                f"{spec.name} scores a live environment, so it cannot be tried on text"
            )
        elif trial == "score":
            answer = tryout.score(name, [_row(needs, form)], _params(form))
            score = score_view(score_from_record(answer["scores"][0]))
        elif trial == "probe":
            probed = _probe(name, form, tryout)
    except AssayError as error:
        problem = str(error)
    wrong = {row.name for row in (*probed.losing, *probed.gaining)} if probed else set()
    return {
        "reward": item,
        "form_token": form_token,
        "documentation": list(_paragraphs(inspect.getdoc(spec.function) or "")),
        "parts": spec.parts,
        "columns": [
            _field("c.", column, form, required=column in spec.required, hint=_hint(column))
            for column in needs
            if column != "context"
        ],
        "options": [
            _field("o.", option.name, form, required=True, hint="")
            if option.default is option.empty
            else _field("o.", option.name, form, required=False, hint=f"default {option.default!r}")
            for option in spec.options.values()
        ],
        "can_probe": not item["world"] and "final_response" in needs,
        "trial": trial,
        "score": score,
        "probed": probed,
        # Those that are scored wrongly come first.
        "rows": sorted(probed.rows, key=lambda row: row.name not in wrong) if probed else [],
        "sentence": probed.sentence if probed else "",
        "problem": problem,
        "audit": audits.latest(spec.name, spec.version),
    }


def _paragraphs(text: str) -> Iterator[PageRecord]:
    """The paragraphs of a docstring; lists and tables keep their line breaks."""
    for block in text.split("\n\n"):
        shaped = any(line[:1] in (" ", "|", "-", "*") for line in block.splitlines())
        if block.strip():
            yield {"text": block if shaped else " ".join(block.split()), "shaped": shaped}


def _field(
    prefix: str, title: str, form: Mapping[str, str], *, required: bool, hint: str
) -> PageRecord:
    """A field of the form: a column has the name `c.NAME`, and an option `o.NAME`."""
    name = prefix + title
    value = form.get(name, "")
    return {"name": name, "title": title, "required": required, "value": value, "hint": hint}


def _hint(name: str) -> str:
    if name == "trajectory":
        return f"a JSON list of messages, such as {SAMPLE}"
    return "text; a JSON list or object is read as such" if name != "final_response" else ""


def _row(needs: Sequence[str], form: Mapping[str, str]) -> dict[str, Any]:
    columns = {name: _column(name, text) for name, text in _filled_fields(form, "c.").items()}
    # An answer that was left empty is an empty answer; any other empty field is left out.
    if "final_response" in needs:
        columns.setdefault("final_response", "")
    return columns


def _probe(name: str, form: Mapping[str, str], tryout: RewardTryout) -> FormSensitivity:
    fields = _filled_fields(form, "c.")
    reference = fields.pop("answer", "") or fields.pop("golden_answers", "")
    others = {
        column: _column(column, text)
        for column, text in fields.items()
        if column not in ("final_response", "trajectory")
    }
    return tryout.probe(name, reference, others, _params(form))


def _params(form: Mapping[str, str]) -> dict[str, Any]:
    return {name: _json_or_text(text) for name, text in _filled_fields(form, "o.").items()}


def _filled_fields(form: Mapping[str, str], prefix: str) -> dict[str, str]:
    """The non-empty fields whose names have the prefix, under names without the prefix."""
    fields = {}
    for name, text in form.items():
        if not name.startswith(prefix) or not text:
            continue
        if len(text) > MOST_CHARS:
            raise BadParameter(
                f"{name[2:]!r} has {len(text):,} characters; at most {MOST_CHARS:,} are allowed"
            )
        fields[name.removeprefix(prefix)] = text
    return fields


def _column(name: str, text: str) -> Any:
    """The value of a column: parsed if the text is a JSON list or object, else the text."""
    if name == "trajectory":
        try:
            return read_json(text.encode("utf-8", "surrogatepass"))
        except BadRecord as error:
            raise BadParameter(f"the trajectory {error!s:.200}") from error
    is_text = name == "final_response" or text.lstrip()[:1] not in ("[", "{")
    return text if is_text else _json_or_text(text)


def _json_or_text(text: str) -> Any:
    try:
        return read_json(text.encode("utf-8", "surrogatepass"))
    except BadRecord:
        return text
