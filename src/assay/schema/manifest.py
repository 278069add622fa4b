"""The manifest of a run, which is used to repeat the run and to compare runs."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from assay.schema.name import Name, NameOrEmpty
from assay.schema.record import FrozenRecord

RUN_SCHEMA = "assay.run/1"
"""The version of a run folder; every record in it carries it as `schema_id`."""
MODEL_ACCESS_OPTIONS = frozenset(
    {
        "base_url", "api_key_env", "stream", "patience", "timeout_s", "retry",
        "input_usd_per_mtok", "output_usd_per_mtok",
    }
)  # fmt: skip
"""Options of a model that say where it is, how long it may take and what it costs, not what it is.

A run that is resumed may have others of these."""


class RunManifest(FrozenRecord):
    """The description of a run, written before the first episode and never changed."""

    schema_id: str = RUN_SCHEMA
    run_id: NameOrEmpty
    """Empty only until the run is written."""
    benchmark: str
    agent: str
    config: dict[str, Any] = Field(default_factory=dict)
    """The resolved configuration, nulls included, with `[secret]` for what is one."""
    versions: dict[str, str] = Field(default_factory=dict)
    rewards: tuple[str, ...] = ()
    """`name@version`, the primary one first."""
    task_set: str = ""
    """A hash over the ids and contents of the tasks."""
    n_tasks: int = Field(default=0, ge=0, le=2**31)
    repeats: int = Field(default=1, ge=0, le=2**31)
    """How often each task is to be run."""
    commit: str = ""
    """Of the agent's repository; empty when it is not under version control."""
    dirty: str = ""
    """A hash of what is not committed there, or without version control of the agent's own files;
    empty when nothing is, `unknown` when git failed."""
    focus: str = ""
    """What the run is meant to show, written before it started."""
    parent: Name | None = None
    """The run whose episodes were scored again, for a run that executed nothing itself."""
    created_at: str = ""
    """ISO 8601, in UTC."""

    @property
    def short_commit(self) -> str:
        """The first seven digits of the commit, with a `+` for uncommitted changes."""
        return f"{self.commit[:7]}{'+' * bool(self.dirty)}" if self.commit else ""

    @property
    def is_imported(self) -> bool:
        """Whether the run was imported from the log of another tool."""
        return isinstance(self.config.get("imported"), dict)

    @property
    def model_name(self) -> str:
        """The name of the model that the agent used, or an empty text."""
        agent = self.config.get("agent")
        options = agent.get("options") if isinstance(agent, dict) else None
        if not isinstance(options, dict):
            return ""
        details = options.get("model_options")
        name = details.get("model") if isinstance(details, dict) else None
        # A client without such an option, such as one of rules, is the model itself.
        named = next((each for each in (name, options.get("model")) if isinstance(each, str)), "")
        return _class_name(named)


def _class_name(text: str) -> str:
    """Shorten the `repr` of an object to its class name; other texts stay unchanged."""
    name, separator, _ = text.partition(" object at 0x")
    return name.removeprefix("<").rpartition(".")[2] if separator else text
