"""One shopper's way through the pages: where a search, a link or a button leads."""

from __future__ import annotations

from assay.envs.text.webshop.catalogue import Product
from assay.envs.text.webshop.goals import Goal
from assay.envs.text.webshop.pages import (
    Button,
    ShopPage,
    done_page,
    index_page,
    item_page,
    results_page,
    sub_page,
)
from assay.envs.text.webshop.purchase import Receipt, write_receipt
from assay.envs.text.webshop.shop import Shop

RESULTS_PER_PAGE = 10
MOST_RESULTS = 50


class ShopTrip:
    """The state of one episode, from the empty search box to the first purchase.

    As in the original, options are lost by paging, by searching and by leaving the item, and
    kept while its description, features and reviews are read.
    """

    __slots__ = ("_hits", "_number", "_shop", "goal", "options", "page", "product", "receipt")

    def __init__(self, shop: Shop, goal: Goal) -> None:
        self._shop = shop
        self._hits: tuple[Product, ...] = ()
        self._number = 1
        self.goal = goal
        self.page: ShopPage = index_page(goal.instruction)
        self.product: Product | None = None
        self.options: dict[str, str] = {}
        self.receipt: Receipt | None = None

    def search(self, keywords: str) -> None:
        """Show the first page of results."""
        stock = self._shop.stock
        hits = stock.index.search(keywords, MOST_RESULTS)
        self._hits = tuple(stock.products[asin] for asin in hits)
        self._go_to_results(1)

    def click(self, target: str) -> bool:
        """Follow a link, press a button or choose an option; whether there was such a thing."""
        page, name = self.page, target.lower()
        if name not in page.clickables:
            name = name.strip()
        if name in page.products:
            self._go_to_item(self._shop.stock.products[page.products[name]])
            return True
        if name in page.options:
            self.options[page.options[name]] = name
            return True
        for button in page.buttons:
            if button == name:
                self._press(button)
                return True
        return False

    def _press(self, button: Button) -> None:
        if button == "back to search":
            self._go_home()
        elif button == "next >":
            self._go_to_results(self._number + 1)
        elif button == "< prev":
            self._go_back()
        elif self.product is not None:
            if button == "buy now":
                self._buy(self.product)
            else:
                self.page = sub_page(self.goal.instruction, self.product, button)

    def _go_home(self) -> None:
        self.product = None
        self.options = {}
        self.page = index_page(self.goal.instruction)

    def _go_back(self) -> None:
        if self.page.kind == "results":
            self._go_to_results(self._number - 1)
        elif self.page.kind == "item" or self.product is None:
            self._go_to_results(self._number)
        else:
            self._go_to_item(self.product)

    def _go_to_results(self, number: int) -> None:
        self._number = number
        self.product = None
        self.options = {}
        first = (number - 1) * RESULTS_PER_PAGE
        products = self._hits[first : first + RESULTS_PER_PAGE]
        instruction = self.goal.instruction
        self.page = results_page(instruction, products, number=number, total=len(self._hits))

    def _go_to_item(self, product: Product) -> None:
        self.product = product
        self.page = item_page(self.goal.instruction, product)

    def _buy(self, product: Product) -> None:
        stock = self._shop.stock
        self.receipt = write_receipt(
            stock.item(product.asin),
            stock.item(self.goal.asin),
            self.goal,
            price=self._shop.prices[product.asin],
            chosen=self.options,
        )
        self.page = done_page()
