"""What the search engine has indexed: the templates of `catalogue.toml`, filled for this town."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from assay.lazy import package_table
from townsquare.pages import culture, directory, homes, obstacles, shops, travel, weather
from townsquare.pages.council import council_name
from townsquare.pages.search import Document
from townsquare.records.schema import TOWN, TWIN_TOWN, Records, long_date, slug
from townsquare.records.trade import CATEGORIES
from townsquare.records.words import ITEMS

Words: TypeAlias = Mapping[str, Any]
"""What the places of a template stand for."""

_NAMES: Words = {
    "town": TOWN,
    "twin_town": TWIN_TOWN,
    "weather": weather.NAME,
    "mirror": weather.MIRROR_NAME,
    "register": homes.NAME,
    "agent": homes.AGENT_NAME,
    "directory": directory.NAME,
    "old_directory": directory.OLD_NAME,
    "shops": shops.NAME,
    "deals": obstacles.BLOCKED_NAME,
    "tickets": obstacles.CAPTCHA_NAME,
    "gazette": obstacles.LOGIN_NAME,
    "tides": obstacles.HANGING_NAME,
    "museum": culture.MUSEUM_NAME,
    "library": culture.LIBRARY_NAME,
    "clubs": culture.CLUBS_NAME,
    "council": council_name(TOWN),
    "twin_council": council_name(TWIN_TOWN),
    "transit": travel.TRANSIT_NAME,
    "harbour": travel.HARBOUR_NAME,
}


def list_documents(records: Records) -> Iterator[Document]:
    """Every page that can be found by searching."""
    table = package_table(__package__, "catalogue")
    words_of = _words_of(records)
    for row in table["document"]:
        for words in words_of[row["each"]] if "each" in row else ({},):
            title, path, snippet = (
                row[part].format(**_NAMES, **words) for part in ("title", "path", "snippet")
            )
            popularity = words.get("popularity") or table["popularity"][row["popularity"]]
            yield Document(title, row["site"], path, snippet, popularity)


def _words_of(records: Records) -> Mapping[str, list[Words]]:
    """What the templates of each kind are filled with, once for each document."""
    meetings: list[Words] = [
        {"meeting": one, "day": long_date(one.day)} for one in records.council.meetings
    ]
    return {
        "station": [{"station": one} for one in records.stations],
        "street": [{"street": one, "slug": slug(one)} for one in records.streets],
        "category": [
            {"category": one.replace("-", " ").capitalize(), "slug": one} for one in CATEGORIES
        ],
        "business": [{"business": one} for one in records.businesses],
        "shop": [{"shop": one} for one in records.shops],
        "item": [{"item": one, "slug": slug(one)} for one in ITEMS],
        "branch": [{"branch": one} for one in records.branches],
        "committee": [{"committee": one} for one in records.council.committees],
        "twin_committee": [{"committee": one} for one in records.twin_council.committees],
        "meeting": [
            {**words, "titles": "; ".join(motion.title for motion in words["meeting"].motions)}
            for words in meetings
        ],
        "motion": [
            {**words, "motion": one, "slug": slug(one.title)}
            for words in meetings
            for one in words["meeting"].motions
        ],
        "line": [
            {"line": one, "last": one.stops[-1], "stops": ", ".join(one.stops)}
            for one in records.lines
        ],
        "club": [{"club": one, "popularity": one.popularity} for one in records.clubs],
    }
