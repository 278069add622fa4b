"""How the code is cut and named: one name per thing, no tiny modules, plain words."""

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src"
MODULES = {
    ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted((SOURCE / "assay").rglob("*.py"))
}
SMALL_LINES = 70
MOST_SMALL = 30
VAGUE = frozenset(
    """asked begun dice found given heard held hired kept luggage made owed said taken told
    wanted""".split()
)
"""Participles and metaphors that hide what a variable is."""


@cache
def tree(module: str) -> ast.Module:
    return ast.parse(MODULES[module].read_text())


def public_classes() -> dict[str, list[str]]:
    """The modules that define each public class."""
    places: dict[str, list[str]] = defaultdict(list)
    for module in MODULES:
        for node in tree(module).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(module)
    return places


def importers() -> dict[str, set[str]]:
    """The modules that import each module, by an absolute or a relative import."""
    found: dict[str, set[str]] = defaultdict(set)
    for module in MODULES:
        for name in imported(module):
            found[name].add(module)
    return found


def imported(module: str) -> Iterator[str]:
    package = module if MODULES[module].name == "__init__.py" else module.rpartition(".")[0]
    for node in ast.walk(tree(module)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*above, *([node.module] if node.module else [])])
            for alias in node.names:
                inner = f"{base}.{alias.name}"
                yield inner if inner in MODULES else base


def variables(module: str) -> Iterator[str]:
    """Every name that the module assigns to, or takes as a parameter."""
    # Annotated fields of records are left out: they are keys that users hold.
    fields = {
        id(inner.target)
        for node in ast.walk(tree(module))
        if isinstance(node, ast.ClassDef)
        for inner in node.body
        if isinstance(inner, ast.AnnAssign)
    }
    for node in ast.walk(tree(module)):
        if (
            isinstance(node, ast.Name)
            and isinstance(node.ctx, ast.Store)
            and id(node) not in fields
        ):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr.lstrip("_")
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name.lstrip("_")


def test_no_public_class_shares_its_name_with_another() -> None:
    assert {name: modules for name, modules in public_classes().items() if len(modules) > 1} == {}


def test_few_modules_are_small_and_serve_one_other() -> None:
    users = importers()
    small = [
        module
        for module, path in MODULES.items()
        if path.name != "__init__.py"
        and len(path.read_text().splitlines()) < SMALL_LINES
        and len(users[module]) == 1
    ]
    assert len(small) <= MOST_SMALL, small


def test_variables_say_what_they_are() -> None:
    vague = Counter(
        (module, name) for module in MODULES for name in variables(module) if name in VAGUE
    )
    assert vague == Counter()


def lines_by_room() -> dict[str, int]:
    """Lines of Python in each room of `src`, as `docs/design/house.md` divides it."""
    lines: Counter[str] = Counter()
    for path in SOURCE.rglob("*.py"):
        package, *inside = path.relative_to(SOURCE).parts
        if package != "assay":
            room = f"{package}/"
        elif inside[0] in ("browser", "rewards") and len(inside) > 2:
            room = f"{inside[0]}/{inside[1]}/"
        else:
            room = f"{inside[0]}/" if len(inside) > 1 else "modules of the top"
        lines[room] += len(path.read_text().splitlines())
    return dict(lines)


def budgets() -> dict[str, int]:
    """The most lines that each room may have, from the table in `docs/design/house.md`."""
    page = (ROOT / "docs" / "design" / "house.md").read_text()
    rows = re.findall(r"^\| `?([a-z_/ ]+)`? \| ([\d,]+) \|$", page, re.MULTILINE)
    return {room: int(budget.replace(",", "")) for room, budget in rows}


def test_no_room_passes_its_budget() -> None:
    lines, most = lines_by_room(), budgets()
    print("\n".join(f"{room:<24} {lines[room]:>7,} of {most[room]:>7,}" for room in sorted(most)))
    assert lines.keys() == most.keys(), "each room has a row in docs/design/house.md"
    assert {room: n for room, n in lines.items() if n > most[room]} == {}


def test_the_documentation_names_files_that_exist() -> None:
    rooms = {path.name for path in (*SOURCE.iterdir(), *(SOURCE / "assay").iterdir())}
    for page in sorted(
        [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]
    ):
        for path in re.findall(r"`((?:[a-z_]+/)+[a-z_]+\.py)`", page.read_text()):
            if path.split("/")[0] in {*rooms, "src", "tests", "perf", "tools", "examples"}:
                places = (ROOT, SOURCE, SOURCE / "assay")
                assert any((place / path).exists() for place in places), f"{page.name}: {path}"
