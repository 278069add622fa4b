"""The process behind the second opinion: reads pairs of trees, asks sympy whether they are equal.

It never sees text to evaluate. A tree is JSON (`["add", ["symbol", "x"], ["number", "1/2"]]`), and
only the operations in the tables below are built from it, by calling their constructors. Memory is
limited when it starts, processor time with every question, both by the kernel; when the other end
of its input closes, it ends at once, even in the middle of a question.

    request   {"cpu_s": 2.0, "left": tree, "right": tree}
    answer    {"equal": true | false | null}
"""

from __future__ import annotations

import json
import os
import queue
import resource
import signal
import sys
import threading
from typing import Any

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
"""What sympy raises when it has no answer."""

CONSTANTS = {"pi": "pi", "e": "E", "i": "I", "infinity": "oo"}


def main() -> None:
    """Answer questions from standard input until it closes."""
    memory = int(sys.argv[1]) * 1024 * 1024
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    questions: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(questions,), daemon=True).start()
    import sympy  # type: ignore[import-untyped, unused-ignore]

    _write({"ready": sympy.__version__})
    while True:
        question = json.loads(questions.get())
        # The kernel ends the process when the processor time is spent, whatever it is doing.
        signal.setitimer(signal.ITIMER_PROF, float(question["cpu_s"]))
        try:
            equal = _equal(build(question["left"]), build(question["right"]))
        except CANNOT_SAY:
            equal = None
        signal.setitimer(signal.ITIMER_PROF, 0)
        _write({"equal": equal})


def _read(questions: queue.SimpleQueue[bytes]) -> None:
    for line in sys.stdin.buffer:
        questions.put(line)
    os._exit(0)


def _write(answer: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


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
