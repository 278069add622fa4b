"""The budget of a run for its model, and what the run has spent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from math import ceil, floor, log10
from pathlib import Path
from typing import Any

from assay.agents.models.prices import ModelPrice, PriceTable, default_prices
from assay.errors import BadParameter
from assay.registry import MODELS
from assay.runner.agents import AgentChoice
from assay.schema.episode import Episode
from assay.schema.usage import Usage

ROOM = 1.1
"""How much more than what is expected the advice for going on names."""


@dataclass(frozen=True, slots=True)
class Budget:
    """The limits of cost and tokens for all attempts of a run together."""

    cost_usd: float | None = None
    tokens: int | None = None
    """Of prompts and completions."""

    def __bool__(self) -> bool:
        return self.cost_usd is not None or self.tokens is not None


NO_BUDGET = Budget()


def make_budget(max_cost: float | None, max_tokens: int | None, recorded: Any = None) -> Budget:
    """Return a budget; `None` keeps the recorded limit, and 0 removes the limit."""
    before = Budget(**recorded) if recorded else Budget()
    for name, limit in (("max_cost", max_cost), ("max_tokens", max_tokens)):
        if limit is not None and not limit >= 0:
            raise BadParameter(f"{name} is {limit!r}; it must be >= 0, and 0 means no limit")
    return Budget(
        (before.cost_usd if max_cost is None else max_cost) or None,
        (before.tokens if max_tokens is None else max_tokens) or None,
    )


PRICE_OPTIONS = tuple(field.name for field in fields(ModelPrice))


def with_prices(
    agent: AgentChoice, prices: PriceTable | None, settings: Mapping[str, Any]
) -> AgentChoice:
    """Return the agent with the prices of its model added to the model's options, if known.

    Prices in `settings` come first, then the table, then the list prices of the vendor.
    """
    make, inner = _model_of(agent)
    name = inner.get("model")
    if make is None or not isinstance(name, str):
        return agent
    explicit = {f"model_options.{name}" for name in settings.get("model_options") or ()}
    if any(f"model_options.{option}" in explicit.union(settings) for option in PRICE_OPTIONS):
        return agent
    price = None if prices is None else prices.find(name)
    is_known = any(inner.get(option) is not None for option in PRICE_OPTIONS)
    if price is None and not is_known and inner.get("base_url", make.own_url) == make.own_url:
        price = default_prices().find(name)
    if price is None:
        return agent
    options = {**agent.options, "model_options": {**inner, **asdict(price)}}
    return replace(agent, options=options)


def _model_of(agent: AgentChoice) -> tuple[Any, Mapping[str, Any]]:
    """Return the class and the options of the agent's model; `None` if it has no prices."""
    options = agent.to_record()["options"]
    kind, inner = options.get("model"), options.get("model_options") or {}
    make = MODELS.get(kind) if isinstance(kind, str) and kind in MODELS.names() else None
    return (make, inner) if hasattr(make, "own_url") else (None, {})


def check_prices(agent: AgentChoice, *limits: float | None) -> None:
    """Raise BadParameter if there is a limit of cost but no price of the model is known."""
    limit = next((each for each in limits if each is not None), None)
    make, inner = _model_of(agent)
    if limit is None or make is None:
        return
    if None in (inner.get(option) for option in PRICE_OPTIONS):
        raise BadParameter(
            f"the price of model {inner.get('model')!r} is not known at "
            f"{inner.get('base_url') or make.own_url}, so a limit of {money(limit)} cannot be "
            "kept; name the prices with --prices FILE, or with --set "
            "model_options.input_usd_per_mtok=… and output_usd_per_mtok=…"
        )


