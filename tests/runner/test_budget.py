"""What a run may spend: it stops before it spends more, goes on with more, and never guesses."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import assay
from assay.agents.models.openai import OpenAIModel
from assay.agents.models.prices import default_prices, read_prices
from assay.cli.main import main
from assay.errors import BadParameter, BudgetSpent, RunStopped, UnknownName
from assay.ledger.run import Run
from assay.ledger.summary import summarise
from assay.report.diagnosis import diagnose
from assay.runner.budget import Budget, BudgetTracker, make_budget
from assay.runner.options import RunOptions
from assay.runner.plan import plan_new
from assay.schema.usage import Usage
from tests.agents.chat_server import ChatServer, as_json, serving

PRICES = """
as_of = "2026-11-01"

[models."m"]
input_usd_per_mtok = 1000
output_usd_per_mtok = 10000
"""
TASKS = [{"id": f"q{n}", "question": f"question {n}", "answer": "42"} for n in range(20)]
REPLY = {
    "choices": [{"message": {"content": "42"}}],
    "usage": {"prompt_tokens": 90, "completion_tokens": 10},
}
"""One reply costs 100 tokens: 0.09 + 0.10 = 0.19 dollars."""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    Path("prices.toml").write_text(PRICES)
    Path("questions.jsonl").write_text("\n".join(map(json.dumps, TASKS)))


@contextmanager
def replying(reply: dict[str, Any] = REPLY) -> Iterator[ChatServer]:
    with serving(as_json(reply)) as server:
        yield server


def ask(server: ChatServer, **arguments: Any) -> Run:
    arguments.setdefault("tasks", TASKS)
    settings = {"model_options.base_url": server.url, **arguments.pop("settings", {})}
    return assay.run(
        model="openai:m", rewards=["qa_f1_reward"], settings=settings, **{"workers": 4, **arguments}
    )


def command(server: ChatServer, *arguments: str) -> Any:
    questions = ["questions.jsonl", "--model", "openai:m", "--reward", "qa_f1_reward"]
    where = ["--set", f"model_options.base_url={server.url}", "--workers", "4"]
    return main(["run", *questions, *where, *arguments])


@pytest.mark.parametrize("workers", [1, 4, 64])
def test_a_run_stops_before_it_spends_more_than_its_tokens_and_goes_on_with_more(
    workers: int,
) -> None:
    with replying() as server:
        with pytest.raises(BudgetSpent, match="550 are spent") as stopped:
            ask(server, max_tokens=550, workers=workers)
        done = Run(stopped.value.path)
        assert len(server.requests) == 5
        assert summarise(done).attempts == 5
        assert summarise(done).counts.mean == 1.0, "what did not begin is no zero"
        # The run's own budget is kept where none is named.
        with pytest.raises(BudgetSpent):
            ask(server, resume=done.path)
        assert len(server.requests) == 5
        with pytest.raises(BudgetSpent):
            ask(server, resume=done.path, max_tokens=1_000, workers=workers)
        assert len(server.requests) == 10
        again = ask(server, resume=done.path, max_tokens=0, workers=workers)
    assert len(server.requests) == 20
    assert summarise(again).attempts == 20


def test_the_line_of_a_spent_budget_says_how_to_go_on_and_that_works(
    capfd: pytest.CaptureFixture[str],
) -> None:
    with replying() as server:
        code = command(server, "--max-cost", "1", "--prices", "prices.toml", "--json")
        shown = capfd.readouterr()
        assert code == 1
        record = json.loads(shown.out)
        assert record["usage"]["cost_usd"] == pytest.approx(0.95)
        assert record["cost_per_attempt_usd"] == pytest.approx(0.19)
        assert record["tasks"][0]["usage"]["cost_usd"] == pytest.approx(0.19)
        (line,) = [line for line in shown.err.splitlines() if line.startswith("assay:")]
        assert "$0.9500 of --max-cost 1 are spent, at about $0.1900 an attempt" in line
        assert "15 are left" in line
        advice = re.search(r"assay (run --resume \S+ --max-cost \S+)$", line)
        assert advice is not None
        assert main([*advice[1].split(), "--json"]) == 0
    record = json.loads(capfd.readouterr().out)
    assert record["usage"]["cost_usd"] == pytest.approx(3.8)
    assert len(server.requests) == 20


def test_a_budget_that_cannot_be_kept_is_refused_before_the_run() -> None:
    with replying() as server:
        with pytest.raises(BadParameter, match="the price of model 'm' is not known at http"):
            ask(server, max_cost=1)
        with pytest.raises(BadParameter, match="is not known at"):
            ask(server, settings={"limits.cost_usd": 1})
        ask(server, max_cost=100, prices="prices.toml")
        with pytest.raises(BadParameter, match="max_cost is -1"):
            ask(server, max_cost=-1)
    assert len(list(Path("runs").iterdir())) == 1


@pytest.mark.parametrize(
    ("usage", "limit"),
    [({}, "max_tokens"), ({}, "max_cost"), ({"prompt_tokens": 5, "calls": 1}, "max_cost")],
)
def test_an_agent_that_does_not_say_what_it_used_ends_a_run_with_a_budget(
    usage: dict[str, int], limit: str
) -> None:
    def answer(question: str) -> dict[str, Any]:
        return {"answer": "42", "usage": usage}

    budget: dict[str, Any] = {limit: 5}
    with pytest.raises(RunStopped, match="is not known, so --max-") as stopped:
        assay.run(tasks=TASKS, agent=answer, rewards=["qa_f1_reward"], workers=4, **budget)
    assert summarise(Run(stopped.value.path)).attempts == 1


def test_a_server_that_counts_no_tokens_is_not_free() -> None:
    with replying({"choices": REPLY["choices"]}) as server:
        done = ask(server, prices="prices.toml")
        assert summarise(done).usage.cost_usd is None
        with pytest.raises(RunStopped, match="the number of tokens of attempt"):
            ask(server, max_tokens=100)


def test_a_cost_that_is_not_known_is_said_and_never_nothing(
    capfd: pytest.CaptureFixture[str],
) -> None:
    with replying() as server:
        assert command(server) == 0
        assert "cost unknown (see --prices)" in capfd.readouterr().out
        assert command(server, "--prices", "prices.toml") == 0
        assert "$3.8000 ($0.1900 an attempt)" in capfd.readouterr().out


def walk(messages: list[dict[str, Any]], step: int) -> dict[str, Any]:
    """Look four times, at 100 tokens each, then answer."""
    action = "look" if step < 5 else 'answer("done")'
    usage = {"prompt_tokens": 90, "completion_tokens": 10, "cost_usd": 0.5, "calls": 1}
    return {"action": action, "usage": usage, **({"answer": "done"} if step == 5 else {})}


@pytest.mark.parametrize(
    ("limits", "ending", "steps", "name"),
    [
        ({"limits.tokens": 150}, "budget_limit", 2, "tokens"),
        ({"limits.cost_usd": 1.0}, "budget_limit", 2, "cost_usd"),
        ({"limits.tokens": 401}, "answered", 5, None),
        ({"limits.tokens": 450}, "answered", 5, None),
    ],
)
def test_an_attempt_that_has_used_its_budget_ends_as_the_agents_own(
    limits: dict[str, float], ending: str, steps: int, name: str | None
) -> None:
    done = assay.run("webshop", agent=walk, settings=limits, tasks="0")
    (episode,) = done.final()
    assert (episode.stop_reason, episode.n_steps) == (ending, steps)
    assert episode.metadata.get("limit") == name
    assert episode.failure is None
    assert float(episode.scores[0]) == 0.0, "a score, and no abstention"
    if name:
        (cause,) = diagnose(done).causes
        assert cause.cause == "token_budget"
        assert "--max-attempt-tokens" in cause.suggestion


def test_the_budget_of_an_attempt_is_part_of_the_configuration() -> None:
    with replying() as server:
        done = ask(server, settings={"limits.tokens": 250}, tasks=TASKS[:2])
        assert done.manifest.config["benchmark"]["limits"]["tokens"] == 250
        with pytest.raises(BadParameter, match=r"limits\.tokens was 250 and is 300 now"):
            ask(server, settings={"limits.tokens": 300}, tasks=TASKS[:2], resume=done.path)
        with pytest.raises(BadParameter, match=r"limits\.? ?\]? tokens is 0; it must be a whole"):
            ask(server, settings={"limits.tokens": 0})


# Prices.


def test_the_prices_of_a_run_are_in_its_manifest_and_a_snapshot_costs_what_its_model_does() -> None:
    with replying() as server:
        done = ask(server, prices="prices.toml")
    options = done.manifest.config["agent"]["options"]["model_options"]
    assert (options["input_usd_per_mtok"], options["output_usd_per_mtok"]) == (1000, 10000)
    table = default_prices()
    assert table.as_of == "2026-03-21"
    assert table.find("gpt-5-mini-2025-08-07") == table.models["gpt-5-mini"]
    assert table.find("claude-sonnet-4-5-20250929") == table.models["claude-sonnet-4-5"]
    assert table.find("gpt-5-mini-of-mine") is None


def test_list_prices_hold_at_the_vendors_own_address_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")

    def options(**settings: Any) -> dict[str, Any]:
        request = RunOptions(
            tasks=TASKS, model="openai:gpt-5-nano", rewards=["qa_f1_reward"], settings=settings
        )
        record: dict[str, Any] = plan_new(request).config()["agent"]["options"]["model_options"]
        return record

    assert options()["output_usd_per_mtok"] == 0.4
    assert "output_usd_per_mtok" not in options(**{"model_options.base_url": "http://127.0.0.1/v1"})
    own = options(**{"model_options.output_usd_per_mtok": 7, "model_options.input_usd_per_mtok": 1})
    assert own["output_usd_per_mtok"] == 7


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("p.toml", "models = 3", "has no table"),
        ("p.toml", "[models.m]\ninput_usd_per_mtok = 1", "model 'm' is"),
        ("p.json", '{"models": {"m": {"input_usd_per_mtok": -1, "output_usd_per_mtok": 1}}}', "-1"),
        ("p.json", "{", "not a valid price file"),
        ("p.toml", "[[", "not a valid price file"),
    ],
)
def test_a_damaged_table_of_prices_is_an_error_that_names_it(
    name: str, text: str, problem: str
) -> None:
    Path(name).write_text(text)
    with pytest.raises(BadParameter, match=problem):
        read_prices(name)
    with pytest.raises(UnknownName, match="cannot read the prices"):
        read_prices("nowhere.toml")


def test_prices_are_listed_with_their_date(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "prices"]) == 0
    assert re.search(r"gpt-5-mini +0\.25 +2\.00 +2026-03-21", capfd.readouterr().out)
    assert main(["list", "prices", "--prices", "prices.toml", "--json"]) == 0
    first = json.loads(capfd.readouterr().out)[0]
    assert (first["model"], first["as_of"], first["source"]) == ("m", "2026-11-01", "prices.toml")


# Seeds.


def test_each_attempt_has_a_seed_of_its_own_that_another_run_has_too() -> None:
    def draw(question: str, seed: int) -> str:
        return str(seed)

    def seeds(**arguments: Any) -> dict[tuple[str, int], str | None]:
        done = assay.run(
            tasks=TASKS[:3], agent=draw, rewards=["qa_f1_reward"], repeats=2, **arguments
        )
        for episode in done.final():
            assert episode.metadata["seed"] == int(episode.final_response or "")
        return {(each.task.id, each.repeat): each.final_response for each in done.final()}

    first = seeds(seed=7)
    assert len(set(first.values())) == 6
    assert seeds(seed=7, workers=1) == first
    assert not set(seeds(seed=8).values()) & set(first.values())
    with pytest.raises(BadParameter, match="needs 'seed'"):
        seeds()


class Drawing:
    """Takes the seed when it starts."""

    async def start(self, task: Any, *, limits: Any, seed: int | None = None) -> None:
        self.seed = seed

    async def act(self, observation: Any, *, step: int) -> str:
        return str(self.seed)

    async def close(self) -> None: ...


class PlainDrawing:
    def start(self, task: Any, *, limits: Any, seed: int | None = None) -> None:
        self.seed = seed

    def act(self, observation: Any) -> str:
        return str(self.seed)


@pytest.mark.parametrize("agent", [Drawing, PlainDrawing])
def test_an_agent_may_take_the_seed_when_it_starts(agent: type) -> None:
    arguments: dict[str, Any] = {"tasks": TASKS[:1], "agent": agent, "rewards": ["qa_f1_reward"]}
    (with_seed,) = assay.run(seed=7, **arguments).final()
    assert with_seed.final_response == str(with_seed.metadata["seed"])
    (without,) = assay.run(**arguments).final()
    assert without.final_response == "None"
    assert "seed" not in without.metadata


def test_the_seed_is_sent_where_that_is_asked_for_and_remembered() -> None:
    with replying() as server:
        done = ask(server, tasks=TASKS[:2], seed=7, settings={"model_options.send_seed": True})
        again = ask(server, tasks=TASKS[:3], seed=7)
        with pytest.raises(BadParameter, match="seed was 7 and is 8 now"):
            ask(
                server,
                tasks=TASKS[:2],
                seed=8,
                resume=done.path,
                settings={"model_options.send_seed": True},
            )
    sent = {request.get("seed") for request in server.requests[:2]}
    assert sent == {episode.metadata["seed"] for episode in done.final()}
    assert {request.get("seed") for request in server.requests[2:]} == {None}
    assert again.manifest.config["seed"] == 7


# The cache.


def test_a_run_that_is_made_again_asks_nothing_and_costs_nothing() -> None:
    with replying() as server:
        first = ask(server, cache="cache", repeats=3, prices="prices.toml")
        assert len(server.requests) == 60, "each repeat draws a reply of its own"
        again = ask(
            server, cache="cache", repeats=3, prices="prices.toml", max_cost=0.01, workers=64
        )
        assert len(server.requests) == 60
        ask(server, cache="cache", repeats=4, settings={"model_options.temperature": 0.5})
        assert len(server.requests) == 140, "another request is another key"
        ask(server, repeats=1)
        assert len(server.requests) == 160, "without --cache nothing is taken from it"
    assert [e.final_response for e in again.final()] == [e.final_response for e in first.final()]
    assert {e.metadata["cached_calls"] for e in again.final()} == {1}
    assert all("cached_calls" not in episode.metadata for episode in first.final())
    assert {episode.usage for episode in again.final()} == {Usage(cost_usd=0.0)}
    summary = summarise(again)
    assert (summary.cached_calls, summary.usage.calls, summary.usage.cost_usd) == (60, 0, 0.0)
    assert not list(Path("cache").rglob("*.draft"))


def test_the_same_request_twice_in_one_attempt_is_two_replies() -> None:
    replies = [as_json({**REPLY, "choices": [{"message": {"content": f"look {n}"}}]}) for n in "ab"]
    with serving(*replies) as server:

        async def twice(question: str) -> str:
            model = OpenAIModel(model="m", base_url=server.url)
            messages = [{"role": "user", "content": question}]
            texts = [(await model.complete(messages, timeout_s=5)).text for _ in range(2)]
            return " ".join(texts)

        answers = [
            next(
                assay.run(tasks=TASKS[:1], agent=twice, rewards=["qa_f1_reward"], cache="c").final()
            )
            for _ in range(2)
        ]
    assert [answer.final_response for answer in answers] == ["look a look b"] * 2
    assert len(server.requests) == 2
    assert answers[1].metadata["cached_calls"] == 2


def test_what_a_kill_or_a_full_disk_left_in_the_cache_is_asked_again() -> None:
    with replying() as server:
        ask(server, cache="cache")
        for number, path in enumerate(sorted(Path("cache").rglob("[0-9a-f]*"))):
            if path.is_file() and number % 2:
                path.write_bytes(path.read_bytes()[:20])
        damaged = sum(path.stat().st_size == 20 for path in Path("cache").rglob("*"))
        again = ask(server, cache="cache")
        assert damaged
        assert len(server.requests) == 20 + damaged
        ask(server, cache="cache")
    assert len(server.requests) == 20 + damaged
    assert summarise(again).counts.mean == 1.0


def test_a_cache_that_cannot_be_read_or_written_is_no_failure_of_the_agent() -> None:
    for number in range(256):
        Path("cache").mkdir(exist_ok=True)
        Path("cache", f"{number:02x}").write_text("not a folder")
    with replying() as server:
        run = ask(server, cache="cache")
    assert {episode.stop_reason for episode in run.final()} == {"answered"}


def test_no_refusal_is_kept() -> None:
    with serving(as_json({"error": "no"}, status=401), as_json(REPLY)) as server:
        with pytest.raises(RunStopped):
            ask(server, cache="cache", tasks=TASKS[:1])
        done = ask(server, cache="cache", tasks=TASKS[:1])
    assert summarise(done).counts.mean == 1.0
    with pytest.raises(BadParameter, match="cannot be used"):
        ask(server, cache="prices.toml")


# The arithmetic.


def test_a_budget_leaves_room_for_what_is_under_way() -> None:
    spending = BudgetTracker(Budget(tokens=1_000))
    assert spending.has_room(0)
    assert not spending.has_room(1), "what one attempt costs is not known yet"
    spending = BudgetTracker(make_budget(None, None, {"cost_usd": None, "tokens": 1_000}))
    assert Counter(spending.has_room(n) for n in range(3)) == {True: 1, False: 2}
    assert make_budget(0, 0, {"cost_usd": 5.0, "tokens": 7}) == Budget()
    assert make_budget(3, None, {"cost_usd": 5.0, "tokens": 7}) == Budget(3, 7)
