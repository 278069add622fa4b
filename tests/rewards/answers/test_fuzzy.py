"""`fuzzy_answer_reward`: four bands, numbers as numbers, dates as dates, no credit for sprays."""

from __future__ import annotations

import string
from datetime import date
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import assay
from assay.errors import BadParameter
from assay.rewards.outcome.answers.fuzzy import (
    FORM_SCORES,
    MAX_CHARS,
    PARTIAL_CEILING,
    PARTIAL_FLOOR,
)
from assay.rewards.outcome.answers.reward import FUZZY_PARTS, fuzzy_answer_reward
from assay.schema.score import Abstained, Scored
from assay.scoring.scorer import Scorer
from assay.text.dates import date_of
from assay.text.quantities import quantity_of


def score_of(response: str | None, answer: object, **options: Any) -> Scored:
    score = fuzzy_answer_reward(response, answer, **options)
    assert isinstance(score, Scored)
    assert tuple(score.parts) == FUZZY_PARTS
    return score


FORMS = [
    (" 850000 ", "850000", "white space", "white space around"),
    ("Shanghai  Villa\n", "Shanghai Villa", "white space", "and inside"),
    ("McDonald’s", "McDonald's", "typography", "a curly apostrophe"),
    ("“Paris”", "Paris", "typography", "quotation marks around"),
    ("**Paris**.", "Paris", "typography", "Markdown and a full stop"),
    ("Ko\u0308ln", "K\u00f6ln", "typography", "another Unicode form"),
    ("Ｐａｒｉｓ", "Paris", "typography", "full-width letters"),
    ("Par\u200bis", "Paris", "typography", "an invisible character"),
    ("10–20", "10-20", "typography", "an en dash"),
    ("shanghai villa", "Shanghai Villa", "letter case", "another letter case"),
    ("SHANGHAI VILLA", "Shanghai villa", "letter case", "another letter case"),
    ("850000.00", "850000", "number", "decimals that say nothing"),
    ("850,000", "850000", "number", "thousands separators"),
    ("850 000", "850000", "number", "spaces as separators"),
    ("1.010.000", "1010000", "number", "points as separators"),
    ("1.010,50", "1010.5", "number", "a decimal comma after them"),
    ("31,67", "31.67", "number", "a decimal comma"),
    ("8.5e5", "850000", "number", "an exponent"),
    ("850k", "850000", "number", "a magnitude letter"),
    ("1.01 million", "1,010,000", "number", "a magnitude word"),
    ("55 USD", "$55", "number", "the same currency in letters"),
    ("1,148 sq ft", "1148 sqft", "number", "another spelling of the unit"),
    ("14.2 percent", "14.2%", "number", "percent in letters"),
    ("14.2%", "14.2", "unit", "a percent sign that the reference leaves out"),
    ("14.2", "14.2%", "unit", "or the other way round"),
    ("$850k", "850000", "unit", "a currency that the reference leaves out"),
    ("$1,010,000", "1010000", "unit", "with separators"),
    ("1148", "1148 sqft", "unit", "a unit left out"),
    ("50%", "0.5", "percent as fraction", "a percentage for a fraction"),
    ("0.142", "14.2%", "percent as fraction", "a fraction for a percentage"),
    ("The Shanghai Villa", "Shanghai Villa", "punctuation", "an article"),
    ("Shanghai-Villa", "Shanghai Villa", "punctuation", "a hyphen"),
    ("ShanghaiVilla", "Shanghai Villa", "punctuation", "a lost space"),
    ("US", "U.S.", "punctuation", "full stops inside"),
    (
        "Glass Onion - A Knives Out Mystery",
        "Glass Onion: A Knives Out Mystery",
        "punctuation",
        "a dash",
    ),
    ("Adrenalinpark Koln", "Adrenalinpark Köln", "accents", "a lost accent"),
    ("The answer is Paris.", "Paris", "lead-in", "a lead-in"),
    ("Answer: $850k", "850000", "lead-in", "a lead-in before a number"),
    ("Final answer = **14.2%**", "14.2", "lead-in", "with Markdown"),
    ('["Shanghai Villa"]', "Shanghai villa", "list", "a list of one"),
    ("b\na", "a\nb", "list", "another order"),
    ('["b", "a"]', "a\nb", "list", "another notation"),
    ("- b\n- a", '["a", "b"]', "list", "bullets for JSON"),
    ("a, b and c", "a\nb\nc", "list", "commas for lines"),
]


