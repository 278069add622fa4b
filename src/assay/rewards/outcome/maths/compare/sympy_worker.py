"""The process behind the second opinion: reads pairs of trees, asks sympy whether they are equal.

It never sees text to evaluate. A tree is JSON (`["add", ["symbol", "x"], ["number", "1/2"]]`), and
only the operations in the tables below are built from it, by calling their constructors. Memory is
limited by the process that starts it, processor time with every question, both by the kernel.

    request   {}                                              (the first: is sympy there?)
    answer    {"ready": "1.13"}
    request   {"cpu_s": 2.0, "left": tree, "right": tree}
    answer    {"equal": true | false | null}
"""

from __future__ import annotations

import signal
import sys
from contextlib import suppress
from typing import Any

from assay.resources import frames
from assay.rewards.outcome.maths.compute import notations

FUNCTIONS = {name: row.sympy for name, row in notations.FUNCTIONS.items() if row.sympy}
"""Names that a tree may call, and what sympy calls them."""

OPERATIONS = {"add": "Add", "mul": "Mul", "pow": "Pow"}
BOUND_OPERATIONS = {str(name): row.sympy for name, row in notations.OPERATORS.items() if row.sympy}
"""Operations on a body over (variable, from, to)."""

CANNOT_SAY = (
    ArithmeticError,
    AttributeError,
    LookupError,
    MemoryError,
    NotImplementedError,
    RecursionError,
    TypeError,
    ValueError,
)
"""Raised by sympy when it has no answer."""

CONSTANTS = {str(name): row.sympy for name, row in notations.CONSTANTS.items()}


def main() -> None:
    """Answer requests until their pipe closes."""
    read_fd, write_fd = frames.inherited_pipes(sys.argv)
    with suppress(frames.PipeClosed):
        frames.receive(read_fd)
        import sympy  # type: ignore[import-untyped, unused-ignore]

        frames.send(write_fd, {"ready": sympy.__version__})
        while True:
            frames.send(write_fd, {"equal": _answer(frames.receive(read_fd))})


def _answer(request: dict[str, Any]) -> bool | None:
    # The kernel ends the process when the processor time is spent, whatever it is doing.
    signal.setitimer(signal.ITIMER_PROF, float(request["cpu_s"]))
    try:
        return _equal(build(request["left"]), build(request["right"]))
    except CANNOT_SAY:
        return None
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


# sympy has no types, hence `Any` for its expressions.
def build(tree: Any) -> Any:
    """The sympy expression of a tree; raises on any operation that is not in the tables."""
    import sympy

    kind, *parts = tree
    if kind == "number":
        return sympy.Rational(*map(int, parts[0].split("/")))
    if kind == "symbol":
        return sympy.Symbol(parts[0])
    if kind == "constant":
        return getattr(sympy, CONSTANTS[parts[0]])
    if kind == "call":
        name, *arguments = parts
        return getattr(sympy, FUNCTIONS[name])(*map(build, arguments))
    built = [build(part) for part in parts]
    if kind == "div":
        return built[0] / built[1]
    if kind in OPERATIONS:
        return getattr(sympy, OPERATIONS[kind])(*built)
    body, *bounds = built
    return getattr(sympy, BOUND_OPERATIONS[kind])(body, tuple(bounds)).doit()


def _equal(left: Any, right: Any) -> bool | None:
    """Whether sympy proves the two equal; `None` when it cannot say."""
    import sympy

    undefined = (sympy.nan, sympy.zoo, sympy.oo, -sympy.oo)
    unfinished = (sympy.Integral, sympy.Sum, sympy.Product)
    if left.has(*undefined, *unfinished) or right.has(*undefined, *unfinished):
        return None
    difference = left - right
    if difference == 0 or sympy.simplify(difference) == 0:
        return True
    equal: bool | None = difference.equals(0)
    return equal


if __name__ == "__main__":
    main()
