"""`assistantbench_reward`: BrowserGym's numbers, with the reason, and never an exception."""

from __future__ import annotations

import gzip
import itertools
import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import assay
import assay.rewards.outcome.answers.assistantbench as rules
from assay.errors import BadParameter
from assay.rewards.outcome.answers.reward import ASSISTANTBENCH_PARTS, assistantbench_reward
from assay.rewards.outcome.bags import best_assignment
from assay.schema.score import Abstained, Scored
from assay.scoring.scorer import Scorer

CASES = Path(__file__).parents[2] / "data" / "answers" / "reference_cases.jsonl.gz"


def score_of(prediction: str | None, reference: object, **options: Any) -> Scored:
    score = assistantbench_reward(prediction, reference, **options)
    assert isinstance(score, Scored)
    return score


def recorded_cases() -> list[tuple[str, str, Any]]:
    with gzip.open(CASES, "rt", encoding="utf-8") as file:
        return [tuple(json.loads(line)) for line in file]


def test_every_recorded_case_gets_the_value_that_browsergym_gave() -> None:
    cases = recorded_cases()
    assert len(cases) == 3_000
    kinds = set()
    for prediction, reference, browsergym in cases:
        score = score_of(prediction, reference)
        kinds.add(score.notes["gold_kind"])
        if isinstance(browsergym, str):
            assert (score.value, score.parts["reference_raises"]) == (0.0, 1.0), (
                prediction,
                reference,
            )
            continue
        value, answered = browsergym
        # Infinity, which BrowserGym can return, is not a score.
        expected = value if value != float("inf") else 0.0
        assert score.value == pytest.approx(expected, rel=1e-12, abs=1e-12), (prediction, reference)
        assert score.parts["reference_raises"] == 0.0, (prediction, reference)
        assert score.parts["answered"] == answered, (prediction, reference)
    assert kinds == {"number", "string", "string list", "json"}


