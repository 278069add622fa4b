"""Loads a shop, which is immutable and shared by all sessions of a process."""

from __future__ import annotations

import json
import lzma
import random
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from assay.errors import BadParameter, BadRecord
from assay.worlds.webshop.catalogue import Product, draw_prices, read_products
from assay.worlds.webshop.goals import GoalKind, ShoppingGoal, build_goals, shuffle_goals
from assay.worlds.webshop.nouns import NounSource, TitleNouns, title_nouns
from assay.worlds.webshop.purchase import ProductWithNouns
from assay.worlds.webshop.search import ProductIndex

DEFAULT_SEED = 0
SHIPPED_NOUNS = "en_core_web_sm-3.6.0"

# Loading takes a third of a second and 20 MB, so threads wait for one another and share it.
_LOADING = threading.RLock()


@dataclass(frozen=True, slots=True, eq=False)
class ShopStock:
    """The products of a shop, their search index and the nouns of their titles."""

    products: Mapping[str, Product]
    """By ASIN, in the order of the catalogue."""
    index: ProductIndex
    nouns: TitleNouns

    def item(self, asin: str) -> ProductWithNouns:
        """Return a product with the nouns of its title."""
        product = self.products[asin]
        return ProductWithNouns(product, self.nouns.of(product))


@dataclass(frozen=True, slots=True, eq=False)
class Shop:
    """A shop: a stock of products, with prices and goals generated from a seed."""

    stock: ShopStock
    seed: int
    prices: Mapping[str, float]
    _rng_state: tuple[Any, ...]
    """The state of the generator after the prices were drawn; its form is Python's own."""
    _goals: dict[tuple[GoalKind, bool], tuple[ShoppingGoal, ...]] = field(default_factory=dict)

    def goals(self, kind: GoalKind, *, shuffle: bool = False) -> tuple[ShoppingGoal, ...]:
        """Return all goals of a kind; the id of a task is the index of its goal.

        In catalogue order, as AgentFly numbers them, or in the order of Princeton's environment.
        """
        key = (kind, shuffle)
        with _LOADING:
            if key not in self._goals:
                if shuffle:
                    self._goals[key] = shuffle_goals(self.goals(kind))
                else:
                    rng = random.Random()
                    rng.setstate(self._rng_state)
                    products = self.stock.products.values()
                    self._goals[key] = build_goals(products, self.prices, rng, kind=kind)
            return self._goals[key]


def open_shop(
    folder: str | None = None, *, seed: int = DEFAULT_SEED, nouns: NounSource = "auto"
) -> Shop:
    """Return the shop of a catalogue and a seed; shops are cached.

    `folder` holds `items_shuffle*.json`, `items_ins_v2*.json` and `items_human_ins*.json` in the
    original format, plain or as `.json.xz`, and may hold `title_nouns*.json` (every ASIN to nouns);
    without one, the shipped 1000-product split is opened.
    """
    with _LOADING:
        return _shop(folder, seed, nouns)


@lru_cache(maxsize=16)
def _shop(folder: str | None, seed: int, nouns: NounSource) -> Shop:
    products, index, listed = _catalogue(folder)
    source = SHIPPED_NOUNS if folder is None else "title_nouns.json"
    selected = title_nouns(products, listed, listed_source=source, use=nouns)
    rng = random.Random(seed)
    prices = draw_prices(products.values(), rng)
    return Shop(ShopStock(products, index, selected), seed, prices, rng.getstate())


@lru_cache(maxsize=4)
def _catalogue(
    folder: str | None,
) -> tuple[dict[str, Product], ProductIndex, Mapping[str, Sequence[str]] | None]:
    """Return the products, the search index and the listed nouns of a catalogue."""
    source = files("assay.worlds.webshop") / "data" if folder is None else Path(folder)
    products = read_products(
        _read(source, "items_shuffle"),
        _read(source, "items_ins_v2"),
        _read(source, "items_human_ins"),
    )
    index = ProductIndex({product.asin: product.search_text for product in products})
    listed = _read(source, "title_nouns", required=False)
    return {product.asin: product for product in products}, index, listed


def _read(folder: Traversable, name: str, *, required: bool = True) -> Any:
    """Return the JSON value of the catalogue file of that name."""
    with _unreadable(folder):
        candidates = sorted(
            (one for one in folder.iterdir() if _is_part(one.name, name)), key=lambda one: one.name
        )
    if not candidates and not required:
        return None
    exact = [one for one in candidates if one.name.split(".")[0] == name]
    selected = exact or candidates
    if len(selected) != 1:
        raise BadParameter(
            f"{folder} must have one {name}*.json or {name}*.json.xz, "
            f"not {[one.name for one in selected]}"
        )
    with _unreadable(selected[0]):
        data = selected[0].read_bytes()
        return json.loads(lzma.decompress(data) if selected[0].name.endswith(".xz") else data)


def _is_part(file: str, name: str) -> bool:
    return file.startswith(name) and file.endswith((".json", ".json.xz"))


@contextmanager
def _unreadable(what: Traversable) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise BadParameter(f"{what} cannot be read: {error}") from error
    except (ValueError, lzma.LZMAError) as error:
        raise BadRecord(f"{what} is not JSON: {error}") from error
