"""Many rollouts break at once over a few real processes, and nothing is lost or mixed up."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(scope="module")
def faults() -> ModuleType:
    spec = importlib.util.spec_from_file_location("faults", ROOT / "perf" / "faults.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["faults"] = module
    spec.loader.exec_module(module)
    return module


def test_broken_rollouts_over_small_processes_lose_nothing(faults: ModuleType) -> None:
    report = faults.run_faults(faults.clerk_rig(), rollouts=50, cap=4, seed=1)
    kinds = {ending.partition(":")[0] for ending in report.endings}
    assert kinds == set(faults.KINDS)
    assert report.wrong == []
    assert (report.slots_lost, report.processes_left) == (0, 0)


def test_broken_rollouts_over_real_simulators_lose_nothing(faults: ModuleType) -> None:
    report = faults.run_faults(faults.scienceworld_rig(), rollouts=5, cap=2, seed=21)
    assert report.wrong == []
    assert (report.slots_lost, report.processes_left) == (0, 0)
