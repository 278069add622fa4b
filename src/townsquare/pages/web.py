"""The whole web of the town as one function from requests to responses."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from townsquare.pages import (
    catalogue,
    council,
    culture,
    directory,
    homes,
    obstacles,
    portal,
    search,
    shops,
    travel,
    weather,
)
from townsquare.pages.markup import paragraph
from townsquare.pages.request import Request, Response, page
from townsquare.records.schema import TOWN, TWIN_TOWN, Records

Site = Callable[[Request], Response]


class Web:
    """Every site of the town, by the label before the domain; pure: equal requests, equal bytes."""

    def __init__(self, records: Records) -> None:
        index = search.SearchIndex(catalogue.list_documents(records))
        self._sites: dict[str, Site] = {
            "": portal.respond,
            "search": partial(search.respond, index),
            "weather": partial(weather.respond, records),
            "weather-mirror": partial(weather.respond_mirror, records),
            "register": partial(homes.respond, records),
            "quickhomes": partial(homes.respond_agent, records),
            "directory": partial(directory.respond, records),
            "directory-classic": partial(directory.respond_old, records),
            "shops": partial(shops.respond, records),
            "dealfinder": obstacles.respond_blocked,
            "museum": partial(culture.respond_museum, records),
            "tickets": obstacles.respond_captcha,
            "library": partial(culture.respond_library, records),
            "clubs": partial(culture.respond_clubs, records),
            "council": partial(council.respond, records.council, TOWN),
            "brindlekey": partial(council.respond, records.twin_council, TWIN_TOWN),
            "gazette": obstacles.respond_login,
            "transit": partial(travel.respond_transit, records),
            "harbour": partial(travel.respond_harbour, records),
            "tides": obstacles.respond_never,
        }

    @property
    def sites(self) -> tuple[str, ...]:
        return tuple(self._sites)

    def respond(self, request: Request) -> Response:
        """The site's response; a site that does not exist is a 404."""
        site = self._sites.get(request.site)
        if site is None:
            body = paragraph("No site of the town has this name.")
            return page(f"{TOWN} web", "No such site", body, status=404)
        return site(request)
