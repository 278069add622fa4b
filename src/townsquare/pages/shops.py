"""The shops: a price list for each, and a page that finds one item in all of them."""

from __future__ import annotations

from townsquare.pages.markup import (
    Html,
    choice,
    element,
    form,
    link,
    listing,
    paragraph,
    table,
)
from townsquare.pages.request import Request, Response, not_found, page
from townsquare.records.schema import TOWN, Offer, Records, Shop, dollars, slug
from townsquare.records.words import ITEMS

NAME = f"Shops of {TOWN}"


def respond(records: Records, request: Request) -> Response:
    if request.path == "/":
        shops = (
            element("span", link(f"/shop/{shop.slug}", shop.name), f", {shop.street}")
            for shop in records.shops
        )
        body = (element("h2", "Price lists"), listing(shops), element("h2", "Find"), _find_form(""))
        return page(NAME, "Shops and price lists", *body)
    if request.path == "/find":
        return _find(records, request)
    shop = request.find("/shop/", records.shops)
    if shop is None:
        return not_found(NAME)
    rows = [(offer.item, *_offer(offer)) for offer in shop.offers]
    headers = ("Item", "Price", "In stock")
    title = f"Price list of {shop.name}"
    return page(NAME, title, table(title, headers, rows))


def sellers(records: Records, item: str) -> list[tuple[Shop, Offer]]:
    """The shops that list the item, with their offers."""
    offers = ((shop, shop.offer(item)) for shop in records.shops)
    return [(shop, offer) for shop, offer in offers if offer is not None]


def _find(records: Records, request: Request) -> Response:
    item_slug = request.query.get("item", "")
    item = next((item for item in ITEMS if slug(item) == item_slug), None)
    if item is None:
        notice = paragraph("Choose an item of the list.")
        return page(NAME, "No such item", notice, _find_form(""), status=404)
    rows = [
        (link(f"/shop/{shop.slug}", shop.name), *_offer(offer))
        for shop, offer in sellers(records, item)
    ]
    title = f"Who sells {item}"
    body = table(title, ("Shop", "Price", "In stock"), rows)
    return page(NAME, title, body, _find_form(item_slug))


def _find_form(chosen: str) -> Html:
    items = {slug(item): item for item in sorted(ITEMS)}
    return form("/find", choice("Item", "item", items, chosen), button="Find item", name="Find")


def _offer(offer: Offer) -> tuple[str, str]:
    return f"${dollars(offer.cents)}", "yes" if offer.in_stock else "no"
