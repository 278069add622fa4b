"""Play live episodes in TRL's `GRPOTrainer`, as rollouts or as tool calls.

    episodes = Episodes("alfworld", "alfworld_episode_reward")
    GRPOTrainer(train_dataset=Dataset.from_list(rows(episodes)), reward_funcs=[outcome],
                rollout_func=rollout_func(episodes), …)    # or environment_factory=

Abstained: `None`, which TRL leaves out of the group's mean and gives the advantage 0; so is a
rollout whose environment failed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from inspect import Parameter, Signature
from itertools import count
from statistics import fmean
from typing import Any

from assay.adapters.binding import MAX_ABSTAINED
from assay.adapters.episodes import Episodes, LiveEpisode, turn_rewards
from assay.adapters.messages import read_completion
from assay.adapters.tally import tally_of
from assay.errors import BadParameter, DeadResource
from assay.schema.episode import Episode
from assay.schema.score import Score
from assay.schema.task import Task
from assay.schema.tools import ANY_ACTION, ActionTool


def rows(
    episodes: Episodes,
    tasks: Sequence[Task | str] | None = None,
    *,
    system: str = "",
    seed: int = 0,
) -> list[dict[str, Any]]:
    """The rows of a training data set, one row for each task.

    A group is what TRL makes of one row, so all its members have the row's task and seed. The
    prompt ends with a user message that the first observation fills.
    """
    before = [{"role": "system", "content": system}] if system else []
    dataset: list[dict[str, Any]] = []
    for task, number in episodes.seeded(tasks, seed):
        identity = {"task_id": task.id, "seed": number}
        prompt = [*before, {"role": "user", "content": "", **identity}]
        dataset.append({"prompt": prompt, **identity})
    return dataset


def rollout_func(
    episodes: Episodes, *, turn_tokens: int = 128
) -> Callable[[list[Any], Any], dict[str, Any]]:
    """Create a `rollout_func` for `GRPOTrainer`; every reply of the model is an action.

    The rollouts of a batch are played in step, at most `episodes.at_once` of them at a time, each
    reply with at most `turn_tokens` tokens. Tokens of observations have the mask 0. Beside the
    tokens the reward functions get `episode` (the record), `outcome`, `turn_rewards` and
    `turn_spans`, the tokens of each turn, as `assay.credit.token_values` takes them.
    """
    episodes.check_scored()
    return partial(_roll_out, episodes, turn_tokens)


def environment_factory(episodes: Episodes) -> type:
    """Create an `environment_factory` for `GRPOTrainer`; the actions are tools.

    A model that stops calling them has ended the episode; in a conversation its text is the answer.
    TRL passes a tool's exception on to the model, so a failure of the environment is a text there,
    and no reward in `outcome`. Resets one episode, to see which actions there are.
    """
    episodes.check_scored()
    live = episodes.new()
    live.reset(episodes.tasks[0])
    if live.start is None:
        failure = live.finish().failure
        raise DeadResource(
            f"the reset of {episodes.spec.name!r} failed: {failure and failure.message}"
        )
    tools = live.start.actions or (ANY_ACTION,)
    live.close()
    members: dict[str, Any] = {tool.name: _method(tool) for tool in tools}
    members |= {"_of": episodes, "_numbers": count()}
    return type(f"{episodes.spec.name}_environment", (_TRLEnvironment,), members)


def outcome(
    prompts: Sequence[Any],  # noqa: ARG001 - TRL's signature
    completions: Sequence[Any],
    **columns: Any,
) -> list[float | None]:
    """The TRL reward function that returns the outcome of each live episode.

    `None` for an abstention, as after a failure of the environment. Group, seed, turn rewards and
    reasons go to the completions table, and `outcome/abstained` and `outcome/turns` are metrics.
    Raises `NoScore` when 64 episodes have followed each other without a score.
    """
    environments = columns.get("environments")
    if environments is None:
        episodes: list[Episode] = list(columns["episode"])
    else:
        pairs = zip(environments, completions, strict=True)
        episodes = [environment._end(completion) for environment, completion in pairs]  # noqa: SLF001 - it is ours
    scores = [episode.scores[0] for episode in episodes]
    for episode, score in zip(episodes, scores, strict=True):
        group = episode.metadata.get("group")
        tally_of(f"trl {score.scorer}").note(score, group, limit=MAX_ABSTAINED)
    _log_episodes(episodes, scores, columns)
    return [score["reward"] for score in scores]


def _log_episodes(
    episodes: Sequence[Episode], scores: Sequence[Score], columns: Mapping[str, Any]
) -> None:
    log_metric, log_extra = columns.get("log_metric"), columns.get("log_extra")
    if log_metric is not None:
        log_metric("outcome/abstained", fmean([float(score.abstained) for score in scores]))
        log_metric("outcome/turns", fmean([float(episode.n_steps) for episode in episodes]))
    if log_extra is not None:
        log_extra("group", [episode.metadata.get("group") for episode in episodes])
        log_extra("seed", [episode.metadata.get("seed") for episode in episodes])
        log_extra("turn_rewards", [turn_rewards(episode) for episode in episodes])
        log_extra("because", [score.because for score in scores])


@dataclass(slots=True)
class _TokenRow:
    """One rollout as the token lists that TRL needs for training."""

    live: LiveEpisode
    prompt_ids: list[int] = field(default_factory=list)
    ids: list[int] = field(default_factory=list)
    mask: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    spans: list[tuple[int, int]] = field(default_factory=list)

    def write(self, ids: list[int], logprobs: Sequence[float] | None) -> None:
        """Add what the model wrote."""
        self.spans.append((len(self.ids), len(self.ids) + len(ids)))
        self._add(ids, 1, list(logprobs or [0.0] * len(ids)))

    def see(self, ids: list[int]) -> None:
        """Add what it was shown."""
        self._add(ids, 0, [0.0] * len(ids))

    def _add(self, ids: list[int], mask: int, logprobs: list[float]) -> None:
        self.ids += ids
        self.mask += [mask] * len(ids)
        self.logprobs += logprobs


def _roll_out(
    episodes: Episodes, turn_tokens: int, prompts: Sequence[Any], trainer: Any
) -> dict[str, Any]:
    tokens = _Tokens(trainer, turn_tokens, len(prompts))
    played: list[_TokenRow] = []
    for first in range(0, len(prompts), episodes.at_once):
        numbers = range(first, min(first + episodes.at_once, len(prompts)))
        played += _play(episodes, tokens, [(number, prompts[number]) for number in numbers])
    records = [row.live.finish() for row in played]
    return {
        "prompt_ids": [row.prompt_ids for row in played],
        "completion_ids": [row.ids for row in played],
        "logprobs": [row.logprobs for row in played] if tokens.has_logprobs else None,
        "env_mask": [row.mask for row in played],
        "episode": records,
        "outcome": [row.live.outcome for row in played],
        "turn_rewards": [turn_rewards(record) for record in records],
        "turn_spans": [row.spans for row in played],
    }


def _play(
    episodes: Episodes, tokens: _Tokens, numbered: Sequence[tuple[int, Any]]
) -> list[_TokenRow]:
    """Play episodes in parallel, one reply of each episode at a time."""
    played = [_TokenRow(episodes.new()) for _ in numbered]
    turns = episodes.all(
        row.live.reset_async(**_identity(prompt), **tokens.group_of(number))
        for row, (number, prompt) in zip(played, numbered, strict=True)
    )
    for row, (_, prompt), turn in zip(played, numbered, turns, strict=True):
        row.prompt_ids = tokens.prompt(prompt, turn.text)
        if turn.done:
            row.see([tokens.end])  # no tokens at all are none of TRL's rows
    while active := [row for row in played if not row.live.turn.done]:
        replies, logprobs = tokens.generate([row.prompt_ids + row.ids for row in active])
        for number, (row, reply) in enumerate(zip(active, replies, strict=True)):
            row.write(reply, logprobs[number] if logprobs else None)
        turns = episodes.all(
            row.live.step_async(tokens.text(reply))
            for row, reply in zip(active, replies, strict=True)
        )
        for row, turn in zip(active, turns, strict=True):
            ids = [] if turn.done else tokens.observation(turn.text, after=row.ids)
            # Where there is no room for a reply to the observation, the episode ends.
            if len(row.ids) + len(ids) + tokens.turn_tokens <= tokens.room(row.prompt_ids):
                row.see(ids)
            elif not turn.done:
                row.live.finish("budget_limit")
    return played


def _identity(prompt: Any) -> dict[str, Any]:
    last = prompt[-1] if isinstance(prompt, list) and prompt else None
    if not isinstance(last, Mapping) or last.get("task_id") is None:
        raise BadParameter(
            f"the prompt {prompt!r:.200} has no task id; create the data set with `rows(episodes)`"
        )
    return {"task": last["task_id"], "seed": last.get("seed")}


class _Tokens:
    """Converts between texts and tokens, and generates replies with the trainer's model."""

    def __init__(self, trainer: Any, turn_tokens: int, batch: int) -> None:
        self.turn_tokens = turn_tokens
        self._batch = batch
        self.has_logprobs = False
        self._trainer = trainer
        self._tokenizer = getattr(trainer.processing_class, "tokenizer", trainer.processing_class)
        self.end: int = self._tokenizer.eos_token_id
        self._ends = {self.end, *trainer.eos_token_ids}

    def group_of(self, number: int) -> dict[str, Any]:
        trainer = self._trainer
        size = trainer.num_generations if trainer.model.training else trainer.num_generations_eval
        place = trainer.accelerator.process_index * self._batch + number
        return {"group": f"{trainer.state.global_step}.{place // size}", "member": place % size}

    def prompt(self, prompt: Sequence[Mapping[str, Any]], observation: str) -> list[int]:
        """The tokens of the prompt; its last message contains the first observation."""
        *before, last = ({"role": each["role"], "content": each["content"]} for each in prompt)
        first = {**last, "content": f"{last['content'] or ''}{observation}"}
        ids = self._template([*before, first], reply_next=True)
        if self.turn_tokens > self.room(ids):
            raise BadParameter(
                f"the first prompt has {len(ids)} tokens, which leaves too few for a reply of "
                f"{self.turn_tokens} tokens; raise max_completion_length, or lower turn_tokens"
            )
        return ids

    def room(self, prompt_ids: Sequence[int]) -> int:
        """Tokens that may follow the prompt."""
        most: int = self._trainer.max_completion_length
        context = getattr(self._trainer.model.config, "max_position_embeddings", None)
        return most if context is None else min(most, context - len(prompt_ids))

    def observation(self, text: str, *, after: Sequence[int]) -> list[int]:
        """The tokens that show an observation after one reply and before the next reply.

        Only they are tokenised: what the model wrote stays token for token as it was sampled.
        """
        before = [{"role": "user", "content": "?"}, {"role": "assistant", "content": "!"}]
        other = "B" if text.startswith("A") else "A"
        whole, twin = (
            self._template([*before, {"role": "user", "content": each}], reply_next=True)
            for each in (text, other)
        )
        shared = 0
        while shared < min(len(whole), len(twin)) and whole[shared] == twin[shared]:
            shared += 1
        ends = [place for place in range(shared) if whole[place] in self._ends]
        if not ends:
            raise BadParameter(
                "the chat template does not end a reply with an end token of the model; set "
                "eos_token to the end token of the template"
            )
        cut_off = after[-1] not in self._ends
        return whole[ends[-1] + (0 if cut_off else 1) :]

    def text(self, ids: Sequence[int]) -> str:
        """The text that the model wrote, without special tokens."""
        return str(self._tokenizer.decode(ids, skip_special_tokens=True))

    def generate(
        self, prompts: list[list[int]]
    ) -> tuple[list[list[int]], list[list[float]] | None]:
        """Generate the model's next tokens for each prompt, with log probabilities if known."""
        with _limited(self._trainer, self.turn_tokens):
            # TRL has no public way to generate; this method serves its every engine.
            ids, logprobs = self._trainer._generate_single_turn(prompts, None, {}, 1)  # noqa: SLF001
        self.has_logprobs = logprobs is not None
        return [reply or [self.end] for reply in ids], logprobs

    def _template(
        self, messages: Sequence[Mapping[str, Any]], *, reply_next: bool = False
    ) -> list[int]:
        ids = self._tokenizer.apply_chat_template(
            list(messages),
            add_generation_prompt=reply_next,
            tokenize=True,
            return_dict=False,
            chat_template=self._trainer.chat_template,
            **self._trainer.chat_template_kwargs,
        )
        return list(ids)


