"""The same 500 rows give the same numbers through every adapter as through `assay.score`."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from itertools import chain
from math import isnan
from pkgutil import iter_modules
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import assay
from assay.adapters import agentfly, areal, nemo_gym, openrlhf, slime, trl, verifiers, verl
from assay.errors import NoScore
from tests.adapters.stand_ins import VerifiersTrace, adapter, inspect_state, stand_in

ROWS = 500
Numbers = list[float | None]


def make_rows() -> list[dict[str, Any]]:
    """Right, wrong, verbose and empty answers, and references that are missing or unreadable."""
    rng = random.Random(7)
    rows: list[dict[str, Any]] = []
    for number in range(ROWS):
        top, bottom = rng.randint(-9, 9), rng.randint(1, 9)
        reference: Any = rng.choice(
            [str(top), f"\\frac{{{top}}}{{{bottom}}}", f"{top / bottom:.3f}"]
        )
        response = rng.choice(
            [
                f"so \\boxed{{{reference}}}",
                reference,
                f"the answer is {top}",
                f"{bottom}",
                "",
                "Paris, I think",
            ]
        )
        if number % 10 == 0:
            reference = rng.choice([None, "", [], "\\frac{"])
        rows.append({"final_response": response, "answer": reference})
    return rows


def numbers_of(reward: str, rows: list[dict[str, Any]]) -> Numbers:
    return [assay.score(reward, **row)["reward"] for row in rows]


def each(rows: list[dict[str, Any]], scorer: Callable[[dict[str, Any]], Any]) -> Numbers:
    """One number a row; what raises `NoScore` or is NaN has none."""
    numbers: Numbers = []
    for row in rows:
        try:
            number = scorer(row)
        except NoScore:
            number = None
        numbers.append(None if number is None or isnan(number) else number)
    return numbers


async def each_async(
    rows: list[dict[str, Any]], scorer: Callable[[dict[str, Any]], Any]
) -> Numbers:
    numbers: Numbers = []
    for row in rows:
        try:
            number = await scorer(row)
        except NoScore:
            number = None
        numbers.append(None if number is None or isnan(number) else number)
    return numbers


def through_trl(reward: str, rows: list[dict[str, Any]]) -> Any:
    return trl.reward(reward, answer="gold")(
        prompts=["?"] * len(rows),
        completions=[row["final_response"] for row in rows],
        gold=[row["answer"] for row in rows],
    )


def through_trl_chat(reward: str, rows: list[dict[str, Any]]) -> Any:
    function = trl.reward(reward, asynchronous=True)
    return asyncio.run(
        function(
            prompts=[[{"role": "user", "content": "?"}]] * len(rows),
            completions=[[{"role": "assistant", "content": row["final_response"]}] for row in rows],
            answer=[row["answer"] for row in rows],
        )
    )


def through_verl(reward: str, rows: list[dict[str, Any]]) -> Numbers:
    return each(
        rows,
        lambda row: verl.compute_score(
            "any", row["final_response"], row["answer"], reward=reward, abstained=None
        )["score"],
    )


def through_verl_batch(reward: str, rows: list[dict[str, Any]]) -> Numbers:
    results = verl.compute_score_batch(
        ["any"] * len(rows),
        [row["final_response"] for row in rows],
        [row["answer"] for row in rows],
        reward=reward,
        abstained=-7.0,
    )
    assert all((result["score"] == -7.0) == bool(result["abstained"]) for result in results)
    return [None if result["abstained"] else result["score"] for result in results]


def through_openrlhf(reward: str, rows: list[dict[str, Any]]) -> Any:
    answer = openrlhf.reward(reward)(
        queries=[f"<s>ask{row['final_response']}<|im_end|>" for row in rows],
        prompts=["ask"] * len(rows),
        labels=[row["answer"] for row in rows],
    )
    abstained = answer["extra_logs"]["abstained"]
    return [
        None if lost else number for number, lost in zip(answer["rewards"], abstained, strict=True)
    ]


def through_nemo_gym(reward: str, rows: list[dict[str, Any]]) -> Numbers:
    numbers: Numbers = []
    for row in rows:
        text = {"type": "output_text", "text": row["final_response"]}
        message = {"type": "message", "role": "assistant", "content": [text]}
        body = {
            "responses_create_params": {"input": "?"},
            "response": {"output": [message]},
            "expected_answer": row["answer"],
        }
        response = nemo_gym.to_response(body, assay.score(reward, **nemo_gym.to_row(body)))
        numbers.append(None if response["mask_sample"] else response["reward"])
    return numbers


def through_slime(reward: str, rows: list[dict[str, Any]]) -> Numbers:
    samples = [
        SimpleNamespace(
            prompt="?",
            response=row["final_response"],
            label=row["answer"],
            metadata={},
            remove_sample=False,
        )
        for row in rows
    ]
    args = SimpleNamespace(assay_reward=reward, reward_key=None)
    results = asyncio.run(slime.rm(args, samples))
    return [
        None if sample.remove_sample else result
        for sample, result in zip(samples, results, strict=True)
    ]


def through_areal(reward: str, rows: list[dict[str, Any]]) -> Numbers:
    function = areal.reward(reward, abstained=None)
    return each(
        rows, lambda row: function("?", row["final_response"], [1], [2], answer=row["answer"])
    )


def through_skyrl(reward: str, rows: list[dict[str, Any]]) -> Numbers:
    with stand_in():
        env = adapter("skyrl").RewardEnv
        options = {"reward": reward, "abstained": None}
        return each(
            rows,
            lambda row: (
                env({}, {"reward_spec": {"ground_truth": row["answer"]}}, **options)
                .step(row["final_response"])
                .get("reward")
            ),
        )


def through_rllm(reward: str, rows: list[dict[str, Any]]) -> Numbers:
    with stand_in():
        evaluator = adapter("rllm").Evaluator(reward, abstained=None)
        return each(
            rows,
            lambda row: (
                evaluator.evaluate(
                    {"ground_truth": row["answer"]},
                    SimpleNamespace(artifacts={"answer": row["final_response"]}, trajectories=[]),
                ).reward
            ),
        )


def through_openenv(reward: str, rows: list[dict[str, Any]]) -> Numbers:
    with stand_in():
        rubric = adapter("openenv").RewardRubric(
            reward, final_response="action.message", answer="observation.metadata.answer"
        )
        return each(
            rows,
            lambda row: rubric(
                SimpleNamespace(message=row["final_response"]),
                SimpleNamespace(metadata={"answer": row["answer"]}),
            ),
        )


def through_agentfly(reward: str, rows: list[dict[str, Any]]) -> Numbers:
    function = agentfly.reward(reward, abstained=None)

    async def scorer(row: dict[str, Any]) -> Any:
        return (await function(**row))["reward"]

    return asyncio.run(each_async(rows, scorer))


def through_verifiers(reward: str, rows: list[dict[str, Any]]) -> Numbers:
    function = verifiers.reward(reward)

    async def scorer(row: dict[str, Any]) -> Any:
        trace = VerifiersTrace({"role": "assistant", "content": row["final_response"]})
        return await function(task=[("answer", row["answer"])], trace=trace)

    return asyncio.run(each_async(rows, scorer))


def through_rubric(reward: str, rows: list[dict[str, Any]]) -> Numbers:
    function = verifiers.rubric_function(reward, answer="info.gold")

    async def scorer(row: dict[str, Any]) -> Any:
        state: dict[str, Any] = {}
        gold = {"gold": row["answer"]}
        number = await function(completion=row["final_response"], info=gold, state=state)
        return None if "abstained" in state else number

    return asyncio.run(each_async(rows, scorer))


def through_rubric_group(reward: str, rows: list[dict[str, Any]]) -> Numbers:
    states: list[dict[str, Any]] = [{} for _ in rows]
    numbers = asyncio.run(
        verifiers.group_function(reward, answer="info.gold")(
            completions=[row["final_response"] for row in rows],
            prompts=["?"] * len(rows),
            answers=[""] * len(rows),
            states=states,
            infos=[{"gold": row["answer"]} for row in rows],
        )
    )
    return [
        None if "abstained" in state else number
        for state, number in zip(states, numbers, strict=True)
    ]


def through_inspect(reward: str, rows: list[dict[str, Any]]) -> Numbers:
    with stand_in():
        scorer = adapter("inspect_ai").reward(reward, answer="metadata.gold")

        async def ask(row: dict[str, Any]) -> Any:
            state = inspect_state(row["final_response"], gold=row["answer"])
            return (await scorer(state, [""])).value

        return asyncio.run(each_async(rows, ask))


ADAPTERS = {
    "trl": [through_trl, through_trl_chat],
    "verl": [through_verl, through_verl_batch],
    "openrlhf": [through_openrlhf],
    "nemo_gym": [through_nemo_gym],
    "slime": [through_slime],
    "areal": [through_areal],
    "skyrl": [through_skyrl],
    "rllm": [through_rllm],
    "openenv": [through_openenv],
    "agentfly": [through_agentfly],
    "verifiers": [through_verifiers, through_rubric, through_rubric_group],
    "inspect_ai": [through_inspect],
}
PAGES = {"observing", "watching", "beside", "browser_use", "selenium"}
TESTS = {"pytest", "pytest_fixture", "golden"}
SIGNALS = {"tracking", "tracking_signals"}
EPISODES = {
    "episodes",
    "gymnasium",
    "openenv_episodes",
    "trl_episodes",
    "verifiers_episodes",
}
SHARED = {"binding", "end_tokens", "messages", "tally"}
NO_SCORES = {*SHARED, *EPISODES, *PAGES, *TESTS, *SIGNALS}
"""What the adapters share, and those for environments and pages, which do not score answers."""


def test_every_adapter_is_in_the_table() -> None:
    modules = {module.name for module in iter_modules(assay.adapters.__path__)}
    assert modules - NO_SCORES == set(ADAPTERS)


@pytest.mark.parametrize("reward", ["math_equal_reward", "qa_f1_reward"])
@pytest.mark.parametrize(
    "through", [*chain(*ADAPTERS.values())], ids=lambda through: through.__name__
)
def test_every_adapter_gives_the_numbers_of_assay_score(
    through: Callable[[str, list[dict[str, Any]]], Numbers], reward: str
) -> None:
    rows = make_rows()
    expected = numbers_of(reward, rows)
    assert through(reward, rows) == expected
    assert {0.0, 1.0, None} <= set(expected)


@assay.reward(name="program_by_answer", version=1, waits=True)
def program_by_answer(final_response: str, answer: Any) -> assay.Score:
    """A reward that runs programs, with its tests where trainers keep the reference."""
    return assay.score(
        "code_reward",
        final_response=final_response,
        tests=answer,
        params={"isolation": "process", "time_s": 5.0},
    )


@pytest.mark.parametrize(
    "through", [*chain(*ADAPTERS.values())], ids=lambda through: through.__name__
)
def test_a_reward_that_runs_programs_works_in_every_adapter(
    through: Callable[[str, list[dict[str, Any]]], Numbers],
) -> None:
    tests = '{"fn_name": "add", "inputs": [[1, 2], [40, 2]], "outputs": [3, 42]}'
    rows = [
        {"final_response": "```python\ndef add(a, b): return a + b\n```", "answer": tests},
        {"final_response": "```python\ndef add(a, b): return a\n```", "answer": tests},
        {"final_response": "```python\nimport os; os._exit(0)\n```", "answer": tests},
        {"final_response": "```python\ndef add(a, b): return a + b\n```", "answer": ""},
    ]
    assert through("program_by_answer", rows) == [1.0, 0.0, 0.0, None]


TABLE = "CREATE TABLE t (x); INSERT INTO t VALUES (1), (2), (2);"
SEATS = {"type": "object", "properties": {"seats": {"type": "integer"}}, "required": ["seats"]}


@assay.reward(name="query_by_answer", version=1)
def query_by_answer(final_response: Any, answer: Any) -> Any:
    """`sql_reward` with one database for all rows."""
    return assay.score(
        "sql_reward", final_response=final_response, answer=answer, database={"script": TABLE}
    )


@assay.reward(name="calls_by_answer", version=1)
def calls_by_answer(final_response: Any, answer: Any) -> Any:
    """`tool_call_reward` where a trainer passes text alone."""
    return assay.score(
        "tool_call_reward",
        trajectory=[{"role": "assistant", "content": final_response}],
        answer=answer,
        tools=[{"name": "book", "parameters": SEATS}],
        params={"text_calls": "tags"},
    )


def tagged(arguments: str) -> str:
    return f'<tool_call>{{"name": "book", "arguments": {arguments}}}</tool_call>'


BOOKED = '[{"book": {"seats": [2]}}]'
STRUCTURED: dict[str, tuple[list[tuple[str, str]], Numbers]] = {
    "query_by_answer": (
        [
            ("```sql\nSELECT x FROM t ORDER BY x;\n```", "SELECT x FROM t"),
            ("SELECT DISTINCT x FROM t", "SELECT x FROM t"),
            ("DELETE FROM t", "SELECT x FROM t"),
            ("SELECT x FROM t", "SELECT y FROM t"),
        ],
        [1.0, 0.0, 0.0, None],
    ),
    "calls_by_answer": (
        [
            (tagged('{"seats": 2}'), BOOKED),
            (tagged('{"seats": "2"}'), BOOKED),
            ("I booked 2 seats.", BOOKED),
            (tagged('{"seats": 2}'), '[{"book": {}}]'),
        ],
        [1.0, 0.0, 0.0, None],
    ),
    "json_reward": (
        [
            ('{"a": 1.0, "b": [2]}', '{"b": [2], "a": 1}'),
            ('{"a": "1", "b": [2]}', '{"b": [2], "a": 1}'),
            ("no json", '{"b": [2], "a": 1}'),
            ("{}", "no json"),
        ],
        [1.0, 0.0, 0.0, None],
    ),
}


@pytest.mark.parametrize("reward", STRUCTURED)
@pytest.mark.parametrize(
    "through", [*chain(*ADAPTERS.values())], ids=lambda through: through.__name__
)
def test_queries_calls_and_records_work_in_every_adapter(
    through: Callable[[str, list[dict[str, Any]]], Numbers], reward: str
) -> None:
    pairs, expected = STRUCTURED[reward]
    rows = [{"final_response": response, "answer": answer} for response, answer in pairs]
    assert through(reward, rows) == expected


def test_calls_that_a_trainer_records_are_read_as_they_are() -> None:
    function = {"name": "book", "arguments": '{"seats": 2}'}
    message = {"role": "assistant", "content": "", "tool_calls": [{"function": function}]}
    rewards = trl.reward("tool_call_reward")(
        prompts=[[{"role": "user", "content": "?"}]] * 2,
        completions=[[message], [{"role": "assistant", "content": tagged('{"seats": 2}')}]],
        answer=[[{"book": {"seats": [2]}}]] * 2,
        tools=[[{"name": "book", "parameters": SEATS}]] * 2,
    )
    assert rewards == [1.0, 0.0]


UNREADABLE = [
    {"a": 1}, b"1", float("nan"), [["1"], ["2"]], 10**5_000, float("inf"), object(), ["1", {}],
    np.array([[1, 2], [3, 4]]), np.float32("nan"),
]  # fmt: skip
NOT_TEXT = [1, 0.5, b"1", {"a": 1}, float("nan"), 10**5_000, np.int64(1), [1], object()]
WRAPS_RESPONSE = (through_openrlhf, through_nemo_gym, through_verifiers, through_inspect)
"""Trainers whose own objects hold the response as text."""


@pytest.mark.parametrize(
    "through", [*chain(*ADAPTERS.values())], ids=lambda through: through.__name__
)
def test_a_row_that_cannot_be_read_costs_no_other_its_score(
    through: Callable[[str, list[dict[str, Any]]], Numbers],
) -> None:
    good = {"final_response": "1", "answer": "1"}
    rows: list[dict[str, Any]] = [good]
    for value in UNREADABLE:
        rows += [{**good, "answer": value}, good]
    for value in () if through in WRAPS_RESPONSE else NOT_TEXT:
        rows += [{**good, "final_response": value}, good]
    expected = [1.0 if row is good else None for row in rows]
    assert numbers_of("math_equal_reward", rows) == expected
    assert through("math_equal_reward", rows) == expected


def test_a_query_that_is_not_text_is_one_row_of_openrlhfs() -> None:
    function = openrlhf.reward("math_equal_reward", abstained=0.25)
    answer = function(["?1", 7, "?1", "?1"], ["?", "?", None, "?"], ["1", "1", "1", "1"])
    assert answer["rewards"] == [1.0, 0.25, 0.25, 1.0]
    assert answer["extra_logs"]["abstained"] == [0.0, 1.0, 1.0, 0.0]
