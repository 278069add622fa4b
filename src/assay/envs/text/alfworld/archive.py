"""Games packed for shipping: every one can be read alone, and fast.

`index.json` lists the games; `games.bin` holds, for each, a deflate stream that leans on a shared
dictionary (its first entry). A stream is the walkthrough, as JSON on its first line, and the PDDL
problem, written tersely. The rules are the same for all games and are not repeated.
`tools/pack_alfworld.py` writes both files.
"""

from __future__ import annotations

import json
import zlib
from dataclasses import dataclass
from importlib import resources

from assay.envs.text.alfworld.reader import GameFile, read_problem, read_walkthrough
from assay.errors import BadRecord

SHORTHAND = (("_bar_", "|"), ("_minus_", "~"), ("_plus_", "+"), ("_dot_", "."))
"""How ids are written in the archive; the signs on the right do not occur in the games."""

MAX_STREAM_BYTES = 1_000_000
"""The largest official game takes 40 kB."""


@dataclass(frozen=True, slots=True)
class ArchiveEntry:
    """One game of the archive, and where its stream lies."""

    split: str
    id: str
    """`<task folder>/<trial>`."""
    goal: str
    offset: int
    size: int


class AlfWorldArchive:
    """The games of an archive, in the order of their splits and ids."""

    def __init__(self, index: str, data: bytes, *, source: str) -> None:
        self.index = index
        self.data = data
        self._source = source
        try:
            record = json.loads(index)
            self.entries = tuple(ArchiveEntry(**entry) for entry in record["games"])
            self._dictionary = zlib.decompress(data[: record["dictionary_size"]])
        except (ValueError, TypeError, KeyError, zlib.error) as error:
            raise BadRecord(f"{source}: not an archive of games: {error!r}") from error

    @classmethod
    def shipped(cls) -> AlfWorldArchive:
        """The two evaluation splits that come with Assay."""
        folder = resources.files("assay.envs.text.alfworld") / "data"
        index = (folder / "index.json").read_text(encoding="utf-8")
        return cls(index, (folder / "games.bin").read_bytes(), source="shipped ALFWorld games")

    def load(self, entry: ArchiveEntry) -> GameFile:
        """The game of an entry."""
        source = f"{self._source}: {entry.id}"
        stream = self.data[entry.offset : entry.offset + entry.size]
        try:
            inflate = zlib.decompressobj(-zlib.MAX_WBITS, zdict=self._dictionary)
            text = inflate.decompress(stream, MAX_STREAM_BYTES).decode()
            walkthrough, _, problem = text.partition("\n")
            commands = json.loads(walkthrough)
        except (zlib.error, ValueError, RecursionError) as error:
            raise BadRecord(f"{source}: damaged: {error!r}") from error
        return GameFile(
            problem=read_problem(_expanded(problem), source=source),
            goal=entry.goal,
            walkthrough=read_walkthrough(commands, source=source),
        )


def _expanded(text: str) -> str:
    for long, short in SHORTHAND:
        text = text.replace(short, long)
    return text
