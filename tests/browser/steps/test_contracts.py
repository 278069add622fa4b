"""Outcome contracts: three-valued verdicts on recorded facts, and how contracts are read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.browser.steps import (
    contract_from_json,
    contract_from_toml,
    evaluate,
    follow,
    parse_contract,
)
from assay.browser.steps.checks import ENTRY_LIMIT, TEXT_LIMIT, match_glob
from assay.browser.steps.contracts import FULL, contract_progress
from assay.errors import BadParameter
from assay.schema.evidence import ConsoleFact, NetworkFact, PageFacts

FACTS = PageFacts(
    step=3,
    url="https://shop.test/cart?id=7#top",
    text="Your  cart\nTotal 12.50",
    texts={"#total": "12.50 EUR"},
    counts={".row": 2, ".gone": 0},
    network=(
        NetworkFact("GET", "https://shop.test/api/cart", 200, step=1),
        NetworkFact("post", "https://shop.test/api/cart/7", 201, step=3),
    ),
    console=(ConsoleFact("error", "boom"), ConsoleFact("log", "hello")),
    dialog=False,
    shot=0xFF,
    data={"cart": [{"price": 12.5, "name": "Red shoe"}], "n": 1, "done": True},
)

LEAVES: list[tuple[str, dict[str, Any], str]] = [
    ("whole address", {"url": {"equals": "https://shop.test/cart?id=7#top"}}, "pass"),
    ("part of it", {"url": {"contains": "/cart"}}, "pass"),
    ("any id", {"url": {"glob": "https://*.test/cart?id=*#top"}}, "pass"),
    ("another page", {"url": {"prefix": "https://shop.test/order"}}, "fail"),
    ("white space is folded", {"dom_text": {"contains": "Your cart Total"}}, "pass"),
    ("case counts", {"dom_text": {"contains": "your cart"}}, "fail"),
    ("unless told", {"dom_text": {"contains": "your CART", "ignore_case": True}}, "pass"),
    ("one element", {"dom_text": {"selector": "#total", "prefix": "12.50"}}, "pass"),
    ("an element that is not there", {"dom_text": {"selector": ".gone", "equals": "x"}}, "fail"),
    ("not recorded", {"dom_text": {"selector": "#x", "equals": "x"}}, "inconclusive"),
    ("two rows", {"dom_count": {"selector": ".row", "eq": 2}}, "pass"),
    ("at least three", {"dom_count": {"selector": ".row", "gte": 3}}, "fail"),
    ("at most none", {"dom_count": {"selector": ".gone", "lte": 0}}, "pass"),
    ("never counted", {"dom_count": {"selector": ".new", "eq": 0}}, "inconclusive"),
    ("sent", {"network": {"method": "POST", "url": {"contains": "/api/cart"}}}, "pass"),
    ("answered", {"network": {"status": [201], "since": "step"}}, "pass"),
    ("not in this step", {"network": {"method": "GET", "since": "step"}}, "fail"),
    ("not answered so", {"network": {"method": "POST", "status": [500]}}, "fail"),
    ("no dialog", {"no_dialog": True}, "pass"),
    ("one error", {"console": {"level": "error", "eq": 1}}, "pass"),
    ("no such error", {"console": {"level": "error", "contains": "bang", "lte": 0}}, "pass"),
    ("messages at all", {"console": {"gte": 3}}, "fail"),
    ("near", {"screenshot": {"hash": "00000000000000fe", "max_distance": 1}}, "pass"),
    ("far", {"screenshot": {"hash": "0000000000000000", "max_distance": 7}}, "fail"),
    ("a number", {"data": {"key": "cart.0.price", "equals": 12.5}}, "pass"),
    ("a bound", {"data": {"key": "cart.0.price", "lte": 12}}, "fail"),
    ("a text", {"data": {"key": "cart.0.name", "contains": "shoe"}}, "pass"),
    ("true is not one", {"data": {"key": "done", "equals": 1}}, "fail"),
    ("a text has no size", {"data": {"key": "cart.0.name", "gte": 1}}, "fail"),
    ("out of the list", {"data": {"key": "cart.1.price", "exists": True}}, "fail"),
    ("absent as wanted", {"data": {"key": "error", "exists": False}}, "pass"),
]


@pytest.mark.parametrize(("why", "leaf", "verdict"), LEAVES, ids=[row[0] for row in LEAVES])
def test_each_kind_of_check_answers(why: str, leaf: dict[str, Any], verdict: str) -> None:
    assert evaluate(parse_contract(leaf), FACTS, step=3).verdict == verdict


@pytest.mark.parametrize("leaf", [row[1] for row in LEAVES], ids=[row[0] for row in LEAVES])
def test_old_or_absent_facts_decide_nothing_and_not_keeps_it_so(leaf: dict[str, Any]) -> None:
    for contract in (parse_contract(leaf), parse_contract({"not": leaf})):
        for facts, step, code in (
            (None, 3, "fact_missing"),
            (PageFacts(step=3), 3, "fact_missing"),
            (FACTS, 4, "fact_stale"),
            (FACTS, 2, "fact_stale"),
        ):
            report = evaluate(contract, facts, step=step)
            assert report.verdict == "inconclusive"
            assert [outcome.code for outcome in report.undecided] == [code]


def test_a_contract_can_allow_older_facts_and_a_channel_can_be_older_than_the_rest() -> None:
    lenient = parse_contract({"max_age_steps": 2, "no_dialog": True})
    assert evaluate(lenient, FACTS, step=5).verdict == "pass"
    assert evaluate(lenient, FACTS, step=6).verdict == "inconclusive"
    old_shot = PageFacts(step=3, shot=0, dialog=False, taken={"shot": 1})
    shot = parse_contract({"screenshot": {"hash": "0" * 16, "max_distance": 0}})
    assert evaluate(shot, old_shot, step=3).undecided[0].code == "fact_stale"


CUT: list[tuple[str, dict[str, Any], PageFacts, str]] = [
    ("found before the cut", {"dom_text": {"contains": "a"}}, PageFacts(text="ab"), "pass"),
    ("perhaps after it", {"dom_text": {"contains": "z"}}, PageFacts(text="ab"), "inconclusive"),
    ("the end is unknown", {"dom_text": {"suffix": "b"}}, PageFacts(text="ab"), "inconclusive"),
    ("counted enough", {"console": {"gte": 1}}, PageFacts(console=(ConsoleFact("x", ""),)), "pass"),
    (
        "counted too many",
        {"console": {"lte": 0}},
        PageFacts(console=(ConsoleFact("x", ""),)),
        "fail",
    ),
    ("perhaps more", {"console": {"lte": 0}}, PageFacts(console=()), "inconclusive"),
    ("perhaps sent", {"network": {"method": "POST"}}, PageFacts(network=()), "inconclusive"),
    (
        "perhaps extracted",
        {"data": {"key": "a", "exists": True}},
        PageFacts(data={}),
        "inconclusive",
    ),
]


@pytest.mark.parametrize(("why", "leaf", "facts", "verdict"), CUT, ids=[row[0] for row in CUT])
def test_facts_that_were_cut_decide_only_what_they_can(
    why: str, leaf: dict[str, Any], facts: PageFacts, verdict: str
) -> None:
    cut = PageFacts(
        text=facts.text,
        console=facts.console,
        network=facts.network,
        data=facts.data,
        cut=frozenset(("text", "console", "network", "data")),
    )
    assert evaluate(parse_contract(leaf), cut, step=0).verdict == verdict


def test_more_text_than_is_looked_at_counts_as_cut() -> None:
    long = PageFacts(text="x" * TEXT_LIMIT + "needle")
    assert evaluate(parse_contract({"dom_text": {"contains": "needle"}}), long, step=0).verdict == (
        "inconclusive"
    )
    many = PageFacts(network=(NetworkFact("POST", "u"),) + (NetworkFact("GET", "u"),) * ENTRY_LIMIT)
    sent = parse_contract({"network": {"method": "POST"}})
    assert evaluate(sent, many, step=0).verdict == "inconclusive"
    one = PageFacts(console=(ConsoleFact("error", "x" * 9_000 + "needle"),))
    quiet = parse_contract({"console": {"contains": "needle", "lte": 0}})
    assert evaluate(quiet, one, step=0).verdict == "inconclusive"


P, F, I = (  # noqa: E741 - pass, fail, inconclusive
    {"no_dialog": True},
    {"dom_count": {"selector": ".row", "eq": 9}},
    {"dom_count": {"selector": "?", "eq": 9}},
)
COMBINED: list[tuple[dict[str, Any], str]] = [
    ({"all": [P, P]}, "pass"),
    ({"all": [P, I]}, "inconclusive"),
    ({"all": [I, F]}, "fail"),
    ({"any": [F, I, P]}, "pass"),
    ({"any": [F, I]}, "inconclusive"),
    ({"any": [F, F]}, "fail"),
    ({"not": P}, "fail"),
    ({"not": F}, "pass"),
    ({"not": I}, "inconclusive"),
    ({"not": {"all": [P, I]}}, "inconclusive"),
    ({"not": {"all": [F, I]}}, "pass"),
    ({"not": {"any": [P, I]}}, "fail"),
    ({"not": {"not": {"any": [F, {"all": [P, P]}]}}}, "pass"),
]


@pytest.mark.parametrize(("data", "verdict"), COMBINED)
def test_parts_combine_in_three_valued_logic(data: dict[str, Any], verdict: str) -> None:
    assert evaluate(parse_contract(data), FACTS, step=3).verdict == verdict


trees = st.recursive(
    st.sampled_from([P, F, I]),
    lambda parts: st.one_of(
        st.builds(lambda p: {"all": p}, st.lists(parts, min_size=1, max_size=3)),
        st.builds(lambda p: {"any": p}, st.lists(parts, min_size=1, max_size=3)),
        st.builds(lambda p: {"not": p}, parts),
    ),
    max_leaves=8,
)


def truth(data: Mapping[str, Any], unknown: bool) -> bool:
    [(key, value)] = data.items()
    if key == "all":
        return all(truth(part, unknown) for part in value)
    if key == "any":
        return any(truth(part, unknown) for part in value)
    if key == "not":
        return not truth(value, unknown)
    return {json.dumps(P): True, json.dumps(F): False}.get(json.dumps(data), unknown)


@settings(max_examples=150)
@given(trees)
def test_a_verdict_never_depends_on_what_is_not_known(data: dict[str, Any]) -> None:
    report = evaluate(parse_contract(data), FACTS, step=3)
    possible = {truth(data, unknown) for unknown in (True, False)}
    if report.verdict != "inconclusive":
        assert possible == {report.verdict == "pass"}
    elif len(report.undecided) == 1:
        assert possible == {True, False}


@settings(max_examples=150)
@given(trees)
def test_the_share_that_holds_is_one_exactly_when_the_contract_passes(data: dict[str, Any]) -> None:
    contract = parse_contract(data)
    report = evaluate(contract, FACTS, step=3)
    progress = contract_progress(contract, report)
    assert 0.0 <= progress.value <= 1.0
    assert (progress.value == 1.0) is (report.verdict == "pass")
    assert len(progress.holding) == len(report.outcomes)


def test_what_cannot_be_decided_now_keeps_what_it_was() -> None:
    contract = parse_contract({"all": [{"url": {"contains": "cart"}}, {"no_dialog": True}]})
    both, _ = follow(contract, FACTS, step=3)
    blind, status = follow(contract, PageFacts(step=4, url="/cart"), step=4, before=both)
    assert (both.value, blind.value) == (1.0, 1.0)
    assert status.verdict == "inconclusive"
    assert (status.satisfied, status.prev_satisfied, status.total) == (FULL, FULL, FULL)
    fell, status = follow(contract, PageFacts(step=5, url="/", dialog=True), step=5, before=blind)
    assert (fell.value, status.verdict) == (0.0, "fail")


def test_a_contract_that_is_not_due_does_not_fail() -> None:
    contract = parse_contract({"id": "x", "critical": True, "url": {"contains": "order"}})
    _, early = follow(contract, FACTS, step=3, due=False)
    _, late = follow(contract, FACTS, step=3)
    assert (early.verdict, late.verdict) == (None, "fail")
    assert (late.critical, late.id) == (True, "x")


def test_the_paths_of_findings_are_those_of_the_text() -> None:
    contract = contract_from_toml(
        """
        id = "cart"
        [[all]]
        url = { contains = "cart" }
        [[all]]
        not = { any = [{ dom_text = { contains = "sold out" } }, { console = { gte = 9 } }] }
        """
    )
    report = evaluate(contract, FACTS, step=3)
    assert [outcome.path for outcome in report.outcomes] == [
        "all[0].url",
        "all[1].not.any[0].dom_text",
        "all[1].not.any[1].console",
    ]
    assert report.verdict == "pass"
    assert contract_from_json('{"id": "cart", "no_dialog": true}').id == "cart"


WRONG: list[tuple[object, str]] = [
    ({"all": [P, {"dom_text": {"contains": 5}}]}, r"all\[1\]\.dom_text\.contains: expected a text"),
    ({"all": [P, {"dom_text": {"contain": "x"}}]}, r"all\[1\]\.dom_text\.contain: .*'contains'"),
    ({"dom_text": {"matches": ".*"}}, r"dom_text\.matches: regular expressions are not offered"),
    ({"al": []}, r"al: unknown key 'al'; did you mean 'all'"),
    ({"all": []}, r"all: expected a list of at least one"),
    ({"all": P}, r"all: expected a list"),
    ({}, r"top level: exactly one of"),
    ([], r"top level: expected a table"),
    ({**P, "url": {"equals": "x"}}, r"top level: exactly one of"),
    ({"not": [P]}, r"not: expected a table"),
    ({"url": "x"}, r"url: expected a table"),
    ({"url": {"equals": "x", "prefix": "y"}}, r"url: exactly one of .* found equals and prefix"),
    ({"url": {"contains": ""}}, r"url\.contains: expected a text that is not empty"),
    ({"url": {"equals": "x", "ignore_case": 1}}, r"url\.ignore_case: expected true or false"),
    ({"url": {"equals": "x" * 5000}}, r"url\.equals: expected a text of at most"),
    ({"dom_count": {"eq": 1}}, r"dom_count\.selector: is missing"),
    ({"dom_count": {"selector": "a"}}, r"dom_count: exactly one of eq, gte, lte"),
    ({"dom_count": {"selector": "a", "eq": True}}, r"dom_count\.eq: expected a whole number"),
    ({"dom_count": {"selector": "a", "eq": -1}}, r"dom_count\.eq: expected a whole number"),
    ({"network": {}}, r"network: at least one"),
    ({"network": {"status": 200}}, r"network\.status: expected a list"),
    ({"network": {"status": [2000]}}, r"network\.status: expected a list"),
    ({"network": {"url": {"glob": 1}}}, r"network\.url\.glob: expected a text"),
    (
        {"network": {"method": "GET", "since": "ever"}},
        r"network\.since: expected 'start' or 'step'",
    ),
    ({"no_dialog": False}, r"no_dialog: expected true"),
    ({"console": {"level": "error"}}, r"console: exactly one of eq, gte, lte"),
    ({"screenshot": {"hash": "xyz", "max_distance": 3}}, r"screenshot\.hash: expected 16"),
    ({"screenshot": {"hash": "0" * 16, "max_distance": 65}}, r"screenshot\.max_distance"),
    ({"data": {"key": "a"}}, r"data: exactly one of"),
    ({"data": {"key": "a", "equals": [1]}}, r"data\.equals: expected a text, number or boolean"),
    ({"data": {"key": "a", "gte": "x"}}, r"data\.gte: expected a number"),
    ({"data": {"key": "a", "exists": 1}}, r"data\.exists: expected true or false"),
    ({"id": 1, **P}, r"id: expected a text"),
    ({"max_age_steps": -1, **P}, r"max_age_steps: expected a whole number"),
    ({"all": [P] * 201}, r"201 checks; a contract has at most 200"),
]


@pytest.mark.parametrize(("data", "message"), WRONG)
def test_a_mistake_in_a_contract_is_named_by_its_path(data: object, message: str) -> None:
    with pytest.raises(BadParameter, match=f"^contract: {message}"):
        parse_contract(data)


@pytest.mark.parametrize(
    "text",
    ["{", '{"no_dialog": tru}', "[" * 60_000, '{"not":' * 9_000, "x" * 70_000],
    ids=["open", "typo", "deep list", "deep table", "long"],
)
def test_what_is_not_json_or_toml_is_refused(text: str) -> None:
    with pytest.raises(BadParameter, match=r"^contract: "):
        contract_from_json(text)
    with pytest.raises(BadParameter, match=r"^contract: "):
        contract_from_toml(text)


def test_a_contract_nested_too_deeply_is_refused() -> None:
    data: dict[str, Any] = P
    for _ in range(17):
        data = {"not": data}
    with pytest.raises(BadParameter, match="nested deeper than 16"):
        parse_contract(data)


@settings(max_examples=200)
@given(st.text("ab", max_size=8), st.text("ab*", max_size=6))
def test_a_star_stands_for_anything(text: str, pattern: str) -> None:
    def slow(text: str, pattern: str) -> bool:
        if not pattern:
            return not text
        if pattern[0] == "*":
            return any(slow(text[i:], pattern[1:]) for i in range(len(text) + 1))
        return bool(text) and text[0] == pattern[0] and slow(text[1:], pattern[1:])

    assert match_glob(text, pattern) is slow(text, pattern)