@pytest.mark.parametrize(("response", "answer", "form", "why"), FORMS)
def test_the_same_value_in_another_form_scores_by_what_differs(
    response: str, answer: str, form: str, why: str
) -> None:
    score = score_of(response, answer)
    assert score.notes["band"] == "form", why
    assert form in score.because, why
    assert score.value == FORM_SCORES[form], why  # type: ignore[index]


DATE_FORMS = (
    "2023-09-01", "2023/09/01", "2023.09.01", "September 1, 2023", "September 1st, 2023",
    "Sept 1 2023", "Sep. 1, 2023", "1 September 2023", "1st of September, 2023", "1 Sep 2023",
    "1-Sep-2023", "01.09.2023", "Friday, September 1, 2023",
)  # fmt: skip


@pytest.mark.parametrize("answer", DATE_FORMS)
def test_a_date_is_the_same_in_every_form(answer: str) -> None:
    for response in DATE_FORMS:
        assert score_of(response, answer).value >= FORM_SCORES["date"], response


@pytest.mark.parametrize(
    ("response", "answer", "value", "why"),
    [
        ("09/01/2023", "September 1, 2023", 0.80, "one of its two readings"),
        ("09/01/2023", "January 9, 2023", 0.80, "the other one"),
        ("9/1/2023", "09/01/2023", 0.90, "the same under both conventions"),
        ("01/09/2023", "09/01/2023", 0.0, "the same under neither"),
        ("13/09/2023", "September 13, 2023", 0.90, "only one reading is a date"),
        ("September 2, 2023", "September 1, 2023", 0.0, "another day is another answer"),
        ("2023-09", "September 2023", 0.90, "a month"),
        ("31/02/2023", "March 3, 2023", 0.0, "no such day"),
    ],
)
def test_dates_compare_as_dates(response: str, answer: str, value: float, why: str) -> None:
    assert score_of(response, answer).value == value, why


NEAR = [
    ("Shanghai Vila", "Shanghai villa", "one letter lost"),
    ("Villa Shanghai", "Shanghai villa", "words in another order"),
    ("Shanghai Villa (Main St)", "Shanghai villa", "extra words"),
    ("Shanghai", "Shanghai villa", "half of the words"),
    (
        "Daniel Lereya, Shiran Nawi and Yoni Osherov",
        "Shiran Nawi, Yoni Osherov, Daniel Lereya",
        "-",
    ),
    ("a\nb", "a\nb\nc", "two of three items"),
    ("about 14.2", "14.2", "the number with a word"),
    ("It rained on 14.2% of the days", "14.2", "the only number in a sentence"),
    ("The answer is Shanghai Vila", "Shanghai villa", "a near miss after a lead-in"),
    ("Paris/London", "Paris", "two alternatives, the floor of the band"),
    ('["Paris", "London"]', "Paris", "two items for one"),
]


@pytest.mark.parametrize(("response", "answer", "why"), NEAR)
def test_a_near_miss_is_partial(response: str, answer: str, why: str) -> None:
    score = score_of(response, answer)
    assert score.notes["band"] == "partial", why
    assert PARTIAL_FLOOR <= score.value <= PARTIAL_CEILING, why


WRONG = [
    ("14.3", "14.2", "a number that is near is another number"),
    ("2024", "2023", "as is the next year"),
    ("0.142", "14.2", "and a hundredth"),
    ("-45", "45", "another sign"),
    ("1.148", "1,148", "a decimal point is no separator"),
    ("10²", "102", "a power is not its digits"),
    ("45 hours", "45 minutes", "another unit"),
    ("€55", "$55", "another currency"),
    ("approximately 14-20%", "14.2", "a range"),
    ("14.2 or 14.3", "14.2", "two numbers"),
    ("not 14.2", "14.2", "a number denied"),
    ("fourteen", "14", "numbers in words are not read"),
    ("Route 67 Diner", "Route 66 Diner", "another number inside a name"),
    ("Route Diner", "Route 66 Diner", "a number missing from a name"),
    ("-5 degrees outside", "5 degrees outside", "a sign inside a text"),
    ("John Doe", "John Smith", "half a name is another person"),
    ("North Korea", "South Korea", "few letters, another word"),
    ("Iraq", "Iran", "one letter of a short word"),
    ("Gambia", "Zambia", "one letter of six"),
    ("Australia", "Austria", "two letters of nine"),
    ("impossible", "possible", "a prefix that turns the meaning"),
    ("C++", "C#", "signs that belong to the word"),
    ("C", "C++", "signs that belong to the word"),
    ("< 5 km away", "> 5 km away", "a sign that turns the meaning"),
    ("not Paris", "Paris", "a denial"),
    ("Paris or London", "Paris", "a hedge longer than its answer"),
    ("Paris, London, Rome, Berlin", "Paris", "a spray"),
    ("Shanghai Villa or Red Bamboo or Han Dynasty", "Shanghai Villa", "three alternatives"),
    ("a\nb\nc\nd\ne\nf", "a", "a list of everything"),
    ("--", "---", "no words at all"),
    ("I don't know", "Paris", "a refusal"),
    ("", "Paris", "nothing"),
    (" \n", "Paris", "nothing but white space"),
    (None, "Paris", "no response"),
    ("x" * (MAX_CHARS + 1), "Paris", "longer than is read"),
]


