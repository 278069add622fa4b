"""The pages of the shop: their texts and their clickable elements.

The text is what remains of the original's HTML: the text nodes, joined by ` [SEP] `.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from assay.worlds.webshop.catalogue import Product

PageKind: TypeAlias = Literal[
    "index", "results", "item", "description", "features", "reviews", "done"
]
Button: TypeAlias = Literal[
    "back to search", "< prev", "next >", "description", "features", "reviews", "buy now"
]
SubPage: TypeAlias = Literal["description", "features", "reviews"]

ITEM_BUTTONS: tuple[Button, ...] = (
    "back to search", "< prev", "description", "features", "reviews", "buy now",
)  # fmt: skip

SEPARATOR = " [SEP] "
THANKS = "Thank you for shopping with us!"

_HTML_SPACES = " \n\t\f\r"


@dataclass(frozen=True, slots=True)
class ShopPage:
    """One page; its clickable elements are `buttons`, `products` and `options`."""

    kind: PageKind
    text: str
    buttons: tuple[Button, ...] = ()
    products: Mapping[str, str] = field(default_factory=dict)
    """The ASIN that each product link leads to."""
    options: Mapping[str, str] = field(default_factory=dict)
    """The name of the option that each value belongs to."""

    @property
    def clickables(self) -> tuple[str, ...]:
        """The targets that `click` accepts on this page, in the original's order."""
        return (*self.buttons, *self.products, *self.options)


def index_page(instruction: str) -> ShopPage:
    return ShopPage("index", _join(["WebShop", "Instruction:", instruction, "Search"]))


def results_page(
    instruction: str, products: Sequence[Product], *, number: int, total: int
) -> ShopPage:
    """Return page `number` of the results; the next page may be empty."""
    turns: tuple[Button, ...] = ("< prev", "next >") if number > 1 else ("next >",)
    titles = ("< Prev", "Next >") if number > 1 else ("Next >",)
    rows = [part for one in products for part in (one.asin, one.title, one.price_tag)]
    head = (*_head(instruction), f"Page {number} (Total results: {total})")
    links = {one.asin.lower(): one.asin for one in products}
    return ShopPage("results", _join([*head, *titles, *rows]), ("back to search", *turns), links)


def item_page(instruction: str, product: Product) -> ShopPage:
    """Return the page of a product; of two options with equal values the later is clickable."""
    names = [part for name, values in product.options.items() for part in (name, *values)]
    facts = (product.title, f"Price: {product.price_tag}", "Rating: N.A.")
    links = ("Description", "Features", "Reviews", "Buy Now")
    text = _join([*_head(instruction), "< Prev", *names, *facts, *links])
    options = {value: name for name, values in product.options.items() for value in values}
    for button in ITEM_BUTTONS:
        options.pop(button, None)
    return ShopPage("item", text, buttons=ITEM_BUTTONS, options=options)


def sub_page(instruction: str, product: Product, kind: SubPage) -> ShopPage:
    """Return a page of details of a product; the page of reviews is empty."""
    features = [f" {bullet}" for bullet in product.bullets]
    body = {"description": [product.description], "features": features}.get(kind, [])
    text = _join([*_head(instruction), "< Prev", *body])
    return ShopPage(kind, text, buttons=("back to search", "< prev"))


def done_page() -> ShopPage:
    return ShopPage("done", THANKS)


def _head(instruction: str) -> tuple[str, ...]:
    return ("Instruction:", instruction, "Back to Search")


def _join(nodes: Iterable[str]) -> str:
    """Join texts as the original's HTML parser does, which drops blank lines."""
    texts = (node for node in nodes if node.strip(_HTML_SPACES) or (node and "\n" not in node))
    return SEPARATOR.join(node.strip() for node in texts)
