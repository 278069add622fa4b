"""What `import assay` promises: few names, each of them there, and nothing heavy behind it."""

import subprocess
import sys

import assay


def test_the_front_door_has_what_it_says_and_at_most_25_names() -> None:
    for name in assay.__all__:
        assert getattr(assay, name) is not None
    assert len(assay.__all__) <= 25
    assert sorted(assay.__all__) == assay.__all__
    assert set(assay.__all__) <= set(dir(assay))


def test_importing_assay_imports_nothing_heavy() -> None:
    heavy = ("pydantic", "numpy", "click", "rich", "sympy", "mpmath", "rapidfuzz", "asyncio")
    code = f"import sys, assay; print([name for name in {heavy} if name in sys.modules])"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    assert not hasattr(assay, "nonsense")
