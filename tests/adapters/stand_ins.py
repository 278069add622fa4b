"""Light stand-ins for the libraries of some adapters: only what those adapters use.

The real libraries are exercised by `examples/trainers`, each in an environment of its own.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from math import nan
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
from pydantic import BaseModel, Field


class SkyRLTextEnv:
    def __init__(self) -> None:
        self.turns = 0


class OpenEnvRubric:
    def __init__(self) -> None:
        self.last_score: float | None = None

    def __call__(self, action: Any, observation: Any) -> Any:
        self.last_score = self.forward(action, observation)
        return self.last_score

    def forward(self, action: Any, observation: Any) -> Any:
        raise NotImplementedError


@dataclass
class Signal:
    name: str
    value: float


@dataclass
class EvalOutput:
    reward: float
    is_correct: bool
    signals: list[Signal] = field(default_factory=list)
    metadata: dict[str, Any] = field(default_factory=dict)


@dataclass
class RewardOutput:
    reward: float
    metadata: dict[str, Any]
    is_correct: bool


class GymEnv:
    np_random: Any = None

    def reset(self, *, seed: int | None = None, options: Any = None) -> None:
        if seed is not None or self.np_random is None:
            self.np_random = np.random.default_rng(seed)

    def close(self) -> None: ...


class GymVectorEnv(GymEnv):
    closed = False

    def close(self) -> None:
        if not self.closed:
            self.close_extras()
            self.closed = True

    def close_extras(self) -> None: ...


class GymSpace:
    def __init__(self, dtype: Any = None, seed: Any = None) -> None:
        self.np_random = np.random.default_rng(seed)


class OpenEnvAction(BaseModel):
    metadata: dict[str, Any] = Field(default_factory=dict)


class OpenEnvObservation(OpenEnvAction):
    done: bool = False
    reward: float | None = None


class OpenEnvState(BaseModel):
    episode_id: str | None = None
    step_count: int = 0


class OpenEnvEnvironment:
    def __init__(self) -> None:
        self.rubric = None


@dataclass
class OpenEnvResult:
    observation: Any
    reward: float | None
    done: bool


class OpenEnvClient:
    def __init__(self, base_url: str = "") -> None:
        self.base_url = base_url


@dataclass
class InspectScore:
    value: float
    answer: str | None = None
    explanation: str | None = None
    metadata: dict[str, Any] | None = None
    reason: str | None = None

    @classmethod
    def unscored(cls, **rest: Any) -> InspectScore:
        return cls(value=nan, **rest)


def inspect_scorer(metrics: list[Any], name: str) -> Any:
    def decorate(build: Any) -> Any:
        def make(**arguments: Any) -> Any:
            score = build(**arguments)
            score.registered = (name, metrics, arguments)
            return score

        return make

    return decorate


class VerifiersClass:
    """A class of verifiers' that is made with keywords, or with what it is a generic of."""

    def __init__(self, *values: Any, **fields: Any) -> None:
        vars(self).update(fields)
        if len(values) == 2:
            self.data, self.config = values
        elif values:
            (self.config,) = values

    def __class_getitem__(cls, _: Any) -> Any:
        return cls


def verifiers_class(name: str, **members: Any) -> type:
    return type(name, (VerifiersClass,), members)


def resolve_prompt(self: Any, data: Any) -> tuple[str | None, Any]:
    return data.system_prompt, data.prompt


VERIFIERS: dict[str, Any] = {
    name: verifiers_class(name)
    for name in "TaskData TaskConfig TasksetConfig State EnvConfig AgentConfig SubprocessConfig "
    "HarnessConfig Task Taskset Env".split()
} | {
    "Harness": verifiers_class("Harness", resolve_prompt=resolve_prompt),
    "ProgramResult": lambda *result: result,
    "reward": lambda function: function,
    "metric": lambda function: function,
}

