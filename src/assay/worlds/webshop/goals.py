"""Builds shopping goals from the catalogue's instructions."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from assay.worlds.webshop.catalogue import Product, ShoppingInstruction

GoalKind: TypeAlias = Literal["human", "synthetic"]

NO_LIMIT = 1_000_000.0
"""The price limit of a goal whose instruction names none."""
SHUFFLE_SEED = 233
"""The seed of the order in which the original environment numbers its goals."""

_LIMITS = tuple(10.0 * tens for tens in range(1, 100))


@dataclass(frozen=True, slots=True)
class ShoppingGoal:
    """A goal: the target product, and the attributes, options and price to match."""

    asin: str
    instruction: str
    attributes: tuple[str, ...]
    options: tuple[str | tuple[str, str], ...]
    """Option values of a human goal, (name, value) pairs of a synthetic one."""
    price_limit: float


def build_goals(
    products: Iterable[Product],
    prices: Mapping[str, float],
    rng: random.Random,
    *,
    kind: GoalKind,
) -> tuple[ShoppingGoal, ...]:
    """Return all goals of one kind, in the order of the catalogue.

    Price limits are drawn in the order of the original, after the prices: a seed means here what
    it means to Python's generator before the original, which sets none, loads its catalogue.
    """
    build = _human_goals if kind == "human" else _synthetic_goals
    return tuple(goal for product in products for goal in build(product, prices, rng))


def shuffle_goals(goals: Sequence[ShoppingGoal]) -> tuple[ShoppingGoal, ...]:
    """Return the goals in the order of the original text environment."""
    order = list(goals)
    random.Random(SHUFFLE_SEED).shuffle(order)
    return tuple(order)


def _human_goals(
    product: Product, prices: Mapping[str, float], rng: random.Random
) -> Iterator[ShoppingGoal]:
    for wish in product.human:
        if wish.attributes:
            limit, limit_text = _draw_limit(prices[product.asin], rng)
            text = wish.text.strip(".") + limit_text
            yield ShoppingGoal(product.asin, text, wish.attributes, wish.options, limit)


def _synthetic_goals(
    product: Product, prices: Mapping[str, float], rng: random.Random
) -> Iterator[ShoppingGoal]:
    """Yield one goal for each combination of the product's options, with the same price limit."""
    wish: ShoppingInstruction | None = product.synthetic
    if wish is None:
        return
    limit, limit_text = _draw_limit(prices[product.asin], rng)
    names = sorted(product.options)
    for values in itertools.product(*(product.options[name] for name in names)):
        options = tuple(zip(names, values, strict=True))
        option_text = ", and ".join(f"{name}: {value}" for name, value in options)
        text = wish.text + (f" with {option_text}" if option_text else "") + limit_text
        yield ShoppingGoal(product.asin, text, wish.attributes, options, limit)


def _draw_limit(price: float, rng: random.Random) -> tuple[float, str]:
    """Choose a random price limit above the price, and return the limit with its text."""
    limits = [limit for limit in _LIMITS if limit > price][:4]
    if len(limits) < 2:
        return NO_LIMIT, ""
    limit = max(rng.sample(limits, 2))
    return limit, f", and price lower than {limit:.2f} dollars"
