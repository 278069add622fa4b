"""Every predefined reward, by the pytest plugin that its users have."""

from typing import Any

import pytest

from assay.adapters.pytest_fixture import RewardFixture
from assay.audit.conversations import Ending, episode_record
from assay.audit.findings import Sample
from assay.registry import REWARDS
from assay.resources.context import Context
from assay.schema.episode import Episode

CALLED: list[dict[str, Any]] = [
    {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "search"}}]},
    {"role": "tool", "content": "a page"},
]


def call_weather(arguments: str) -> list[dict[str, Any]]:
    function = {"name": "weather", "arguments": arguments}
    return [{"role": "assistant", "content": "", "tool_calls": [{"function": function}]}]


ADD = "```python\ndef add(a, b):\n    return a {} b\n```"
CASES: dict[str, dict[str, Any]] = {
    "qa_f1_reward": {
        "gold": "Paris",
        "answer": ["Paris"],
        "forms": ["paris", "Paris.", "the Paris"],
        "near_misses": ["London", "Parisian"],
    },
    "qa_f1_reward_tool": {
        "gold": "Paris",
        "answer": ["Paris"],
        "trajectory": CALLED,
        "forms": ["paris"],
        "near_misses": ["London", {"final_response": "Paris", "trajectory": []}],
        "at_most": 0.1,
    },
    "math_equal_reward": {
        "gold": r"so \boxed{\tfrac12}",
        "answer": "0.5",
        "forms": ["1/2", r"\boxed{0.50}", "The answer is 1/2."],
        "near_misses": [r"\boxed{\tfrac13}", r"\boxed{-0.5}", r"not \boxed{0.5}"],
    },
    "math_equal_reward_tool": {
        "gold": r"\boxed{42}",
        "answer": "42",
        "trajectory": CALLED,
        "near_misses": [r"\boxed{43}", {"final_response": r"\boxed{42}", "trajectory": []}],
        "at_most": 0.1,
    },
    "assistantbench_reward": {
        "gold": "Paris",
        "answer": "Paris",
        "forms": ["paris"],
        "near_misses": ["London"],
    },
    "fuzzy_answer_reward": {
        "gold": "Ada Lovelace",
        "answer": "Ada Lovelace",
        "near_misses": ["Alan Turing"],
    },
    "code_reward": {
        "gold": ADD.format("+"),
        "tests": {"fn": "add", "calls": [{"args": [1, 3], "expected": 4}]},
        "params": {"isolation": "process"},
        "near_misses": [ADD.format("*")],
        "no_ops": ["I do not know."],
        "threads": 1,
        "within_s": 60.0,
    },
    "sql_reward": {
        "gold": "```sql\nSELECT name FROM people WHERE id = 2;\n```",
        "answer": "SELECT name FROM people ORDER BY id DESC LIMIT 1",
        "database": {
            "script": "CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT);"
            "INSERT INTO people VALUES (1, 'Ann'), (2, 'Bo');"
        },
        "near_misses": ["SELECT name FROM people", "SELECT name FROM people WHERE id = 1"],
        "threads": 2,
        "within_s": 60.0,
    },
    "tool_call_reward": {
        "gold": {"trajectory": call_weather('{"city": "Paris"}')},
        "answer": [{"name": "weather", "arguments": {"city": "Paris"}}],
        "tools": [
            {
                "name": "weather",
                "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
            }
        ],
        "near_misses": [
            {"trajectory": call_weather('{"city": "London"}')},
            {"trajectory": call_weather('{"town": "Paris"}')},
        ],
        "no_ops": [{"trajectory": [{"role": "assistant", "content": "I do not know."}]}],
    },
    "json_reward": {
        "gold": '{"price": 5, "sender": "Norpost"}',
        "answer": {"sender": "Norpost", "price": 5.0},
        "forms": ['```json\n{"sender": "Norpost", "price": 5.0}\n```'],
        "near_misses": ['{"price": "5", "sender": "Norpost"}', '{"price": 5}'],
    },
    "instructions_reward": {
        "gold": "The mill stands by the river",
        "instructions": [{"id": "punctuation:no_comma"}],
        "near_misses": ["The mill, the river"],
        "no_ops": [""],
    },
    "choice_reward": {
        "gold": "The answer is (B).",
        "answer": "B",
        "forms": ["B", "(B)", "**B**"],
        "near_misses": ["A", "A or B"],
    },
    "format_reward": {
        "gold": "<think>2 and 2</think><answer>4</answer>",
        "near_misses": ["<think>2 and 2</think>", "<answer>4</answer><think></think>"],
    },
    "length_reward": {"gold": "short", "no_ops": [""], "near_misses": ["word " * 5_000]},
    "repetition_reward": {
        "gold": "every word of this sentence differs from all the others",
        "no_ops": [],
        "near_misses": ["again and again " * 100],
    },
}


def recorded(ending: Ending) -> dict[str, Any]:
    record = episode_record(Sample("go", None, (), (), {"task_id": "7"}), ending)
    return {"context": Context.recorded(Episode.model_validate(record))}


@pytest.mark.parametrize("name", REWARDS.built_in())
def test_gold_is_paid_and_nothing_else_in_any_thread_or_process(
    reward: RewardFixture, name: str
) -> None:
    if name in CASES:
        case = dict(CASES[name])
        reward(name, **case.pop("params", {})).check(case.pop("gold"), **case)
        return
    columns: dict[str, Any] = {"final_response": "done", "task_id": "7"}
    # A context holds what is open in this process.
    reward(name).check(recorded("done"), no_ops=[recorded("failed")], processes=False, **columns)
    reward(name).abstains(recorded("dead"), **columns)


@pytest.mark.parametrize("name", ["qa_f1_reward", "math_equal_reward", "choice_reward"])
def test_scores_are_those_of_the_golden_file(reward: RewardFixture, name: str) -> None:
    reward(name).golden(f"golden/{name}.jsonl")
