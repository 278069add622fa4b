"""MCP tools for coding agents: `score`, `diagnose`, `steps` and `audit`.

Nothing is written, and no file outside the folder is read. A reward is named as it is registered;
an address such as `file.py:name`, which runs that file's code, is followed only if the person who
started the server allows it, and so is a program scored outside the sandbox.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import wraps
from pathlib import Path
from typing import Any, Final

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations

from assay import __version__
from assay.audit.engine import audit_reward
from assay.browser.step_records import rescore
from assay.browser.steps.scorer import RecoveryRewardScorer
from assay.errors import AssayError, BadParameter
from assay.ledger.steps import read_steps
from assay.registry import REWARDS, find_reward
from assay.registry.addresses import is_address
from assay.report.diagnosis import diagnose
from assay.schema.audit import Kind
from assay.scoring.gate import check_size
from assay.web.tryout import RewardTryout

MOST_ROWS: Final = 256
MOST_CHARS: Final = 2_000_000
"""Of the texts of one call of `score`."""
SCORE_S: Final = 120.0
"""Seconds that one call of `score` may take."""
MOST_STEPS: Final = 500
MOST_FINDINGS: Final = 50
READ_ONLY: Final = ToolAnnotations(
    read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
INSTRUCTIONS: Final = (
    "Rewards for language-model agents. Write a reward, `score` rows with it (right, wrong, empty, "
    "hostile), then `audit` it: the audit finds wrong answers that it pays and right ones that it "
    "refuses. `diagnose` says why a recorded run lost points, `steps` what each step was worth."
)


@dataclass(frozen=True, slots=True)
class RewardTools:
    """The four MCP tools as functions of plain JSON values."""

    folder: Path
    """Files are read below it, and nowhere else."""
    runs_dir: Path
    run_code: bool = False
    """Whether an address may be followed, which runs the code there."""
    tryout: RewardTryout = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        tryout = RewardTryout(self.folder, limit_s=SCORE_S, run_code=self.run_code)
        object.__setattr__(self, "tryout", tryout)

    def score(
        self,
        reward: str,
        rows: list[dict[str, Any]],
        params: dict[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Score rows with a reward; return a number or an abstention, with a reason, for each row.

        `reward` is a registered name (`math_equal_reward`); a row has `final_response` and the
        columns that the reward needs, such as `answer`. `params` are the reward's options.
        """
        if len(rows) > MOST_ROWS:
            raise BadParameter(
                f"{len(rows)} rows are too many; send at most {MOST_ROWS} in one call"
            )
        check_size(rows, MOST_CHARS)
        self._check_address(reward)
        answer = self.tryout.score(reward, rows, params or {})
        values = [one["value"] for one in answer["scores"] if one["value"] is not None]
        return {
            "reward": answer["reward"],
            "mean": sum(values) / len(values) if values else None,
            "abstained": len(rows) - len(values),
            "scores": answer["scores"],
        }

    def diagnose(self, run: str = "latest", task: str | None = None) -> dict[str, Any]:
        """Explain why a recorded run lost points: causes with evidence, costliest first.

        `run` is an id, the beginning of one, `latest` or `@-2`; `task` keeps one task.
        """
        if "/" in run or "\\" in run or run.startswith("."):
            raise BadParameter(
                f"run={run!r:.100} is no id; give the id of a run in {str(self.runs_dir)!r}"
            )
        record = diagnose(run, task=task, runs_dir=self.runs_dir).to_record()
        record["findings"] = record["findings"][:MOST_FINDINGS]
        return record

    def steps(self, trace: str, first: int = 0) -> dict[str, Any]:
        """Score each recorded step of a browser agent again, from the record.

        `trace` is a steps file below the server's folder; `first` skips steps before it.
        """
        if first < 0:
            raise BadParameter(f"first={first}; 0 or more")
        path = self._file(trace)
        scored = list(rescore(read_steps(path)))
        shown = [
            row.to_record(RecoveryRewardScorer.id) for row in scored[first : first + MOST_STEPS]
        ]
        return {"count": len(scored), "steps": shown}

    def audit(self, reward: str, kind: Kind | None = None) -> dict[str, Any]:
        """Audit a reward: find wrong answers that it pays and right answers that it refuses.

        It runs in a process of its own, within limits, for up to a minute. `kind` is found out if
        it is not given.
        """
        result = audit_reward(self._target(reward), kind=kind)
        record = result.to_record()
        return {
            "verdict": result.verdict,
            "findings": record["findings"][:MOST_FINDINGS],
            "checks": len(result.checks),
        }

    def _check_address(self, reward: str) -> None:
        if is_address(reward) and not self.run_code:
            raise BadParameter(
                f"{reward!r:.200} is an address, which this read-only server does not load; "
                "start the server with `assay serve --mcp --run-code`, or name a registered "
                f"reward: {', '.join(REWARDS.names())}"
            )

    def _target(self, reward: str) -> str:
        """Return the name by which the audit process can load the reward."""
        self._check_address(reward)
        if is_address(reward):
            return reward
        function = REWARDS.find(reward)
        if find_reward(function).name in REWARDS.built_in():
            return reward
        # It was registered by a module that the person named with --import.
        return f"{function.__module__}:{function.__qualname__}"

    def _file(self, name: str) -> Path:
        root = self.folder.resolve()
        path = (root / name).resolve()
        if not path.is_relative_to(root) or not path.is_file():
            raise BadParameter(f"there is no file {name!r:.200} in the folder {str(root)!r}")
        return path


def build_server(tools: RewardTools) -> MCPServer[Any]:
    """Build an MCP server with the four tools; errors become tool results."""
    server: MCPServer[Any] = MCPServer(
        "assay", version=__version__, instructions=INSTRUCTIONS, log_level="WARNING"
    )
    functions: Sequence[Callable[..., dict[str, Any]]] = (
        tools.score, tools.diagnose, tools.steps, tools.audit,
    )  # fmt: skip
    for function in functions:
        server.add_tool(_saying_errors(function), name=function.__name__, annotations=READ_ONLY)
    return server


def _saying_errors(function: Callable[..., dict[str, Any]]) -> Callable[..., dict[str, Any]]:
    @wraps(function)
    def call(*arguments: Any, **options: Any) -> dict[str, Any]:
        try:
            return function(*arguments, **options)
        except AssayError as error:
            raise ToolError(str(error)) from error

    return call