@contextmanager
def _limited(trainer: Any, turn_tokens: int) -> Iterator[None]:
    engine = getattr(trainer, "vllm_generation", None)
    holder, name = (
        (trainer.generation_config, "max_new_tokens")
        if engine is None
        else (engine, "max_completion_length")
    )
    before = getattr(holder, name)
    setattr(holder, name, turn_tokens)
    try:
        yield
    finally:
        setattr(holder, name, before)


class _TRLEnvironment:
    """An environment for TRL; its public methods are the tools of the model."""

    _of: Episodes
    _numbers: Iterator[int]

    def __init__(self) -> None:
        self._member, self._visits = next(self._numbers), 0
        if self._member >= self._of.at_once:
            raise BadParameter(
                f"TRL plays more than {self._of.at_once} rollouts of {self._of.spec.name!r} at "
                f"once; raise the limit: Episodes(…, at_once={2 * self._of.at_once})"
            )
        self._live = self._of.new()

    def reset(self, **row: Any) -> str:
        """Start the row's task, and return its first observation."""
        seed, task = row.get("seed"), self._of.task(row.get("task_id"), seed=row.get("seed"))
        self._visits += 1
        group = f"{self._visits}.{task.id}#{seed}"
        return self._live.reset(task, seed=seed, group=group, member=self._member).text

    def _act(self, tool: ActionTool, arguments: Mapping[str, Any]) -> str:
        if self._live.turn.done:
            return "the episode is over"
        turn = self._live.step(tool.write(arguments))
        return turn.text or "the episode is over"

    def _end(self, completion: Any) -> Episode:
        start, response = self._live.start, read_completion(completion).final_response
        if start is not None and start.tools is not None and isinstance(response, str):
            self._live.step(response)
        return self._live.finish()


