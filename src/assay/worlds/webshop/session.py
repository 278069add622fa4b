"""A shopping session: one shopper with one task, without asyncio."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from assay.errors import BadParameter, NotReset
from assay.schema.evidence import WorldEvidence
from assay.schema.observation import Observation
from assay.schema.tools import as_text, text_tool
from assay.schema.worlds import NOTHING_HAPPENED
from assay.worlds.webshop import pages
from assay.worlds.webshop.catalogue import Product
from assay.worlds.webshop.goals import GoalKind, ShoppingGoal
from assay.worlds.webshop.pages import Button, ShopPage
from assay.worlds.webshop.purchase import PurchaseReceipt, write_receipt
from assay.worlds.webshop.shop import Shop

NAME = "webshop"
ACTION_SHOWN = 80
"""Characters of an action that the answer to it repeats."""
RESULTS_PER_PAGE = 10
MOST_RESULTS = 50

_OVER = "the purchase is made and the task is over"
_POSSIBLE = "Possible actions: search[keywords], and click[target] with one of the clickables."


def _bracketed(verb: str, parameter: str) -> Callable[[Mapping[str, Any]], str]:
    """Return a function that writes an action on one line, such as `search[red shirt]`."""
    return lambda arguments: f"{verb}[{' '.join(as_text(arguments[parameter]).splitlines())}]"


SHOP_ACTIONS = (
    text_tool(
        "search",
        "Search the shop; works on every page and shows the first 10 of at most 50 products.",
        {"keywords": "words to look for, for example: red cotton shirt"},
        _bracketed("search", "keywords"),
    ),
    text_tool(
        "click",
        'Open a product, choose an option, turn a page, or buy ("buy now" ends the task).',
        {"target": "one of the clickables of the page: a product, an option or a button"},
        _bracketed("click", "target"),
    ),
)
"""The actions as a model's native calls take them."""


@dataclass(slots=True)
class ShoppingState:
    """The state of one episode, from the first page to the purchase.

    As in the original, options are lost by paging, by searching and by leaving the item, and
    kept while its description, features and reviews are read.
    """

    shop: Shop
    task_id: str
    kind: GoalKind
    shuffle: bool
    goal: ShoppingGoal
    page: ShopPage
    product: Product | None = None
    options: dict[str, str] = field(default_factory=dict)
    receipt: PurchaseReceipt | None = None
    hits: tuple[Product, ...] = ()
    number: int = 1
    """Of the page of results that was shown last."""

    def search(self, keywords: str) -> None:
        """Show the first page of search results."""
        stock = self.shop.stock
        hits = stock.index.search(keywords, MOST_RESULTS)
        self.hits = tuple(stock.products[asin] for asin in hits)
        self._go_to_results(1)

    def click(self, target: str) -> bool:
        """Click an element of the page; return `False` if the page has no such element."""
        page, name = self.page, target.lower()
        if name not in page.clickables:
            name = name.strip()
        if name in page.products:
            self._go_to_item(self.shop.stock.products[page.products[name]])
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
            self.product, self.options = None, {}
            self.page = pages.index_page(self.goal.instruction)
        elif button == "next >":
            self._go_to_results(self.number + 1)
        elif button == "< prev":
            self._go_back()
        elif self.product is not None:
            if button == "buy now":
                self._buy(self.product)
            else:
                self.page = pages.sub_page(self.goal.instruction, self.product, button)

    def _go_back(self) -> None:
        if self.page.kind == "results":
            self._go_to_results(self.number - 1)
        elif self.page.kind == "item" or self.product is None:
            self._go_to_results(self.number)
        else:
            self._go_to_item(self.product)

    def _go_to_results(self, number: int) -> None:
        self.number, self.product, self.options = number, None, {}
        self.page = pages.results_page(
            self.goal.instruction,
            self.hits[(number - 1) * RESULTS_PER_PAGE : number * RESULTS_PER_PAGE],
            number=number,
            total=len(self.hits),
        )

    def _go_to_item(self, product: Product) -> None:
        self.product = product
        self.page = pages.item_page(self.goal.instruction, product)

    def _buy(self, product: Product) -> None:
        stock, price = self.shop.stock, self.shop.prices[product.asin]
        bought, target = stock.item(product.asin), stock.item(self.goal.asin)
        self.receipt = write_receipt(bought, target, self.goal, price=price, chosen=self.options)
        self.page = pages.done_page()


