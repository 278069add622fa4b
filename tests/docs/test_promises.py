"""The documentation promises nothing that is not there: no placeholder, no unknown command."""

import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from assay.cli.main import assay

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])
PLACEHOLDER = re.compile(r"@@\w+@@|\bTBD\b|\bTODO\b|\bFIXME\b|\blorem ipsum\b", re.IGNORECASE)
CODE = re.compile(r"^```[^\n]*\n(.*?)^```|`([^`\n]+)`", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"(?:^|[`(;&|$] ?)assay ((?:[a-z][a-z-]* ?)+)(.*)", re.MULTILINE)
MAKE = re.compile(r"(?:^|[`$] ?)make ((?:[a-z][a-z-]*\b ?)+)", re.MULTILINE)
TARGET = re.compile(r"^([a-z][a-z-]*):", re.MULTILINE)


def code_of(page: Path) -> str:
    """What the page shows as code, one snippet a line or more."""
    return "\n".join(block or inline for block, inline in CODE.findall(page.read_text()))


def make_targets() -> set[str]:
    text = (ROOT / "Makefile").read_text()
    trainers = re.search(r"addprefix trainer-,([a-z ]+)\)", text)
    assert trainers is not None
    return {*TARGET.findall(text), *(f"trainer-{name}" for name in trainers[1].split())}


def unknown_commands(text: str) -> Iterator[str]:
    """Each call of the command line in the text that names no command, or an unknown option."""
    for words, rest in COMMAND.findall(text):
        command: click.Command = assay
        path = ["assay"]
        for word in words.split():
            if not isinstance(command, click.Group):
                break
            inner = command.get_command(click.Context(command), word)
            if inner is None:
                yield " ".join([*path, word])
                return
            command = inner
            path.append(word)
        known = {"--help", "-h", "--version"}.union(
            *([*option.opts, *option.secondary_opts] for option in command.params)
        )
        # What stands after two dashes alone is for another program.
        own = rest.split("#")[0].split("`")[0].split(" -- ")[0]
        for option in re.findall(r"(?<![\w-])--[a-z][a-z-]+", own):
            if option not in known and not isinstance(command, click.Group):
                yield " ".join([*path, option])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_placeholder_is_left(page: Path) -> None:
    assert not PLACEHOLDER.findall(page.read_text())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_make_target_exists(page: Path) -> None:
    named = {word for words in MAKE.findall(code_of(page)) for word in words.split()[:1]}
    assert named <= make_targets() | {"trainer-"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_and_option_exists(page: Path) -> None:
    assert not list(unknown_commands(code_of(page)))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("assay runn townsquare", "assay runn"),
        ("$ assay run townsquare --agnt rules", "assay run --agnt"),
        ("assay list worldz", "assay list worldz"),
    ],
)
def test_an_unknown_command_is_noticed(text: str, problem: str) -> None:
    assert list(unknown_commands(text)) == [problem]


def test_what_is_listed_as_slow_exists(slow_paths: list[Path]) -> None:
    assert [path for path in slow_paths if not path.exists()] == []


def test_every_test_that_the_promises_name_is_there() -> None:
    page = (ROOT / "docs" / "design" / "promises.md").read_text()
    named = re.findall(r"`([\w/]+\.py)::(\w+)`", page)
    assert len(named) > 50
    missing = [
        f"{file}::{name}"
        for file, name in named
        if f"def {name}(" not in (ROOT / "tests" / file).read_text()
    ]
    assert missing == []
