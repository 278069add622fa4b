from __future__ import annotations

import json
import lzma
import sys
import threading
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from assay.errors import BadParameter, BadRecord, MissingExtra
from assay.worlds.webshop.catalogue import NO_PRICE, read_products
from assay.worlds.webshop.session import ShopSession
from assay.worlds.webshop.shop import Shop, open_shop

SHIRT = {
    "asin": "B000000001",
    "name": "The Red Cotton Shirt",
    "full_description": "A shirt.",
    "small_description": ["Soft", "Red"],
    "product_category": "Clothing › Shirts",
    "category": "fashion",
    "query": " Shirts ",
    "pricing": "$19.99 - $1,027.99",
    "customization_options": {"Color": [{"value": " Red/White "}], "Size": None},
    "images": ["https://example.org/a.jpg"],
}
HAT = {**SHIRT, "asin": "B000000002", "name": "Hat", "pricing": "", "customization_options": ""}
WISHES = {"instruction": "find shirts", "instruction_attributes": ["soft"], "attributes": ["soft"]}
HUMAN = {"instruction": "a hat.", "instruction_attributes": ["soft"], "instruction_options": []}


def write(folder: Path, *items: object, **more: object) -> str:
    parts: dict[str, object] = {
        "items_shuffle": list(items),
        "items_ins_v2": {"B000000001": WISHES},
        "items_human_ins": {"B000000002": [HUMAN]},
        **more,
    }
    for name, value in parts.items():
        (folder / f"{name}.json").write_text(json.dumps(value), encoding="utf-8")
    return str(folder)


def test_a_folder_of_files_in_the_original_format_is_a_shop(tmp_path: Path) -> None:
    shop = open_shop(write(tmp_path, SHIRT, HAT, SHIRT, {**HAT, "asin": "nan"}))
    assert list(shop.stock.products) == ["B000000001", "B000000002"]
    shirt, hat = shop.stock.products.values()
    assert (shirt.query, shirt.options) == ("shirts", {"color": ("red | white",)})
    assert shirt.price_tag == "$19.99 to $1027.99"
    assert 19.99 <= shop.prices[shirt.asin] <= 1027.99
    assert (hat.prices, hat.attributes, hat.options) == ((NO_PRICE,), ("DUMMY_ATTR",), {})
    assert [len(shop.goals("human")), len(shop.goals("synthetic"))] == [1, 1]
    session = ShopSession(shop)
    session.reset(0, kind="synthetic")
    for action in ("search[cotton]", "click[b000000001]", "click[red | white]", "click[buy now]"):
        bought = session.step(action)
    assert bought.evidence is not None
    assert session.evidence().progress["options"] == {"color": "red | white"}
    assert session.evidence().progress["nouns"] == "words"
    assert bought.done


def test_compressed_files_and_files_named_by_size_are_read_too(tmp_path: Path) -> None:
    write(tmp_path, SHIRT)
    for path in list(tmp_path.iterdir()):
        packed = path.with_name(path.name.replace(".json", "_1000.json.xz"))
        packed.write_bytes(lzma.compress(path.read_bytes()))
        path.unlink()
    assert list(open_shop(str(tmp_path)).stock.products) == ["B000000001"]


BROKEN: list[tuple[Mapping[str, Any], str]] = [
    (
        {"name": None, "asin": None, "customization_options": {"Size": [{}]}},
        "an option without value",
    ),
    ({"pricing": "$ - $"}, "a price without digits"),
    ({"customization_options": {"Size": 5}}, "options that are a number"),
]


@pytest.mark.parametrize(("change", "reason"), BROKEN)
def test_a_product_in_another_format_is_named(change: Mapping[str, Any], reason: str) -> None:
    with pytest.raises(BadRecord, match="product 1 "):
        read_products([SHIRT, {**HAT, **change}], {}, {})
    assert reason


def test_a_product_without_a_field_is_named() -> None:
    with pytest.raises(BadRecord, match="full_description"):
        read_products([{"asin": "x", "name": "y", "small_description": []}], {}, {})


