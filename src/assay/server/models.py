"""The answers that the server describes and the client reads.

The bodies of a single route are in its module. FastAPI is not imported here: the client does not
need it.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from pydantic import BaseModel

Status: TypeAlias = Literal["ready", "starting", "draining"]
"""Whether a server takes requests."""


class RewardRecord(BaseModel):
    """A reward that this server serves, as JSON."""

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


class ErrorDetail(BaseModel):
    """What went wrong: a stable code, and a sentence."""

    code: str
    message: str


class ErrorResponse(BaseModel):
    """Every answer that is not a success."""

    error: ErrorDetail


class Readiness(BaseModel):
    """Whether requests are welcome."""

    status: Status
