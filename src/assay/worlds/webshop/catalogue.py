"""Reads the products of a shop from WebShop's original JSON files."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from assay.errors import BadRecord

LONGEST_ASIN = 10
NO_PRICE = 100.0
"""What a product without a price costs."""

_NOT_A_NUMBER = re.compile(r"[^\d.]")


@dataclass(frozen=True, slots=True)
class ShoppingInstruction:
    """An instruction for shopping: its text, and the attributes and options to match."""

    text: str
    attributes: tuple[str, ...]
    options: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Product:
    """One product of the shop."""

    asin: str
    title: str
    description: str
    bullets: tuple[str, ...]
    category_path: str
    query: str
    prices: tuple[float, ...]
    """One price, or the two ends of a range."""
    options: Mapping[str, tuple[str, ...]]
    attributes: tuple[str, ...]
    human: tuple[ShoppingInstruction, ...] = ()
    synthetic: ShoppingInstruction | None = None

    @property
    def price_tag(self) -> str:
        """The price as text for the pages."""
        return " to ".join(f"${price}" for price in self.prices)

    @property
    def search_text(self) -> str:
        """The text that the search engine indexes: title, description, first bullet, options."""
        options = ", and ".join(f"{name}: {', '.join(v)}" for name, v in self.options.items())
        bullet = self.bullets[0] if self.bullets else ""
        return f"{self.title} {self.description} {bullet} {options}".lower()


def read_products(
    items: Sequence[Mapping[str, Any]],
    attributes: Mapping[str, Mapping[str, Any]],
    human: Mapping[str, Sequence[Mapping[str, Any]]],
) -> tuple[Product, ...]:
    """Return the products of the three catalogue files, in file order.

    As in the original, a repeated ASIN counts once and one that is `"nan"` or too long not at
    all. The values are JSON of foreign make, hence `Any`.
    """
    asins: set[str] = set()
    products: list[Product] = []
    for number, item in enumerate(items):
        try:
            asin = str(item["asin"])
            if asin == "nan" or len(asin) > LONGEST_ASIN or asin in asins:
                continue
            asins.add(asin)
            products.append(_product(item, attributes.get(asin, {}), human.get(asin, ())))
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise BadRecord(
                f"product {number} of the catalogue is not in WebShop's format: {error!r}"
            ) from error
    return tuple(products)


def draw_prices(products: Iterable[Product], rng: random.Random) -> dict[str, float]:
    """Return the price of each ASIN; a price range gives a random price within it."""
    return {
        product.asin: product.prices[0]
        if len(product.prices) == 1
        else rng.uniform(product.prices[0], product.prices[1])
        for product in products
    }


def _product(
    item: Mapping[str, Any],
    notes: Mapping[str, Any],
    instructions: Sequence[Mapping[str, Any]],
) -> Product:
    bullets = item["small_description"]
    synthetic = notes.get("instruction")
    return Product(
        asin=str(item["asin"]),
        title=str(item["name"]),
        description=str(item["full_description"]),
        bullets=tuple(bullets) if isinstance(bullets, list) else (bullets,),
        category_path=str(item["product_category"]),
        query=str(item["query"]).lower().strip(),
        prices=_prices(item.get("pricing")),
        options=_options(item["customization_options"]),
        attributes=tuple(notes.get("attributes", ("DUMMY_ATTR",))),
        human=tuple(
            ShoppingInstruction(
                text=one["instruction"],
                attributes=tuple(one["instruction_attributes"]),
                options=tuple(one["instruction_options"]),
            )
            for one in instructions
        ),
        synthetic=None
        if synthetic is None
        else ShoppingInstruction(text=synthetic, attributes=tuple(notes["instruction_attributes"])),
    )


def _prices(text: str | None) -> tuple[float, ...]:
    if not text:
        return (NO_PRICE,)
    prices = tuple(float(_NOT_A_NUMBER.sub("", part)) for part in text.split("$")[1:])
    return prices[:2] or (NO_PRICE,)


def _options(groups: Mapping[str, Any] | str | None) -> dict[str, tuple[str, ...]]:
    if not isinstance(groups, Mapping):
        return {}
    return {
        name.lower(): tuple(value["value"].strip().replace("/", " | ").lower() for value in values)
        for name, values in groups.items()
        if values is not None
    }
