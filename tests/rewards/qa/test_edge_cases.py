"""What `qa_f1_reward` pays on the cases that scripts disagree about, crash on, or are fooled by."""

from __future__ import annotations

import pickle
import threading
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from assay.errors import BadParameter
from assay.rewards.outcome.qa.published import MAX_SPANS
from assay.rewards.outcome.qa.reward import MODES, PARTS, qa_f1_reward
from assay.scoring import score

NAN = float("nan")

# Each row: response, reference, mode; then F1, exact match, and why.
CASES: list[tuple[Any, Any, str, float, float, str]] = [
    ("Paris is the capital", "Paris", "squad2", 0.5, 0.0, "the whole response is compared"),
    ("Yes, they did.", "yes", "squad2", 0.5, 0.0, "SQuAD knows no closed answers"),
    ("Yes, they did.", "yes", "hotpot", 0.0, 0.0, "HotpotQA matches yes whole"),
    ("no", "no man's land", "hotpot", 0.0, 0.0, "nor is a bare no part of a longer reference"),
    ("no", "no man's land", "squad2", 0.5, 0.0, "SQuAD counts the shared token"),
    ("the no", "No.", "hotpot", 1.0, 1.0, "articles and marks go before the rule is asked"),
    ("no answer", "noanswer", "hotpot", 0.0, 0.0, "two tokens are not the one word"),
    ("", "", "squad1", 0.0, 1.0, "SQuAD 1.1 shares no token, though the texts are equal"),
    ("", "", "hotpot", 0.0, 1.0, "HotpotQA and AgentFly likewise"),
    ("", "", "squad2", 1.0, 1.0, "an empty reference means unanswerable"),
    ("", "", "musique", 1.0, 1.0, "as SQuAD 2.0"),
    ("", "", "drop", 1.0, 1.0, "two empty bags are equal"),
    ("", "", "inspect", 0.0, 0.0, "Inspect matches nothing with an empty target"),
    ("...", "!!!", "squad2", 1.0, 1.0, "marks alone are an empty answer"),
    ("the", "a an", "squad1", 0.0, 1.0, "so are articles alone"),
    ("The The", "The The", "squad1", 0.0, 1.0, "a band that SQuAD cannot see"),
    ("Paris", "", "squad2", 0.0, 0.0, "an answer to an unanswerable question is wrong"),
    (None, "Paris", "squad2", 0.0, 0.0, "no response is an empty answer"),
    (None, "", "squad2", 1.0, 1.0, "which is right for an unanswerable question"),
    (None, "Paris", "drop", 0.0, 0.0, "in every mode"),
    ("3.14", "314", "squad2", 1.0, 1.0, "marks are deleted, not replaced: a known false positive"),
    ("3.14", "314", "drop", 0.0, 0.0, "DROP reads numbers"),
    ("1,000", "1000", "squad2", 1.0, 1.0, "the thousands separator is a mark"),
    ("1000.0", "1000", "squad2", 0.0, 0.0, "text keeps its zero and loses its point"),
    ("1000.0", "1000", "drop", 1.0, 1.0, "equal as numbers"),
    ("1000.0", "1000", "inspect", 1.0, 1.0, "equal as numbers"),
    ("1000", 1000, "squad2", 1.0, 1.0, "an integer reference"),
    ("1000", 1000.0, "squad2", 1.0, 1.0, "a reference that a table made a float"),
    ("2.50", Decimal("2.50"), "squad2", 1.0, 1.0, "a decimal reference keeps its zeros"),
    ("42", np.int64(42), "squad2", 1.0, 1.0, "a NumPy scalar"),
    ("jean-paul", "jeanpaul", "squad2", 1.0, 1.0, "the hyphen is deleted"),
    ("Jean-Paul", "Jean Paul", "squad2", 0.0, 0.0, "so it joins what it linked"),
    ("Jean-Paul", "Jean Paul", "drop", 1.0, 1.0, "DROP splits there"),
    ("Vitamin A", "Vitamin", "squad2", 1.0, 1.0, "a letter that looks like an article"),
    ("“Paris”", "Paris", "squad2", 0.0, 0.0, "only ASCII marks are marks"),
    ("１２", "12", "squad2", 0.0, 0.0, "no Unicode normalisation"),
    ("１２", "12", "drop", 1.0, 1.0, "but a number in any digits is that number"),
    ("Sao Paulo", "São Paulo", "squad2", 0.5, 0.0, "accents count"),
    ("北京市", "北京", "squad2", 0.0, 0.0, "no segmentation"),
    ("straße", "STRASSE", "squad2", 0.0, 0.0, "lower() keeps ß"),
    ("straße", "STRASSE", "inspect", 1.0, 1.0, "casefold() does not"),
    ("<answer>Paris</answer>", "Paris", "squad2", 0.0, 0.0, "tags are text unless asked for"),
    ("Paris", "Paris|Lyon", "squad2", 0.0, 0.0, "a bar separates nothing; pass a list"),
    ("Lyon", ["Paris", "Lyon"], "squad2", 1.0, 1.0, "the best alias wins"),
    ("Lyon", ("Paris", "Lyon"), "hotpot", 1.0, 1.0, "also where the script knows one reference"),
    ("Lyon", np.array(["Paris", "Lyon"]), "squad2", 1.0, 1.0, "parquet gives arrays"),
    ("7", [None, 7, NAN], "squad2", 1.0, 1.0, "missing aliases are left out"),
    ("", ["", "Paris"], "squad2", 0.0, 0.0, "SQuAD 2.0 drops blank references beside others"),
    ("", ["", "Paris"], "musique", 1.0, 1.0, "MuSiQue keeps them"),
    ("", ["", "Paris"], "drop", 0.0, 0.0, "DROP drops them"),
    ("", ["", "Paris"], "inspect", 0.0, 0.0, "Inspect skips them"),
    ("", ["", "the"], "squad2", 1.0, 1.0, "all blank is unanswerable"),
    ("5 yards", "6 yards", "drop", 0.0, 0.0, "DROP pays nothing for the wrong number"),
    ("5 yards", "6 yards", "squad2", 0.5, 0.0, "SQuAD pays for the unit"),
    ("Paris Paris Paris", "Paris", "drop", 1.0, 0.0, "DROP compares sets"),
    ("Paris Paris Paris", "Paris", "inspect", 0.5, 0.0, "Inspect compares multisets"),
    (["y", "x"], [["x", "y"]], "drop", 1.0, 1.0, "spans in any order"),
    (["x", "y"], [["y"], ["z"]], "drop", 0.5, 0.0, "a span too many halves the score"),
    ([], [["x"]], "drop", 0.0, 0.0, "no spans are an empty answer"),
    ("b a", "a b", "squad2", 1.0, 1.0, "an article goes, wherever it stands"),
]