def test_a_folder_that_is_no_catalogue_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadParameter, match="items_shuffle"):
        open_shop(str(tmp_path))
    with pytest.raises(BadParameter, match="cannot be read"):
        open_shop(str(tmp_path / "nowhere"))
    write(tmp_path, SHIRT)
    (tmp_path / "items_shuffle.json").write_text("not json")
    with pytest.raises(BadRecord, match="items_shuffle"):
        open_shop(str(tmp_path))


def test_two_files_for_one_part_are_refused_unless_one_has_the_plain_name(tmp_path: Path) -> None:
    for name in ("clear", "unclear"):
        (tmp_path / name).mkdir()
        write(tmp_path / name, SHIRT)
        (tmp_path / name / "items_shuffle_100.json").write_text("[]")
    assert len(open_shop(str(tmp_path / "clear")).stock.products) == 1
    plain = tmp_path / "unclear" / "items_shuffle.json"
    plain.rename(plain.with_name("items_shuffle_1000.json"))
    with pytest.raises(BadParameter, match="items_shuffle_100"):
        open_shop(str(tmp_path / "unclear"))


def nouns_of(shop: Shop, asin: str) -> tuple[str, list[str]]:
    return shop.stock.nouns.source, list(shop.stock.item(asin).nouns)


def test_without_listed_nouns_and_spacy_the_words_of_the_title_stand_in(tmp_path: Path) -> None:
    shop = open_shop(write(tmp_path, SHIRT))
    assert nouns_of(shop, "B000000001") == ("words", ["red", "cotton", "shirt"])


def test_a_catalogue_can_bring_its_own_nouns(tmp_path: Path) -> None:
    folder = write(tmp_path, SHIRT, title_nouns={"B000000001": ["shirt"]})
    assert nouns_of(open_shop(folder), "B000000001") == ("title_nouns.json", ["shirt"])
    assert nouns_of(open_shop(folder, nouns="words"), "B000000001")[0] == "words"


def test_a_list_of_nouns_with_gaps_is_refused(tmp_path: Path) -> None:
    folder = write(tmp_path, SHIRT, HAT, title_nouns={"B000000001": ["shirt"]})
    with pytest.raises(BadRecord, match="B000000002"):
        open_shop(folder)


def test_spacy_is_asked_where_it_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Tagger:
        meta = {"version": "9.9"}  # noqa: RUF012 - the shape of spaCy's own attribute

        def __call__(self, text: str) -> list[SimpleNamespace]:
            kinds = {"Shirt": "NOUN", "Cotton": "PROPN"}
            return [SimpleNamespace(text=word, pos_=kinds.get(word, "X")) for word in text.split()]

    monkeypatch.setitem(sys.modules, "spacy", SimpleNamespace(load=lambda name: Tagger()))
    shop = open_shop(write(tmp_path, SHIRT))
    assert nouns_of(shop, "B000000001") == ("en_core_web_sm-9.9", ["cotton", "shirt"])


def test_a_source_of_nouns_that_is_asked_for_by_name_must_be_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "spacy", None)
    folder = write(tmp_path, SHIRT)
    with pytest.raises(MissingExtra, match="spaCy"):
        open_shop(folder, nouns="spacy")
    with pytest.raises(MissingExtra, match="title_nouns"):
        open_shop(folder, nouns="listed")


def test_the_shipped_nouns_are_those_of_the_original_model() -> None:
    source, nouns = nouns_of(open_shop(), "B08ZRR3DZT")
    assert source == "en_core_web_sm-3.6.0"
    assert "dress" in nouns


def test_one_process_loads_a_shop_once_however_many_threads_ask() -> None:
    barrier, shops = threading.Barrier(8), []

    def ask() -> None:
        barrier.wait()
        shops.append(open_shop(seed=99))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({id(shop) for shop in shops}) == 1
    assert shops[0].stock.index is open_shop(nouns="words").stock.index


def test_every_shipped_file_is_under_two_megabytes_and_has_a_source() -> None:
    data = files("assay.worlds.webshop") / "data"
    sources = (data / "SOURCES.md").read_text(encoding="utf-8")
    shipped = [one for one in data.iterdir() if one.name.endswith(".xz")]
    assert len(shipped) == 4
    for one in shipped:
        assert len(one.read_bytes()) < 2_000_000
        assert one.name in sources
