"""All records of the town, drawn from one seed."""

from __future__ import annotations

from townsquare.records import civic, nature, trade
from townsquare.records.schema import TOWN, TWIN_TOWN, Records


def draw_records(seed: int) -> Records:
    """The town of this seed, equal in every process.

    Each part has a generator of its own, so that a change to one leaves the others as they were.
    """
    streets = trade.draw_streets(seed)
    return Records(
        seed=seed,
        streets=streets,
        stations=nature.draw_stations(seed),
        homes=trade.draw_homes(seed, streets),
        businesses=trade.draw_businesses(seed, streets),
        shops=trade.draw_shops(seed),
        museum=civic.draw_museum(seed),
        branches=civic.draw_branches(seed),
        council=civic.draw_council(seed, TOWN, streets),
        twin_council=civic.draw_council(seed, TWIN_TOWN, streets),
        lines=civic.draw_lines(seed),
        tides=nature.draw_tides(seed),
        clubs=civic.draw_clubs(seed),
    )