@pytest.mark.parametrize(("response", "answer", "why"), WRONG)
def test_another_answer_is_worth_nothing(response: str, answer: str, why: str) -> None:
    score = score_of(response, answer)
    assert (score.value, score.notes["band"]) == (0.0, "none"), why
    assert score.because


def test_a_spray_of_names_never_leaves_the_lower_half_of_the_partial_band() -> None:
    names = [
        "Glass Onion A Knives Out Mystery",
        "Casino Royale",
        "Skyfall",
        "Spectre",
        "Layer Cake",
    ]
    values = [score_of(", ".join(names[:count]), names[0]).value for count in range(1, 6)]
    assert values == sorted(values, reverse=True)
    assert values[-1] <= (PARTIAL_FLOOR + PARTIAL_CEILING) / 2


def test_the_best_of_several_references_counts() -> None:
    aliases = ["New York City", "NYC", "New York"]
    assert score_of("NYC", aliases).value == 1.0
    assert score_of("nyc", aliases).value == FORM_SCORES["letter case"]
    assert score_of("Boston", aliases).value == 0.0


def test_numbers_are_references() -> None:
    for response, answer in (("850000", 850000), ("850000", 850000.0), ("14.2", 14.2)):
        assert score_of(response, answer).value == 1.0
    assert score_of("850k", 850000).value == FORM_SCORES["number"]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (None, "missing_reference"), ("", "missing_reference"), (" \n", "missing_reference"),
        ([], "missing_reference"), (["", None], "missing_reference"),
        (float("nan"), "missing_reference"), ({"a": 1}, "bad_reference"),
        (["Paris", {"a": 1}], "bad_reference"), (10**5000, "bad_reference"),
        (["x"] * 101, "unparseable_reference"),
        ("x" * (MAX_CHARS + 1), "unparseable_reference"),
    ],
    ids=range(11),
)  # fmt: skip
def test_without_a_reference_the_reward_abstains(answer: object, reason: str) -> None:
    score = fuzzy_answer_reward("Paris", answer)
    assert isinstance(score, Abstained)
    assert score.reason == reason
    assert set(score.parts) == set(FUZZY_PARTS)


@pytest.mark.parametrize("response", [3, 0.5, b"3", ["3"], [{"role": "a", "content": "3"}]])
def test_a_response_that_is_not_text_abstains(response: Any) -> None:
    score = assay.score("fuzzy_answer_reward", final_response=response, answer="3")
    assert isinstance(score, Abstained)
    assert (score.reason, set(score.parts)) == ("bad_response", set(FUZZY_PARTS))


def test_a_tolerance_makes_near_numbers_partial_and_nearer_ones_worth_more() -> None:
    values = [
        score_of(text, "14.2", tolerance=0.05).value for text in ("14.3", "14.5", "14.9", "15")
    ]
    assert values == sorted(values, reverse=True)
    assert values[-1] == 0.0 < PARTIAL_FLOOR <= values[-2]
    assert values[0] <= PARTIAL_CEILING
    assert score_of("0.1", "0", tolerance=0.05).value == 0.0
    with pytest.raises(BadParameter, match="tolerance"):
        fuzzy_answer_reward("1", "1", tolerance=float("nan"))


words = st.text(string.ascii_letters, min_size=2, max_size=9)
names = st.lists(words, min_size=1, max_size=5).map(" ".join)
anything = st.text(max_size=40) | st.text("0123456789.,$%kM -/[]\"'ab\n", max_size=25)


def in_range(value: float) -> bool:
    return value in (0.0, 1.0) or PARTIAL_FLOOR <= value <= PARTIAL_CEILING or 0.8 <= value <= 0.95


