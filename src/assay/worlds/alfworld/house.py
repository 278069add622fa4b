"""The fixed part of a game: the places, types and names of its objects."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from assay.errors import BadRecord
from assay.worlds.alfworld.goal import Formula, ground_goal
from assay.worlds.alfworld.reader import Fact, GameFile


@dataclass(frozen=True, slots=True)
class HouseLayout:
    """The fixed part of a game and its initial state; lists are ordered by object id."""

    agent: str
    start: str
    """The location where the agent stands at first."""
    in_hand: str | None
    """What the agent holds at first."""
    names: Mapping[str, str]
    """What a thing is called: `"mug 2"`."""
    location_of: Mapping[str, str]
    """Of every receptacle."""
    receptacles_at: Mapping[str, tuple[str, ...]]
    """By location."""
    types_of: Mapping[str, tuple[str, ...]]
    """Of every object and receptacle."""
    inside: Mapping[str, tuple[str, ...]]
    """What is in or on a receptacle at first."""
    contents_of: Mapping[str, tuple[str, ...]]
    """What is in an object, such as a cup; no command changes that."""
    sliceable: tuple[str, ...]
    facts: frozenset[Fact]
    """What is true at first."""
    goal: Formula
    task: str
    """The goal in words."""

    @classmethod
    def build(cls, game: GameFile) -> HouseLayout:
        """Return the house of a game file; raise BadRecord if the file has no agent."""
        facts: dict[str, list[Fact]] = defaultdict(list)
        for predicate, *arguments in sorted(game.problem.facts):
            facts[predicate].append(tuple(arguments))
        if len(facts["atlocation"]) != 1 or len(facts["holds"]) > 1:
            raise BadRecord(
                f"{game.problem.source}: expected one agent that holds at most one thing; ':init' "
                f"has {len(facts['atlocation'])} of 'atLocation', {len(facts['holds'])} of 'holds'"
            )
        [(agent, start)] = facts["atlocation"]
        places = [(receptacle, place) for receptacle, place in facts["receptacleatlocation"]]
        if len(dict(places)) != len(places):
            raise BadRecord(f"{game.problem.source}: a receptacle is at two locations")
        return cls(
            agent=agent,
            start=start,
            in_hand=facts["holds"][0][1] if facts["holds"] else None,
            names=names_of({word for group in facts.values() for fact in group for word in fact}),
            location_of=dict(places),
            receptacles_at=_group((location, receptacle) for receptacle, location in places),
            types_of=_group(facts["objecttype"] + facts["receptacletype"]),
            inside=_group((receptacle, thing) for thing, receptacle in facts["inreceptacle"]),
            contents_of=_group((outer, inner) for inner, outer in facts["inreceptacleobject"]),
            sliceable=tuple(thing for (thing,) in facts["sliceable"]),
            facts=game.problem.facts,
            goal=ground_goal(game.problem),
            task=game.goal,
        )

    def fits(self, thing: str, receptacle: str) -> bool:
        """Whether an object of this type can be put into the receptacle."""
        return any(
            ("cancontain", receptacle_type, thing_type) in self.facts
            for receptacle_type in self.types_of.get(receptacle, ())
            for thing_type in self.types_of.get(thing, ())
        )


def names_of(ids: Iterable[str]) -> dict[str, str]:
    """Name objects by type and number ("mug 2"); the first id of a type has the highest number."""
    kinds = {thing: _kind(thing) for thing in sorted(ids)}
    left = Counter(kinds.values())
    names: dict[str, str] = {}
    for thing, kind in kinds.items():
        names[thing] = f"{kind} {left[kind]}"
        left[kind] -= 1
    return names


def _kind(thing: str) -> str:
    kind = thing.partition("_bar_")[0]
    # The basin of a sink has an id of the form sink_bar_…_bar_sinkbasin.
    return f"{kind}basin" if "basin" in thing and not kind.endswith("basin") else kind


def _group(pairs: Iterable[Fact]) -> dict[str, tuple[str, ...]]:
    groups: dict[str, list[str]] = defaultdict(list)
    for key, value in pairs:
        groups[key].append(value)
    return {key: tuple(values) for key, values in groups.items()}
