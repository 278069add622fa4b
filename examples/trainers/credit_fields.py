"""Turn credit in a trainer's own field, read back through the trainer's own code.

python examples/trainers/credit_fields.py trl|verl|skyrl|areal|verifiers|rubric
"""

# ruff: noqa: SLF001, T201 - each library is in an environment of its own; its inner steps count
from __future__ import annotations

import asyncio
import sys
import tempfile
from collections.abc import Callable
from typing import Any

from group_of_four import named, without

from assay import credit

TURNS = credit.Turns.of(
    [
        credit.EpisodeTurns("boil", 1.0, ["start", "kitchen", "stove"], [0.0, 0.25, 0.5]),
        credit.EpisodeTurns("boil", 0.0, ["start", "kitchen"], [0.0, 0.25]),
    ]
)
CREDIT = credit.assign(TURNS, method="potential", baseline="anchor_state").by_episode(TURNS)
TOKENS = [
    credit.EpisodeTokens(9, [(0, 2), (4, 5), (6, 9)]),
    credit.EpisodeTokens(7, [(0, 3), (5, 7)]),
]
OUTCOMES = [1.0, 0.0]
TIMING = {"scoring_ms": 0.0, "total_ms": 0.0, "start_time": 0.0}


def on_tokens(name: str) -> list[list[float]]:
    """Rewards at the last token of each turn, or returns or advantages at all of its tokens."""
    place: Any = "last" if name == "rewards" else "all"
    return [
        credit.token_values(getattr(part, name).tolist(), where.spans, where.length, place=place)
        for part, where in zip(CREDIT, TOKENS, strict=True)
    ]


def trl() -> tuple[str, Any, Any]:
    """The loss of GRPOTrainer on a fresh rollout: the mean of minus the advantages."""
    import torch
    from trl_grpo import build_trainer

    fields = credit.trl_fields(CREDIT, TOKENS)
    mask = torch.nn.utils.rnn.pad_sequence(
        [torch.tensor(row) for row in fields["env_mask"]], batch_first=True
    )
    with tempfile.TemporaryDirectory() as folder:
        trainer = build_trainer(folder, [lambda **_: [0.0]], steps=1, batch=8, group=8)
        inputs = {
            "prompt_ids": torch.full((2, 2), 3),
            "prompt_mask": torch.ones(2, 2, dtype=torch.long),
            "completion_ids": torch.full(mask.shape, 4),
            "completion_mask": torch.ones_like(mask),
            "tool_mask": mask,
            "advantages": torch.tensor(fields["advantages"]),
            "num_items_in_batch": mask.sum(),
        }
        trainer.current_gradient_accumulation_steps = 1
        loss = trainer._compute_loss(trainer.model, inputs).item()
    policy = sum(map(sum, fields["env_mask"]))
    return named("trl"), loss, -sum(map(sum, on_tokens("advantages"))) / policy


def verl() -> tuple[str, Any, Any]:
    """verl's returns without a critic, where the policy wrote."""
    import torch
    from verl import DataProto
    from verl.trainer.ppo.core_algos import compute_gae_advantage_return
    from verl.trainer.ppo.reward import extract_reward

    fields = credit.verl_fields(CREDIT, TOKENS)
    names = ("rm_scores", "response_mask")
    data = DataProto.from_dict(tensors={name: torch.tensor(fields[name]) for name in names})
    rewards, _ = extract_reward(data)
    mask = data.batch["response_mask"]
    _, returns = compute_gae_advantage_return(rewards, torch.zeros_like(rewards), mask, 1.0, 1.0)
    read = [
        row[: where.length] for row, where in zip((returns * mask).tolist(), TOKENS, strict=True)
    ]
    return named("verl"), (rewards.sum(1).tolist(), read), (OUTCOMES, on_tokens("returns"))


def skyrl() -> tuple[str, Any, Any]:
    """SkyRL's batch of a generator's output, which stands right-aligned."""
    without("vllm", "flash_attn", "peft", "jaxtyping", "sglang", "deepspeed")
    from types import SimpleNamespace

    from skyrl.train.dataset.preprocess import convert_prompts_responses_to_batch_tensors

    fields = credit.skyrl_fields(CREDIT, TOKENS)
    responses = [[5] * where.length for where in TOKENS]
    tokenizer: Any = SimpleNamespace(pad_token_id=0)
    tensors = convert_prompts_responses_to_batch_tensors(
        tokenizer, [[3], [3]], responses, fields["rewards"], fields["loss_masks"]
    )
    rewards, masks = tensors[3].tolist(), tensors[4].tolist()
    lengths = [where.length for where in TOKENS]
    read = [row[-length:] for row, length in zip(rewards, lengths, strict=True)]
    policy = [list(map(int, row[-length:])) for row, length in zip(masks, lengths, strict=True)]
    return named("skyrl"), (read, policy), (on_tokens("rewards"), [each.mask for each in TOKENS])


