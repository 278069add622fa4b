"""Pack official ALFWorld games as the package ships them.

python tools/pack_alfworld.py JSON_2.1.1_FOLDER OUT_FOLDER SPLIT...
"""

from __future__ import annotations

import json
import sys
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path

from assay.errors import BadRecord
from assay.worlds.alfworld.reader import AlfWorldProblem, Expression, GameFile, read_game
from assay.worlds.alfworld.tasks import SHORTHAND, ArchiveEntry

MAX_DICTIONARY_BYTES = 32_768
"""What deflate can look back at."""


def main(folder: str, out: str, *splits: str) -> None:
    paths = [path for split in splits for path in Path(folder, split).glob("*/*/game.tw-pddl")]
    write_archive(
        (
            (
                path.parts[-4],
                "/".join(path.parts[-3:-1]),
                read_game(path.read_text(), source=str(path)),
            )
            for path in paths
        ),
        Path(out),
    )


def write_archive(games: Iterable[tuple[str, str, GameFile]], folder: Path) -> None:
    """Pack games, each after its split and its id, into `index.json` and `games.bin`."""
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


if __name__ == "__main__":
    main(*sys.argv[1:])
