"""One shopper and one task: actions in, observations and evidence out; synchronous."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from assay.envs.text.webshop.goals import Goal, GoalKind
from assay.envs.text.webshop.pages import ShopPage
from assay.envs.text.webshop.purchase import Receipt
from assay.envs.text.webshop.shop import Shop
from assay.envs.text.webshop.trip import ShopTrip
from assay.errors import BadParameter, NotReset
from assay.schema.evidence import WorldEvidence
from assay.schema.observation import Observation

NAME = "webshop"
ACTION_SHOWN = 80
"""Characters of an action that the answer to it repeats."""

_OVER = "the purchase is made and the task is over"
_POSSIBLE = "Possible actions: search[keywords], and click[target] with one of the clickables."


@dataclass(frozen=True, slots=True)
class _Binding:
    """The task that a session is bound to, and how far it got."""

    task_id: str
    kind: GoalKind
    shuffle: bool
    trip: ShopTrip


class ShopSession:
    """A shopper in a shop; cheap to make, for the shop is shared.

    An action is `search[keywords]`, which works on every page, or `click[target]`; `choose` means
    `click`. The argument reaches from the first bracket to the last. What is no action, or no
    clickable of the page, changes nothing. The first purchase ends the task.
    """

    def __init__(self, shop: Shop, *, clickables: bool = True) -> None:
        """With `clickables`, texts end with what can be clicked, and say why nothing happened.

        Without, a text is the page alone, as in the original, and a useless action shows it again.
        """
        self.shop = shop
        self._clickables = clickables
        self._binding: _Binding | None = None

    def reset(
        self, task_id: int | str, *, kind: GoalKind = "human", shuffle: bool = False
    ) -> Observation:
        """Start over with the goal of that number."""
        goals = self.shop.goals(kind, shuffle=shuffle)
        number = _number(task_id)
        if number is None or number >= len(goals):
            raise BadParameter(
                f"no {kind} WebShop goal {_excerpt(str(task_id))}; "
                f"this catalogue has {len(goals)}, counted from 0"
            )
        trip = ShopTrip(self.shop, goals[number])
        self._binding = _Binding(str(number), kind, shuffle, trip)
        return self._observe()

    def forget(self) -> None:
        """Drop the task."""
        self._binding = None

    @property
    def goal(self) -> Goal:
        return self._require_binding().trip.goal

    @property
    def page(self) -> ShopPage:
        """The page that the shopper sees."""
        return self._require_binding().trip.page

    def step(self, action: str) -> Observation:
        """Carry out `search[keywords]` or `click[target]`."""
        name, _, rest = action.partition("[")
        argument, _, _ = rest.rpartition("]")
        verb = name.strip().lower()
        if argument and verb == "search":
            return self.search(argument)
        if argument and verb in ("click", "choose"):
            return self.click(argument)
        return self._refuse(f"{_excerpt(action)} is not an action")

    def search(self, keywords: str) -> Observation:
        """Show the first results for the keywords."""
        trip = self._require_binding().trip
        if trip.receipt is not None:
            return self._refuse(_OVER)
        trip.search(keywords)
        return self._observe()

    def click(self, target: str) -> Observation:
        """Follow a link, press a button or choose an option of the page."""
        trip = self._require_binding().trip
        if trip.receipt is not None:
            return self._refuse(_OVER)
        if not trip.click(target):
            return self._refuse(f"this page has no {_excerpt(target)} to click")
        return self._observe()

    def evidence(self) -> WorldEvidence:
        """What happened so far; once bought, with all that the score is made of."""
        binding = self._require_binding()
        trip, receipt = binding.trip, binding.trip.receipt
        progress: dict[str, Any] = {
            "page": trip.page.kind,
            "asin": None if trip.product is None else trip.product.asin,
            "options": dict(trip.options),
            "goals": binding.kind,
            "shuffled": binding.shuffle,
            "seed": self.shop.seed,
        }
        if receipt is None:
            return WorldEvidence(NAME, binding.task_id, progress=progress)
        progress |= _parts(receipt)
        progress["nouns"] = self.shop.stock.nouns.source
        score = receipt.score
        won = score == 1.0
        return WorldEvidence(NAME, binding.task_id, score, done=True, won=won, progress=progress)

    def _require_binding(self) -> _Binding:
        if self._binding is None:
            raise NotReset("this WebShop session has no task; call reset(task_id) first")
        return self._binding

    def _observe(self) -> Observation:
        evidence = self.evidence()
        reward = evidence.score or 0.0
        return Observation(self._text(), evidence, reward=reward, done=evidence.done)

    def _refuse(self, reason: str) -> Observation:
        evidence = self.evidence()
        text = self._text()
        if self._clickables:
            advice = "No action has an effect any more." if evidence.done else _POSSIBLE
            text = f"Nothing happened: {reason}. {advice}\n{text}"
        return Observation(text, evidence, reward=0.0, done=evidence.done)

    def _text(self) -> str:
        page = self.page
        return (
            f"{page.text}\nClickables: {list(page.clickables)}" if self._clickables else page.text
        )


def _parts(receipt: Receipt) -> dict[str, Any]:
    """Everything of a receipt, by the names under which evidence records it."""
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
