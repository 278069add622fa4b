from __future__ import annotations

import hashlib
import json
import lzma
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.worlds.webshop.catalogue import Product, ShoppingInstruction, draw_prices
from assay.worlds.webshop.goals import NO_LIMIT, build_goals
from assay.worlds.webshop.shop import open_shop
from assay.worlds.webshop.tasks import tasks

GOLDEN = Path(__file__).parents[2] / "data" / "webshop" / "reward_golden.jsonl.xz"

FINGERPRINT = """
import hashlib, sys
from assay.worlds.webshop.shop import open_shop
shop = open_shop(seed=int(sys.argv[1]))
lines = [repr(goal) for kind in ("human", "synthetic") for goal in shop.goals(kind)]
print(hashlib.sha256("\\n".join([*lines, repr(shop.prices)]).encode()).hexdigest())
"""


def product(*prices: float, **options: tuple[str, ...]) -> Product:
    return Product(
        asin="B000000001",
        title="Red Shirt",
        description="",
        bullets=(),
        category_path="Clothing › Shirts",
        query="shirts",
        prices=prices,
        options=options,
        attributes=("soft",),
        human=(
            ShoppingInstruction("I want a shirt...", ("soft",), ("red",)),
            ShoppingInstruction("nothing that can be checked", ()),
        ),
        synthetic=ShoppingInstruction("Find me soft shirts", ("soft",)),
    )


def test_the_shipped_split_has_13_human_and_6910_synthetic_goals() -> None:
    shop = open_shop()
    assert len(shop.stock.products) == 1000
    assert len(shop.goals("human")) == 13
    assert len(shop.goals("synthetic")) == 6910


def test_the_default_seed_draws_the_goals_and_prices_of_the_golden_file() -> None:
    records = [json.loads(line) for line in lzma.decompress(GOLDEN.read_bytes()).splitlines()]
    shop = open_shop()
    ours = {
        (goal.asin, goal.instruction, goal.price_limit)
        for goal in (*shop.goals("human"), *shop.goals("synthetic"))
    }
    golden = [one["goal"] for one in records]
    theirs = {(one["asin"], one["instruction_text"], one["price_upper"]) for one in golden}
    assert len(theirs) == 133
    assert theirs <= ours
    bought = {one["purchase"]["asin"]: one["purchase"]["price"] for one in records}
    assert bought == {asin: shop.prices[asin] for asin in bought}
    assert sum(len(shop.stock.products[asin].prices) == 2 for asin in bought) == 55


def test_every_process_draws_the_same_goals_whatever_its_hash_seed() -> None:
    def fingerprint(seed: int, hash_seed: str) -> str:
        return subprocess.run(
            [sys.executable, "-c", FINGERPRINT, str(seed)],
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            capture_output=True,
            check=True,
            text=True,
        ).stdout.strip()

    shop = open_shop(seed=7)
    lines = [repr(goal) for goal in (*shop.goals("human"), *shop.goals("synthetic"))]
    here = hashlib.sha256("\n".join([*lines, repr(shop.prices)]).encode()).hexdigest()
    assert fingerprint(7, "1") == fingerprint(7, "2") == here
    assert open_shop(seed=8).goals("human") != shop.goals("human")


def test_the_order_in_which_kinds_are_asked_for_does_not_matter() -> None:
    one, other = open_shop(seed=21), open_shop(seed=21, nouns="words")
    assert one is not other
    synthetic, human = one.goals("synthetic"), other.goals("human")
    assert (one.goals("human"), other.goals("synthetic")) == (human, synthetic)


def test_shuffled_goals_are_in_the_order_of_the_original_environment() -> None:
    goals = open_shop().goals("human")
    order = list(range(len(goals)))
    random.Random(233).shuffle(order)
    assert open_shop().goals("human", shuffle=True) == tuple(goals[number] for number in order)


def test_a_human_goal_needs_attributes_and_names_its_price_limit() -> None:
    shirt = product(25.0)
    (goal,) = build_goals([shirt], {shirt.asin: 25.0}, random.Random(1), kind="human")
    assert (
        goal.instruction == f"I want a shirt, and price lower than {goal.price_limit:.2f} dollars"
    )
    assert goal.options == ("red",)


def test_a_synthetic_goal_is_made_of_every_combination_of_options() -> None:
    shirt = product(25.0, size=("s", "m"), color=("red", "blue", "teal"))
    goals = build_goals([shirt], {shirt.asin: 25.0}, random.Random(1), kind="synthetic")
    assert len(goals) == 6
    assert len({goal.price_limit for goal in goals}) == 1
    assert goals[0].options == (("color", "red"), ("size", "s"))
    assert goals[0].instruction.startswith(
        "Find me soft shirts with color: red, and size: s, and price lower than "
    )


@pytest.mark.parametrize("price", [980.0, 985.0, 5000.0])
def test_what_is_too_dear_for_the_list_of_limits_has_none(price: float) -> None:
    shirt = product(price)
    (goal,) = build_goals([shirt], {shirt.asin: price}, random.Random(1), kind="human")
    assert goal.price_limit == NO_LIMIT
    assert "price" not in goal.instruction


@settings(deadline=None)
@given(low=st.floats(0.01, 960), width=st.floats(0, 15), seed=st.integers(0, 10**6))
def test_the_drawn_price_lies_in_its_range_and_under_the_limit(
    low: float, width: float, seed: int
) -> None:
    shirt, rng = product(low, low + width), random.Random(seed)
    prices = draw_prices([shirt], rng)
    (goal,) = build_goals([shirt], prices, rng, kind="human")
    price = prices[shirt.asin]
    assert low <= price <= low + width + 1e-9
    assert price < goal.price_limit <= price + 40 or goal.price_limit == NO_LIMIT


def test_tasks_are_numbered_like_the_goals_and_say_how_they_were_made() -> None:
    listed = tasks(goals="human", seed=3, shuffle=True)
    goals = open_shop(seed=3).goals("human", shuffle=True)
    assert [(task.id, task.goal) for task in listed] == [
        (str(number), goal.instruction) for number, goal in enumerate(goals)
    ]
    assert listed[0].metadata == {"goals": "human", "seed": 3, "shuffled": True}
    assert len(tasks(goals="synthetic")) == 6910