NUMBERS = [
    ("14.2", "14.2", 1.0, "the reference"),
    ("14.2%", "14.2", 1.0, "a percent sign is dropped"),
    ("14.2 %", "14.2", 1.0, "also after a space"),
    ("14.3", "14.2", 0.9930, "1 - ln(14.3 / 14.2)"),
    ("14.1", "14.2", 0.9929, "the ratio counts in both directions"),
    ("14.2857", "14.2", 0.9940, "more digits are no better"),
    ("14.2 percent", "14.2", 0.0, "words are no number"),
    ("approximately 14-20%", "14.2", 0.0, "a range is no number"),
    ("The answer is 14.2%", "14.2", 0.0, "a sentence is no number"),
    ("~14.2", "14.2", 0.0, "neither is an approximation"),
    ("0.142", "14.2", 0.0, "a fraction is not a percentage"),
    ("25", "14.2", 0.4344, "credit for the order of magnitude"),
    ("28.57", "14.2", 0.3009, "twice the reference"),
    ("38.5", "14.2", 0.0026, "just below the factor e"),
    ("38.6", "14.2", 0.0, "just above it"),
    ("850000", "850000", 1.0, "the reference"),
    (" 850000 ", "850000", 1.0, "white space is ignored"),
    ("850000.00", "850000", 1.0, "decimals are a number's own business"),
    ("$850k", "850000", 0.0, "k is not read"),
    ("$850,000", "850000", 0.0, "the comma becomes a point, 850.0"),
    ("850,000", "850000", 0.0, "also without the currency"),
    ("$850000", "850000", 1.0, "the currency itself is fine"),
    ("850000 USD", "850000", 0.0, "spelt out it is not"),
    ("850 000", "850000", 0.0, "spaces do not group"),
    ("8.5e5", "850000", 1.0, "whatever float() reads"),
    ("850_000", "850000", 1.0, "underscores too"),
    ("1,010,000", "1010000", 0.0, "two points are no number"),
    ("$1,010,000", "1010000", 0.0, "two points are no number"),
    ("700000", "1010000", 0.6334, "1 - ln(1.01 / 0.7)"),
    ('"1010000"', "1010000", 1.0, "a JSON string is unquoted"),
    ("1148", "1148 sqft", 1.0, "the unit is dropped from the reference"),
    ("1148 sqft", "1148 sqft", 1.0, "and from the answer"),
    ("1,148 sqft", "1148 sqft", 0.0, "the comma becomes a point"),
    ("1148 sq ft", "1148 sqft", 0.0, "only that one spelling"),
    ("1148 square feet", "1148 sqft", 0.0, "only that one spelling"),
    ("$55", "$55", 1.0, "currency on both sides"),
    ("55", "$55", 1.0, "or on one"),
    ("31,67", "31.67", 1.0, "a decimal comma"),
    ("-$108", "45", 0.0, "another sign"),
    ("-45", "45", 0.0, "another sign"),
    ("-45", "-45", 1.0, "the same negative number"),
    ("-1", "-2", 1.6931, "two negatives divide the other way round: above 1, as in BrowserGym"),
    ("0", "45", 0.0, "zero stands for 0.0001 in a ratio"),
    ("0", "0", 1.0, "two zeros are equal"),
    ("0.0001", "0", 1.0, "and so is what stands for zero"),
    ("54.2", "45", 0.8140, "1 - ln(54.2 / 45)"),
    ("Infinity", "45", 0.0, "an infinite ratio"),
    ("[44, 45]", "45", 0.0, "several answers to one number"),
    (" ", "45", 0.0, "nothing, though it counts as answered"),
    ("I don't know", "45", 0.0, "a refusal counts as answered"),
]
STRINGS = [
    ("Shanghai Villa", "Shanghai villa", 1.0, "case is ignored"),
    ("shanghai villa", "Shanghai villa", 1.0, "case is ignored"),
    ("SHANGHAI VILLA", "Shanghai Villa", 1.0, "case is ignored"),
    ("Shanghai Villa (123 Main St)", "Shanghai villa", 0.5714, "three extra tokens"),
    ("Shanghai Villa (Main St)", "Shanghai villa", 0.6667, "two extra tokens"),
    ("The Shanghai Villa", "Shanghai villa", 1.0, "articles vanish"),
    ("Villa Shanghai", "Shanghai villa", 1.0, "order does not count"),
    ("Shanghai-Villa", "Shanghai villa", 1.0, "hyphens separate"),
    ("ShanghaiVilla", "Shanghai villa", 0.0, "one token that is neither"),
    ("Shanghai Vila", "Shanghai villa", 0.5, "a misspelt token is another token"),
    ("The answer is Shanghai Villa.", "Shanghai villa", 0.6667, "two extra tokens"),
    ('["Shanghai Villa"]', "Shanghai villa", 1.0, "a list of one"),
    ('["Shanghai Villa","Red Bamboo"]', "Shanghai villa", 0.5, "the mean over two items"),
    ("Shanghai Villa, Red Bamboo", "Shanghai villa", 0.6667, "one text with two extra tokens"),
    ("villa villa villa shanghai", "Shanghai villa", 1.0, "repetition is free"),
    ("2023-09-01", "September 1, 2023", 0.6667, "there is no date logic: 1 and 2023 are shared"),
    ("September 1, 2023", "September 1, 2023", 1.0, "the reference"),
    ("1 September 2023", "September 1, 2023", 1.0, "the same tokens"),
    ("Sept 1 2023", "September 1, 2023", 0.6667, "another token for the month"),
    ("09/01/2023", "September 1, 2023", 0.0, "one numeric token, not shared"),
    ("2023/09/01", "2023-09-01", 0.0, "slashes do not separate"),
    ("1 Sep 2023", "2023-09-01", 0.6667, "1 and 2023 are shared"),
    ("Adrenalinpark Koln", "Adrenalinpark Köln", 0.5, "accents count"),
    ("Adrenalinpark Ko\u0308ln", "Adrenalinpark K\u00f6ln", 0.5, "so does the Unicode form"),
    ("McDonald’s", "McDonald's", 0.0, "a curly apostrophe is not ASCII punctuation"),
    ("McDonalds", "McDonald's", 1.0, "a straight one is"),
    ("Fidelity Index Fund (FPADX)", "Fidelity® Index Fund (FPADX)", 0.75, "® stays in its token"),
    ("Route 66 Diner", "Route 66 Diner", 1.0, "the reference"),
    ("Route Diner", "Route 66 Diner", 0.0, "the number gate"),
    ("Route 67 Diner", "Route 66 Diner", 0.0, "the number gate"),
    ("Knives Out", "Glass Onion: A Knives Out Mystery", 0.5714, "two of five tokens"),
    ('["45"]', "Route 66", 0.0, "a list of one number becomes a printed pair"),
]
GYMS = "CrossFit East River\nAvea Pilates"
LISTS = [
    ('["CrossFit East River","Avea Pilates"]', GYMS, 1.0, "a JSON list of the items"),
    ('["Avea Pilates","CrossFit East River"]', GYMS, 1.0, "in any order"),
    (GYMS, GYMS, 0.375, "the reference itself is one text, not two"),
    ("CrossFit East River, Avea Pilates", GYMS, 0.375, "as are commas"),
    ("CrossFit East River", GYMS, 0.5, "one of two"),
    ('["CrossFit East River"]', GYMS, 0.5, "one of two, in a list"),
    ('["CrossFit East River","Avea Pilates","Blink"]', GYMS, 0.6667, "one too many"),
    ("['CrossFit East River','Avea Pilates']", GYMS, 0.2857, "Python's quotes are not JSON"),
    ("crunch fitness - east village", GYMS, 0.1429, "one shared token"),
]
PARCELS = "\n".join(
    (
        '{"sender": "DHL", "price (usd)": "55-70"}',
        '{"sender": "Fedex", "price (usd)": "62-95"}',
        '{"sender": "USPS", "price (usd)": "73.4-78.15"}',
    )
)
PARCEL = '{"sender": "USPS", "price (usd)": "41.75"}'
OBJECTS = [
    (PARCELS, PARCELS, 1.0, "the reference, one object per line"),
    ("[" + PARCELS.replace("\n", ",") + "]", PARCELS, 1.0, "or in a list"),
    ("\n".join(reversed(PARCELS.split("\n"))), PARCELS, 1.0, "in any order"),
    (PARCELS.split("\n")[0], PARCELS, 1 / 3, "one of three"),
    (PARCELS.replace("DHL", "dhl"), PARCELS, 1.0, "the case of a value is ignored"),
    (PARCELS.replace("sender", "Sender"), PARCELS, 0.5, "the case of a key is not"),
    ('{"sender": "DHL"}', PARCELS, 0.2222, "a missing key"),
    (PARCEL, PARCEL, 1.0, "the reference"),
    ('{"sender": "USPS", "price (usd)": 41.75}', PARCEL, 1.0, "a number for its text"),
    ('{"sender": "usps", "price (usd)": "$41.75"}', PARCEL, 1.0, "a currency"),
    ('{"sender": "USPS", "price (usd)": 45}', PARCEL, 0.9625, "a close number"),
    ("{'sender': 'USPS', 'price (usd)': '41.75'}", PARCEL, 0.0, "Python's quotes are not JSON"),
    ('{"sender": "USPS", "price (usd)": "41.75", "days": 5}', PARCEL, 0.8, "an extra key"),
    ('{"sender": "USPS", "price (usd)": null}', PARCEL, 0.5, "another type"),
    ('{"sender": {"n":"USPS"}, "price (usd)": "41.75"}', PARCEL, 0.5, "another type"),
    ("USPS 41.75", PARCEL, 0.0, "text is no object"),
    (f"```json\n{PARCEL}\n```", PARCEL, 0.0, "neither is a fenced one"),
    (f"[[{PARCEL}]]", PARCEL, 0.0, "nor a list in a list"),
    ("anything", "", 0.0, "a hidden reference"),
]


