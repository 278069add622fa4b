"""The whole loop in real Chromium: the town, the `rules` agent, the scores, the ledger."""

from __future__ import annotations

import pytest

import assay
from assay.ledger.run import Run
from assay.runner.rescore import rescore
from assay.schema.score import score_to_record
from assay.scoring.scorer import Scorer

TASKS = "ticket_total.1,club_fee.1"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, Run]:
    folder = tmp_path_factory.mktemp("loop")
    first, second = (
        assay.run(
            "townsquare",
            agent="rules",
            tasks=TASKS,
            workers=workers,
            runs_dir=folder,
            repository=folder,
        )
        for workers in (1, 2)
    )
    return first, second


def test_two_runs_of_one_seed_are_byte_for_byte_alike(runs: tuple[Run, Run]) -> None:
    first, second = ({episode.task.id: episode for episode in run.final()} for run in runs)
    assert list(first) == sorted(TASKS.split(","), key=list(first).index)
    for task, episode in first.items():
        again = second[task]
        assert episode.stop_reason == "answered"
        assert (again.final_response or "").encode() == (episode.final_response or "").encode()
        assert list(map(score_to_record, again.scores)) == list(
            map(score_to_record, episode.scores)
        )
    assert runs[0].manifest.task_set == runs[1].manifest.task_set


def test_every_step_in_the_browser_has_evidence_and_a_score(runs: tuple[Run, Run]) -> None:
    for episode in runs[0].final(full=True):
        reset, *actions, answer = episode.trajectory.steps
        assert reset.evidence is not None
        assert runs[0].text(reset.observation).startswith("url: http://")
        for step in actions:
            assert step.evidence is not None
            assert step.outcome is not None
            assert step.scores[0]["score"] is not None
        assert answer.action.startswith("answer(")


def test_the_ledger_keeps_the_task_without_the_port_of_the_day(runs: tuple[Run, Run]) -> None:
    episode = next(runs[0].episodes())
    assert episode.task.metadata["start_url"].startswith("{base_url}")
    assert episode.metadata["base_url"].startswith("http://townsquare.localhost:")


def test_what_chromium_showed_is_judged_again_without_chromium(runs: tuple[Run, Run]) -> None:
    child = rescore(runs[0], [Scorer("assistantbench_reward"), Scorer("qa_f1_reward")])
    for one, other in zip(runs[0].episodes(), child.episodes(), strict=True):
        assert other.scores == one.scores


def test_a_recorded_episode_is_re_enacted_in_a_town_at_another_address(
    runs: tuple[Run, Run],
) -> None:
    again = assay.run(
        "townsquare",
        agent="replay",
        settings={"episodes": str(runs[0].path)},
        tasks=TASKS,
        runs_dir=runs[0].path.parent,
        repository=runs[0].path.parent,
    )
    recorded = {episode.task.id: episode for episode in runs[0].final()}
    for episode in again.final():
        assert episode.final_response == recorded[episode.task.id].final_response
        assert episode.n_steps == recorded[episode.task.id].n_steps
