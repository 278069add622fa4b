from __future__ import annotations

import json
import lzma
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.worlds.webshop.search import LONGEST_QUERY, ProductIndex
from assay.worlds.webshop.shop import open_shop

GOLDEN = Path(__file__).parents[2] / "data" / "webshop" / "lucene_golden.jsonl.xz"


def test_all_300_golden_queries_rank_as_lucene_ranks_them() -> None:
    index = open_shop().stock.index
    records = [json.loads(line) for line in lzma.decompress(GOLDEN.read_bytes()).splitlines()]
    wrong = [one["query"] for one in records if index.search(one["query"], 50) != one["top50"]]
    assert len(records) == 300
    assert wrong == []


SMALL = {"b": "red shirt", "a": "red shirt", "c": "red red shirt shoe", "d": "blue shoe"}

QUERIES = [
    ("shirt", ["a", "b", "c"], "equal documents in the order of their ids, longer ones later"),
    ("shoe", ["d", "c"], "the shorter document first"),
    ("Shoes RED", ["c", "d", "a", "b"], "case and endings do not matter; terms add up"),
    ("green", [], "no document has it"),
    ("", [], "no term"),
    ("the and of", [], "only stop words"),
    ("\x00\ufffd🦄", [], "nothing that is indexed"),
]


@pytest.mark.parametrize(("query", "expected", "reason"), QUERIES)
def test_small_index(query: str, expected: list[str], reason: str) -> None:
    assert ProductIndex(SMALL).search(query, 10) == expected, reason


def test_a_repeated_term_weighs_more() -> None:
    index = ProductIndex({"a": "red shirt", "b": "blue shoe", "c": "red hat", "d": "red sock"})
    assert index.search("red shoe", 1) == ["b"]
    assert index.search("red red red red red shoe", 1) == ["a"]


def test_only_the_first_characters_of_a_query_count() -> None:
    index = ProductIndex(SMALL)
    assert index.search("x" * (LONGEST_QUERY - 1) + " shirt", 5) == []
    assert index.search("shirt " + "y" * 1_000_000, 5) == ["a", "b", "c"]


@pytest.mark.parametrize("documents", [{}, {"a": ""}])
def test_an_index_without_words_finds_nothing(documents: Mapping[str, str]) -> None:
    assert ProductIndex(documents).search("shirt", 5) == []


@settings(deadline=None, max_examples=60)
@given(st.lists(st.sampled_from("red blue shirt shoe hat green".split()), max_size=6))
def test_a_limit_only_cuts_the_list(words: list[str]) -> None:
    index, query = ProductIndex(SMALL), " ".join(words)
    everything = index.search(query, 100)
    assert all(index.search(query, limit) == everything[:limit] for limit in range(1, 6))
