"""The native WebShop against the recorded answers of the original, and what it costs.

The original is not run here.
"""

from __future__ import annotations

import json
import lzma
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from assay.worlds.webshop.goals import ShoppingGoal
from assay.worlds.webshop.purchase import PurchaseReceipt, write_receipt
from assay.worlds.webshop.session import ShopSession
from assay.worlds.webshop.shop import Shop, open_shop
from perf.world_rows.row import Row

GOLDEN = Path(__file__).parents[2] / "tests" / "data" / "webshop"
EPISODES = 600
COLD = """
import resource, time
from pathlib import Path
from assay.worlds.webshop.shop import open_shop
from assay.worlds.webshop.session import ShopSession
def resident_mb():
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20
before_mb = resident_mb()
started = time.process_time()
shop = open_shop()
ShopSession(shop).reset(0)
shop.goals("synthetic")
print(time.process_time() - started)
print(resident_mb() - before_mb)
"""


def run() -> list[Row]:
    """Every number of this page, measured now."""
    shop = open_shop()
    cold_s, cold_mb = cold_start()
    return [
        Row("webshop", "golden scores equal, of 688", golden_scores(shop), "", at_least=688),
        Row("webshop", "golden top 10 equal, of 300", golden_queries(shop, 10), "", at_least=300),
        Row("webshop", "golden top 50 equal, of 300", golden_queries(shop, 50), ""),
        Row("webshop", "human goals bought for 1.0, of 13", full_scores(shop), "", at_least=13),
        Row("webshop", "r_type equal without listed nouns", 100 * noun_agreement(shop), "%"),
        Row("webshop", "start: catalogue, index, all goals", cold_s, "s"),
        Row("webshop", "memory of the loaded shop", cold_mb, "MB"),
        Row("webshop", "reset to a task, in a new session", 1e6 * new_session(shop), "µs"),
        Row("webshop", "search", 1e6 * one_search(shop), "µs"),
        Row("webshop", "steps, with evidence", walk(shop), "/s", at_least=3000),
        Row("webshop", "reward of a purchase", 1e3 * one_score(shop), "ms", at_most=0.2),
    ]


def records(name: str) -> Iterator[dict[str, Any]]:
    """Golden records, in the form of the original, hence `Any`."""
    for line in lzma.decompress((GOLDEN / f"{name}.jsonl.xz").read_bytes()).splitlines():
        yield json.loads(line)


def golden_receipt(shop: Shop, record: Mapping[str, Any]) -> PurchaseReceipt:
    """The receipt of a golden record's purchase."""
    wanted, bought, stock = record["goal"], record["purchase"], shop.stock
    options = wanted["goal_options"]
    goal = ShoppingGoal(
        asin=wanted["asin"],
        instruction=wanted["instruction_text"],
        attributes=tuple(wanted["attributes"]),
        options=tuple(options.items() if isinstance(options, dict) else options),
        price_limit=wanted["price_upper"],
    )
    return write_receipt(
        stock.item(bought["asin"]),
        stock.item(goal.asin),
        goal,
        price=bought["price"],
        chosen=bought["options"],
    )


def golden_scores(shop: Shop) -> int:
    return sum(golden_receipt(shop, one).score == one["reward"] for one in records("reward_golden"))


def golden_queries(shop: Shop, depth: int) -> int:
    return sum(
        shop.stock.index.search(one["query"], 50)[:depth] == one["top50"][:depth]
        for one in records("lucene_golden")
    )


def full_scores(shop: Shop) -> int:
    return sum(shopping(ShopSession(shop), number) == 1.0 for number in range(13))


def shopping(session: ShopSession, number: int) -> float:
    """Find the goal's product by its title, choose its options, buy it."""
    session.reset(number)
    goal = session.goal
    session.search(session.shop.stock.products[goal.asin].title)
    while goal.asin.lower() not in session.page.products and session.page.products:
        session.click("next >")
    session.click(goal.asin)
    for option in goal.options:
        session.click(option if isinstance(option, str) else option[1])
    return session.click("buy now").reward or 0.0


def noun_agreement(shop: Shop) -> float:
    """How often the words of a title lead to the same kind of match as its listed nouns."""
    listed, words = shop.stock, open_shop(nouns="words").stock
    same: list[bool] = []
    for goal in (*shop.goals("human"), *shop.goals("synthetic")[::17]):
        for asin in listed.index.search(goal.instruction, 10):
            kinds = {
                write_receipt(
                    stock.item(asin), stock.item(goal.asin), goal, price=0.0, chosen={}
                ).r_type
                for stock in (listed, words)
            }
            same.append(len(kinds) == 1)
    return sum(same) / len(same)


def cold_start() -> tuple[float, float]:
    call = [sys.executable, "-c", COLD]
    seconds, megabytes = subprocess.run(
        call, check=True, capture_output=True, text=True
    ).stdout.split()
    return float(seconds), float(megabytes)


def cpu_seconds(act: Callable[[], int]) -> float:
    """CPU seconds for each of the things that `act` says it did."""
    started = time.process_time()
    count = act()
    return (time.process_time() - started) / count


def new_session(shop: Shop) -> float:
    def act() -> int:
        for number in range(2000):
            ShopSession(shop).reset(number, kind="synthetic")
        return 2000

    return cpu_seconds(act)


def one_search(shop: Shop) -> float:
    queries = [one["query"] for one in records("lucene_golden")]

    def act() -> int:
        for query in queries:
            shop.stock.index.search(query, 50)
        return len(queries)

    return cpu_seconds(act)


def walk(shop: Shop) -> float:
    """Steps in a CPU second: search, turn a page, read, choose, buy; evidence at each step."""
    session = ShopSession(shop)

    def act() -> int:
        steps = 0
        for number in range(EPISODES):
            session.reset(number * 11, kind="synthetic")
            steps += episode(session)
        return steps

    return 1 / cpu_seconds(act)


def episode(session: ShopSession) -> int:
    actions = [f"search[{session.goal.instruction}]", "click[next >]", "click[< prev]"]
    for action in actions:
        session.step(action)
    session.step(f"click[{next(iter(session.page.products))}]")
    chosen = {name: value for value, name in session.page.options.items()}
    actions += ["", "click[description]", "click[< prev]"]
    actions += [f"click[{value}]" for value in chosen.values()]
    actions += ["click[buy now]"]
    for action in actions[4:]:
        last = session.step(action)
    assert last.done
    return len(actions)


def one_score(shop: Shop) -> float:
    cases = list(records("reward_golden"))

    def act() -> int:
        for case in cases:
            golden_receipt(shop, case)
        return len(cases)

    return cpu_seconds(act)
