"""The rules of the house, and the oddities that are kept because agents were measured with them."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.schema.worlds import NOTHING_HAPPENS
from assay.worlds import AlfWorldGame, HouseLayout
from assay.worlds.alfworld.game import HELP
from assay.worlds.alfworld.house import names_of
from assay.worlds.alfworld.reader import GameFile
from assay.worlds.alfworld.tasks import shipped


def play(game: AlfWorldGame, *commands: str) -> str:
    """The feedback to the last command; every command must do something."""
    feedback = ""
    for command in commands:
        feedback = game.step(command).feedback
        assert feedback != NOTHING_HAPPENS, command
    return feedback


SENTENCES = [
    # (commands, feedback of the last, why)
    (["look"], "You are in the middle of a room. Looking quickly around you, you see nothing.",
     "only the opening lists the room"),
    (["go to countertop 1"],
     ("You arrive at countertop 1. On the countertop 1, you see a apple 1, a cup 1, a knife 1, "
      "a mug 2, and a mug 1."), "always 'a', in the order of ids, numbers falling"),
    (["go to countertop 1", "look"],
     "You are facing the coffeemachine 1, and countertop 1. Next to it, you see nothing.",
     "all receptacles of the spot are faced; what lies on them is not next to them"),
    (["go to coffeemachine 1", "take mug 2 from coffeemachine 1", "examine countertop 1"],
     "On the countertop 1, you see a apple 1, a cup 1, a knife 1, a mug 2, and a mug 1.",
     "a mug that is on both is still on the other"),
    (["go to countertop 1", "take mug 1 from countertop 1", "move mug 1 to coffeemachine 1",
      "look"],
     "You are facing the coffeemachine 1, and countertop 1. Next to it, you see a mug 1.",
     "what was taken from a receptacle and lies at the spot again counts as beside it"),
    (["go to countertop 1", "take mug 1 from countertop 1", "move mug 1 to countertop 1", "look"],
     "You are facing the coffeemachine 1, and countertop 1. Next to it, you see nothing.",
     "unless it is back where it was"),
    (["go to fridge 1"], "You arrive at fridge 1. The fridge 1 is closed.", "closed hides"),
    (["go to fridge 1", "open fridge 1"],
     "You open the fridge 1. The fridge 1 is open. In it, you see a desklamp 1.", "open shows"),
    (["go to fridge 1", "open microwave 1"],
     "You open the microwave 1. The microwave 1 is open. In it, you see nothing.", "empty"),
    (["go to fridge 1", "use desklamp 1"], "You turn on the desklamp 1.", "through a closed door"),
    (["go to fridge 1", "use desklamp 1", "use desklamp 1"], "You turn on the desklamp 1.",
     "it never says off"),
    (["inventory"], "You are not carrying anything.", "empty hands"),
    (["go to countertop 1", "take mug 1 from countertop 1", "inventory"],
     "You are carrying: a mug 1.", "one thing in the hand"),
    (["go to countertop 1", "take cup 1 from countertop 1", "examine cup 1"],
     "This is a normal cup 1. In it, you see a pen 1.", "a container shows what is in it"),
    (["go to countertop 1", "take apple 1 from countertop 1", "examine apple 1"],
     "There's nothing special about apple 1.", "nothing was done to it"),
    (["go to countertop 1", "take apple 1 from countertop 1", "go to fridge 1",
      "cool apple 1 with fridge 1", "examine apple 1"], "This is a cold apple 1.",
     "cold alone, cool in company; the door may be closed"),
    (["go to countertop 1", "take apple 1 from countertop 1", "go to fridge 1",
      "cool apple 1 with fridge 1", "heat apple 1 with microwave 1", "examine apple 1"],
     "This is a hot apple 1.", "heat takes the cold away"),
    (["go to countertop 1", "take knife 1 from countertop 1", "slice apple 1 with knife 1",
      "slice apple 1 with knife 1"], "You sliced the apple 1 with the knife 1.",
     "slicing again is possible"),
    (["go to countertop 1", "take knife 1 from countertop 1", "slice apple 1 with knife 1",
      "move knife 1 to countertop 1", "take apple 1 from countertop 1", "go to sinkbasin 1",
      "clean apple 1 with sinkbasin 1", "go to microwave 1", "heat apple 1 with microwave 1",
      "examine apple 1"], "This is a hot and clean sliced apple 1.", "all at once"),
    (["help"], HELP, "the list of commands"),
    (["  look\n"], "You are in the middle of a room. Looking quickly around you, you see nothing.",
     "space around a command does not count"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("commands", "feedback"),
    [pytest.param(commands, feedback, id=why) for commands, feedback, why in SENTENCES],
)
def test_the_agent_reads(commands: list[str], feedback: str, cottage: AlfWorldGame) -> None:
    assert play(cottage, *commands) == feedback


REFUSALS = [
    # (commands that work, one that does nothing, why)
    ([], "take mug 1 from countertop 1", "too far away"),
    (["go to countertop 1"], "examine apple 1", "only what is in the hand can be examined"),
    (["go to countertop 1"], "go to coffeemachine 1", "the agent faces it already"),
    (["go to countertop 1"], "Take apple 1 from countertop 1", "commands are in lower case"),
    (["go to countertop 1"], "take  apple 1 from countertop 1", "single spaces"),
    (["go to countertop 1", "take apple 1 from countertop 1"], "take mug 1 from countertop 1",
     "one hand"),
    (["go to countertop 1", "take apple 1 from countertop 1"], "move apple 1 to coffeemachine 1",
     "apples do not go on coffee machines"),
    (["go to countertop 1", "take apple 1 from countertop 1", "go to fridge 1"],
     "move apple 1 to fridge 1", "the fridge is closed"),
    (["go to countertop 1", "take mug 1 from countertop 1", "go to microwave 1"],
     "heat mug 1 with microwave 1", "this mug cannot be heated"),
    (["go to fridge 1", "open fridge 1"], "take desklamp 1 from fridge 1", "a lamp stays"),
    (["go to fridge 1", "open fridge 1"], "open fridge 1", "it is open"),
    (["go to fridge 1"], "close fridge 1", "it is closed"),
    (["go to countertop 1"], "put apple 1 in/on countertop 1", "the words of another release"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("commands", "refused"), [pytest.param(c, refused, id=why) for c, refused, why in REFUSALS]
)
def test_nothing_happens(commands: list[str], refused: str, cottage: AlfWorldGame) -> None:
    play(cottage, *commands)
    before = (cottage.facts, cottage.admissible_commands)
    assert cottage.step(refused).feedback == NOTHING_HAPPENS
    assert (cottage.facts, cottage.admissible_commands) == before


def test_the_opening_lists_the_room_and_the_task(cottage: AlfWorldGame) -> None:
    assert cottage.reset() == (
        "-= Welcome to TextWorld, ALFRED! =-\n\n"
        "You are in the middle of a room. Looking quickly around you, you see a coffeemachine 1, "
        "a countertop 1, a fridge 1, a microwave 1, and a sinkbasin 1.\n\n"
        "Your task is to: put a hot apple in fridge."
    )


def test_the_goal_is_counted_condition_by_condition_and_can_be_undone(
    cottage: AlfWorldGame,
) -> None:
    counts = [cottage.goal_conditions()]
    for command in [
        "go to countertop 1",
        "take apple 1 from countertop 1",
        "go to fridge 1",
        "heat apple 1 with microwave 1",
        "open fridge 1",
        "move apple 1 to fridge 1",
    ]:
        turn = cottage.step(command)
        counts.append(cottage.goal_conditions())
    assert counts == [(0, 2)] * 4 + [(1, 2)] * 2 + [(2, 2)]
    assert (turn.reward, turn.done, cottage.won) == (1, True, True)
    undone = cottage.step("take apple 1 from fridge 1")
    assert (undone.reward, undone.done, cottage.won) == (0, False, False)


def test_numbers_fall_in_the_order_of_ids_and_basins_are_a_kind_of_their_own() -> None:
    assert names_of(["mug_bar_b", "mug_bar_a", "sink_bar_1", "sink_bar_1_bar_sinkbasin"]) == {
        "mug_bar_a": "mug 2",
        "mug_bar_b": "mug 1",
        "sink_bar_1": "sink 1",
        "sink_bar_1_bar_sinkbasin": "sinkbasin 1",
    }


GAMES = st.integers(0, 273).map(lambda i: shipped().load(shipped().entries[i]))
SEEDS = st.integers(0, 2**32 - 1)
WALKS = settings(max_examples=30, deadline=None)


def walk(game: AlfWorldGame, seed: int, length: int = 25) -> list[object]:
    """What a random agent reads."""
    rng = random.Random(seed)
    opening = game.reset()
    turns = [game.step(rng.choice(game.admissible_commands)) for _ in range(length)]
    return [opening, *turns]


@WALKS
@given(file=GAMES, seed=SEEDS)
def test_commands_that_are_admissible_do_something_and_others_change_nothing(
    file: GameFile, seed: int
) -> None:
    game = AlfWorldGame(HouseLayout.build(file))
    rng = random.Random(seed)
    everything: set[str] = set()
    for _ in range(25):
        commands = game.admissible_commands
        assert commands == sorted(set(commands))
        everything.update(commands)
        impossible = sorted(everything.difference(commands))
        if impossible:
            before = game.facts
            turn = game.step(rng.choice(impossible))
            assert (turn.feedback, turn.admissible_commands) == (NOTHING_HAPPENS, commands)
            assert game.facts == before
        assert game.step(rng.choice(commands)).feedback != NOTHING_HAPPENS


@WALKS
@given(file=GAMES, seed=SEEDS)
def test_a_game_is_deterministic_and_a_reset_forgets_everything(file: GameFile, seed: int) -> None:
    house = HouseLayout.build(file)
    first, second = AlfWorldGame(house), AlfWorldGame(house)
    walk(first, seed + 1)
    assert walk(first, seed) == walk(second, seed)
    assert first.facts == second.facts
    assert house.facts == HouseLayout.build(file).facts


@WALKS
@given(file=GAMES, seed=SEEDS)
def test_what_the_game_lists_agrees_with_its_facts(file: GameFile, seed: int) -> None:
    game = AlfWorldGame(HouseLayout.build(file))
    walk(game, seed)
    [(_, _, location)] = [fact for fact in game.facts if fact[0] == "atlocation"]
    held = [fact[2] for fact in game.facts if fact[0] == "holds"]
    assert len(held) <= 1
    carried = [f"You are carrying: a {game.house.names[thing]}." for thing in held]
    expected = carried or ["You are not carrying anything."]
    assert [game.step("inventory").feedback] == expected
    for receptacle in game.house.receptacles_at.get(location, ()):
        text = game.step(f"examine {game.house.names[receptacle]}").feedback
        inside = sorted(f[1] for f in game.facts if f[0] == "inreceptacle" and f[2] == receptacle)
        if not text.endswith("is closed."):
            listed = text.partition("you see ")[2].rstrip(".").replace("and a ", "a ")
            names = [f"a {game.house.names[thing]}" for thing in inside]
            assert listed == (", ".join(names) or "nothing")
