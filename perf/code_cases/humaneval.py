"""HumanEval's tasks, mutants of their solutions, and what the data set's own check says of each."""

from __future__ import annotations

import ast
import gzip
import json
import os
import random
import resource
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.FloorDiv: ast.Mult,
    ast.Div: ast.Mult, ast.Mod: ast.FloorDiv, ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE,
    ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.And: ast.Or, ast.Or: ast.And,
    ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
DIRECT_S = 4


@dataclass(frozen=True, slots=True)
class Problem:
    """A task of HumanEval."""

    id: str
    prompt: str
    solution: str
    test: str
    entry_point: str

    @property
    def tests(self) -> dict[str, str]:
        """The tests in the shape of `code_reward`: the prompt has helpers that they use."""
        return {"code": f"{self.prompt}\n{self.test}", "entry_point": self.entry_point}


def read_problems(path: Path) -> list[Problem]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows: list[dict[str, Any]] = [json.loads(line) for line in lines]
    return [
        Problem(
            row["task_id"], row["prompt"], row["canonical_solution"], row["test"],
            row["entry_point"],
        )
        for row in rows
    ]  # fmt: skip


def mutants(problem: Problem, count: int, seed: int) -> list[str]:
    """Programs whose function differs from the solution in one place each, drawn by the seed.

    What else the prompt defines stays, since its tests may use it.
    """
    tree = ast.parse(problem.prompt + problem.solution)
    rng = random.Random(f"{seed}/{problem.id}")
    function = next(
        node
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and node.name == problem.entry_point
    )
    texts = sorted(set(_mutations(tree, function)) - {ast.unparse(tree)})
    rng.shuffle(texts)
    return texts[:count]


def _mutations(tree: ast.Module, function: ast.FunctionDef) -> Iterator[str]:
    for node in list(ast.walk(function)):
        for field in ("op", "ops"):
            yield from _swap(tree, node, field)
        if isinstance(node, ast.Constant) and type(node.value) is int:
            for change in (1, -1, 2, 10):
                node.value += change
                yield ast.unparse(tree)
                node.value -= change
        if isinstance(node, ast.Return) and node.value is not None:
            value = node.value
            for other in (
                ast.Constant(None), ast.List([value]), ast.UnaryOp(ast.Not(), value),
                ast.Tuple([value, value]), ast.Constant(0),
            ):  # fmt: skip
                node.value = other
                yield ast.unparse(tree)
            node.value = value
        if isinstance(node, (ast.If, ast.IfExp, ast.While)):
            condition = node.test
            node.test = ast.UnaryOp(ast.Not(), condition)
            yield ast.unparse(tree)
            node.test = condition


def _swap(tree: ast.Module, node: ast.AST, field: str) -> Iterator[str]:
    value = getattr(node, field, None)
    operator: Any = value[0] if isinstance(value, list) and value else value
    other = SWAPS.get(type(operator))
    if other is None:
        return
    setattr(node, field, [other(), *value[1:]] if isinstance(value, list) else other())
    yield ast.unparse(tree)
    setattr(node, field, value)


def passes_directly(problem: Problem, program: str) -> bool:
    """Whether the data set's own check passes, run as the data set means it: in one namespace."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            os.dup2(os.open(os.devnull, os.O_RDWR), 1)
            os.dup2(1, 2)
            resource.setrlimit(resource.RLIMIT_DATA, (1 << 30, 1 << 30))
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(DIRECT_S)
            scope: dict[str, Any] = {"__name__": "direct"}
            exec(f"{program}\n{problem.test}", scope)
            scope["check"](scope[problem.entry_point])
            code = 0
        finally:
            os._exit(code)
    _, status = os.waitpid(pid, 0)
    return status == 0