@given(anything, anything)
def test_any_two_texts_get_a_value_of_some_band(response: str, answer: str) -> None:
    score = fuzzy_answer_reward(response, answer)
    if isinstance(score, Abstained):
        assert not answer.strip()
        return
    assert in_range(score.value)
    expected = {"exact": (1, 1), "form": (0.8, 0.95), "partial": (0.5, 0.79), "none": (0, 0)}
    low, high = expected[score.notes["band"]]
    assert low <= score.value <= high
    assert score == fuzzy_answer_reward(response, answer)


@given(anything)
def test_the_reference_itself_is_worth_one(text: str) -> None:
    assume(text.strip())
    assert score_of(text, text).value == 1.0


@given(names, st.sampled_from((str.upper, str.lower, str.title, str.swapcase)))
def test_letter_case_stays_in_the_form_band(name: str, change: Any) -> None:
    variant = f" {change(name)} "
    assert 0.8 <= score_of(variant, name).value <= 0.95


@given(st.integers(-(10**9), 10**9), st.integers(0, 4))
def test_a_number_in_another_format_stays_in_the_form_band(whole: int, places: int) -> None:
    plain = str(whole)
    for variant in (
        f"{whole:,}",
        f"{whole:,.{places}f}",
        f"{whole:_}",
        f"{whole:,}".replace(",", " "),
        f"${whole:,}",
        f"{whole} %",
        f"{Fraction(whole, 1000).numerator / Fraction(whole, 1000).denominator!r}k",
        f"The answer is {whole:,}.",
    ):
        score = score_of(variant, plain)
        assert 0.8 <= score.value <= 0.95 or variant == plain, variant


@given(st.dates(date(1000, 1, 1), date(9999, 12, 31)))
def test_a_date_in_another_form_stays_in_the_form_band(day: date) -> None:
    iso = day.isoformat()
    for variant in (
        f"{day:%B} {day.day}, {day.year}",
        f"{day.day} {day:%b} {day.year}",
        f"{day.day:02}.{day.month:02}.{day.year}",
        f"{day.month}/{day.day}/{day.year}",
        f"{day.day}/{day.month}/{day.year}",
    ):
        assert 0.8 <= score_of(variant, iso).value <= 0.95, variant


@given(st.integers(-(10**6), 10**6), st.integers(-(10**6), 10**6))
def test_two_different_numbers_never_match(one: int, other: int) -> None:
    assume(one != other)
    assert score_of(f"{one:,}", str(other)).value == 0.0


@given(names, st.data())
def test_every_further_wrong_letter_never_raises_the_score(name: str, data: st.DataObject) -> None:
    places = data.draw(st.permutations([at for at, char in enumerate(name) if char != " "]))
    letters, values = list(name), [1.0]
    for place in places[:6]:
        letters[place] = "ж"
        values.append(score_of("".join(letters), name).value)
    assert values == sorted(values, reverse=True)


@given(names, st.lists(words, max_size=6))
def test_every_further_word_never_raises_the_score(name: str, extra: list[str]) -> None:
    fillers = [f"ж{word}" for word in extra]
    values = [
        score_of(" ".join([name, *fillers[:count]]), name).value for count in range(len(extra))
    ]
    assert values == sorted(values, reverse=True)


@given(anything)
def test_reading_numbers_and_dates_never_raises(text: str) -> None:
    quantity_of(text)
    date_of(text.casefold(), "day first")
    date_of(text.casefold(), "month first")


HOSTILE = (
    "[" * 9_999, '[{"a":' * 1_600, " " * 9_999 + "x", '"' * 10_000, "1," * 5_000, "9" * 10_000,
    "\ud800", "\u0301" * 10_000, "x" * 10_000_000, "1e999 trillion", "- " * 5_000,
    "answer is " * 1_000,
)  # fmt: skip


@pytest.mark.parametrize("response", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_responses_never_raise(response: str) -> None:
    for answer in ["Paris", "14.2", "a\nb", "2023-09-01", "x" * 10_000]:
        score = score_of(response, answer)
        assert score.value < 0.8, answer
        score.because.encode()


def test_the_reward_is_found_by_name_and_signed() -> None:
    scorer = Scorer("fuzzy_answer_reward", {"tolerance": 0.1})
    score = scorer({"final_response": "14.3", "answer": "14.2"})
    assert score.scorer == "fuzzy_answer_reward@1"
    assert score.notes["band"] == "partial"