@pytest.mark.parametrize(
    ("response", "answer", "mode", "f1", "em", "why"), CASES, ids=[row[-1] for row in CASES]
)
def test_every_decided_case_pays_what_the_table_says(
    response: object, answer: object, mode: Any, f1: float, em: float, why: str
) -> None:
    result = qa_f1_reward(final_response=response, answer=answer, mode=mode)
    assert (result["f1"], result["em"]) == (f1, em), why
    assert float(result) == f1
    assert tuple(result.parts) == PARTS


# Each row: response, reference, mode; then the reason code, and why.
ABSTENTIONS: list[tuple[Any, Any, str, str, str]] = [
    ("Paris", None, "squad2", "missing_reference", "nothing to compare with"),
    ("Paris", [], "squad2", "missing_reference", "no alias at all"),
    ("Paris", np.array([]), "inspect", "missing_reference", "nor in an array"),
    ("Paris", [None], "squad2", "missing_reference", "only missing ones"),
    ("Paris", NAN, "squad2", "missing_reference", "a gap in a table"),
    ("Paris", {"target": "Paris"}, "squad2", "bad_reference", "a mapping is no answer"),
    ("Paris", b"Paris", "squad2", "bad_reference", "bytes have no known encoding"),
    ("Paris", [["Paris", "Lyon"]], "squad2", "bad_reference", "spans are DROP's"),
    ("Paris", [[]], "drop", "bad_reference", "a reference of no spans"),
    (
        "Paris",
        [["x"] * (MAX_SPANS + 1)],
        "drop",
        "unparseable_reference",
        "too many spans to align",
    ),
    ("Paris", 10**5000, "squad2", "bad_reference", "more digits than Python writes"),
    ("Paris", float("inf"), "squad2", "bad_reference", "an infinite number is no answer"),
    ("Paris", ["Paris", {}], "squad2", "bad_reference", "the mapping might have been the one"),
    (b"Paris", "Paris", "squad2", "bad_response", "the harness passed bytes"),
    (1000, "1000", "squad2", "bad_response", "a number is not what a model wrote"),
    (1000.0, "1000", "squad2", "bad_response", "a table made it a float"),
    (True, "true", "squad2", "bad_response", "nor is a truth value"),
    (NAN, "Paris", "squad2", "bad_response", "a gap in a table is not the answer nothing"),
    ({"text": "Paris"}, "Paris", "squad2", "bad_response", "or a message"),
    (["Paris"], "Paris", "squad2", "bad_response", "spans are DROP's"),
    ([{}], "Paris", "drop", "bad_response", "and are text"),
]


