"""The part of step rewards that may be added up, and the costs beside it."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.browser.steps import (
    ContractProgress,
    Effect,
    HistoryFacts,
    RecoveryRewardScorer,
    Shaping,
    StepCost,
    StepInput,
    ToolOutcome,
    step_cost,
)
from assay.errors import BadParameter
from assay.schema.evidence import PageEvidence

scorer = RecoveryRewardScorer()
potentials = st.floats(0.0, 1.0)
walks = st.lists(potentials, min_size=2, max_size=30)
gammas = st.floats(0.0, 1.0)


def discounted(shaping: Shaping, walk: list[float]) -> float:
    return math.fsum(
        shaping.gamma**t * shaping.reward(before, after)
        for t, (before, after) in enumerate(pairwise(walk))
    )


@given(walks, gammas)
def test_the_discounted_sum_depends_on_the_ends_only(walk: list[float], gamma: float) -> None:
    ends = gamma ** (len(walk) - 1) * walk[-1] - walk[0]
    assert discounted(Shaping(gamma), walk) == pytest.approx(ends, abs=1e-9)


@given(walks, gammas, st.integers(1, 5))
def test_a_closed_loop_pays_nothing_however_often_it_is_walked(
    walk: list[float], gamma: float, laps: int
) -> None:
    loop = walk * laps + [walk[0]]
    total = discounted(Shaping(gamma), loop)
    assert total <= 1e-9
    assert discounted(Shaping(1.0), loop) == pytest.approx(0.0, abs=1e-9)


@given(walks, gammas)
def test_an_episode_that_ends_adds_up_to_minus_its_first_potential(
    walk: list[float], gamma: float
) -> None:
    shaping = Shaping(gamma)
    last = gamma ** (len(walk) - 1) * shaping.reward(walk[-1], 0.5, terminal=True)
    assert discounted(shaping, walk) + last == pytest.approx(-walk[0], abs=1e-9)


@given(potentials, potentials, gammas)
def test_one_step_lies_between_minus_one_and_gamma(a: float, b: float, gamma: float) -> None:
    assert -1.0 <= Shaping(gamma).reward(ContractProgress(a), ContractProgress(b)) <= gamma


def test_what_is_no_discount_or_potential_is_refused() -> None:
    for gamma in (-0.1, 1.1, math.nan, math.inf):
        with pytest.raises(BadParameter, match="gamma"):
            Shaping(gamma)
    for value in (-0.1, 1.1, math.nan):
        with pytest.raises(BadParameter, match="potential"):
            Shaping(0.9).reward(value, 0.5)


def test_costs_stand_beside_the_score_and_are_not_in_the_shaping() -> None:
    page = PageEvidence(url="a")
    click = ToolOutcome("click", effect=Effect.BROWSER, ok=True)
    repeated = StepInput(click, page, page, recent=HistoryFacts(same_call=2))
    failed = StepInput(click._replace(ok=False), recent=HistoryFacts(same_error=9))
    ungated = StepInput(click._replace(effect=Effect.DESTRUCTIVE))
    assert step_cost(scorer.score(StepInput(click, page, page))) == StepCost(0.0, 0.0)
    assert step_cost(scorer.score(repeated)) == StepCost(0.0, 0.4)
    assert step_cost(scorer.score(failed)) == StepCost(0.0, 1.0)
    assert step_cost(scorer.score(ungated)) == StepCost(1.0, 0.0)
