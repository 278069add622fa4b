"""The input that a page received, and the browser's own dialogs."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

KEPT: Final = 20


class SeenInput(NamedTuple):
    """A real click or key press, and the element that received it."""

    kind: str
    role: str
    name: str
    dialog: str
    """The text of the dialog that the element is in."""
    recipient: bool = False
    """Whether the element sends a message to a person named next to it."""
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
        """Whether the dialog counts as an event; a declined question does not."""
        declined = self.kind in ("confirm", "prompt") and self.accepted is False
        return not declined and self.kind != "beforeunload"


def read_input(record: dict[str, Any]) -> SeenInput:
    """Read the input that Assay's script in the page reported."""
    x, y, width, height = map(float, record.pop("box", None) or (0, 0, 0, 0))
    return SeenInput(**record, box=(x, y, width, height))


class StepInputs:
    """The inputs of the current step, and the dialogs, tabs and downloads that it opened."""

    def __init__(self) -> None:
        self.inputs: list[SeenInput] = []
        self.dialogs: list[NativeDialog] = []
        self.downloads = 0
        self.tabs = 0

    def begin(self) -> None:
        """Forget the earlier step, but keep a dialog that is still open."""
        self.inputs.clear()
        self.dialogs = [dialog for dialog in self.dialogs if dialog.accepted is None]
        self.downloads = self.tabs = 0

    def add(self, record: dict[str, Any]) -> None:
        self.inputs.append(read_input(record))
        del self.inputs[:-KEPT]

    def open_dialog(self, event: dict[str, Any]) -> None:
        self.dialogs.append(NativeDialog(str(event.get("type")), str(event.get("message"))[:400]))
        del self.dialogs[:-KEPT]

    def close_dialog(self, event: dict[str, Any]) -> None:
        if self.dialogs:
            self.dialogs[-1] = self.dialogs[-1]._replace(accepted=bool(event.get("result")))

    @property
    def dialog_open(self) -> bool:
        """Whether a browser dialog is open, which keeps the page from answering."""
        return bool(self.dialogs) and self.dialogs[-1].accepted is None
