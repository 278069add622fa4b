"""The time limits of all waits for a page, in one record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from math import isfinite
from typing import Any, Self

from assay.errors import BadParameter


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """The seconds of each wait for a tab; a benchmark sets `patience = {arrives_s = 20}`."""

    answer_s: float = 5.0
    """How long a page may take to answer a question about itself."""
    begins_s: float = 0.5
    """From a navigation's announcement to its request; a mail link sends none."""
    arrives_s: float = 10.0
    """How long a document that is loaded is waited for; an environment goes by its `timeout_s`."""
    requests_s: float = 3.0
    """How long the answers to a step's own requests are waited for."""
    reads_s: float = 0.5
    """A page that has read nothing of an answer for so long goes by its status."""
    quiet_s: float = 0.08
    """A page that has not changed for so long is done with what the call set off."""
    plain_s: float = 0.01
    """The same for a page that does not react to input."""
    typing_s: float = 0.35
    """The same after the last letter: a field is mostly looked at a little later."""
    alone_s: float = 0.3
    """The same for a page that changed without asking the network."""
    effect_s: float = 0.6
    """How long a page is watched on which a call has had no effect yet; some answer by a timer."""
    changes_s: float = 0.7
    """How long a page that goes on changing is waited for."""
    provisional_s: float = 1.5
    """How long a page is waited for that says that the end is still to come."""
    empty_s: float = 1.0
    """A place that a call emptied is mostly filled again by then."""
    again_s: float = 1.8
    """What changes by itself mostly does so again by then."""
    thrice_s: float = 3.0
    """What may be an answer in two parts is taken for restless at its third change, until then."""
    polls_s: float = 0.9
    """How long it is watched whether a page that has waited asks again."""
    repeats_s: float = 1.15
    """How long it is watched whether a page repeats a request that has failed."""
    picture_s: float = 0.15
    """After so long it shows which parts of a picture move by themselves."""

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
                raise BadParameter(
                    f"patience: {name} must be a number of seconds, not {value!r:.100}"
                )
            if not 0 <= value <= 3_600:
                raise BadParameter(
                    f"patience: {name} must be from 0 to 3600 seconds, not {value!r}"
                )

    @classmethod
    def of(cls, value: Patience | Mapping[str, Any] | None) -> Self:
        """Read the waits from an option; raise `BadParameter` for an unknown name."""
        if isinstance(value, cls):
            return value
        names = [field.name for field in fields(cls)]
        if value is not None and not isinstance(value, Mapping):
            raise BadParameter(f"patience must be a table of seconds, not {value!r:.100}")
        unknown = sorted(map(str, set(value or {}) - set(names)))
        if unknown:
            raise BadParameter(
                f"patience has no wait named {', '.join(unknown)}; the waits are {', '.join(names)}"
            )
        return cls(**(value or {}))

    def milliseconds(self) -> dict[str, float]:
        """The waits in milliseconds, under the names that Assay's scripts use."""
        return {name.removesuffix("_s"): 1000 * value for name, value in asdict(self).items()}
