"""Digests: what counts as the same page."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.browser.observe.digest import (
    DomTree,
    call_signature,
    dom_digest,
    info_digest,
    net_digest,
    normalise_text,
    normalise_url,
    page_evidence,
    refs_digest,
    text_digest,
    url_digest,
)
from assay.schema.evidence import NetworkFact, PageEvidence

SAME_URL = [
    ("host in lower case", "https://X.test/a", "https://x.test/a"),
    ("order of the query", "https://x.test/?b=2&a=1", "https://x.test/?a=1&b=2"),
    ("tracking", "https://x.test/a?utm_source=m&id=1&gclid=9", "https://x.test/a?id=1"),
    ("usual port", "https://x.test:443/a", "https://x.test/a"),
    ("no path", "https://x.test", "https://x.test/"),
]
OTHER_URL = [
    ("fragment", "https://x.test/#/a", "https://x.test/#/b"),
    ("query", "https://x.test/?id=1", "https://x.test/?id=2"),
    ("path case", "https://x.test/A", "https://x.test/a"),
    ("port", "https://x.test:8080/", "https://x.test/"),
    ("scheme", "http://x.test/", "https://x.test/"),
]


@pytest.mark.parametrize(("why", "a", "b"), SAME_URL)
def test_addresses_that_mean_the_same_have_one_digest(why: str, a: str, b: str) -> None:
    assert url_digest(a) == url_digest(b)


@pytest.mark.parametrize(("why", "a", "b"), OTHER_URL)
def test_addresses_that_differ_have_two(why: str, a: str, b: str) -> None:
    assert url_digest(a) != url_digest(b)


SAME_TEXT = [
    ("white space", "a  b\n c", "a b c"),
    ("a clock", "now 12:30 here", "now 12:31:05 here"),
    ("a counter of time", "updated 5 minutes ago", "updated 17 minutes ago"),
    ("a counter of views", "1,234 views.", "1,250 views."),
    ("a nonce", "id 0123456789abcdef0123", "id fedcba98765432100123"),
    ("an id", "x 3f2b8c1e-0000-4000-8000-123456789abc", "x aaaaaaaa-0000-4000-8000-123456789abc"),
    ("an epoch", "(1700000000123)", "(1700000009999)"),
]
OTHER_TEXT = [
    ("a cart", "Cart (2)", "Cart (3)"),
    ("a price", "Total 12.50 EUR", "Total 13.50 EUR"),
    ("a word", "Saved", "Failed"),
]


@pytest.mark.parametrize(("why", "a", "b"), SAME_TEXT)
def test_what_changes_by_itself_is_masked(why: str, a: str, b: str) -> None:
    assert text_digest(a) == text_digest(b)
    assert info_digest(a) == info_digest(b)


@pytest.mark.parametrize(("why", "a", "b"), OTHER_TEXT)
def test_what_an_agent_changes_is_not_masked(why: str, a: str, b: str) -> None:
    assert text_digest(a) != text_digest(b)


@given(st.text(max_size=300))
def test_masking_twice_is_masking_once(text: str) -> None:
    assert normalise_text(normalise_text(text)) == normalise_text(text)


@given(st.text(max_size=100) | st.just("http://[x") | st.just("http://x:99999/"))
def test_every_text_has_an_address_digest(text: str) -> None:
    assert re.fullmatch(r"d1:url:[0-9a-f]{16}", url_digest(text))
    assert isinstance(normalise_url(text), str)


TREE: DomTree = ("html", "", [("body", "", [("main", "main", []), ("nav", "navigation", [])])])


def test_the_skeleton_ignores_small_counts_and_the_order_of_landmarks() -> None:
    one = dom_digest(TREE, landmarks=["main", "nav"], counts={"links": 40, "forms": 1})
    two = dom_digest(TREE, landmarks=["nav", "main", "nav"], counts={"forms": 1, "links": 60})
    assert one == two
    assert one != dom_digest(TREE, landmarks=["main", "nav"], counts={"links": 90, "forms": 1})
    assert one != dom_digest(TREE, landmarks=["main"], counts={"links": 40, "forms": 1})


def test_the_skeleton_ends_at_three_levels_and_sixty_four_nodes() -> None:
    deep: Any = ["a", "", []]
    other: Any = ["b", "", []]
    for _ in range(4):
        deep, other = ["div", "", [deep]], ["div", "", [other]]
    assert dom_digest(deep) == dom_digest(other)
    wide: Any = ["div", "", [["p", "", []] for _ in range(100_000)]]
    assert dom_digest(wide).startswith("d1:dom:")
    assert dom_digest(None) != dom_digest(TREE)


def sent(method: str, path: str, status: int | None = 200) -> NetworkFact:
    return NetworkFact(method, f"https://x.test{path}", status)


def test_only_successful_changes_that_are_not_analytics_count_as_network() -> None:
    quiet = net_digest([])
    for entry in (
        sent("GET", "/api/cart"),
        sent("POST", "/api/cart", 500),
        sent("POST", "/api/cart", None),
        sent("POST", "/collect?v=1"),
        NetworkFact("POST", "https://www.google-analytics.com/g", 204),
    ):
        assert net_digest([entry]) == quiet
    assert net_digest([sent("POST", "/api/cart")]) != quiet
    assert net_digest([sent("POST", "/a/1")]) == net_digest([sent("post", "/a/2")])
    assert net_digest([sent("POST", "/a")] * 5) == net_digest([sent("POST", "/a")] * 6)
    assert net_digest([sent("POST", "/a")]) != net_digest([sent("POST", "/a")] * 2)


@given(
    st.lists(st.tuples(st.text(max_size=5), st.text(max_size=5)), max_size=6),
    st.randoms(use_true_random=False),
)
def test_the_order_in_which_things_are_listed_does_not_matter(
    pairs: list[tuple[str, str]], rng: random.Random
) -> None:
    shuffled = list(pairs)
    rng.shuffle(shuffled)
    assert refs_digest(pairs) == refs_digest(shuffled)
    one, two = ([sent("POST", f"/{a}/{b}") for a, b in row] for row in (pairs, shuffled))
    assert net_digest(one) == net_digest(two)
    assert call_signature("t", dict(pairs)) == call_signature(
        "t", dict(sorted(dict(pairs).items()))
    )


def test_a_signature_leaves_out_what_differs_in_every_call() -> None:
    one = call_signature("click", {"ref": "e1", "timestamp": 1, "timeout_ms": 5})
    assert one == call_signature("click", {"ref": "e1", "timestamp": 2})
    assert one != call_signature("click", {"ref": "e2"})
    assert one != call_signature("hover", {"ref": "e1"})


def test_a_key_makes_digests_of_one_run_useless_to_guess_with() -> None:
    assert text_digest("yes", key=b"k") != text_digest("yes")
    assert text_digest("yes", key=b"k") == text_digest("yes", key=b"k")


def test_evidence_holds_what_was_given_and_nothing_else() -> None:
    assert page_evidence() == PageEvidence()
    full = page_evidence(
        url="https://x.test/",
        text="a",
        tree=TREE,
        network=[],
        refs=[("button", "Save")],
        shot=5,
        dialog=False,
    )
    assert None not in (full.url, full.dom, full.text, full.net, full.refs, full.shot, full.dialog)
    assert full.n_refs == 1
