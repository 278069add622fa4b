"""Response models that the server describes and the client reads.

The bodies of a single route are in its module. FastAPI is not imported here: the client does not
need it.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from pydantic import BaseModel

Status: TypeAlias = Literal["ready", "starting", "draining"]
"""Whether a server takes requests."""


class RewardRecord(BaseModel):
    """Description of one reward that this server offers."""

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
    """All rewards that this server offers."""

    rewards: list[RewardRecord]


class ErrorDetail(BaseModel):
    """An error: a stable code and a message."""

    code: str
    message: str


class ErrorResponse(BaseModel):
    """Response body of every error."""

    error: ErrorDetail


class Readiness(BaseModel):
    """Whether requests are welcome."""

    status: Status
