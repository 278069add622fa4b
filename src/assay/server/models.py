"""The bodies of requests and answers, as the OpenAPI document shows them.

Requests are checked against these; answers are written by the workers and described here.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, JsonValue, model_validator

ROW: JsonValue = {"final_response": "The answer is \\boxed{\\tfrac12}", "answer": "0.5"}
RESULT: JsonValue = {
    "line": 1,
    "scores": {
        "math_equal_reward": {
            "scorer": "math_equal_reward@1",
            "value": 1.0,
            "because": "1/2 equals 0.5",
            "parts": {"acc": 1.0},
        }
    },
}


Status: TypeAlias = Literal["ready", "starting", "draining"]
"""Whether a server takes requests."""

MAX_FIRST = 2**53
"""Beyond it other languages lose digits."""


class Body(BaseModel):
    """A request; a field that it does not know is a mistake, not a wish."""

    model_config = ConfigDict(extra="forbid", strict=True)


class ScoreRequest(Body):
    """Rows, and the reward to ask about each."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"reward": "math_equal_reward", "rows": [ROW]},
                {
                    "reward": ["qa_f1_reward", "fuzzy_answer_reward"],
                    "row": {"final_response": "Paris", "gold": "paris"},
                    "columns": {"answer": "gold"},
                },
            ]
        }
    )

    reward: str | Annotated[list[str], Field(max_length=32)] | None = None
    """One name or several, each `name` or `name@version`; the server's default if left out."""
    row: dict[str, Any] | None = None
    """One row: an object whose members are what the reward asks for."""
    rows: list[dict[str, Any]] | None = None
    """Several. Either this or `row`."""
    params: dict[str, Any] = Field(default_factory=dict)
    """The options of the reward; an option goes to each reward that has it."""
    columns: dict[str, str] = Field(default_factory=dict)
    """Where a parameter is found if not under its own name: `{"answer": "extra.solution"}`."""
    deadline_s: Annotated[float, Field(gt=0)] | None = None
    """Less than the server's own. Rows that are not finished by then abstain (`deadline`)."""
    first: Annotated[int, Field(ge=1, le=MAX_FIRST)] = 1
    """The number of the first row, for one of several requests with the rows of one file."""

    @model_validator(mode="after")
    def _either_row_or_rows(self) -> Self:
        if (self.row is None) == (self.rows is None):
            raise ValueError("give either 'row' or 'rows'")
        return self

    @property
    def all_rows(self) -> list[dict[str, Any]]:
        return [self.row] if self.row is not None else self.rows or []

    @property
    def names(self) -> list[str]:
        if self.reward is None:
            return []
        return [self.reward] if isinstance(self.reward, str) else self.reward


class ScoreRecord(BaseModel):
    """A score; exactly one of `value` and `abstained` is there."""

    scorer: str
    """`name@version`."""
    value: float | None
    """A finite number, or null when the reward abstained: never a number for a failure."""
    because: str
    abstained: str | None = None
    """Why there is no value: `bad_row`, `grader_error`, `deadline`, `missing_reference`, …"""
    parts: dict[str, float | None]
    """The reward's further numbers, always under the same names."""
    notes: dict[str, str] = Field(default_factory=dict)
    params: dict[str, Any] = Field(default_factory=dict)


class Result(BaseModel):
    """One row's scores; its `id` and `task_id`, if it has them, are copied."""

    model_config = ConfigDict(extra="allow", json_schema_extra={"examples": [RESULT]})

    line: int
    """The number of the row: from 1, or from the request's `first`."""
    scores: dict[str, ScoreRecord]


class ScoreResponse(BaseModel):
    """A result for each row, in order."""

    results: list[Result]


class StepsRequest(Body):
    """The recorded steps of one episode, in order, as a run's `steps/<attempt>.jsonl` has them."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "steps": [
                        {"index": 0, "action": ""},
                        {
                            "index": 1,
                            "action": 'click("a12")',
                            "outcome": {"tool": "click", "ok": False, "error": "not_visible"},
                        },
                    ]
                }
            ]
        }
    )

    steps: list[dict[str, Any]]
    deadline_s: Annotated[float, Field(gt=0)] | None = None


class StepResult(BaseModel):
    """One step: what it is worth today, and what was written of it."""

    step: int
    action: str
    score: dict[str, Any] | None
    """Null for the reset and for a step without an outcome."""
    stored: dict[str, Any] | None
    stored_by: str | None
    differs: bool


class StepsResponse(BaseModel):
    """A result for each step, in order."""

    scorer: str
    steps: list[StepResult]


class RewardRecord(BaseModel):
    """A reward that this server answers for."""

    name: str
    version: int
    summary: str
    needs: list[str]
    """Columns that every row must have."""
    takes: list[str]
    options: dict[str, str | None]
    """Options with their defaults; null: it must be given."""
    parts: list[str] | None
    documentation: str


class RewardsResponse(BaseModel):
    """Every reward that this server answers for."""

    rewards: list[RewardRecord]


class OpenRLHFRequest(BaseModel):
    """What OpenRLHF posts to `--reward.remote_url`."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"query": ["2+2=?\n4"], "prompts": ["2+2=?\n"], "labels": ["4"]}]
        }
    )

    query: list[str]
    """Prompt and response together; the response is what follows the prompt."""
    prompts: list[str]
    labels: list[Any] | None = None
    """The reward's `answer`."""


class OpenRLHFResponse(BaseModel):
    """Rewards in order; an abstention is null, and a part that some row lacks is left out."""

    rewards: list[float | None]
    scores: list[float | None]
    extra_logs: dict[str, list[float]]
    """The reward's parts, and `abstained`, which is 1 for a row without a reward."""


class NemoGymRequest(BaseModel):
    """What NeMo-Gym posts to `/verify`: an OpenAI response, and the fields of the task."""

    model_config = ConfigDict(
        extra="allow",
        json_schema_extra={
            "examples": [
                {
                    "responses_create_params": {"input": "2+2=?"},
                    "response": {
                        "output": [
                            {
                                "type": "message",
                                "role": "assistant",
                                "content": [{"type": "output_text", "text": "4"}],
                            }
                        ]
                    },
                    "expected_answer": "4",
                }
            ]
        },
    )

    responses_create_params: dict[str, Any] | None = None
    response: dict[str, Any]


class NemoGymResponse(BaseModel):
    """The request's fields and the verdict; an abstention is masked, its `reward` is filler."""

    model_config = ConfigDict(extra="allow")

    reward: float
    """To be read only where `mask_sample` is false."""
    reward_components: dict[str, float]
    mask_sample: bool
    failure_kind: str | None = None
    failure_reason: str | None = None


class SlimeRequest(BaseModel):
    """What slime posts to `--rm-url`."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"prompt": "2+2=?", "response": "4", "label": "4"}]}
    )

    prompt: Any = None
    response: str | None
    label: Any = None
    metadata: dict[str, Any] | None = None


class ErrorDetail(BaseModel):
    """What went wrong: a stable code, and a sentence."""

    code: str
    message: str


class ErrorResponse(BaseModel):
    """Every answer that is not a success."""

    error: ErrorDetail


class Health(BaseModel):
    """The process answers."""

    status: Literal["ok"]


class Readiness(BaseModel):
    """Whether requests are welcome."""

    status: Status