class ShopSession:
    """The session of a shopper in a shared shop, with one task at a time.

    An action is `search[keywords]`, which works on every page, or `click[target]`; `choose` means
    `click`. The argument reaches from the first bracket of the first line to its last. What is no
    action, or no clickable of the page, changes nothing. The first purchase ends the task.
    """

    def __init__(self, shop: Shop, *, clickables: bool = True) -> None:
        """With `clickables`, texts list the clickable elements and say why an action failed.

        Without, a text is the page alone, as in the original, and a useless action shows it again.
        """
        self.shop = shop
        self._clickables = clickables
        self._trip: ShoppingState | None = None

    def reset(
        self, task_id: int | str, *, kind: GoalKind = "human", shuffle: bool = False
    ) -> Observation:
        """Start a new episode with the goal of that number."""
        goals = self.shop.goals(kind, shuffle=shuffle)
        number = _number(task_id)
        if number is None or number >= len(goals):
            raise BadParameter(
                f"no {kind} WebShop goal {_excerpt(str(task_id))}; "
                f"this catalogue has {len(goals)} goals, numbered from 0"
            )
        goal = goals[number]
        page = pages.index_page(goal.instruction)
        self._trip = ShoppingState(self.shop, str(number), kind, shuffle, goal, page)
        return self._observe()

    @property
    def goal(self) -> ShoppingGoal:
        return self._require_trip().goal

    @property
    def page(self) -> ShopPage:
        """The current page of the shopper."""
        return self._require_trip().page

    def step(self, action: str) -> Observation:
        """Carry out `search[keywords]` or `click[target]`."""
        # As in the original, whose pattern ends with the line: what stands below is not read, and
        # an argument that goes on there makes no action.
        line = action.strip().partition("\n")[0]
        name, _, rest = line.partition("[")
        argument, _, _ = rest.rpartition("]")
        verb = name.strip().lower()
        if argument and verb == "search":
            return self.search(argument)
        if argument and verb in ("click", "choose"):
            return self.click(argument)
        return self._refuse(f"{_excerpt(action)} is not an action")

    def search(self, keywords: str) -> Observation:
        """Search for the keywords, and show the first page of results."""
        trip = self._require_trip()
        if trip.receipt is not None:
            return self._refuse(_OVER)
        trip.search(keywords)
        return self._observe()

    def click(self, target: str) -> Observation:
        """Click a link, a button or an option of the page."""
        trip = self._require_trip()
        if trip.receipt is not None:
            return self._refuse(_OVER)
        if not trip.click(target):
            return self._refuse(f"this page has no {_excerpt(target)} to click")
        return self._observe()

    def evidence(self) -> WorldEvidence:
        """Return the evidence of the episode; after a purchase it includes the score's parts."""
        trip = self._require_trip()
        progress: dict[str, Any] = {
            "page": trip.page.kind,
            "asin": None if trip.product is None else trip.product.asin,
            "options": dict(trip.options),
            "goals": trip.kind,
            "shuffled": trip.shuffle,
            "seed": self.shop.seed,
        }
        if trip.receipt is None:
            return WorldEvidence(NAME, trip.task_id, progress=progress)
        progress |= _parts(trip.receipt) | {"nouns": self.shop.stock.nouns.source}
        score = trip.receipt.score
        won = score == 1.0
        return WorldEvidence(NAME, trip.task_id, score, done=True, won=won, progress=progress)

    def _require_trip(self) -> ShoppingState:
        if self._trip is None:
            raise NotReset("this WebShop session has no task; call reset(task_id) first")
        return self._trip

    def _observe(self) -> Observation:
        evidence = self.evidence()
        reward = evidence.score or 0.0
        return Observation(
            self._text(), evidence, reward=reward, done=evidence.done, actions=SHOP_ACTIONS
        )

    def _refuse(self, reason: str) -> Observation:
        evidence = self.evidence()
        text = self._text()
        if self._clickables:
            advice = "No action has an effect any more." if evidence.done else _POSSIBLE
            text = f"{NOTHING_HAPPENED}{reason}. {advice}\n{text}"
        return Observation(text, evidence, reward=0.0, done=evidence.done, actions=SHOP_ACTIONS)

    def _text(self) -> str:
        clickables = f"\nClickables: {list(self.page.clickables)}" if self._clickables else ""
        return f"{self.page.text}{clickables}"


def _parts(receipt: PurchaseReceipt) -> dict[str, Any]:
    """Return the fields of a receipt by their names in the evidence."""
    return {
        "r_type": receipt.r_type,
        "query_match": receipt.query_match,
        "category_match": receipt.category_match,
        "title_score": receipt.title_score,
        "attributes": receipt.attributes,
        "attributes_matched": receipt.attributes_matched,
        "goal_options": receipt.options,
        "options_matched": receipt.options_matched,
        "price": receipt.price,
        "price_limit": receipt.price_limit,
        "price_ok": receipt.price_ok,
    }


def _number(task_id: int | str) -> int | None:
    text = str(task_id)
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None


def _excerpt(text: str) -> str:
    return repr(text if len(text) <= ACTION_SHOWN else text[:ACTION_SHOWN] + "…")
