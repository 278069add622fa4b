"""Write a finding as Python code that the user can copy."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from assay.audit.data import read_table
from assay.audit.findings import Finding, GraderCall
from assay.schema.audit import AuditTarget

SHORT: Final = 300
LONGEST: Final = 3_000
RUN: Final = re.compile(r"(.{1,40}?)\1{30,}", re.DOTALL)
REFERENCE_NAMES: Final = frozenset(
    ("answer", "solution", "ground_truth", "label", "target", "gold", "reference")
)
_ARGUMENTS: Final[Mapping[str, list[str]]] = read_table("texts")["arguments"]
_ELSEWHERE: Final[Mapping[str, str]] = read_table("texts")["elsewhere"]


def expression(text: str) -> str:
    """Write a Python expression for the text; long repetitions become products."""
    if len(text) <= SHORT:
        return ascii(text)
    pieces: list[str] = []
    start = 0
    for run in RUN.finditer(text):
        pieces.append(ascii(text[start : run.start()]))
        pieces.append(f"{run[1]!a} * {len(run[0]) // len(run[1])}")
        start = run.end()
    pieces.append(ascii(text[start:]))
    whole = " + ".join(piece for piece in pieces if piece != "''")
    return whole if len(whole) <= LONGEST else f"{text[:SHORT]!a}  # cut: {len(text)} characters"


def snippet(target: AuditTarget, finding: Finding) -> str:
    """Write code that makes the call of a finding."""
    lines = _call_lines(target, finding.reproducer)
    if finding.check not in _ELSEWHERE:
        return lines
    indented = "\n".join(f"    {line}" if line else "" for line in lines.splitlines())
    return _ELSEWHERE[finding.check].format(indented)


def _call_lines(target: AuditTarget, call: GraderCall) -> str:
    if target.form == "url":
        return _curl(target, call)
    if target.shape == "inspect":
        return f"answer = {expression(call.final_response)}\n# scored by {target.text}"
    load, name = _import_line(target)
    body = "".join(f"    {argument},\n" for argument in _arguments(target, call))
    if target.form == "registered":
        return f"import assay\n\nprint(assay.score(\n    {target.text!r},\n{body}))"
    call_text = f"{name}(\n{body})"
    if target.is_async:
        return f"import asyncio\n{load}\n\nprint(asyncio.run({call_text}))"
    return f"{load}\n\nprint({call_text})"


def _import_line(target: AuditTarget) -> tuple[str, str]:
    location, _, attribute = target.text.rpartition(":")
    if target.form == "file":
        name = attribute.replace(".", "_")
        return f"import runpy\n\n{name} = runpy.run_path({location!r})[{attribute!r}]", name
    first, _, rest = attribute.partition(".")
    return f"from {location} import {first}", f"{first}.{rest}" if rest else first


def _arguments(target: AuditTarget, call: GraderCall) -> list[str]:
    if target.shape in ("assay", "agentfly"):
        return _named_arguments(target, call)
    words = {
        "text": expression(call.final_response),
        "prompt": _value(str(call.columns.get("prompt", ""))),
        "reference": _value(call.columns.get("answer")),
    }
    arguments = [template.format(**words) for template in _ARGUMENTS[target.shape]]
    return [*arguments, *_trl_columns(target, call)] if "trl" in target.shape else arguments


def _named_arguments(target: AuditTarget, call: GraderCall) -> list[str]:
    """Write the named arguments that the audited reward takes."""
    offered: dict[str, Any] = {"final_response": call.final_response, **call.columns}
    if call.messages is not None:
        offered["trajectory"] = [dict(message) for message in call.messages]
    if "episode" in offered:
        offered = {"final_response": call.final_response}
    takes = offered.keys() & target.parameters
    arguments = [f"{key}={_value(value)}" for key, value in offered.items() if key in takes]
    of_episode = "context=Context.recorded(Episode.model_validate(episode))"
    return [*arguments, of_episode] if "episode" in call.columns else arguments


def _trl_columns(target: AuditTarget, call: GraderCall) -> list[str]:
    reference = call.columns.get("answer")
    return [
        f"{name}=[{_value(call.columns.get(name, reference))}]"
        for name in sorted(set(target.parameters) - {"prompts", "completions"})
        if name in call.columns or name in REFERENCE_NAMES
    ]


def _curl(target: AuditTarget, call: GraderCall) -> str:
    address, _, reward = target.text.partition("#")
    row = {**call.columns, "final_response": call.final_response}
    body = json.dumps({"reward": reward, "row": row})[:LONGEST]
    return f"curl {address} -H 'Content-Type: application/json' -d @- <<'JSON'\n{body}\nJSON"


def _value(value: Any) -> str:
    return expression(value) if isinstance(value, str) else ascii(value)[:LONGEST]
