"""The comparator beside sympy on random expressions: where they disagree, and why.

    python perf/maths_sympy.py --peer-python PATH [--count 2000] [--seed 7]

PATH is an interpreter that can import sympy. Expressions of bounded size are drawn, and to each a
second one: rewritten in a way that keeps its value, changed in one place, or drawn anew. sympy says
of each pair whether it is equal for real variables: by expanding, and else by its values at random
points where both are real. The comparator is asked the same. Pairs that it pays and sympy refutes,
and pairs that it refuses and sympy confirms, are printed. Of the second kind, those are explained
that are beyond the comparator's limit of work: pieces within pieces of several variables. Exit code
1 for any other.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

SECONDS: Final = 3.0
FEWEST_POINTS: Final = 8
"""Points at which two expressions must agree: a factor of zero is real beside anything."""
SCALES: Final = (1, 1, 10, 10, 100, 1000, 10**6)
"""How far from zero a variable is drawn: a maximum may change its formula far away."""
UNARY: Final = ("sin", "cos", "exp", "ln", "sqrt", "abs", "arctan", "floor")
BINARY: Final = ("add", "add", "mul", "mul", "sub", "div", "max")
Tree = Any  # a number, a name, or a list of an operation and its arguments
PAID_WRONGLY, REFUSED_WRONGLY = "paid, and sympy refutes it", "refused, and sympy confirms it"
BEYOND_LIMIT = "beyond the limit of work, and sympy confirms it"


def main(argv: Sequence[str] | None = None) -> int:
    """Print how often the two agree, and every pair on which they do not; 1 if there is one."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--peer-python", help="interpreter that can import sympy")
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, help="default: a new one, which is printed")
    parser.add_argument("--serve-peer", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args(argv)
    if arguments.serve_peer:
        return _serve_peer()
    if arguments.peer_python is None:
        parser.error("--peer-python is needed")
    seed = random.SystemRandom().randrange(10**9) if arguments.seed is None else arguments.seed
    return compare_with_sympy(arguments.peer_python, seed, arguments.count)


def compare_with_sympy(python: str, seed: int, count: int) -> int:
    """Ask both of the pairs of a seed; 1 when they disagree on one."""
    from assay.rewards.outcome.maths.compare.equality import compare

    rng = random.Random(seed)
    pairs = [draw_pair(rng) for _ in range(count)]
    asked = "".join(json.dumps([left, right]) + "\n" for _, left, right in pairs)
    process = subprocess.run(
        [python, __file__, "--serve-peer"], input=asked, capture_output=True, text=True, check=True
    )
    answers = [json.loads(line) for line in process.stdout.splitlines()]
    kinds: Counter[tuple[str, str]] = Counter()
    misses: list[str] = []
    for (kind, left, right), answer in zip(pairs, answers, strict=True):
        equality = compare(latex(left), latex(right))
        outcome = _outcome(equality.equal, answer["equal"])
        if outcome == REFUSED_WRONGLY and equality.rule == "limit_prediction":
            outcome = BEYOND_LIMIT
        kinds[kind, outcome] += 1
        if outcome in (PAID_WRONGLY, REFUSED_WRONGLY):
            why = f"{equality.rule}; sympy: {answer['because']}"
            misses.append(f"{outcome}: {latex(left)}    {latex(right)}    ({why})")
    print(f"## {count:,} pairs beside sympy, seed {seed}\n")
    print("| pair | outcome | number |\n|---|---|---|")
    for (kind, outcome), number in sorted(kinds.items()):
        print(f"| {kind} | {outcome} | {number} |")
    print("\n" + "\n".join(misses))
    return int(bool(misses))


def _outcome(ours: bool | None, theirs: bool | None) -> str:
    if theirs is None:
        return "sympy cannot say"
    if ours is theirs:
        return "both: equal" if ours else "both: different"
    if ours is None:
        return "abstained"
    return PAID_WRONGLY if ours else REFUSED_WRONGLY


def draw(rng: random.Random, depth: int) -> Tree:
    """A random expression of at most so many levels."""
    if depth == 0 or rng.random() < 0.2:
        return rng.choice(("x", "x", "y", rng.randint(1, 9)))
    if rng.random() < 0.35:
        return [rng.choice(UNARY), draw(rng, depth - 1)]
    if rng.random() < 0.2:
        return ["pow", draw(rng, depth - 1), rng.randint(2, 4)]
    return [rng.choice(BINARY), draw(rng, depth - 1), draw(rng, depth - 1)]


def draw_pair(rng: random.Random) -> tuple[str, Tree, Tree]:
    """How the second was made, and both."""
    left = draw(rng, rng.randint(2, 3))
    kind = rng.choice(("rewritten", "changed", "drawn anew"))
    if kind == "rewritten":
        return kind, left, rewritten(left, rng)
    if kind == "changed":
        return kind, left, changed(left, rng)
    return kind, left, draw(rng, 2)


def rewritten(tree: Tree, rng: random.Random) -> Tree:
    """The same value in another form, wherever both forms are real."""
    if not isinstance(tree, list):
        return tree
    name, *parts = tree
    parts = [rewritten(part, rng) for part in parts]
    if name in ("add", "mul", "max") and rng.random() < 0.5:
        return [name, *reversed(parts)]
    other = _other_form(name, parts)
    return [name, *parts] if other is None else other


def _other_form(name: str, parts: list[Tree]) -> Tree | None:
    """The operation by other operations, for those that have such a form."""
    match name, parts:
        case "sub", [a, b]:
            return ["add", a, ["mul", -1, b]]
        case "mul", [a, ["add", b, c]]:
            return ["add", ["mul", a, b], ["mul", a, c]]
        case "pow", [a, int(n)]:
            return ["mul", a if n == 2 else ["pow", a, n - 1], a]
        case "max", [a, b]:
            return ["div", ["add", ["add", a, b], ["abs", ["sub", a, b]]], 2]
        case "abs", [a]:
            return ["sqrt", ["pow", a, 2]]
        case "exp", [["add", a, b]]:
            return ["mul", ["exp", a], ["exp", b]]
        case "sin", [["mul", 2, a]]:
            return ["mul", 2, ["mul", ["sin", a], ["cos", a]]]
        case "floor", [["add", a, int(n)]]:
            return ["add", ["floor", a], n]
        case _:
            return None


def changed(tree: Tree, rng: random.Random) -> Tree:
    """The expression with one leaf or one function replaced."""
    if isinstance(tree, int):
        return tree + 1
    if isinstance(tree, str):
        return "y" if tree == "x" else "x"
    name, *parts = tree
    if name in UNARY and rng.random() < 0.3:
        return [rng.choice([other for other in UNARY if other != name]), *parts]
    places = [k for k, part in enumerate(parts) if not (name == "pow" and k == 1)]
    place = rng.choice(places)
    return [name, *(changed(p, rng) if k == place else p for k, p in enumerate(parts))]


def latex(tree: Tree) -> str:
    """The expression as an answer would write it."""
    if isinstance(tree, int):
        return f"({tree})" if tree < 0 else str(tree)
    if isinstance(tree, str):
        return tree
    name, *parts = tree
    texts = [latex(part) for part in parts]
    forms = {
        "add": "({}+{})",
        "sub": "({}-{})",
        "mul": r"({})\cdot({})",
        "div": r"\frac{{{}}}{{{}}}",
        "pow": "({})^{{{}}}",
        "exp": "e^{{{}}}",
        "sqrt": r"\sqrt{{{}}}",
        "abs": r"\left|{}\right|",
        "floor": r"\lfloor {}\rfloor",
        "max": r"\max({},{})",
    }
    return forms.get(name, rf"\{name}({{}})").format(*texts)


def _serve_peer() -> int:
    """Answer pairs of trees; runs in the interpreter that has sympy."""
    import signal

    def stop(*_: object) -> None:
        raise TimeoutError

    signal.signal(signal.SIGALRM, stop)
    for line in sys.stdin:
        left, right = json.loads(line)
        answer: dict[str, Any] = {"equal": None, "because": "no time"}
        signal.setitimer(signal.ITIMER_REAL, SECONDS)
        try:
            answer = _judge(left, right)
        except Exception as error:  # noqa: BLE001 - a failing peer is a measurement, not our failure
            answer["because"] = repr(error)[:80]
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        print(json.dumps(answer), flush=True)
    return 0


# sympy has no types, hence `Any` for its expressions.
def _judge(left: Tree, right: Tree) -> dict[str, Any]:
    """Whether two trees agree wherever both are real, and how that is known."""
    import sympy  # type: ignore[import-not-found, import-untyped, unused-ignore]

    one, other = _build(left), _build(right)
    if any(side.has(sympy.zoo, sympy.nan, sympy.oo) for side in (one, other)):
        return {"equal": None, "because": "without a value"}
    values = _values(one, other)
    if values is None:
        return {"equal": None, "because": "never both real"}
    if one == other or (one - other).expand() == 0:
        return {"equal": True, "because": "the same after expanding"}
    differs = next((point for point, gap in values if gap > 1e-90), None)
    if differs is not None:
        return {"equal": False, "because": f"different at {differs}"}
    if len(values) < FEWEST_POINTS:
        return {"equal": None, "because": f"real at {len(values)} points only"}
    return {"equal": True, "because": f"equal at {len(values)} points"}


def _values(one: Any, other: Any) -> list[tuple[str, float]] | None:
    """The relative differences at points of several scales where both are real."""
    import sympy

    rng = random.Random(repr((one, other)))
    x, y = sympy.symbols("x y", real=True)
    gaps: list[tuple[str, float]] = []
    for _ in range(40):
        draws = [
            sympy.Rational(rng.randint(-(10**6), 10**6), 10**6) * rng.choice(SCALES)
            for _ in range(2)
        ]
        if rng.random() < 0.2:
            draws = [sympy.Integer(round(value)) for value in draws]
        point = dict(zip((x, y), draws, strict=True))
        a, b = (sympy.N(side.subs(point), 130) for side in (one, other))
        if not all(v.is_number and v.is_real and v.is_finite for v in (a, b)):
            continue
        size = max(abs(a), abs(b), sympy.Float("1e-120"))
        gaps.append((str(point), float(abs(a - b) / size)))
    return gaps or None


def _build(tree: Tree) -> Any:
    import sympy

    if isinstance(tree, int):
        return sympy.Integer(tree)
    if isinstance(tree, str):
        return sympy.Symbol(tree, real=True)
    name, *parts = tree
    built = [_build(part) for part in parts]
    operations = {
        "add": lambda a, b: a + b,
        "sub": lambda a, b: a - b,
        "mul": lambda a, b: a * b,
        "div": lambda a, b: a / b,
        "pow": lambda a, b: a**b,
        "ln": sympy.log,
        "abs": sympy.Abs,
        "arctan": sympy.atan,
        "max": sympy.Max,
    }
    operation = operations.get(name) or getattr(sympy, name)
    return operation(*built)


if __name__ == "__main__":
    sys.exit(main())
