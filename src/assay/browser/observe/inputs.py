"""What was done to a page: clicks and keys that it received, and the browser's own dialogs."""

from __future__ import annotations

from typing import Any, NamedTuple


class SeenInput(NamedTuple):
    """One thing that the page was made to do, by a click or a key that the browser trusts."""

    kind: str
    role: str
    name: str
    dialog: str
    """The text of the dialog that the element is in."""
    recipient: bool = False
    """Whether a message to somebody stands beside it."""
    around: str = ""
    """What is written around the element, if that is little."""
    near: str = ""
    """The heading above the element, and the line that it stands in."""
    drawn: bool = False
    """Whether it is a picture rather than a control."""
    jumps: bool = False
    """Whether it is a link to a place on the same page."""
    saves: bool = False
    """Whether it is a link to a file that the browser is to keep."""
    box: tuple[float, float, float, float] | None = None


class NativeDialog(NamedTuple):
    """A dialog of the browser itself, and how it was answered."""

    kind: str
    message: str
    accepted: bool | None = None
    """`None` while it is open."""

    @property
    def counts(self) -> bool:
        """Whether it led anywhere: a question that was answered with no leaves all as it was."""
        declined = self.kind in ("confirm", "prompt") and self.accepted is False
        return not declined and self.kind != "beforeunload"


def read_input(record: dict[str, Any]) -> SeenInput:
    """What a script in the page told of one input."""
    x, y, width, height = map(float, record.pop("box", None) or (0, 0, 0, 0))
    return SeenInput(**record, box=(x, y, width, height))
