from __future__ import annotations

import json
import lzma
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.worlds.webshop.catalogue import Product
from assay.worlds.webshop.goals import ShoppingGoal
from assay.worlds.webshop.purchase import (
    COLOURS,
    ProductWithNouns,
    PurchaseReceipt,
    normalize_option,
    write_receipt,
)
from assay.worlds.webshop.shop import open_shop
from perf.world_rows.webshop import golden_receipt

GOLDEN = Path(__file__).parents[2] / "data" / "webshop" / "reward_golden.jsonl.xz"


def as_original(receipt: PurchaseReceipt) -> dict[str, Any]:
    """The receipt under the names of the original's verbose answer."""
    share = 1 / (receipt.attributes + receipt.options + 1)
    info = {
        "r_type": receipt.r_type,
        "r_att": receipt.attributes_matched / receipt.attributes,
        "w_att": receipt.attributes / (receipt.attributes + receipt.options + 1),
        "query_match": receipt.query_match,
        "category_match": receipt.category_match,
        "title_score": receipt.title_score,
        "r_price": receipt.price_ok,
        "w_price": share,
    }
    if receipt.options:
        info["r_option"] = receipt.options_matched / receipt.options
        info["w_option"] = receipt.options / (receipt.attributes + receipt.options + 1)
    return info


def test_all_688_golden_purchases_score_as_the_original_scores_them() -> None:
    records = [json.loads(line) for line in lzma.decompress(GOLDEN.read_bytes()).splitlines()]
    wrong = []
    for record in records:
        receipt = golden_receipt(open_shop(), record)
        if (receipt.score, as_original(receipt)) != (record["reward"], record["info"]):
            wrong.append((record, receipt))
    assert len(records) == 688
    assert wrong == []


SHIRT = Product(
    asin="B000000001",
    title="Red Shirt",
    description="Dries FAST",
    bullets=("Soft touch", "machine wash"),
    category_path="Clothing › Men › Shirts",
    query="shirts",
    prices=(25.0,),
    options={},
    attributes=("long sleeve", "easy care"),
)
GOAL = ShoppingGoal("B000000001", "a shirt", ("long sleeve",), (), 30.0)


def receipt(
    *attributes: str,
    options: tuple[str | tuple[str, str], ...] = (),
    chosen: tuple[str, ...] = (),
    bought: tuple[str, ...] = ("red", "shirt"),
    target: tuple[str, ...] = ("red", "shirt"),
) -> PurchaseReceipt:
    return write_receipt(
        ProductWithNouns(SHIRT, bought),
        ProductWithNouns(SHIRT, target),
        ShoppingGoal("B000000001", "a shirt", attributes, options, 30.0),
        price=25.0,
        chosen={str(number): value for number, value in enumerate(chosen)},
    )


ATTRIBUTES = [
    ("long sleeve", 1, "it is one of the product's"),
    ("sleeve long", 1, "in any order"),
    ("long sleeves", 1, "nearly"),
    ("long", 1, "a subset of one"),
    ("shirt", 1, "it is in the title"),
    ("touch machine", 1, "it is in the joined bullet points"),
    ("dries fast", 1, "it is in the description, whose case does not matter"),
    ("Dries Fast", 0, "but the case of the attribute does"),
    ("silk", 0, "it is nowhere"),
]


@pytest.mark.parametrize(("attribute", "matched", "reason"), ATTRIBUTES)
def test_an_attribute_counts_when_it_is_close_or_written_on_the_product(
    attribute: str, matched: int, reason: str
) -> None:
    assert receipt(attribute).attributes_matched == matched, reason


OPTIONS: list[tuple[str | tuple[str, str], str, int, str]] = [
    ("navy blue", "blue striped", 1, "both are reduced to the colour word blue"),
    ("dark red", "red", 0, "dark comes before red in the list"),
    ("10.5", "10.5", 1, "equal"),
    ("10.5", "11", 0, "different"),
    (("color", "red"), "red", 1, "a pair whose value is a colour word is that colour"),
    (("color", "dark teal"), "teal", 1, "a pair is not reduced otherwise"),
    ("dark teal", "teal", 0, "as a value alone would be"),
    (("size", "x-large"), "x-large", 1, "a pair is compared with its name"),
    (("size", "x-large"), "size", 1, "so that its name alone is close to it"),
    (("flavor name", "mango"), "mango", 1, "a subset of the pair's words"),
    ("é", "é", 0, "what is left after the matcher's clean-up is nothing"),
    ("žluť", "žluť", 1, "letters above Latin-1 stay"),
]


@pytest.mark.parametrize(("target", "chosen", "matched", "reason"), OPTIONS)
def test_an_option_counts_as_the_original_counts_it(
    target: str | tuple[str, str], chosen: str, matched: int, reason: str
) -> None:
    got = receipt("silk", options=(target,), chosen=(chosen,))
    assert got.options_matched == matched, reason


KINDS = [
    (("red", "shirt"), ("red", "shirt"), 1.0, "same nouns"),
    (("hat",), ("red", "shirt"), 0.0, "no common noun, although query and category match"),
    (("shirt",), ("shirt", *"abcdefghijk"), 0.1, "one of twelve"),
    (("shirt",), ("shirt", "shirt", "shirt", "shirt"), 1.0, "duplicates count in the divisor"),
    (("hat",), (), 1.0, "a title without nouns scores 0.2"),
]


@pytest.mark.parametrize(("bought", "target", "r_type", "reason"), KINDS)
def test_the_kind_of_product_follows_from_the_nouns_of_the_titles(
    bought: tuple[str, ...], target: tuple[str, ...], r_type: float, reason: str
) -> None:
    assert receipt("soft", bought=bought, target=target).r_type == r_type, reason


def test_there_are_102_colour_words_and_the_first_in_the_list_wins() -> None:
    assert len(COLOURS) == len(set(COLOURS)) == 102
    assert sorted(COLOURS) == COLOURS
    assert normalize_option("white and black") == "black"
    assert normalize_option("tangerine") == "tan"
    assert normalize_option("10 inch") == "10 inch"


@settings(deadline=None)
@given(
    attributes=st.lists(st.sampled_from(["long sleeve", "silk", "shirt"]), min_size=1, max_size=4),
    options=st.lists(st.text(max_size=8), max_size=3),
    chosen=st.lists(st.text(max_size=8), max_size=5),
    price=st.floats(0, 60),
)
def test_the_score_is_a_share_and_follows_from_the_recorded_parts(
    attributes: list[str], options: list[str], chosen: list[str], price: float
) -> None:
    got = write_receipt(
        ProductWithNouns(SHIRT, ("red",)),
        ProductWithNouns(SHIRT, ("red", "shirt")),
        ShoppingGoal("B000000001", "a shirt", tuple(attributes), tuple(options), 30.0),
        price=price,
        chosen=dict(enumerate(chosen)),  # type: ignore[arg-type]  # only the values are read
    )
    assert 0.0 <= got.score <= 1.0
    assert got.attributes_matched <= got.attributes
    assert got.options_matched <= got.options
    assert got.price_ok == (price <= 30.0)
