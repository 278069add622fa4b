"""The engine of one ALFWorld game: possible commands, their effects and the texts.

The state is a set of facts, as in PDDL; in each state a table has the possible commands. Rules,
texts and order are those of the reference engine (ALFWorld's domain and grammar under TextWorld).
Its mistakes are kept, with a comment, because agents have been measured with them.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple, TypeAlias

from assay.lazy import package_table
from assay.schema.worlds import NOTHING_HAPPENS
from assay.worlds.alfworld.house import HouseLayout
from assay.worlds.alfworld.reader import Fact

_TABLE = package_table(__package__, "game")
HELP: str = _TABLE["help"]

CONDITIONS: tuple[tuple[tuple[str, ...], str], ...] = tuple(
    (tuple(facts), line) for facts, line in _TABLE["conditions"]
)
"""What the agent reads about the object in its hand: the first line whose facts all hold."""

SINKS = frozenset(["sinktype", "sinkbasintype"])
MICROWAVES = frozenset(["microwavetype"])
FRIDGES = frozenset(["fridgetype"])
KNIVES = frozenset(["knifetype", "butterknifetype"])

Move: TypeAlias = tuple[Callable[..., str], tuple[str, ...]]
"""The method that does a command and says what happened, and the things it is done with."""


class AlfWorldTurn(NamedTuple):
    """The result of one command in a game."""

    feedback: str
    reward: int
    """1 while the goal holds, else 0."""
    done: bool
    admissible_commands: list[str]


class AlfWorldGame:
    """The state of a game of ALFWorld.

    Nothing stops at the end: as in the raw reference engine, a goal that was reached can be undone
    again. The episode that stops is `AlfWorld`.
    """

    def __init__(self, house: HouseLayout) -> None:
        self.house = house
        self.opening = self.reset()
        """The text that opens the game."""

    def reset(self) -> str:
        """Restart the game, and return its opening text."""
        house = self.house
        self._facts = set(house.facts)
        self._location = house.start
        self._in_hand = house.in_hand
        self._inside = {where: list(things) for where, things in house.inside.items()}
        self._removals: set[tuple[str, str]] = set()
        self._settle()
        welcome = "-= Welcome to TextWorld, ALFRED! =-"
        return f"{welcome}\n\n{self._opening()}\n\nYour task is to: {house.task}"

    def step(self, command: str) -> AlfWorldTurn:
        """Carry out the command, if the command is possible now."""
        move = self._moves.get(command.strip())
        feedback = NOTHING_HAPPENS if move is None else move[0](self, *move[1])
        return AlfWorldTurn(feedback, int(self.won), self.won, self.admissible_commands)

    @property
    def admissible_commands(self) -> list[str]:
        """Return the commands that are possible now, in alphabetical order."""
        return self._commands.copy()

    @property
    def facts(self) -> frozenset[Fact]:
        """All that is true now."""
        return frozenset(self._facts)

    def goal_conditions(self) -> tuple[int, int]:
        """Return how many conditions of the goal are met, and how many the goal has.

        A goal asks for *some* mug in *some* cabinet: the choice that meets most of it counts.
        Conditions that no command can change do not count.
        """
        return self.house.goal.conditions(self._facts)

    def _settle(self) -> None:
        """Update the possible commands and whether the game is won."""
        self._moves = dict(self._possible_moves())
        self._commands = sorted(self._moves)
        self.won = self.house.goal.holds(self._facts)

    def _change(self, *, remove: Iterable[Fact] = (), add: Iterable[Fact] = ()) -> None:
        """Remove some facts and add others."""
        self._facts.difference_update(remove)
        self._facts.update(add)
        self._settle()

    def _is(self, predicate: str, thing: str) -> bool:
        return (predicate, thing) in self._facts

    def _is_accessible(self, receptacle: str) -> bool:
        return not self._is("openable", receptacle) or self._is("opened", receptacle)

    def _name(self, thing: str) -> str:
        return self.house.names[thing]

    def _possible_moves(self) -> Iterator[tuple[str, Move]]:
        yield "look", (AlfWorldGame._look, ())
        yield "inventory", (AlfWorldGame._inventory, ())
        yield "help", (AlfWorldGame._help, ())
        for receptacle, location in self.house.location_of.items():
            # One cannot go to another receptacle at the same location: one faces it already.
            if location != self._location:
                yield f"go to {self._name(receptacle)}", (AlfWorldGame._go, (receptacle,))
        for receptacle in self._here():
            yield from self._moves_at(receptacle)
        if self._in_hand is not None:
            yield from self._moves_with(self._in_hand)

    def _moves_at(self, receptacle: str) -> Iterator[tuple[str, Move]]:
        there = self._name(receptacle)
        yield f"examine {there}", (AlfWorldGame._examine_receptacle, (receptacle,))
        if self._is("openable", receptacle):
            if self._is("opened", receptacle):
                yield f"close {there}", (AlfWorldGame._close, (receptacle,))
            else:
                yield f"open {there}", (AlfWorldGame._open, (receptacle,))
        hand_is_free = not self._is("holdsany", self.house.agent)
        takeable = hand_is_free and self._is_accessible(receptacle)
        for thing in self._inside.get(receptacle, ()):
            if takeable and self._is("pickupable", thing):
                yield (
                    f"take {self._name(thing)} from {there}",
                    (AlfWorldGame._take, (thing, receptacle)),
                )
            # Even in a closed receptacle, as the domain has it.
            if self._is("toggleable", thing):
                yield f"use {self._name(thing)}", (AlfWorldGame._use, (thing,))

    def _moves_with(self, in_hand: str) -> Iterator[tuple[str, Move]]:
        name = self._name(in_hand)
        # Only in the hand: a stray comma in the domain rules out what lies in a receptacle.
        yield f"examine {name}", (AlfWorldGame._examine_in_hand, (in_hand,))
        for receptacle in self._here():
            there = self._name(receptacle)
            if self._is_accessible(receptacle) and self.house.fits(in_hand, receptacle):
                yield f"move {name} to {there}", (AlfWorldGame._put, (in_hand, receptacle))
            # Doors may be closed for these three.
            if self._is("cleanable", in_hand) and self._is_a(receptacle, SINKS):
                yield f"clean {name} with {there}", (AlfWorldGame._clean, (in_hand, receptacle))
            if self._is("heatable", in_hand) and self._is_a(receptacle, MICROWAVES):
                yield f"heat {name} with {there}", (AlfWorldGame._heat, (in_hand, receptacle))
            if self._is("coolable", in_hand) and self._is_a(receptacle, FRIDGES):
                yield f"cool {name} with {there}", (AlfWorldGame._cool, (in_hand, receptacle))
        if self._is_a(in_hand, KNIVES):
            for thing in self.house.sliceable:
                if ("objectatlocation", thing, self._location) in self._facts:
                    yield (
                        f"slice {self._name(thing)} with {name}",
                        (AlfWorldGame._slice, (thing, in_hand)),
                    )

    def _is_a(self, thing: str, types: frozenset[str]) -> bool:
        return not types.isdisjoint(self.house.types_of.get(thing, ()))

    def _here(self) -> Sequence[str]:
        return self.house.receptacles_at.get(self._location, ())

    def _help(self) -> str:
        return HELP

    def _go(self, receptacle: str) -> str:
        agent, left = self.house.agent, self._location
        self._location = self.house.location_of[receptacle]
        self._change(
            remove=[("atlocation", agent, left)], add=[("atlocation", agent, self._location)]
        )
        return f"You arrive at {self._name(receptacle)}. {self._examine_receptacle(receptacle)}"

    def _open(self, receptacle: str) -> str:
        self._change(add=[("opened", receptacle)])
        return f"You open the {self._name(receptacle)}. {self._examine_receptacle(receptacle)}"

    def _close(self, receptacle: str) -> str:
        self._change(remove=[("opened", receptacle)])
        return f"You close the {self._name(receptacle)}."

    def _take(self, thing: str, receptacle: str) -> str:
        self._in_hand = thing
        # A mug on a coffee machine that stands on a counter is in both, and leaves only this one.
        self._inside[receptacle].remove(thing)
        self._removals.add((thing, receptacle))
        self._change(remove=self._lying(thing, receptacle), add=self._holding(thing))
        return f"You pick up the {self._name(thing)} from the {self._name(receptacle)}."

    def _put(self, thing: str, receptacle: str) -> str:
        self._in_hand = None
        if ("inreceptacle", thing, receptacle) not in self._facts:
            insort(self._inside.setdefault(receptacle, []), thing)
        self._removals.discard((thing, receptacle))
        self._change(remove=self._holding(thing), add=self._lying(thing, receptacle))
        return f"You move the {self._name(thing)} to the {self._name(receptacle)}."

    def _lying(self, thing: str, receptacle: str) -> list[Fact]:
        return [("inreceptacle", thing, receptacle), ("objectatlocation", thing, self._location)]

    def _holding(self, thing: str) -> list[Fact]:
        return [("holds", self.house.agent, thing), ("holdsany", self.house.agent)]

    def _clean(self, thing: str, receptacle: str) -> str:
        self._change(add=[("isclean", thing)])
        return f"You clean the {self._name(thing)} using the {self._name(receptacle)}."

    def _heat(self, thing: str, receptacle: str) -> str:
        self._change(remove=[("iscool", thing)], add=[("ishot", thing)])
        return f"You heat the {self._name(thing)} using the {self._name(receptacle)}."

    def _cool(self, thing: str, receptacle: str) -> str:
        self._change(remove=[("ishot", thing)], add=[("iscool", thing)])
        return f"You cool the {self._name(thing)} using the {self._name(receptacle)}."

    def _slice(self, thing: str, knife: str) -> str:
        self._change(add=[("issliced", thing)])
        return f"You sliced the {self._name(thing)} with the {self._name(knife)}."

    def _use(self, thing: str) -> str:
        on, toggled = ("ison", thing), ("istoggled", thing)
        if on in self._facts:
            self._change(remove=[on], add=[toggled])
        else:
            self._change(add=[on, toggled])
        # Said also when it goes off: the grammar asks whether it was ever toggled.
        return f"You turn on the {self._name(thing)}."

    def _opening(self) -> str:
        if self._here():
            return self._look()
        room = _join_list(f"a {self._name(receptacle)}" for receptacle in self.house.location_of)
        return f"You are in the middle of a room. Looking quickly around you, you see {room}."

    def _look(self) -> str:
        if not self._here():
            # The opening lists the room; a look from the same place does not.
            return "You are in the middle of a room. Looking quickly around you, you see nothing."
        faced = _join_list(map(self._name, self._here()))
        # "Next to it" is what lies here and was once taken from a receptacle here, once for each.
        beside = _join_list(
            f"a {self._name(thing)}"
            for thing, receptacle in sorted(self._removals)
            if receptacle in self._here()
            and ("objectatlocation", thing, self._location) in self._facts
        )
        return f"You are facing the {faced}. Next to it, you see {beside}."

    def _inventory(self) -> str:
        if self._in_hand is None:
            return "You are not carrying anything."
        return f"You are carrying: a {self._name(self._in_hand)}."

    def _examine_receptacle(self, receptacle: str) -> str:
        name = self._name(receptacle)
        if not self._is_accessible(receptacle):
            return f"The {name} is closed."
        contents = _join_list(f"a {self._name(o)}" for o in self._inside.get(receptacle, ()))
        if self._is("openable", receptacle):
            return f"The {name} is open. In it, you see {contents}."
        return f"On the {name}, you see {contents}."

    def _examine_in_hand(self, thing: str) -> str:
        name = self._name(thing)
        if self._is("isreceptacleobject", thing):
            contents = _join_list(
                f"a {self._name(o)}" for o in self.house.contents_of.get(thing, ())
            )
            return f"This is a normal {name}. In it, you see {contents}."
        return next(
            text.format(name)
            for predicates, text in CONDITIONS
            if all(self._is(predicate, thing) for predicate in predicates)
        )


def _join_list(items: Iterable[str]) -> str:
    """Join the items as in "nothing", "a x, and a y", or "a x, a y, and a z"."""
    words = list(items)
    if not words:
        return "nothing"
    return ", and ".join([", ".join(words[:-1]), words[-1]] if words[:-1] else words)