@pytest.mark.parametrize(
    ("response", "answer", "mode", "reason", "why"),
    ABSTENTIONS,
    ids=[row[-1] for row in ABSTENTIONS],
)
def test_what_cannot_be_scored_abstains_with_its_parts(
    response: object, answer: object, mode: Any, reason: str, why: str
) -> None:
    result = qa_f1_reward(final_response=response, answer=answer, mode=mode)
    assert result.abstained, why
    assert result["abstained"] == reason, why
    assert dict(result.parts) == dict.fromkeys(PARTS)
    assert result.because


# Each row: response, option; then F1 against "Paris", and why.
TAGS: list[tuple[str, str, float, str]] = [
    ("<answer>Paris</answer>", "answer_tag", 1.0, "one pair"),
    ("I think <answer> Paris. </answer> Done.", "answer_tag", 1.0, "text around it is ignored"),
    ("<answer>Rome</answer><answer>Paris</answer>", "answer_tag", 1.0, "the last pair"),
    ("<answer>Rome</answer><answer>Paris</answer>", "first_answer_tag", 0.0, "the first pair"),
    ("Write <answer> tags: <answer>Paris</answer>", "answer_tag", 1.0, "a mention is no opening"),
    ("Write <answer> x <answer>Paris</answer>", "first_answer_tag", 0.0, "but AgentFly takes it"),
    ("<answer>Paris</answer> stray </answer>", "answer_tag", 1.0, "a stray end changes nothing"),
    ("<answer>Paris</answer> <answer>Rome", "answer_tag", 1.0, "a cut-off pair is not complete"),
    ("<answer>Paris", "answer_tag", 0.0, "nor is it alone"),
    ("</answer>Paris<answer>", "answer_tag", 0.0, "nor the wrong way round"),
    ("Paris", "answer_tag", 0.0, "the right answer in the wrong place"),
    ("<ANSWER>Paris</ANSWER>", "answer_tag", 0.0, "tags are written in lower case"),
    ("<answer>Paris or Rome or Oslo</answer>", "answer_tag", 1 / 3, "a spray inside is diluted"),
]


@pytest.mark.parametrize(("response", "extract", "f1", "why"), TAGS)
def test_the_answer_is_taken_from_its_tag_only_when_asked(
    response: str, extract: Any, f1: float, why: str
) -> None:
    result = qa_f1_reward(final_response=response, answer="Paris", extract=extract)
    assert float(result) == pytest.approx(f1), why


def test_a_response_without_the_tag_does_not_count_as_unanswerable() -> None:
    silent = qa_f1_reward(final_response="whatever", answer="", extract="answer_tag")
    empty = qa_f1_reward(final_response="<answer></answer>", answer="", extract="answer_tag")
    assert (float(silent), silent["em"]) == (0.0, 0.0)
    assert "no complete <answer> tag" in silent.because
    assert (float(empty), empty["em"]) == (1.0, 1.0)


