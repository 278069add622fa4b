"""Use Assay rewards in AgentFly, and use AgentFly's reward files in Assay.

    agentfly.rewards.reward(name="maths")(adapter.reward("math_equal_reward"))
    assay.score(adapter.load("my_rewards.py")["brevity"], final_response="…", answer="…")

Abstained: AgentFly reads `None` as 0, so the mean of the latest rewards of the same task, or the
number that `abstained` names; with `abstained=None` it raises.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from inspect import Parameter, Signature, isclass
from inspect import signature as signature_of
from pathlib import Path
from types import ModuleType
from typing import Any

from assay.adapters.binding import Binding, RewardMaker, fill_parts, imitate
from assay.errors import BadRecord, UnknownName
from assay.registry import RewardSpec, describe

PACKAGE = "agentfly.rewards"


@RewardMaker
def reward(binding: Binding, name: str | None) -> Callable[..., Any]:
    """Create a coroutine function for AgentFly's `@reward` from an Assay reward.

    AgentFly passes only what the signature names, so the signature names the reward's columns. The
    result is a mapping with `reward` and the parts, always under the same keys; a part without a
    number gets the reward's own. It is asynchronous, for AgentFly runs the others on its loop.
    """
    return binding.function(_score, name=name, signature=_columns_signature(binding))


async def _score(binding: Binding, /, **row: Any) -> dict[str, float]:
    score = await binding.score_async(row)
    value = binding.number(score, row)
    return {**fill_parts(score, binding.parts, value), "reward": value}


def _columns_signature(binding: Binding) -> Signature:
    spec = binding.scorer.spec

    def column(parameter: str) -> str:
        return binding.columns.get(parameter, parameter).partition(".")[0]

    required = dict.fromkeys(map(column, spec.required))
    optional = [name for name in dict.fromkeys(map(column, spec.optional)) if name not in required]
    kind = Parameter.POSITIONAL_OR_KEYWORD
    return Signature(
        [Parameter(name, kind) for name in required]
        + [Parameter(name, kind, default=None) for name in optional]
    )


class FileReward:
    """A reward of an AgentFly file; a pickle stores only the file and the name."""

    def __init__(self, path: Path, name: str, function: Callable[..., Any]) -> None:
        self._path = path
        self._name = name
        self._function = function
        signature = _as_agentfly_calls(signature_of(function))
        imitate(self, function, name=name, doc=function.__doc__, signature=signature)
        self.__assay__: RewardSpec = describe(self, name=name)

    def __call__(self, **columns: Any) -> Any:
        return self._function(**columns)

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return _load_one, (self._path, self._name)


def load(path: str | Path) -> dict[str, FileReward]:
    """The rewards that an AgentFly file declares, by name.

    The file is executed, with a light stand-in for the parts of `agentfly` that declare rewards;
    so it needs neither AgentFly nor what AgentFly needs. Nothing is registered: the names may be
    those of our own.
    """
    file = Path(path).resolve()
    with _stand_in(file.parent) as declared:
        spec = importlib.util.spec_from_file_location(f"{PACKAGE}.{file.stem}", file)
        if spec is None or spec.loader is None:
            raise BadRecord(f"{str(path)!r} is not a Python file")
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
    functions: dict[str, Callable[..., Any]] = dict(declared)
    for value in vars(module).values():
        if isinstance(value, _ClassReward) and not isclass(value):
            functions[value.name or type(value).__name__] = value.call
    return {name: FileReward(file, name, function) for name, function in functions.items()}


def _load_one(path: Path, name: str) -> FileReward:
    rewards = load(path)
    if name not in rewards:
        raise UnknownName(
            f"{path.name} declares no reward {name!r}; its rewards are {sorted(rewards)}"
        )
    return rewards[name]


class _ClassReward:
    """Replaces AgentFly's class `BaseReward`, whose subclasses have a `call` method."""

    name: str | None = None

    def __init__(self, *_: Any, **__: Any) -> None: ...

    def call(self, **columns: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no method `call`; columns: {columns}")

    def __call__(self, **columns: Any) -> Any:
        return self.call(**columns)


class _RewardResult(dict[str, Any]):
    def __init__(self, reward: float, extras: Mapping[str, Any] | None = None) -> None:
        super().__init__({**(extras or {}), "reward": reward})


@contextmanager
def _stand_in(folder: Path) -> Iterator[dict[str, Callable[..., Any]]]:
    """Replace the module `agentfly` in the block, and collect the declared rewards."""
    declared: dict[str, Callable[..., Any]] = {}

    def declare(function: Any = None, /, name: str | None = None, **_: Any) -> Any:
        def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
            declared[name or function.__name__] = function
            return function

        return decorate(function) if callable(function) else decorate

    base = {"reward": declare, "BaseReward": _ClassReward}
    types = {"RewardResult": _RewardResult, "RewardReturn": dict}
    contents: dict[str, dict[str, Any]] = {
        "agentfly": {"__path__": []},
        "agentfly.core": {"Context": object},
        PACKAGE: {"__path__": [str(folder)], **base, **types},
        f"{PACKAGE}.reward_base": base,
        f"{PACKAGE}.types": types,
    }
    before = _remove_agentfly()
    for name, attributes in contents.items():
        module = ModuleType(name)
        vars(module).update(attributes)
        sys.modules[name] = module
    try:
        yield declared
    finally:
        _remove_agentfly()
        sys.modules.update(before)


def _remove_agentfly() -> dict[str, ModuleType]:
    names = [name for name in sys.modules if name == "agentfly" or name.startswith("agentfly.")]
    return {name: sys.modules.pop(name) for name in names}


def _as_agentfly_calls(signature: Signature) -> Signature:
    """Turn every named parameter into a column, and remove `**kwargs`."""
    kinds = (Parameter.VAR_KEYWORD, Parameter.VAR_POSITIONAL)
    columns = [
        parameter.replace(kind=Parameter.POSITIONAL_OR_KEYWORD)
        for parameter in signature.parameters.values()
        if parameter.kind not in kinds
    ]
    columns.sort(key=lambda parameter: parameter.default is not Parameter.empty)
    return signature.replace(parameters=columns)
