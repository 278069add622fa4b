"""The limits of a run: their defaults, and how the `[limits]` of a benchmark file are read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass

from assay.agents.protocol import EpisodeLimits
from assay.runner.toml_table import TomlTable

QUESTION_LIMITS: Mapping[str, float] = {"steps": 10, "step_s": 300.0, "episode_s": 600.0}
"""The limits for questions: an answer may take long, and with tools several turns."""


@dataclass(frozen=True, slots=True)
class RunLimits(EpisodeLimits):
    """The limits of one episode, of its scoring, and of attempts after failures."""

    reset_s: float = 60.0
    score_s: float = 60.0
    """Seconds for one reward; a slower reward abstains."""
    attempts: int = 3
    """How often a task is tried when its environment fails; every try stays in the ledger."""
    stop_after_errors: int = 3
    """The run ends when so many first attempts all fail alike; 0 for never."""


def read_limits(table: TomlTable) -> RunLimits:
    """Return the limits in a benchmark file, with defaults for the missing ones."""
    values = {}
    for key, default in asdict(RunLimits()).items():
        whole = isinstance(default, int) or key == "tokens"
        # 0 errors: the run never stops for them.
        least = 0 if key == "stop_after_errors" else 1
        values[key] = table.number(key, default, whole=whole, least=least)
    table.finish()
    return RunLimits(**values)
