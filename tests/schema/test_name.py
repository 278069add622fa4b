"""A name is one file of its folder, wherever the folder is copied to."""

import pytest

from assay.schema.name import is_name, name_problem


@pytest.mark.parametrize(
    "text",
    ["a", "20261115-054640-1059e3", "club_fee.1", "con1", "console", "a.b-c_d", "COM", "x.con"],
)
def test_a_name_is_safe_everywhere(text: str) -> None:
    assert is_name(text)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("../x", "it leads out"),
        ("/abs/x", "it leads elsewhere"),
        (".hidden", "it is hidden"),
        ("", "it is no file"),
        ("a" * 201, "it is too long with an ending"),
        ("a\n", "a line's end"),
        ("CON", "a device of Windows"),
        ("nul.jsonl", "a device, whatever its ending"),
        ("Com1", "a device with a number"),
        ("a.", "Windows drops the dot, so it is another name"),
    ],
)
def test_what_is_no_name_somewhere_is_none(text: str, why: str) -> None:
    assert not is_name(text), why
    assert "no dot last" in name_problem(text)