@pytest.mark.parametrize(
    ("prediction", "reference", "value", "why"), NUMBERS + STRINGS + LISTS + OBJECTS
)
def test_an_answer_gets_browsergyms_value(
    prediction: str, reference: str, value: float, why: str
) -> None:
    score = score_of(prediction, reference)
    assert score.value == pytest.approx(value, abs=5e-5), why
    assert score.parts["reference_raises"] == 0.0, why
    assert score.parts["answered"] == 1.0, why
    assert score.because


@pytest.mark.parametrize(
    ("prediction", "reference", "why"),
    [
        ("true", "45", "a boolean has no length"),
        ("null", "45", "neither has null"),
        ("[45]", "45", "a list of one integer becomes a pair"),
        ("[45.0]", "45", "a list is no number"),
        ('["45"]', "45", "a list of one numeral becomes a pair"),
        ('{"a": 45}', "45", "an object is no number"),
        ("{}", PARCEL, "the mean over no keys"),
        (f'[{PARCEL}, "x"]', PARCEL, "a text among objects"),
        ("1" + "0" * 400, "45", "an integer that no float holds"),
        (PARCEL, "1\n2", "objects against lines of numbers"),
        ('{"a": 1}', '{"a": null}', "a null inside the reference"),
    ],
)
def test_where_browsergym_raises_the_score_is_zero_and_says_so(
    prediction: str, reference: str, why: str
) -> None:
    score = score_of(prediction, reference)
    assert (score.value, score.parts["reference_raises"]) == (0.0, 1.0), why
    assert "raises" in score.because


