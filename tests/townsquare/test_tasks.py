from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys

import pytest

import assay
from assay.errors import BadParameter
from assay.schema.task import Task
from tests.townsquare.reader import Reader
from tests.townsquare.solver import solve
from townsquare.server import Town
from townsquare.tasks import DEMO, INSTANCES, TEMPLATES, tasks

SEEDS = (7, 11, 2024)
STEPS = 15


def bare_answer(task: Task) -> str:
    """The gold in the form that the goal asks for."""
    if task.metadata["gold_kind"] == "list":
        return json.dumps(task.answer.split("\n"))
    return str(task.answer)


@pytest.mark.parametrize("seed", SEEDS)
def test_every_gold_can_be_read_off_the_pages_within_the_step_limit(seed: int) -> None:
    with Town(seed) as town:
        for task in tasks(seed=seed):
            with Reader(town.base_url) as reader:
                answer = solve(reader, task.goal)
                # Every request can be one action (a click or a goto); the answer is the last.
                assert reader.requests + 1 <= STEPS, task.id
            score = assay.score("assistantbench_reward", final_response=answer, answer=task.answer)
            assert float(score) == 1.0, (task.id, answer, task.answer)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_bare_answer_scores_one_and_its_kind_is_the_kind_of_gold(seed: int) -> None:
    for task in tasks(seed=seed):
        score = assay.score(
            "assistantbench_reward", final_response=bare_answer(task), answer=task.answer
        )
        assert float(score) == 1.0, task.id
        kind = {"list": "string list"}.get(task.metadata["gold_kind"], task.metadata["gold_kind"])
        assert score["gold_kind"] == kind, task.id


def test_no_seed_runs_out_of_questions_and_ids_stay_the_same() -> None:
    ids = [task.id for task in tasks(seed=0)]
    assert len(ids) == len(set(ids)) == len(TEMPLATES) * INSTANCES >= 60
    for seed in (*range(1, 25), -3, 10**12):
        drawn = tasks(seed=seed)
        assert [task.id for task in drawn] == ids
        assert len({task.goal for task in drawn}) == len(drawn)


def test_another_seed_asks_for_other_answers() -> None:
    first, second = tasks(seed=7), tasks(seed=8)
    changed = [one.answer != other.answer for one, other in zip(first, second, strict=True)]
    assert sum(changed) > 0.9 * len(changed)
    pairs = zip(first, second, strict=True)
    assert all((one.goal, one.answer) != (other.goal, other.answer) for one, other in pairs)


def test_the_same_seed_gives_the_same_bytes_whatever_the_hash_seed() -> None:
    script = (
        "import hashlib, sys\n"
        "from townsquare.tasks import tasks\n"
        "from townsquare.records.draw import draw_records\n"
        "text = repr(draw_records(7)) + ''.join(t.model_dump_json() for t in tasks(seed=7))\n"
        "sys.stdout.write(hashlib.sha256(text.encode()).hexdigest())\n"
    )
    digests = {
        subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for hash_seed in ("0", "1")
    }
    assert len(digests) == 1
    assert len(digests.pop()) == len(hashlib.sha256().hexdigest())


def test_the_demo_is_twenty_tasks_that_meet_every_planted_feature() -> None:
    demo = tasks(demo=True)
    assert sorted(task.id for task in demo) == sorted(DEMO)
    assert len(DEMO) == 20
    met = {feature for task in demo for feature in task.metadata["planted"]}
    assert met == {feature for template in TEMPLATES for feature in template.planted}
    assert len(met) == 14
    kinds = {task.metadata["gold_kind"] for task in demo}
    assert kinds == {"string", "number", "list", "json"}


def test_tasks_start_where_the_runner_can_fill_in_the_address() -> None:
    for task in tasks():
        start = task.metadata["start_url"].replace("{base_url}", "http://town")
        assert start in ("http://town/", "http://town/search")


