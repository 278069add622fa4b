"""A data folder of official games, and a cottage small enough to know by heart."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

from assay.worlds.alfworld.game import AlfWorldGame
from assay.worlds.alfworld.house import HouseLayout
from assay.worlds.alfworld.index import CACHE_VARIABLE
from assay.worlds.alfworld.reader import GameFile, read_problem

DATA = Path(__file__).parents[2] / "data" / "alfworld"

COTTAGE = """
(define (problem cottage) (:domain alfred)
  (:objects
    agent1 - agent
    hall counter sink fridgeside - location
    CounterTop_bar_1 CoffeeMachine_bar_1 Sink_bar_1_bar_SinkBasin Fridge_bar_1
      Microwave_bar_1 - receptacle
    Mug_bar_1 Mug_bar_2 Apple_bar_1 Knife_bar_1 DeskLamp_bar_1 Cup_bar_1 Pen_bar_1 - object
    CounterTopType CoffeeMachineType SinkBasinType FridgeType MicrowaveType - rtype
    MugType AppleType KnifeType DeskLampType CupType PenType - otype)
  (:init
    (atLocation agent1 hall)
    (receptacleAtLocation CounterTop_bar_1 counter) (receptacleType CounterTop_bar_1 CounterTopType)
    (receptacleAtLocation CoffeeMachine_bar_1 counter)
    (receptacleType CoffeeMachine_bar_1 CoffeeMachineType)
    (receptacleAtLocation Sink_bar_1_bar_SinkBasin sink)
    (receptacleType Sink_bar_1_bar_SinkBasin SinkBasinType)
    (receptacleAtLocation Fridge_bar_1 fridgeside) (receptacleType Fridge_bar_1 FridgeType)
    (openable Fridge_bar_1)
    (receptacleAtLocation Microwave_bar_1 fridgeside)
    (receptacleType Microwave_bar_1 MicrowaveType) (openable Microwave_bar_1)
    (canContain CounterTopType MugType) (canContain CounterTopType AppleType)
    (canContain CounterTopType KnifeType) (canContain CoffeeMachineType MugType)
    (canContain FridgeType AppleType) (canContain FridgeType MugType)
    (canContain MicrowaveType AppleType) (canContain CounterTopType CupType)
    (objectType Mug_bar_1 MugType) (pickupable Mug_bar_1) (cleanable Mug_bar_1)
    (inReceptacle Mug_bar_1 CounterTop_bar_1) (inReceptacle Mug_bar_1 CoffeeMachine_bar_1)
    (objectAtLocation Mug_bar_1 counter)
    (objectType Mug_bar_2 MugType) (pickupable Mug_bar_2) (cleanable Mug_bar_2)
    (inReceptacle Mug_bar_2 CounterTop_bar_1) (objectAtLocation Mug_bar_2 counter)
    (objectType Apple_bar_1 AppleType) (pickupable Apple_bar_1) (heatable Apple_bar_1)
    (coolable Apple_bar_1) (sliceable Apple_bar_1) (cleanable Apple_bar_1)
    (inReceptacle Apple_bar_1 CounterTop_bar_1) (objectAtLocation Apple_bar_1 counter)
    (objectType Knife_bar_1 KnifeType) (pickupable Knife_bar_1)
    (inReceptacle Knife_bar_1 CounterTop_bar_1) (objectAtLocation Knife_bar_1 counter)
    (objectType Cup_bar_1 CupType) (pickupable Cup_bar_1) (isReceptacleObject Cup_bar_1)
    (inReceptacle Cup_bar_1 CounterTop_bar_1) (objectAtLocation Cup_bar_1 counter)
    (objectType Pen_bar_1 PenType) (inReceptacleObject Pen_bar_1 Cup_bar_1)
    (objectType DeskLamp_bar_1 DeskLampType) (toggleable DeskLamp_bar_1)
    (inReceptacle DeskLamp_bar_1 Fridge_bar_1) (objectAtLocation DeskLamp_bar_1 fridgeside))
  (:goal (and (exists (?r - receptacle) (exists (?o - object) (and
    (heatable ?o) (objectType ?o AppleType) (receptacleType ?r FridgeType)
    (isHot ?o) (inReceptacle ?o ?r)))))))
"""


@pytest.fixture(scope="session")
def official(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder `json_2.1.1` of 25 official games, as ALFWorld lays it out."""
    folder = tmp_path_factory.mktemp("alfworld")
    with tarfile.open(DATA / "official_games.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    return folder / "json_2.1.1"


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is kept between processes is not the user's own."""
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))


@pytest.fixture
def cottage_file() -> GameFile:
    """The cottage as a game file: heat the apple and put it in the fridge."""
    problem = read_problem(COTTAGE, source="cottage")
    return GameFile(problem=problem, goal="put a hot apple in fridge.", walkthrough=())


@pytest.fixture
def cottage(cottage_file: GameFile) -> AlfWorldGame:
    """The cottage in play."""
    return AlfWorldGame(HouseLayout.build(cottage_file))