def areal() -> tuple[str, Any, Any]:
    """AReaL's interactions after it has added up what later ones earned."""
    without("PIL", "agents", "aiofiles", "anthropic", "claude_agent_sdk", "flash_attn", "flask")
    without("lark", "mbridge", "megatron", "numba", "openai", "peft", "sglang", "swanlab")
    without("trackio", "uvloop", "vllm", "wandb", "werkzeug")
    from areal.experimental.openai.cache import InteractionCache
    from areal.experimental.openai.types import InteractionWithTokenLogpReward

    read = []
    for rewards in credit.areal_fields(CREDIT)["reward"]:
        cache = InteractionCache()
        messages: list[dict[str, str]] = []
        for number, reward in enumerate(rewards):
            messages = [*messages, {"role": "user", "content": str(number)}]
            reply = {"role": "assistant", "content": "go"}
            cache[str(number)] = InteractionWithTokenLogpReward(
                messages=messages, output_message_list=[reply], _interaction_id=str(number)
            )
            cache.set_reward(str(number), reward)
            messages = [*messages, reply]
        read.append([each.reward for each in cache.apply_reward_discount().values()])
    return named("areal"), read, [part.returns.tolist() for part in CREDIT]


def verifiers() -> tuple[str, Any, Any]:
    """The advantages of a branch of a verifiers trace."""
    import verifiers.v1 as vf
    from verifiers.v1.graph import MessageNode
    from verifiers.v1.trace import Branch

    read = []
    fields = credit.verifiers_fields(CREDIT, TOKENS)["advantages"]
    for where, nodes in zip(TOKENS, fields, strict=True):
        end, path = 0, []
        for (first, after), advantages in zip(where.spans, nodes, strict=True):
            if first > end:
                seen = vf.UserMessage(content="seen")
                size = first - end
                path.append(MessageNode(message=seen, token_ids=[1] * size, mask=[False] * size))
            reply, size = vf.AssistantMessage(content="go"), after - first
            path.append(
                MessageNode(
                    message=reply,
                    sampled=True,
                    token_ids=[2] * size,
                    mask=[True] * size,
                    advantages=advantages,
                )
            )
            end = after
        read.append(Branch(index=0, nodes=path).advantages)
    return named("verifiers"), read, on_tokens("advantages")


def rubric() -> tuple[str, Any, Any]:
    """The steps of older verifiers states, after its rubric has scored the group."""
    import verifiers as vf

    steps = credit.verifiers_fields(CREDIT, TOKENS)["trajectory"]
    states: list[Any] = [
        vf.State(
            prompt=[],
            completion=[],
            answer="",
            info={},
            task="",
            trajectory=list(each),
            timing=dict(TIMING),
        )
        for each in steps
    ]

    async def outcome(**_: Any) -> float:
        return 0.5

    asyncio.run(vf.Rubric(funcs=[outcome]).score_group(states))
    names = ("reward", "advantage")
    read = [[[step[name] for name in names] for step in state["trajectory"]] for state in states]
    columns = [zip(part.rewards, part.advantages, strict=True) for part in CREDIT]
    return named("verifiers"), read, [[[float(n) for n in pair] for pair in row] for row in columns]


LIBRARIES: dict[str, Callable[[], tuple[str, Any, Any]]] = {
    each.__name__: each for each in (trl, verl, skyrl, areal, verifiers, rubric)
}


def equal(read: Any, expected: Any) -> bool:
    if isinstance(read, (list, tuple)):
        return len(read) == len(expected) and all(map(equal, read, expected))
    return abs(float(read) - float(expected)) < 1e-6


def main(name: str) -> int:
    library, read, expected = LIBRARIES[name]()
    same = equal(read, expected)
    print(f"{library} reads the credit that was assigned: {same}")
    if not same:
        print(f"  read     {read}\n  expected {expected}")
    return not same


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
