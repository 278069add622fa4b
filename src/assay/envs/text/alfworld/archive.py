"""Games packed for shipping: every one can be read alone, and fast.

`index.json` lists the games; `games.bin` holds, for each, a deflate stream that leans on a shared
dictionary (its first entry). A stream is the walkthrough, as JSON on its first line, and the PDDL
problem, written tersely. The rules are the same for all games and are not repeated.
"""

from __future__ import annotations

import json
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from importlib import resources
from pathlib import Path
from typing import TypeAlias

from assay.envs.text.alfworld.reader import (
    AlfWorldProblem,
    Expression,
    GameFile,
    read_problem,
    read_walkthrough,
)
from assay.errors import BadRecord

SHORTHAND = (("_bar_", "|"), ("_minus_", "~"), ("_plus_", "+"), ("_dot_", "."))
"""How ids are written in the archive; the signs on the right do not occur in the games."""

MAX_DICTIONARY_BYTES = 32_768
"""What deflate can look back at."""
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


Packable: TypeAlias = tuple[str, str, GameFile]
"""A split, an id and the game."""


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


def write_archive(games: Iterable[Packable], folder: Path) -> None:
    """Pack the games into `index.json` and `games.bin` in the folder."""
    ordered = sorted(games, key=lambda game: game[:2])
    texts = [_shortened(write_problem(game.problem)) for _, _, game in ordered]
    dictionary = _common_text(texts)
    packed_dictionary = zlib.compress(dictionary, 9)
    streams = [packed_dictionary]
    entries: list[ArchiveEntry] = []
    offset = len(packed_dictionary)
    for (split, task_id, game), text in zip(ordered, texts, strict=True):
        deflate = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS, 9, zdict=dictionary)
        content = f"{json.dumps(game.walkthrough)}\n{text}"
        stream = deflate.compress(content.encode()) + deflate.flush()
        entries.append(ArchiveEntry(split, task_id, game.goal, offset, len(stream)))
        streams.append(stream)
        offset += len(stream)
    lines = ",\n".join(json.dumps(asdict(entry)) for entry in entries)
    index = f'{{"dictionary_size": {len(packed_dictionary)}, "games": [\n{lines}\n]}}\n'
    (folder / "index.json").write_text(index, encoding="utf-8")
    (folder / "games.bin").write_bytes(b"".join(streams))


def write_problem(problem: AlfWorldProblem) -> str:
    """The problem as PDDL, one fact to a line; `read_problem` reads the same problem back."""
    # Names of kinds stand apart from names of things: they are the same in every game.
    groups: dict[tuple[str, bool], list[str]] = defaultdict(list)
    for name, type_ in sorted(problem.objects.items()):
        groups[type_, "_bar_" in name].append(name)
    objects = [f"{' '.join(names)} - {type_}" for (type_, _), names in sorted(groups.items())]
    facts = [f"({' '.join(fact)})" for fact in sorted(problem.facts)]
    goal = write_expression(problem.goal)
    return "\n".join(["(define (:objects", *objects, ")(:init", *facts, f")(:goal {goal}))"])


def write_expression(expression: Expression) -> str:
    """The expression in parentheses again; its depth was bounded when it was read."""
    if isinstance(expression, str):
        return expression
    return f"({' '.join(map(write_expression, expression))})"


def _common_text(texts: Sequence[str]) -> bytes:
    """The lines that many games share, in the order of the games, so that runs of them match."""
    counts = Counter(line for text in texts for line in set(text.splitlines()))
    common = sorted(line for line, count in counts.items() if count > len(texts) // 20 + 1)
    return "\n".join(common).encode()[-MAX_DICTIONARY_BYTES:]


def _shortened(text: str) -> str:
    for long, short in SHORTHAND:
        if short in text:
            raise BadRecord(f"{short!r} occurs in a problem: it cannot stand for {long!r}")
        text = text.replace(long, short)
    return text


def _expanded(text: str) -> str:
    for long, short in SHORTHAND:
        text = text.replace(short, long)
    return text
