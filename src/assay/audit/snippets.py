"""A finding as a few lines of Python to copy."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from assay.audit.findings import Finding, GraderCall
from assay.schema.audit import Target

SHORT: Final = 300
LONGEST: Final = 3_000
RUN: Final = re.compile(r"(.{1,40}?)\1{30,}", re.DOTALL)


def expression(text: str) -> str:
    """Python that gives the text; long repetitions are written as such."""
    if len(text) <= SHORT:
        return ascii(text)
    pieces: list[str] = []
    start = 0
    for run in RUN.finditer(text):
        if run.start() > start:
            pieces.append(ascii(text[start : run.start()]))
        unit = run.group(1)
        pieces.append(f"{unit!a} * {len(run.group(0)) // len(unit)}")
        start = run.end()
    if start < len(text):
        pieces.append(ascii(text[start:]))
    whole = " + ".join(pieces)
    if len(whole) <= LONGEST:
        return whole
    return f"{text[:SHORT]!a}  # cut: {len(text)} characters"


def snippet(target: Target, finding: Finding) -> str:
    """Lines that ask the target what the finding asked it."""
    lines = _call_lines(target, finding.reproducer)
    wrap = _ELSEWHERE.get(finding.check)
    return wrap(lines) if wrap else lines


def _call_lines(target: Target, call: GraderCall) -> str:
    if target.form == "url":
        return _curl(target, call)
    if target.shape == "inspect":
        return f"answer = {expression(call.final_response)}\n# scored by {target.text}"
    load, name = _import_line(target)
    arguments = _ARGUMENTS[target.shape](target, call)
    body = "".join(f"    {argument},\n" for argument in arguments)
    if target.form == "registered":
        return f"import assay\n\nprint(assay.score(\n    {target.text!r},\n{body}))"
    call_text = f"{name}(\n{body})"
    if target.is_async:
        return f"import asyncio\n{load}\n\nprint(asyncio.run({call_text}))"
    return f"{load}\n\nprint({call_text})"


def _import_line(target: Target) -> tuple[str, str]:
    location, _, attribute = target.text.rpartition(":")
    if target.form == "file":
        name = attribute.replace(".", "_")
        return f"import runpy\n\n{name} = runpy.run_path({location!r})[{attribute!r}]", name
    first, _, rest = attribute.partition(".")
    return f"from {location} import {first}", f"{first}.{rest}" if rest else first


def _ours(target: Target, call: GraderCall) -> list[str]:
    """Arguments by name; those that the target does not take are left out."""
    takes = set(target.parameters)
    offered: dict[str, Any] = dict(call.columns)
    if call.messages is not None:
        offered["trajectory"] = [dict(message) for message in call.messages]
    arguments = []
    if "final_response" in takes:
        arguments.append(f"final_response={expression(call.final_response)}")
    if "episode" in offered:
        return [*arguments, "context=Context.recorded(Episode.model_validate(episode))"]
    return [*arguments, *(f"{key}={_value(offered[key])}" for key in offered if key in takes)]


def _trl(target: Target, call: GraderCall) -> list[str]:
    text = expression(call.final_response)
    prompt = str(call.columns.get("prompt", ""))
    if target.shape == "trl-text":
        prompts, completions = f"[{_value(prompt)}]", f"[{text}]"
    else:
        prompts = f'[[{{"role": "user", "content": {_value(prompt)}}}]]'
        completions = f'[[{{"role": "assistant", "content": {text}}}]]'
    takes = set(target.parameters) - {"prompts", "completions"}
    reference = call.columns.get("answer")
    columns = {
        name: call.columns.get(name, reference)
        for name in sorted(takes)
        if name in call.columns or name in REFERENCE_NAMES
    }
    rest = [f"{key}=[{_value(value)}]" for key, value in columns.items()]
    return [f"prompts={prompts}", f"completions={completions}", *rest]


def _verl(target: Target, call: GraderCall) -> list[str]:
    del target
    return [
        "data_source='audit'",
        f"solution_str={expression(call.final_response)}",
        f"ground_truth={_value(call.columns.get('answer'))}",
    ]


def _openrlhf(target: Target, call: GraderCall) -> list[str]:
    del target
    prompt = _value(str(call.columns.get("prompt", "")))
    return [
        f"queries=[{prompt} + {expression(call.final_response)}]",
        f"prompts=[{prompt}]",
        f"labels=[{_value(call.columns.get('answer'))}]",
    ]


def _verifiers(target: Target, call: GraderCall) -> list[str]:
    text = expression(call.final_response)
    messages = f'[{{"role": "assistant", "content": {text}}}]'
    completion = text if target.shape == "verifiers-text" else messages
    return [f"completion={completion}", f"answer={_value(call.columns.get('answer'))}"]


def _plain(target: Target, call: GraderCall) -> list[str]:
    del target
    return [expression(call.final_response), _value(call.columns.get("answer"))]


REFERENCE_NAMES: Final = (
    "answer",
    "solution",
    "ground_truth",
    "label",
    "target",
    "gold",
    "reference",
)
_ARGUMENTS: Final[Mapping[str, Callable[[Target, GraderCall], list[str]]]] = {
    "assay": _ours, "agentfly": _ours, "trl": _trl, "trl-text": _trl, "verl": _verl,
    "openrlhf": _openrlhf, "verifiers": _verifiers, "verifiers-text": _verifiers, "plain": _plain,
}  # fmt: skip


def _curl(target: Target, call: GraderCall) -> str:
    address, _, reward = target.text.partition("#")
    row = {**call.columns, "final_response": call.final_response}
    body = json.dumps({"reward": reward, "row": row})[:LONGEST]
    return f"curl {address} -H 'Content-Type: application/json' -d @- <<'JSON'\n{body}\nJSON"


def _value(value: Any) -> str:
    return expression(value) if isinstance(value, str) else ascii(value)[:LONGEST]


def _in_thread(lines: str) -> str:
    return (
        "import threading\n\n\ndef ask():\n" + _indented(lines) + "\n\n\n"
        "threading.Thread(target=ask).start()"
    )


def _on_loop(lines: str) -> str:
    return "import asyncio\n\n\nasync def ask():\n" + _indented(lines) + "\n\n\nasyncio.run(ask())"


def _indented(lines: str) -> str:
    return "\n".join(f"    {line}" if line else "" for line in lines.splitlines())


_ELSEWHERE: Final[Mapping[str, Callable[[str], str]]] = {
    "worker_thread": _in_thread,
    "event_loop": _on_loop,
}
