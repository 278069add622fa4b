"""What is optional is named once, and its absence is one sentence with what to install."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import assay
from assay.errors import EXTRAS, MissingExtra
from assay.scoring.scorer import Scorer

ROOT = Path(__file__).parents[1]
BROUGHT = {"py4j": "scienceworld"}
"""Modules that come with the package of another one."""


def declared_extras() -> dict[str, set[str]]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return {
        extra: {re.split(r"[<>=\[]", item)[0] for item in items}
        for extra, items in project["optional-dependencies"].items()
        if extra != "all"
    }


def test_the_table_of_extras_is_that_of_the_package() -> None:
    declared = declared_extras()
    assert set(EXTRAS.values()) == set(declared)
    for module, extra in EXTRAS.items():
        assert BROUGHT.get(module, module) in declared[extra], module


def test_no_line_to_install_an_extra_is_written_twice() -> None:
    """Every source file asks the table, so that a message cannot name an extra of another time."""
    source = ROOT / "src" / "assay"
    texts = {
        path.relative_to(source).as_posix(): node.value
        for path in source.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and re.search(r"assay\[\w", node.value)
    }
    assert texts == {}


@pytest.mark.parametrize(("module", "extra"), EXTRAS.items())
def test_the_line_installs_the_extra_of_the_module(module: str, extra: str) -> None:
    message = str(MissingExtra.of("this", f"{module}.inner"))
    assert message == (
        f"this needs {module}, which is not installed; run: pip install 'assay[{extra}]'"
    )


def test_a_module_of_somebody_else_is_named_as_it_is() -> None:
    assert str(MissingExtra.of("this", "spacy")).endswith("run: pip install spacy")


def without(module: str, *arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """The command line in a process in which a module cannot be imported."""
    script = (
        f"import sys; sys.modules[{module!r}] = None; from assay.cli.main import main; "
        "sys.exit(main(sys.argv[1:]))"
    )
    return subprocess.run(
        [sys.executable, "-c", script, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("module", "command", "extra"),
    [
        ("playwright", "run townsquare --agent rules", "browser"),
        ("playwright", "run miniwob --agent scripted", "browser"),
        ("scienceworld", "run scienceworld --agent scripted", "envs"),
        ("ray", "run alfworld --agent scripted --engine ray", "ray"),
        ("ray", "score rows.jsonl --reward qa_f1_reward --out out.jsonl --engine ray", "ray"),
        ("pyarrow", "score rows.jsonl --reward qa_f1_reward --out out.parquet", "parquet"),
        ("mcp", "mcp --out steps/ -- true", "mcp"),
        ("mcp", "serve --mcp", "mcp"),
    ],
)  # fmt: skip
def test_a_missing_extra_is_one_error_and_nothing_is_written(
    module: str, command: str, extra: str, tmp_path: Path
) -> None:
    (tmp_path / "rows.jsonl").write_text('{"final_response": "Paris", "answer": "Paris"}\n')
    done = without(module, *command.split(), folder=tmp_path)
    assert done.returncode == 2, done.stderr
    assert done.stderr.splitlines()[-1].endswith(f"pip install 'assay[{extra}]'")
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    assert [path.name for path in tmp_path.iterdir()] == ["rows.jsonl"]


def test_an_option_that_needs_an_extra_is_refused_before_the_first_row(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    @assay.reward(name="columns_of_a_file", extras={"columns": "pyarrow"})
    def columns_of_a_file(final_response: str, *, columns: bool = False) -> float:
        return float(columns or bool(final_response))

    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtra, match=r"columns=True needs pyarrow.*'assay\[parquet\]'"):
        Scorer("columns_of_a_file", {"columns": True})
    assert float(assay.score("columns_of_a_file", final_response="42")) == 1.0


def test_the_readme_names_every_extra() -> None:
    rows = re.findall(r"^\| `(\w+)` \|", (ROOT / "README.md").read_text(), re.MULTILINE)
    assert rows == [*dict.fromkeys(rows)]
    assert {*declared_extras(), "all"} <= set(rows)


@pytest.mark.parametrize(
    "path", sorted((ROOT / "requirements").glob("*.txt")), ids=lambda p: p.name
)
def test_every_pinned_package_has_a_hash(path: Path) -> None:
    entries = re.split(r"\n(?=\S)", path.read_text())
    pinned = [entry for entry in entries if re.match(r"[A-Za-z0-9]\S*==", entry)]
    assert [entry.split()[0] for entry in pinned if "--hash=sha256:" not in entry] == []


def test_the_terms_of_data_that_is_shipped_are_shipped_with_it() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    (terms,) = [name for name in project["license-files"] if "WebShop" in name]
    assert "research" in (ROOT / terms).read_text()
