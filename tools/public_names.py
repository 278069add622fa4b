"""Draw public names of the package by a seed, for a reader who says what they mean.

    python -m tools.public_names [--seed 1] [--count 20] [--meanings]

A name is understood when a reader who has seen neither the code nor the glossary says, from the
name and its place alone, what `--meanings` prints: the first line of its docstring.
"""

from __future__ import annotations

import argparse
import ast
import random
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src"


def public_names() -> Iterator[tuple[str, str]]:
    """Every public class, every function that a package offers, and what its docstring says first.

    Those are the names that a user imports, or meets in a traceback.
    """
    trees = {path: ast.parse(path.read_text()) for path in sorted((SOURCE / "assay").rglob("*.py"))}
    offered = {
        alias.asname or alias.name
        for path, tree in trees.items()
        if path.name == "__init__.py"
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    for path, tree in trees.items():
        place = ".".join(path.relative_to(SOURCE).with_suffix("").parts)
        for node in tree.body:
            if not isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            if any(ast.unparse(mark) == "overload" for mark in node.decorator_list):
                continue
            is_class = isinstance(node, ast.ClassDef) and not node.name.startswith("_")
            if is_class or node.name in offered:
                meaning = (ast.get_docstring(node) or "").partition("\n")[0]
                yield f"{place.removesuffix('.__init__')}.{node.name}", meaning or "(no docstring)"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--meanings", action="store_true", help="print what each name means, too")
    options = parser.parse_args()
    for name, meaning in random.Random(options.seed).sample(list(public_names()), options.count):
        print(f"{name}: {meaning}" if options.meanings else name)


if __name__ == "__main__":
    main()
