"""The research agent with a model whose replies are fixed."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from assay.agents.models.protocol import Reply
from assay.agents.protocol import Action, EpisodeLimits
from assay.browser.research.agent import WebResearchAgent
from assay.errors import BadParameter, ModelError
from assay.rewards.outcome.tool_use import ToolUse, to_policy, tool_use
from assay.schema.message import Message
from assay.schema.observation import Observation
from assay.schema.outcome import ToolOutcome
from assay.schema.task import Task
from assay.schema.usage import Usage

CLICK = 'ACTION: click\nPARAMS: {"id": "3"}'
ANSWER = 'It is here.\nACTION: answer\nPARAMS: {"text": "42"}'
TASK = Task(id="t", goal="How many?")
FILLER = "\n".join(f"line {n} of a page with plenty to read" for n in range(20))


def page(body: str = FILLER, *, url: str = "http://a.example/x", extra: str = "") -> Observation:
    return Observation(f"url: {url}\ntitle: A page\n{extra}\n{body}")


class Parrot:
    """A model that gives prepared replies, and keeps what it was sent."""

    name = "parrot"

    def __init__(self, *replies: str) -> None:
        self._replies = list(replies)
        self.sent: list[list[dict[str, Any]]] = []
        self.sessions: list[str | None] = []
        self.closed = 0

    async def complete(
        self, messages: Sequence[dict[str, Any]], *, timeout_s: float, session: str | None = None
    ) -> Reply:
        self.sent.append(list(messages))
        self.sessions.append(session)
        if not self._replies:
            raise ModelError("nothing left to say")
        return Reply(self._replies.pop(0), Usage(10, 2, 0.1, 1), f"s{len(self.sent)}")

    async def close(self) -> None:
        self.closed += 1


def play(
    model: Parrot, *shown: Observation, limits: EpisodeLimits | None = None, **knobs: Any
) -> list[Action]:
    """The actions that follow on the observations, until the episode ends."""

    async def episode() -> list[Action]:
        agent = WebResearchAgent(model=model, **knobs)
        await agent.start(TASK, limits=limits or EpisodeLimits())
        actions: list[Action] = []
        for step, observation in enumerate(shown, 1):
            actions.append(await agent.act(observation, step=step))
            if actions[-1].answer is not None or actions[-1].gave_up:
                break
        await agent.close()
        return actions

    return asyncio.run(episode())


def last_prompt(model: Parrot) -> str:
    return str(model.sent[-1][-1]["content"])


def test_a_click_and_an_answer_make_an_episode() -> None:
    model = Parrot(CLICK, ANSWER)
    click, answer = play(model, page(), page())
    assert (click.text, click.answer) == ('click("3")', None)
    assert (answer.text, answer.answer, answer.think) == ('answer("42")', "42", "It is here.")
    assert click.usage == Usage(10, 2, 0.1, 1)
    assert model.sessions == [None, "s1"]
    assert model.closed == 1


def test_the_record_is_a_chat_with_the_call_and_its_result() -> None:
    first, second = play(Parrot(CLICK, ANSWER), page(), page())
    assert [message["role"] for message in first.messages] == ["system", "user", "assistant"]
    assert [message["role"] for message in second.messages] == ["tool", "assistant"]
    call = first.messages[-1]["tool_calls"][0]
    assert call["function"] == {"name": "click", "arguments": '{"id": "3"}'}
    assert second.messages[0]["tool_call_id"] == call["id"]
    assert "tool_calls" not in second.messages[-1], "an answer is not a use of a tool"
    record = [Message.model_validate(message) for message in first.messages + second.messages]
    use = tool_use(record, to_policy("default"))
    assert isinstance(use, ToolUse)
    assert use.count == 1


def test_a_failed_action_is_a_failed_result() -> None:
    failed = Observation(page().text, outcome=ToolOutcome("click", ok=False, error="stale_ref"))
    actions = play(Parrot(CLICK, ANSWER), page(), failed)
    assert actions[1].messages[0]["is_error"] is True


def test_the_model_gets_plain_roles_and_the_question_once() -> None:
    model = Parrot(CLICK, ANSWER)
    play(model, page(), page())
    assert [message["role"] for message in model.sent[1]] == [
        "system",
        "user",
        "assistant",
        "user",
    ]
    assert all(set(message) == {"role", "content"} for message in model.sent[1])
    assert sum("How many?" in message["content"] for message in model.sent[1]) == 1


def test_a_page_beyond_the_budget_is_cut_visibly() -> None:
    model = Parrot(ANSWER)
    play(model, page("word " * 1000), observation_chars=500)
    assert "characters not shown; scroll or narrow down" in last_prompt(model)
    assert len(last_prompt(model)) < 800


def test_a_payload_beyond_its_budget_is_cut_visibly_and_the_page_stays() -> None:
    model = Parrot('fetch_json("http://a.example/api")', ANSWER)
    result = page(extra=f"result of fetch_json http://a.example/api:\n{'9' * 9000}\n")
    play(model, page(), result, json_chars=1000)
    assert "9" * 1000 + "\n… 8000 characters not shown; ask for less" in last_prompt(model)
    assert "line 19 of a page" in last_prompt(model)


def test_earlier_pages_are_left_out_oldest_first() -> None:
    model = Parrot(CLICK, CLICK, ANSWER)
    pages = [page(FILLER.replace("plenty", name)) for name in ("first", "second", "third")]
    play(model, *pages, history_chars=len(pages[0].text) + 100)
    sent = "\n".join(message["content"] for message in model.sent[-1])
    assert ("first" in sent, "second" in sent, "third" in sent) == (False, True, True)
    assert "(left out: " in sent
    assert "How many?" in sent


@pytest.mark.parametrize(
    ("extra", "text"),
    [("", "noop()"), ("scrolled to 0 of 900 pixels\n", 'scroll("down")')],
    ids=["nothing to scroll", "something to scroll"],
)
def test_a_sparse_page_is_given_three_more_looks_per_address(extra: str, text: str) -> None:
    sparse = page("Loading", extra=extra)
    actions = play(Parrot(ANSWER), sparse, sparse, sparse, sparse)
    assert [action.text for action in actions] == [text] * 3 + ['answer("42")']
    assert actions[2].think.endswith("(3 of 3)")
    assert actions[0].usage == Usage()


def test_no_look_is_repeated_when_the_knob_says_so() -> None:
    assert play(Parrot(ANSWER), page("Loading"), auto_scrolls=0)[0].answer == "42"
    assert play(Parrot(ANSWER), page("Loading"), sparse_chars=0)[0].answer == "42"


def test_a_short_payload_is_not_a_sparse_page() -> None:
    model = Parrot('fetch_json("http://a.example/api")', ANSWER)
    result = page("", extra="result of fetch_json http://a.example/api:\n{}\n")
    assert play(model, page(), result)[1].answer == "42"


BLOCKED = ("zillow.com", "trulia.com", "apartments.com")
LINKS = f'[3] link "Homes" -> https://www.zillow.com/homes\n[4] link "Own" -> /own\n{FILLER}'
HEADING = f'heading "[3] link \\"Homes\\" -> https://zillow.com/x"\n{FILLER}'


@pytest.mark.parametrize(
    ("reply", "body", "does"),
    [
        ('goto("https://zillow.com/a")', FILLER, "noop()"),
        ('goto("https://WWW.Zillow.com./a")', FILLER, "noop()"),
        ('goto("//api.trulia.com/a")', FILLER, "noop()"),
        ('fetch_json("https://api.apartments.com/a")', FILLER, "noop()"),
        ('click("3")', LINKS, "noop()"),
        ('click("3")', HEADING, "noop()"),
        ('click("4")', LINKS, 'click("4")'),
        ('goto("https://notzillow.com/a")', FILLER, 'goto("https://notzillow.com/a")'),
        (
            'goto("https://a.example/?q=zillow.com")',
            FILLER,
            'goto("https://a.example/?q=zillow.com")',
        ),
        ('goto("http://[bad")', FILLER, 'goto("http://[bad")'),
    ],
)
def test_blocked_domains_are_not_opened(reply: str, body: str, does: str) -> None:
    assert play(Parrot(reply), page(body), blocked_domains=BLOCKED)[0].text == does


def test_no_domain_is_blocked_unless_it_is_named() -> None:
    reply = 'goto("https://zillow.com/a")'
    assert play(Parrot(reply), page())[0].text == reply
    other = 'goto("https://sub.deals.example/a")'
    assert play(Parrot(other), page(), blocked_domains="deals.example")[0].text == "noop()"


def test_a_relative_address_is_completed() -> None:
    assert play(Parrot('goto("/map")'), page())[0].text == 'goto("http://a.example/map")'


def test_a_bad_reply_costs_a_step_and_is_explained() -> None:
    model = Parrot("I will think about it.", ANSWER)
    bad, good = play(model, page(), page())
    assert (bad.text, bad.gave_up) == ("noop()", False)
    assert "(1 of 3 in a row)" in bad.think
    assert "Note: the reply names no action" in last_prompt(model)
    assert good.answer == "42"


def test_too_many_bad_replies_in_a_row_are_giving_up() -> None:
    actions = play(Parrot("?", "?", CLICK, "?", "?"), *[page()] * 9, bad_replies=2)
    assert [action.gave_up for action in actions] == [False, True]
    actions = play(Parrot("?", CLICK, "?", CLICK, ANSWER), *[page()] * 9, bad_replies=2)
    assert actions[-1].answer == "42", "a good reply starts the count anew"


def test_an_action_outside_the_set_is_refused_and_not_offered() -> None:
    model = Parrot('fetch_json("http://a.example/api")', ANSWER)
    refused, _ = play(model, page(), page(), actions="-fetch_json")
    assert refused.text == "noop()"
    assert "fetch_json is not one of the actions" in last_prompt(model)
    assert "fetch_json" not in model.sent[0][0]["content"]


def test_near_the_limit_only_an_answer_is_taken() -> None:
    model = Parrot(*[CLICK] * 13, ANSWER)
    actions = play(model, *[page()] * 15, bad_replies=5)
    assert [action.text for action in actions[10:]] == [
        'click("3")',
        "noop()",
        "noop()",
        'answer("42")',
    ]
    assert "You have to answer now" in model.sent[11][-1]["content"]
    assert "You have to answer now" not in model.sent[10][-1]["content"]


def test_without_a_margin_the_model_is_never_forced() -> None:
    actions = play(Parrot(*[CLICK] * 15), *[page()] * 15, answer_margin=0)
    assert {action.text for action in actions} == {'click("3")'}


@pytest.mark.parametrize(
    ("knobs", "says", "silent"),
    [
        ({}, "only the value that was asked for", "timezone"),
        ({"bare_answer": False}, "ACTION: click", "only the value"),
        ({}, "one call per year", "whole range"),
        ({"api_calls": "whole_range"}, "one call for the whole range", "per year"),
        ({"timezone": "Europe/Paris"}, "timezone Europe/Paris", "no such words"),
        ({"workflow": "none"}, "Rules:", "How to work"),
        ({"workflow": "Ask the mayor."}, "How to work:\nAsk the mayor.", "directory"),
        ({}, "Rules:", "Do not open"),
        ({"blocked_domains": "a.test"}, "Do not open these sites: a.test.", "zillow"),
    ],
)
def test_the_instructions_follow_the_knobs(knobs: dict[str, Any], says: str, silent: str) -> None:
    model = Parrot(ANSWER)
    play(model, page(), **knobs)
    system = model.sent[0][0]["content"]
    assert says in system
    assert silent not in system


@pytest.mark.parametrize(
    ("knobs", "says"),
    [
        ({"observation_chars": 0}, "observation_chars is 0"),
        ({"observation_chars": "many"}, "observation_chars is 'many'"),
        ({"api_calls": "daily"}, "choose 'per_year' or 'whole_range'"),
        ({"bare_answer": "no"}, "true or false"),
        ({"actions": "fly"}, "no action is named 'fly'"),
        ({"actions": "click,-goto"}, "list only names to use"),
        ({"model_timeout_s": 0}, "model_timeout_s is 0"),
        ({"model_options": {"a": 1}}, "need the name of a model"),
        ({"model": "rules", "model_options": {"a": 1}}, "its options are: none"),
        ({"model": "opnai"}, "did you mean 'openai'"),
    ],
)
def test_a_knob_that_cannot_be_is_refused_at_once(knobs: dict[str, Any], says: str) -> None:
    with pytest.raises((BadParameter, LookupError), match=says):
        WebResearchAgent(**{"model": Parrot(), **knobs})


def test_a_model_that_fails_ends_the_turn_with_its_error() -> None:
    with pytest.raises(ModelError, match="nothing left to say"):
        play(Parrot(), page())


def test_the_next_episode_remembers_nothing() -> None:
    model = Parrot(CLICK, ANSWER)

    async def two() -> Action:
        agent = WebResearchAgent(model=model)
        await agent.start(TASK, limits=EpisodeLimits())
        await agent.act(page(), step=1)
        await agent.start(Task(id="u", goal="What else?"), limits=EpisodeLimits())
        return await agent.act(page(), step=1)

    action = asyncio.run(two())
    assert [message["role"] for message in action.messages] == ["system", "user", "assistant"]
    assert "How many?" not in str(model.sent[-1])
    assert model.sessions == [None, None]
