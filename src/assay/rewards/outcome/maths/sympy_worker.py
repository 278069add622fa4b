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

FUNCTIONS = {
    "sin": "sin",
    "cos": "cos",
    "tan": "tan",
    "cot": "cot",
    "sec": "sec",
    "csc": "csc",
    "arcsin": "asin",
    "arccos": "acos",
    "arctan": "atan",
    "arccot": "acot",
    "sinh": "sinh",
    "cosh": "cosh",
    "tanh": "tanh",
    "ln": "log",
    "log": "log",
    "exp": "exp",
    "root": "root",
    "abs": "Abs",
    "factorial": "factorial",
    "binomial": "binomial",
    "floor": "floor",
    "ceil": "ceiling",
    "max": "Max",
    "min": "Min",
    "mod": "Mod",
}
"""Names that a tree may call, and what sympy calls them."""

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

CONSTANTS = {"pi": "pi", "e": "E", "i": "I", "infinity": "oo"}


def main() -> None:
    """Answer requests until their pipe closes."""
    read_fd, write_fd = frames.inherited_pipes(sys.argv)
    with suppress(frames.Closed):
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
    if kind in ("add", "mul"):
        return (sympy.Add if kind == "add" else sympy.Mul)(*built)
    if kind == "div":
        return built[0] / built[1]
    if kind == "pow":
        return sympy.Pow(*built)
    return _build_bound(kind, built)


def _build_bound(kind: str, built: list[Any]) -> Any:
    """A sum, product or integral over (variable, from, to)."""
    import sympy

    body, variable, *ends = built
    if kind == "sum":
        return sympy.Sum(body, (variable, *ends)).doit()
    if kind == "prod":
        return sympy.Product(body, (variable, *ends)).doit()
    if kind == "int":
        return sympy.Integral(body, (variable, *ends)).doit()
    raise ValueError(f"no operation {kind!r}")


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
