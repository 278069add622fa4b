"""Draw docstrings and messages of the package by a seed, for a reader who reads each once.

    python -m tools.sentences [--seed 1] [--count 60] [--source src] [--places]

Half are first lines of docstrings, half are messages that a user meets: errors, reasons, help. The
reader says in own words what each means; `--places` names where each stands, to check that.
"""

from __future__ import annotations

import argparse
import ast
import random
from collections.abc import Iterator
from pathlib import Path

FEWEST_WORDS = 6
MESSAGE_CALLS = frozenset(("echo", "Abstained", "Scored", "option", "argument", "fail"))
MESSAGE_KEYWORDS = frozenset(("because", "help", "hint"))
DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def docstrings(tree: ast.Module) -> Iterator[str]:
    """The first line of each docstring."""
    for node in ast.walk(tree):
        if isinstance(node, DOCUMENTED) and (text := ast.get_docstring(node)):
            yield text.partition("\n")[0]


def messages(tree: ast.Module) -> Iterator[str]:
    """Sentences of errors, of reasons and of help; what is filled in stands in braces."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            yield from filter(None, map(sentence, node.exc.args))
        elif isinstance(node, ast.Call):
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            texts = node.args if name in MESSAGE_CALLS else []
            named = [each.value for each in node.keywords if each.arg in MESSAGE_KEYWORDS]
            yield from filter(None, map(sentence, [*texts, *named]))


def sentence(node: ast.expr) -> str:
    """The text of a literal or of an f-string; nothing for other expressions."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(
            str(part.value)
            if isinstance(part, ast.Constant)
            else f"{{{ast.unparse(part.value) if isinstance(part, ast.FormattedValue) else ''}}}"
            for part in node.values
        )
    return ""


def draw(source: Path, *, seed: int, count: int) -> list[tuple[str, str]]:
    """Sentences of at least six words with the file of each, half of each kind."""
    found: dict[str, dict[str, str]] = {"docstring": {}, "message": {}}
    for path in sorted(source.rglob("*.py")):
        tree = ast.parse(path.read_text())
        for kind, texts in (("docstring", docstrings(tree)), ("message", messages(tree))):
            for text in texts:
                if len(text.split()) >= FEWEST_WORDS:
                    found[kind].setdefault(" ".join(text.split()), str(path.relative_to(source)))
    chance = random.Random(seed)
    return [
        (text, f"{kind} in {found[kind][text]}")
        for kind in found
        for text in chance.sample(sorted(found[kind]), count // 2)
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--source", type=Path, default=Path(__file__).parents[1] / "src")
    parser.add_argument("--places", action="store_true", help="print where each stands, too")
    options = parser.parse_args()
    rows = draw(options.source, seed=options.seed, count=options.count)
    for number, (text, place) in enumerate(rows, 1):
        print(f"{number}. {text}" + (f"\n   ({place})" if options.places else ""))


if __name__ == "__main__":
    main()