@pytest.mark.parametrize(
    ("prediction", "reference", "why"),
    [
        ("", "45", "empty"),
        ("NaN", "45", "not a number"),
        ("[]", GYMS, "an empty list"),
        ('["",""]', GYMS, "a list of empty texts"),
        (None, GYMS, "no response at all"),
    ],
)
def test_an_empty_answer_is_zero_and_unanswered(
    prediction: str | None, reference: str, why: str
) -> None:
    score = score_of(prediction, reference)
    assert (score.value, score.parts["answered"]) == (0.0, 0.0), why


def test_a_missing_reference_abstains_and_an_unusable_one_too() -> None:
    for reference, reason in (
        (None, "missing_reference"),
        (float("nan"), "missing_reference"),
        ({"a": 1}, "bad_reference"),
        (["a", 1], "bad_reference"),
        (True, "bad_reference"),
        (b"a", "bad_reference"),
        (10**5000, "bad_reference"),
        ("x" * (rules.MAX_CHARS + 1), "unparseable_reference"),
        ("\n".join("ab" for _ in range(rules.MAX_REFERENCE_ITEMS + 1)), "unparseable_reference"),
        ("[" * 500, "unparseable_reference"),
    ):
        score = assistantbench_reward("x", reference)
        assert isinstance(score, Abstained)
        assert score.reason == reason
        assert set(score.parts) == set(ASSISTANTBENCH_PARTS)


def test_a_hidden_reference_is_browsergyms_zero_marked_or_an_abstention_on_request() -> None:
    score = score_of("anything", " \n ")
    assert (score.value, score.parts["gold_hidden"]) == (0.0, 1.0)
    assert "hidden" in score.because
    assert isinstance(assistantbench_reward("anything", "", hidden_gold="abstain"), Abstained)


def test_negative_numbers_mirror_positive_ones_on_request() -> None:
    for prediction, reference in (
        ("-1", "-2"),
        ("-2", "-1"),
        ("-45", "-45"),
        ("-1e-200", "-1e200"),
    ):
        mirrored = score_of(prediction, reference, negatives="mirrored")
        assert mirrored.value == score_of(prediction[1:], reference[1:]).value
    inside = score_of('{"days": -1}', '{"days": -2}', negatives="mirrored")
    assert inside.value == score_of('{"days": 1}', '{"days": 2}').value


@pytest.mark.parametrize(
    ("prediction", "reference"), [("-Infinity", "-5"), ("-1e999", "-5"), ("-1e-200", "-1e200")]
)
def test_a_value_that_browsergym_calls_infinite_is_zero(prediction: str, reference: str) -> None:
    score = score_of(prediction, reference)
    assert score.value == 0.0
    assert "infinity" in score.because


def test_numbers_and_lists_of_lines_are_references_too() -> None:
    assert score_of("14.2", 14.2).value == 1.0
    assert score_of('["b", "a"]', ["a", "b"]).value == 1.0


@pytest.mark.parametrize("response", [45, 4.5, b"45", ["45"], [{"role": "a", "content": "45"}]])
def test_a_response_that_is_not_text_abstains(response: Any) -> None:
    score = assay.score("assistantbench_reward", final_response=response, answer="45")
    assert isinstance(score, Abstained)
    assert (score.reason, set(score.parts)) == ("bad_response", set(ASSISTANTBENCH_PARTS))


