"""The checks of perf/credit_episodes.py, on a few episodes that the runner records."""

from __future__ import annotations

from pathlib import Path

import pytest

import assay
from assay.schema.episode import Episode
from perf.credit_episodes import Findings, Household, Recording, games


@pytest.fixture(scope="module")
def episodes(tmp_path_factory: pytest.TempPathFactory) -> list[Episode]:
    runs = tmp_path_factory.mktemp("runs")
    settings = {"limits.steps": 6, "stray": 0.3}
    run = Recording("alfworld", Household, 2, settings, games()[:3]).play(Path(runs), 1)
    return list(assay.open_run(run.path).final(full=True))


def test_recorded_turn_rewards_add_up_and_are_differences_of_progress(
    episodes: list[Episode],
) -> None:
    findings = Findings()
    for episode in episodes:
        findings.check(episode)
    assert (len(findings.rows), findings.problems) == (6, [])


def test_a_record_that_was_changed_is_noticed(episodes: list[Episode]) -> None:
    episode = episodes[0]
    other = assay.Scored(0.25, "changed", {}).sign(episode.scores[0].scorer, {})
    findings = Findings()
    findings.check(episode.model_copy(update={"scores": (other,)}))
    assert findings.problems == [f"{episode.attempt}: assay.score gives another outcome"]
