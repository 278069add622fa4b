"""Parse the name of an audited reward, and read the facts about the reward."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from assay.errors import BadParameter, UnknownName
from assay.registry import REWARDS
from assay.schema.audit import SHAPES, AuditTarget, Form, Shape

VARIANTS: Final[dict[Shape, tuple[Shape, ...]]] = {
    "trl": ("trl", "trl-text"),
    "verifiers": ("verifiers", "verifiers-text"),
}
"""Shapes that trainers hand over in two ways, as messages and as text; the data decide."""


@dataclass(frozen=True, slots=True)
class TargetSpec:
    """The address of an audited reward, which a process without Assay can load."""

    text: str
    """As the user wrote it."""
    form: Form
    location: str
    """The registered name, module, file or address."""
    attribute: str = ""
    shape: Shape | None = None
    python: str = sys.executable
    reference_column: str = "answer"
    folder: str = ""
    """The user's working folder; modules are imported from there."""
    paths: tuple[str, ...] = ()
    """Folders that modules are imported from before any other."""

    def to_wire(self) -> dict[str, Any]:
        """Return the values with which the child process loads the reward."""
        places = [*self.paths, self.folder]
        if self.python == sys.executable:
            places += [entry for entry in os.environ.get("PYTHONPATH", "").split(":") if entry]
        return {
            "form": self.form,
            "location": self.location,
            "attribute": self.attribute,
            "shape": self.shape,
            "path": [entry for entry in places if entry],
        }


def parse_target(
    text: str,
    *,
    shape: Shape | None = None,
    python: str | None = None,
    reference_column: str = "answer",
    folder: Path | None = None,
) -> TargetSpec:
    """Parse a name as a registered reward, a function or a URL."""
    if shape not in (None, *SHAPES):
        raise BadParameter(
            f"unknown calling convention {shape!r}; choose one of {', '.join(SHAPES)}"
        )
    here = folder or Path.cwd()
    form, location, attribute = _split(text, here)
    return TargetSpec(
        text=text,
        form=form,
        location=location,
        attribute=attribute,
        shape=shape,
        # Registered rewards are ours, whatever another target needs.
        python=_interpreter(python, here) if python and form != "registered" else sys.executable,
        reference_column=reference_column,
        folder=str(here.resolve()),
    )


def _interpreter(python: str, here: Path) -> str:
    """Return the Python interpreter as a command or an absolute path."""
    file = here / python
    # Not resolved: the interpreter of a virtual environment is a link, recognised by its place.
    return str(file.absolute()) if file.is_file() else python


def _split(text: str, here: Path) -> tuple[Form, str, str]:
    if re.match(r"https?://", text):
        if "#" not in text and not text.rstrip("/").endswith("/get_reward"):
            raise BadParameter(
                f"{text!r} names no reward; add a name after '#', as in …/v1/score#name"
            )
        return "url", text, ""
    location, colon, attribute = text.rpartition(":")
    if not colon:
        REWARDS.get(text)
        return "registered", text, ""
    if not attribute or not location:
        raise UnknownName(f"{text!r} is neither 'module:function' nor 'file.py:function'")
    if location.endswith(".py"):
        file = (here / location).resolve()
        if not file.is_file():
            raise UnknownName(f"there is no file {location!r}; correct the path in {text!r}")
        return "file", str(file), attribute
    return "module", location, attribute


def to_target(spec: TargetSpec, facts: dict[str, Any]) -> AuditTarget:
    """Build a record of the child's facts; raise `BadParameter` without a calling convention."""
    shape = spec.shape or facts["shape"]
    if shape not in SHAPES:
        parameters = ", ".join(facts["parameters"])
        raise BadParameter(
            f"cannot tell how to call {spec.text}({parameters}); set its calling convention "
            f"with --shape: {', '.join(SHAPES)}"
        )
    own = ("name", "is_async", "picklable", "pickle_error", "source", "summary", "python")
    return AuditTarget(
        text=spec.text,
        form=spec.form,
        shape=shape,
        parts=None if facts["parts"] is None else tuple(facts["parts"]),
        parameters=tuple(facts["parameters"]),
        **{name: facts[name] for name in own},
    )