def test_an_unknown_option_value_is_refused() -> None:
    with pytest.raises(BadParameter, match="hidden_gold"):
        assistantbench_reward("x", "x", hidden_gold="zero")  # type: ignore[arg-type]


def test_the_alignment_names_who_was_matched_with_whom() -> None:
    score = score_of('["Avea Pilates", "Blink", "Crossfit East"]', GYMS)
    assert json.loads(score.notes["alignment"]) == [
        ["CrossFit East River", "Crossfit East", 0.8],
        ["Avea Pilates", "Avea Pilates", 1.0],
    ]
    assert (score.parts["items_gold"], score.parts["items_predicted"]) == (2.0, 3.0)


@pytest.mark.parametrize(
    "prediction",
    [
        "villa " * 2_000_000, json.dumps(["villa"] * 10_000), json.dumps(["villa"] * 100_000),
        "[" * 100_000, '{"a":' * 15_000, "[" * 50_000 + "]" * 50_000,
        json.dumps([{"a": ["b"] * 500}] * 40), "1" * 100_000, "1e999999999", "-" * 100_000,
        "\n" * 100_000, " " * 100_000, "\ud800", '["\\ud800"]', "\x00",
    ],
    ids=range(15),
)  # fmt: skip
def test_hostile_answers_cost_little_and_never_raise(prediction: str) -> None:
    for reference in ["Shanghai villa", GYMS, PARCELS, "45", '{"a": ["b", "c"]}']:
        score = score_of(prediction, reference)
        assert 0.0 <= score.value <= 1.0, reference
        assert sum(map(len, score.notes.values())) < 10_000, reference
        score.because.encode()


def test_what_is_over_a_limit_says_so() -> None:
    for prediction in ("x" * 100_001, "[" * 101, json.dumps(["villa"] * 20_001)):
        assert score_of(prediction, "Shanghai villa").because.startswith("limit")
    deepest = "[" * 99 + '"villa"' + "]" * 99
    assert not score_of(deepest, "villa").because.startswith("limit")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4)
    ),
    max_leaves=8,
)
answers = st.text(max_size=30) | json_values.map(json.dumps)


@given(answers, answers)
def test_any_text_against_any_reference_is_a_score_with_all_parts(
    prediction: str, reference: str
) -> None:
    score = score_of(prediction, reference)
    assert score.value >= 0.0
    assert tuple(score.parts) == ASSISTANTBENCH_PARTS


def matrices(columns: int) -> st.SearchStrategy[list[list[float]]]:
    cell = st.sampled_from([0.0, 0.25, 0.5, 2 / 3, 1.0])
    row = st.lists(cell, min_size=columns, max_size=columns)
    return st.lists(row, min_size=1, max_size=5)


@given(st.integers(1, 5).flatmap(matrices))
def test_the_assignment_is_the_best_of_all(scores: list[list[float]]) -> None:
    pairs = best_assignment(scores)
    rows, columns = len(scores), len(scores[0])
    assert len({row for row, _ in pairs}) == len({column for _, column in pairs}) == len(pairs)
    if rows <= columns:
        every = (
            sum(scores[row][column] for row, column in enumerate(order))
            for order in itertools.permutations(range(columns), rows)
        )
    else:
        every = (
            sum(scores[row][column] for column, row in enumerate(order))
            for order in itertools.permutations(range(rows), columns)
        )
    assert sum(scores[row][column] for row, column in pairs) == pytest.approx(max(every))


def test_the_assignment_of_a_large_matrix_beats_any_shuffle() -> None:
    rng = random.Random(7)
    scores = [[rng.random() for _ in range(60)] for _ in range(50)]
    best = sum(scores[row][column] for row, column in best_assignment(scores))
    for _ in range(200):
        columns = rng.sample(range(60), k=50)
        assert best >= sum(scores[row][column] for row, column in enumerate(columns))


def test_the_reward_is_found_by_name_and_signed() -> None:
    score = Scorer("assistantbench_reward")({"final_response": "14.3", "answer": "14.2"})
    assert score.scorer == "assistantbench_reward@1"


def test_importing_the_reward_loads_neither_numpy_nor_scipy() -> None:
    program = (
        "import sys, assay.rewards.outcome.answers.reward; "
        "sys.exit(bool({'numpy', 'scipy'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