_TYPES: Mapping[str, type] = {
    "integer": int, "number": float, "boolean": bool, "array": list, "object": dict,
}  # fmt: skip


def _method(tool: ActionTool) -> Callable[..., str]:
    """Create a method from a tool, with annotations and a docstring for TRL's schema."""

    def call(self: _TRLEnvironment, **arguments: Any) -> str:
        return self._act(tool, arguments)

    properties: Mapping[str, Any] = tool.parameters.get("properties", {})
    kinds = {name: _TYPES.get(each.get("type", ""), str) for name, each in properties.items()}
    lines = [f"    {name}: {each.get('description', name)}" for name, each in properties.items()]
    summary = " ".join(tool.description.split()) or tool.name
    call.__name__ = call.__qualname__ = tool.name
    call.__doc__ = "\n".join([summary, "", *(["Args:", *lines] if lines else [])])
    call.__annotations__ = {**kinds, "return": str}
    parameters = [Parameter("self", Parameter.POSITIONAL_OR_KEYWORD)]
    parameters += [
        Parameter(name, Parameter.POSITIONAL_OR_KEYWORD, annotation=kind)
        for name, kind in kinds.items()
    ]
    call.__signature__ = Signature(parameters, return_annotation=str)  # type: ignore[attr-defined]  # inspect reads it
    return call
