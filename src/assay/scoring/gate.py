"""The one gate for requests: the server, the viewer and the MCP tools build scorers only here.

A request names a registered reward, cannot set an option of the owner, and reads columns by keys.
It is scored only in a process whose rows may name files of one folder.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

from assay.errors import BadParameter
from assay.registry import REWARDS, RewardSpec, find_reward
from assay.registry.addresses import is_address
from assay.resources.row_files import is_confined
from assay.schema.score import Score
from assay.scoring.columns import look_up
from assay.scoring.scorer import Scorer

MOST_COLUMNS: Final = 64
MOST_COLUMN_CHARS: Final = 400
"""Of the path of one column."""
MOST_VALUES: Final = 500_000
MOST_LEVELS: Final = 200


class RequestScorer(Scorer):
    """The scorer of a request; it refuses what only the owner of the server may ask for.

    Raises `BadParameter` for an address, an option of the owner, and a column with a name that
    begins with `_`; and what `Scorer` raises.
    """

    __slots__ = ()

    def __init__(
        self,
        reward: str,
        params: Mapping[str, Any] | None = None,
        *,
        columns: Mapping[str, str] | None = None,
    ) -> None:
        check_name(reward, run_code=False)
        check_owner_options(find_reward(reward), params or {})
        _check_columns(columns or {})
        super().__init__(reward, params, columns=columns)

    def __reduce__(self) -> tuple[Callable[..., Scorer], tuple[Any, ...]]:
        return partial(RequestScorer, self.spec.id, self.params, columns=self.columns), ()

    def _look_up(self, row: Mapping[str, Any], column: str, parameter: str) -> Any:
        return look_up(row, column, parameter, self.spec.name, attributes=False)

    def _arguments(self, columns: Mapping[str, Any]) -> dict[str, Any] | Score:
        if not is_confined():
            raise RuntimeError("a request is scored in a process that `confine_row_files` confined")
        return super()._arguments(columns)


def request_scorer(reward: str, params: Mapping[str, Any], *, run_code: bool) -> Scorer:
    """The scorer of a request; `run_code` also allows addresses and the options of the owner."""
    return Scorer(REWARDS.find(reward), params) if run_code else RequestScorer(reward, params)


def check_name(reward: str, *, run_code: bool) -> bool:
    """Whether the reward is a name; raise `BadParameter` for an address without `run_code`."""
    if is_address(reward) and not run_code:
        raise BadParameter(
            f"{reward!r:.200} is an address, and a request cannot run the code there; name a "
            f"registered reward: {', '.join(REWARDS.names())}"
        )
    return not is_address(reward)


def check_size(value: Any, most_chars: int) -> None:
    """Raise `BadParameter` if JSON values are too many, too long or nested too deeply."""
    values, chars = 0, 0
    waiting = [(value, 0)]
    while waiting:
        item, depth = waiting.pop()
        values += 1
        if isinstance(item, str):
            chars += len(item)
        elif isinstance(item, Mapping):
            chars += sum(map(len, map(str, item)))
            waiting += [(each, depth + 1) for each in item.values()]
        elif isinstance(item, list):
            waiting += [(each, depth + 1) for each in item]
        if values + len(waiting) > MOST_VALUES or depth > MOST_LEVELS or chars > most_chars:
            raise BadParameter(
                f"at most {most_chars:,} characters, {MOST_VALUES:,} values and {MOST_LEVELS} "
                "levels in one request; send less data at a time"
            )


def check_owner_options(spec: RewardSpec, params: Mapping[str, Any]) -> None:
    """Raise `BadParameter` for an option that only the server's owner may set."""
    for option in spec.owner_options:
        if option in params and params[option] != spec.options[option].default:
            raise BadParameter(
                f"{spec.name}: a request cannot set {option!r}; the owner of the server can offer "
                "a reward that sets it (--import)"
            )


def _check_columns(columns: Mapping[str, str]) -> None:
    if len(columns) > MOST_COLUMNS:
        raise BadParameter(f"{len(columns)} columns are too many; name at most {MOST_COLUMNS}")
    for column in columns.values():
        if len(column) > MOST_COLUMN_CHARS or any(key[:1] == "_" for key in column.split(".")):
            raise BadParameter(
                f"a request cannot name the column {column!r:.100}; use at most "
                f"{MOST_COLUMN_CHARS} characters, and no name that begins with '_'"
            )