@pytest.mark.parametrize(
    ("choice", "count"),
    [
        pytest.param({"names": ["rain_share"]}, INSTANCES, id="a template"),
        pytest.param({"names": ["rain_share.2", "high_tide.1"]}, 2, id="two tasks"),
        pytest.param({"names": ["rain_share"], "demo": True}, 2, id="both conditions hold"),
        pytest.param({"names": ["rain_share"], "difficulty": "easy"}, 0, id="it is a hard one"),
    ],
)
def test_tasks_can_be_chosen(choice: dict[str, object], count: int) -> None:
    assert len(tasks(**choice)) == count  # type: ignore[arg-type] # a table of keywords


def test_an_unknown_name_is_said_to_be_unknown() -> None:
    with pytest.raises(BadParameter, match=r"no townsquare task 'rain'.*rain_share"):
        tasks(names=["rain"])


def test_whoever_reads_only_the_start_of_a_long_payload_gets_another_answer() -> None:
    with Town(7) as town, Reader(town.base_url) as reader:
        stations = [link for link in reader.page("weather", "/api").links if "station" in link.href]
        url = stations[0].href.replace("2022-05-01", "2020-01-01").replace("2022-05-07", "{}")
        assert len(reader.fetch(url.format("2020-12-31"))[2]) < 6000
        assert len(reader.fetch(url.format("2023-12-31"))[2]) > 12_000
        # A window in four years, asked for in one call, is too long as well.
        window = url.replace("2020-01-01", "2020-09-01").format("2023-09-07")
        assert len(reader.fetch(window)[2]) > 6000


def test_clubs_that_are_asked_for_lie_deep_in_the_list_of_results() -> None:
    with Town(7) as town, Reader(town.base_url) as reader:
        results = [link for link in reader.page("search", q="clubs").links if link.after]
        clubs = [link for link in results if "It meets at" in link.after]
        assert len(clubs) == 40
        for task in tasks(seed=7, names=["club_fee", "club_secretary"]):
            hall = task.goal.partition(" meets at ")[2].partition("? ")[0]
            rank = 1 + next(n for n, link in enumerate(clubs) if hall in link.after)
            assert 15 <= rank <= 30
            shown = sum(len(link.text + link.after) for link in clubs[: rank - 1])
            assert shown > 4000


@pytest.mark.parametrize(
    ("name", "words", "wrong", "right"),
    [
        ("cheapest_shop.1", "cheapest price {item}", "dealfinder", "shops"),
        ("ticket_total.1", "museum tickets prices", "tickets", "museum"),
        ("high_tide.1", "high water harbour tide", "tides", "harbour"),
        ("deputy_chair.1", "{committee} Committee deputy chair", "brindlekey", "council"),
        ("opening_time.1", "{business} opening hours", "directory-classic", "directory"),
        ("highest_sold.1", "{street} highest price", "quickhomes", "register"),
        ("month_high.1", "weather station maximum temperature", "weather-mirror", "weather"),
        ("motion_votes.1", "how council voted motion {motion}", "gazette", "council"),
    ],
)
def test_the_obvious_search_finds_the_wrong_site_first_and_the_right_one_too(
    name: str, words: str, wrong: str, right: str
) -> None:
    (task,) = tasks(seed=7, names=[name])
    goal = task.goal
    query = words.format(
        item=goal.partition(" has ")[2].partition(" in stock")[0],
        committee=goal.partition("chair of the ")[2].partition(" Committee")[0],
        business=goal.partition(" time does ")[2].partition(" in Brindle")[0],
        motion=goal.partition("'")[2].partition("'")[0],
        street=goal.partition("property on ")[2].partition(" in Brindle")[0],
    )
    with Town(7) as town, Reader(town.base_url) as reader:
        hosts = [
            link.href.split("//")[1].split(".")[0]
            for link in reader.page("search", q=query).links
            if "//" in link.href and link.text != "Town Square portal"
        ]
    assert hosts[0] == wrong
    assert right in hosts