def test_precision_and_recall_belong_to_the_alias_with_the_best_f1() -> None:
    result = qa_f1_reward(final_response="Paris France", answer=["Paris", "France in the north"])
    assert dict(result.parts) == {
        "f1": pytest.approx(2 / 3),
        "em": 0.0,
        "precision": 0.5,
        "recall": 1.0,
    }
    assert result.because == "1 of 2 answer tokens match 'Paris'"


def test_among_aliases_with_equal_f1_the_first_listed_explains_the_score() -> None:
    result = qa_f1_reward(final_response="Paris Lyon", answer=["Lyon", "Paris"])
    assert "'Lyon'" in result.because


def test_exact_match_is_the_best_over_all_aliases_even_where_f1_ties() -> None:
    result = qa_f1_reward(final_response="b c", answer=["c b", "b c"])
    assert (result["f1"], result["em"]) == (1.0, 1.0)


@pytest.mark.parametrize(
    ("response", "because"),
    [
        ("The Paris, France.", "exact match with 'Paris France'"),
        ("Paris, the city", "1 of 2 answer tokens match 'Paris France'"),
        (None, "0 of 0 answer tokens match 'Paris France'"),
    ],
)
def test_the_reason_is_one_short_clause(response: str | None, because: str) -> None:
    assert qa_f1_reward(final_response=response, answer="Paris France").because == because


def test_the_reason_stays_short_for_huge_texts() -> None:
    result = qa_f1_reward(final_response="word " * 100_000, answer="thing " * 100_000)
    assert len(result.because) < 140


@pytest.mark.parametrize("option", [{"mode": "squad3"}, {"extract": "boxed"}])
def test_an_unknown_option_value_is_a_usage_error_that_lists_the_known_ones(option: Any) -> None:
    with pytest.raises(BadParameter, match="choose one of"):
        qa_f1_reward(final_response="Paris", answer="Paris", **option)


@pytest.mark.parametrize("mode", MODES)
def test_the_registered_reward_gives_the_same_score_with_its_identity(mode: str) -> None:
    direct = qa_f1_reward(final_response="in Paris", answer=["Paris"], mode=mode)  # type: ignore[arg-type]
    by_name = score(
        "qa_f1_reward", final_response="in Paris", answer=["Paris"], params={"mode": mode}
    )
    assert dict(by_name) == dict(direct)
    assert (by_name.because, by_name.scorer) == (direct.because, "qa_f1_reward@1")
    assert by_name.params == ({} if mode == "squad2" else {"mode": mode})
    assert pickle.loads(pickle.dumps(by_name)) == by_name


@pytest.mark.parametrize(
    "text",
    [
        "1" * 10**6,
        "a " * 500_000,
        "é- " * 300_000,
        "-" * 10**6,
        "<answer>" * 125_000,
        "\0a" * 10**5,
    ],
    ids=["digits", "articles", "accents", "hyphens", "tags", "control"],
)
def test_a_megabyte_of_hostile_text_is_scored_in_every_mode(text: str) -> None:
    mode: Any
    for mode in MODES:
        result = qa_f1_reward(final_response=text, answer="Paris 5", mode=mode)
        assert float(result) == 0.0, mode
        tagged = qa_f1_reward(final_response=text, answer="Paris", mode=mode, extract="answer_tag")
        assert float(tagged) == 0.0, mode


def test_more_spans_than_can_be_aligned_earn_nothing_and_say_so() -> None:
    result = qa_f1_reward(
        final_response=["a"] * (MAX_SPANS + 1), answer=[["Paris", "Lyon"]], mode="drop"
    )
    assert float(result) == 0.0
    assert str(MAX_SPANS) in result.because


def test_threads_that_share_the_cache_agree() -> None:
    wrong: list[object] = []

    def work() -> None:
        for index in range(3_000):
            result = qa_f1_reward(final_response=f"item {index}", answer=f"Item {index % 700}")
            expected = 1.0 if index < 700 else 0.5
            if float(result) != expected:
                wrong.append((index, result))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
