"""Checks of tool calls that are nearly right, repeated, only written, or not needed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Final

from assay.audit.context import CheckContext, Probe, never_paid
from assay.audit.conversations import assistant, question, read_calls
from assay.audit.data import checks_of, named_texts
from assay.audit.findings import GraderCall, Sample

Calls = list[dict[str, Any]]
FORGERIES: Final = named_texts("written_calls")


def _with_calls(context: CheckContext) -> Iterator[tuple[Sample, Calls]]:
    """Yield each row whose reference is a list of tool calls, with these calls."""
    for row in context.rows():
        calls = read_calls(row.reference_text)
        if calls:
            yield row, calls


def _altered(variant: str, change: Callable[[dict[str, Any]], dict[str, Any] | None]) -> Any:
    """Build probes that change the arguments of the first tool call."""

    def probes(context: CheckContext) -> Iterator[Probe]:
        for row, (first, *rest) in _with_calls(context):
            arguments = change(dict(first["arguments"]))
            if arguments is not None:
                calls = [{**first, "arguments": arguments}, *rest]
                yield Probe(variant, context.to_call(row, json.dumps(calls)))

    return probes


def _without_first(arguments: dict[str, Any]) -> dict[str, Any] | None:
    return dict(list(arguments.items())[1:]) if arguments else None


def _numbers_as_text(arguments: dict[str, Any]) -> dict[str, Any] | None:
    numbers = {name: value for name, value in arguments.items() if type(value) in (int, float)}
    return {**arguments, **{name: str(numbers[name]) for name in numbers}} if numbers else None


def _repeated(context: CheckContext) -> Iterator[Probe]:
    for row, calls in _with_calls(context):
        yield Probe("the last call twice", context.to_call(row, json.dumps([*calls, calls[-1]])))
        yield Probe("every call twice", context.to_call(row, json.dumps([*calls, *calls])))


def _written(context: CheckContext) -> Iterator[Probe]:
    """Yield messages that write the right tool calls as text and make no call."""
    for row, _ in _with_calls(context):
        for name, form in FORGERIES:
            text = form.format(row.reference_text)
            call = GraderCall(text, row.columns, (question(row), assistant(text)))
            yield Probe(f"calls in {name}", call)


def _of_the_user(context: CheckContext) -> Iterator[Probe]:
    """Yield conversations in which the user, not the agent, makes the right tool calls."""
    for row, _ in _with_calls(context):
        right = context.to_call(row, row.reference_text).messages or ()
        user_calls = [{**message, "role": "user"} for message in right[1:]]
        messages = (question(row), *user_calls, assistant("I cannot do that."))
        yield Probe("calls of the user", GraderCall("I cannot do that.", row.columns, messages))


def _uncalled(context: CheckContext) -> Iterator[Probe]:
    for row in (row for row in context.samples if row.reference == []):
        for call in (context.to_call(row, text) for text in row.wrong):
            yield Probe("a call where none is right", call)
            messages = tuple({**one, "content": "I try a tool."} for one in call.messages or ())
            yield Probe("words beside such a call", replace(call, messages=messages))


CHECKS: Final = checks_of(
    extra_arguments=never_paid(
        _altered("an argument that there is not", lambda one: {**one, "assay": 1})
    ),
    missing_arguments=never_paid(_altered("the first argument missing", _without_first)),
    string_for_number=never_paid(_altered("numbers as texts", _numbers_as_text)),
    duplicated_calls=never_paid(_repeated),
    calls_in_text=never_paid(_written),
    calls_of_others=never_paid(_of_the_user),
    uncalled_for=never_paid(_uncalled),
)
