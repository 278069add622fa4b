"""What `import assay` promises: few names, each of them there, and nothing heavy behind it."""

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import assay

SOURCE = Path(assay.__file__).parent
LAZY = sorted(
    ".".join(("assay", *path.relative_to(SOURCE).parent.parts))
    for path in SOURCE.rglob("__init__.py")
    if "lazy_names(" in path.read_text()
)


def names_for_type_checkers(package: str) -> dict[str, str]:
    """The names that a package imports under `TYPE_CHECKING`, with the modules they are from."""
    tree = ast.parse(Path(str(import_module(package).__file__)).read_text())
    (block,) = (node for node in tree.body if isinstance(node, ast.If))
    imports = [node for node in block.body if isinstance(node, ast.ImportFrom)]
    assert all(name.asname == name.name for node in imports for name in node.names)
    return {name.name: str(node.module) for node in imports for name in node.names}


def test_the_front_door_has_at_most_30_names() -> None:
    assert len(assay.__all__) <= 30
    assert sorted(assay.__all__) == assay.__all__


@pytest.mark.parametrize("package", LAZY)
def test_a_lazy_package_has_what_type_checkers_see(package: str) -> None:
    module = import_module(package)
    expected = names_for_type_checkers(package)
    assert dir(module) == sorted(expected)
    assert module.__all__ == sorted(name for name, home in expected.items() if home != package)
    for name, home in expected.items():
        if home == package:
            assert getattr(module, name) is import_module(f"{package}.{name}")
        else:
            assert getattr(module, name) is getattr(import_module(home), name)


def run_python(code: str) -> str:
    call = [sys.executable, "-c", code]
    return subprocess.run(call, capture_output=True, text=True, check=True).stdout.strip()


def test_importing_assay_imports_nothing_heavy() -> None:
    heavy = ("pydantic", "numpy", "click", "rich", "sympy", "mpmath", "rapidfuzz", "asyncio")
    loaded = run_python(
        f"import sys, assay; print([name for name in {heavy} if name in sys.modules])"
    )
    assert loaded == "[]"


def test_a_room_is_there_without_being_imported_first() -> None:
    assert run_python("import assay; print(assay.report.diagnose.__name__)") == "diagnose"


@pytest.mark.parametrize("package", LAZY)
def test_a_name_that_is_not_there_is_an_attribute_error(package: str) -> None:
    with pytest.raises(AttributeError, match=f"module '{package}' has no attribute 'nonsense'"):
        import_module(package).nonsense  # noqa: B018 - reading it is the test