@dataclass(slots=True)
class LimitUsage:
    """One limit of a run's budget, with the amount spent and the number of attempts."""

    option: str
    limit: float
    spent: float = 0.0
    attempts: int = 0
    """Those that cost something."""
    largest: float = 0.0
    """What the most expensive of them cost."""

    @property
    def mean(self) -> float:
        return self.spent / self.attempts if self.attempts else 0.0

    def add(self, amount: float) -> None:
        self.spent += amount
        self.attempts += amount > 0
        self.largest = max(self.largest, amount)

    def has_room(self, under_way: int) -> bool:
        """Whether the limit has room for one more attempt beside those under way.

        It does if none of them costs more than the most expensive one so far.
        """
        if not self.attempts:
            # What one costs is not known yet.
            return not under_way and self.spent < self.limit
        return self.spent + (under_way + 1) * self.largest <= self.limit * (1 + 1e-9)

    def enough(self, attempts: int) -> str:
        """Return a limit, rounded up, that should be enough for so many further attempts."""
        needed = max(self.limit, ROOM * (self.spent + attempts * self.mean)) * (1 + 1e-9)
        unit = 10.0 ** (floor(log10(needed)) - 1)
        return f"{ceil(needed / unit) * unit:.10g}"

    def words(self, amount: float) -> str:
        return money(amount) if self.option == "--max-cost" else f"{amount:,.0f} tokens"


class BudgetTracker:
    """Compares what a run has spent with its budget."""

    def __init__(self, budget: Budget, earlier: Iterable[Episode] = ()) -> None:
        limits = (("--max-cost", budget.cost_usd), ("--max-tokens", budget.tokens))
        self._accounts = [LimitUsage(name, limit) for name, limit in limits if limit is not None]
        self.problem = ""
        """Why the budget cannot be kept; empty while it can."""
        if self._accounts:
            for episode in earlier:
                self.add(episode)

    def add(self, episode: Episode) -> None:
        """Count an attempt that ended."""
        for account in self._accounts:
            amount = _amount(episode.usage, account.option)
            did_its_work = episode.stop_reason in ("answered", "finished", "gave_up")
            # An agent that did its work and reports nothing of what it used.
            if amount is None or (did_its_work and episode.usage == Usage()):
                what = "cost" if account.option == "--max-cost" else "number of tokens"
                self.problem = (
                    f"the {what} of attempt {episode.attempt!r} is not known, so {account.option} "
                    "cannot be kept: the agent reports no usage, or its model has no price (return "
                    "`usage` with the action, or name the prices with --prices FILE)"
                )
            account.add(amount or 0.0)

    def has_room(self, under_way: int) -> bool:
        """Whether the budget has room for one more attempt beside those under way."""
        return not self.problem and all(each.has_room(under_way) for each in self._accounts)

    def stop_message(self, left: int, path: Path) -> str:
        """Return the message of a run that stops at its budget, with the command to go on."""
        if self.problem:
            return (
                f"stopped: {self.problem}. Every attempt is kept, and {left} are left. Without a "
                f"budget: assay run --resume {path} --max-cost 0 --max-tokens 0"
            )
        short = [account for account in self._accounts if not account.has_room(0)]
        spent = " and ".join(
            f"{each.words(each.spent)} of {each.option} {each.limit:.10g} are spent, at about "
            f"{each.words(each.mean)} an attempt"
            for each in short
        )
        more = " ".join(f"{each.option} {each.enough(left)}" for each in short)
        return (
            f"stopped at the budget: {spent}. Every attempt is kept, and {left} are left. "
            f"To go on: assay run --resume {path} {more}"
        )


def _amount(usage: Usage, option: str) -> float | None:
    """Return the cost or the tokens of an attempt; `None` if unknown."""
    if usage == Usage():
        return 0.0
    if option == "--max-cost":
        return usage.cost_usd
    tokens = usage.prompt_tokens + usage.completion_tokens
    return tokens if tokens or not usage.calls else None


def money(amount: float) -> str:
    """Return an amount of dollars as text; small amounts have four decimals."""
    return f"${amount:,.2f}" if amount >= 1 else f"${amount:.4f}"
