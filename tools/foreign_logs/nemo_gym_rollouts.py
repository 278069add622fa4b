"""Rollouts of NeMo-Gym: rows of its own models, its own aggregation, in the layout it writes.

Its servers are not started: a row is what `BaseVerifyResponse` dumps, with the keys that the
collection adds, and the aggregate is what `compute_aggregate_metrics` makes of the rows.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from nemo_gym.base_resources_server import BaseVerifyResponse  # type: ignore[import-not-found]
from nemo_gym.openai_utils import (  # type: ignore[import-not-found]
    NeMoGymResponse,
    NeMoGymResponseCreateParamsNonStreaming,
)
from nemo_gym.reward_profile import compute_aggregate_metrics  # type: ignore[import-not-found]
from nemo_gym.rollout_collection import (  # type: ignore[import-not-found]
    NG_FAILURE_CLASS_KEY,
)

from tools.foreign_logs.endpoint import MODEL
from tools.foreign_logs.questions import QUESTIONS, Question

AGENT = {"type": "responses_api_agents", "name": "scripted_simple_agent"}


def row(number: int, question: Question, repeat: int) -> dict[str, Any]:
    asked = NeMoGymResponseCreateParamsNonStreaming(
        input=[{"role": "user", "content": question.text}], temperature=0.0
    )
    text = {"type": "output_text", "text": question.reply, "annotations": []}
    message = {
        "id": "msg",
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": [text],
    }
    response = NeMoGymResponse(
        id=f"resp-{number}-{repeat}",
        created_at=1794769200 + number,
        model=MODEL,
        object="response",
        output=[message],
        parallel_tool_calls=True,
        tool_choice="auto",
        tools=[],
        usage={
            "input_tokens": 12,
            "output_tokens": 1,
            "total_tokens": 13,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens_details": {"reasoning_tokens": 0},
        },
    )
    verified = BaseVerifyResponse(
        responses_create_params=asked,
        response=response,
        reward=float(question.reply == question.answer),
    )
    return {
        **verified.model_dump(mode="json"),
        "expected_answer": question.answer,
        "agent_ref": AGENT,
        "_ng_task_index": number,
        "_ng_rollout_index": repeat,
    }


def main(folder: Path) -> None:
    """Write two rollouts of each question; those of the broken one went to the failures."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = [row(n, q, repeat) for n, q in enumerate(QUESTIONS) for repeat in range(2)]
    done = [each for each in rows if each["expected_answer"] != "nothing"]
    failed = [
        {**each, "reward": 0.0, NG_FAILURE_CLASS_KEY: "model_error: openai.InternalServerError"}
        for each in rows
        if each["expected_answer"] == "nothing"
    ]
    for name, lines in (("rollouts", done), ("rollouts_failures", failed)):
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (folder / f"{name}.jsonl").write_text(text)
    metrics = compute_aggregate_metrics(done).model_dump(mode="json")
    entry = [{"agent_ref": AGENT, **metrics}]
    (folder / "rollouts_aggregate_metrics.json").write_text(json.dumps(entry, indent=1))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