LIBRARIES: dict[str, dict[str, Any]] = {
    "skyrl_gym.envs.base_text_env": {"BaseTextEnv": SkyRLTextEnv},
    "openenv.core.rubrics.base": {"Rubric": OpenEnvRubric},
    "openenv.core.env_server.types": {
        "Action": OpenEnvAction,
        "Observation": OpenEnvObservation,
        "State": OpenEnvState,
    },
    "openenv.core.env_server.interfaces": {"Environment": OpenEnvEnvironment},
    "openenv.core.env_server.http_server": {
        "create_app": lambda make, *_, **options: SimpleNamespace(make=make, options=options)
    },
    "openenv.core.env_client": {"EnvClient": OpenEnvClient},
    "openenv.core.client_types": {"StepResult": OpenEnvResult},
    "rllm.eval.types": {"Signal": Signal, "EvalOutput": EvalOutput},
    "rllm.rewards.reward_types": {"RewardOutput": RewardOutput},
    "gymnasium": {"Env": GymEnv, "Space": GymSpace, "registry": {}, "register": lambda *_, **__: 0},
    "gymnasium.vector": {
        "VectorEnv": GymVectorEnv,
        "AutoresetMode": SimpleNamespace(DISABLED="Disabled"),
    },
    "gymnasium.vector.utils": {"batch_space": lambda space, n: (space,) * n},
    "verifiers.v1": VERIFIERS,
    "verifiers.v1.dialects.chat": {"message_to_wire": dict},
    "inspect_ai.scorer": {
        "Score": InspectScore,
        "scorer": inspect_scorer,
        "mean": lambda: "mean",
        "stderr": lambda: "stderr",
    },
}

ADAPTERS = (
    "skyrl",
    "openenv",
    "openenv_episodes",
    "rllm",
    "gymnasium",
    "inspect_ai",
    "verifiers_episodes",
)


@contextmanager
def stand_in() -> Iterator[None]:
    """While it lasts, the libraries above can be imported; afterwards nothing of them is left."""
    adapters = {f"assay.adapters.{name}" for name in ADAPTERS}
    parts = (name.split(".") for name in LIBRARIES)
    packages = {".".join(part[:depth]) for part in parts for depth in range(1, len(part) + 1)}
    ours = adapters | packages
    before = {name: sys.modules[name] for name in ours & set(sys.modules)}
    for name in adapters:
        sys.modules.pop(name, None)
    for name in sorted(packages):
        module = ModuleType(name)
        vars(module).update(LIBRARIES.get(name, {}))
        if name in LIBRARIES or name not in before:
            sys.modules[name] = module
    try:
        yield
    finally:
        # What else was imported meanwhile stays: imported twice, its classes would not be the
        # classes that others hold.
        for name in ours:
            sys.modules.pop(name, None)
        sys.modules.update(before)


def adapter(name: str) -> Any:
    """The adapter of that name."""
    return import_module(f"assay.adapters.{name}")


class VerifiersTrace:
    """What a verifiers trace is to a reward."""

    def __init__(self, *messages: dict[str, Any], prompt: str = "?") -> None:
        nodes = [SimpleNamespace(sampled=False, message=_message(role="user", content=prompt))]
        for message in messages:
            sampled = message["role"] == "assistant" and not message.get("few_shot")
            nodes.append(SimpleNamespace(sampled=sampled, message=_message(**message)))
        self.branches = [SimpleNamespace(nodes=nodes)]
        self.metrics: dict[str, float] = {}
        self.root_reply: str | None = None

    def record_metric(self, name: str, value: float) -> None:
        self.metrics[name] = value


def _message(**fields: Any) -> SimpleNamespace:
    return SimpleNamespace(**{"tool_calls": None, "tool_call_id": None, **fields})


def inspect_state(completion: str | None, **metadata: Any) -> SimpleNamespace:
    """What an Inspect task state is to a scorer."""
    choices = [] if completion is None else [completion]
    message = _message(role="assistant", content=completion or "", source="generate")
    return SimpleNamespace(
        metadata=metadata,
        store={},
        sample_id="s",
        epoch=1,
        input_text="?",
        output=SimpleNamespace(completion=completion or "", choices=choices),
        messages=[message],
    )
