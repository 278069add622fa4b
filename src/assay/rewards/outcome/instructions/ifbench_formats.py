"""IFBench's instructions about form, and its one-off tasks (Pyatkin et al., 2507.02833)."""

from __future__ import annotations

import csv
import io
import re
import string
import unicodedata
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from assay.rewards.outcome.instructions.check import Arguments, Decision, checks_of
from assay.text.words import (
    PUNCTUATION,
    is_emoji,
    sentences,
    tokens,
    without_punctuation,
    word_list,
)

_PAIRS: Final = {")": "(", "]": "[", "}": "{"}
_LETTERED: Final = re.compile(r"\W*[aA]\W*[bB]\W*[cC]\W*")
_QUESTION: Final = re.compile(r"Question \d+[.|):;]?\s*")
_OPTION: Final = re.compile(r"[A-Ea-e][.|)]\s*\w")
_DATE: Final = re.compile(r"(\d{4})-(\d{2})-(\d{2})$", re.ASCII)
_DAYS: Final = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_SPECIAL: Final = re.compile(r"[^\w\s]")
CAPITALS: Final = tuple(word_list("capitals"))
_MINOR: Final = frozenset(word_list("minor_words"))


# Brackets and quotation marks


def _nested_brackets(text: str, _: Arguments) -> Decision:
    open_brackets: list[str] = []
    deepest = 0
    for char in text:
        if char in "([{":
            open_brackets.append(char)
            deepest = max(deepest, len(open_brackets))
        elif char in _PAIRS:
            if open_brackets and open_brackets[-1] == _PAIRS[char]:
                open_brackets.pop()
                if deepest >= 5:
                    return True
            else:
                open_brackets, deepest = [], 0
    return False


def _closed_brackets(text: str, _: Arguments) -> Decision:
    """Whether five brackets, one inside the other, are all closed again."""
    depths: list[int] = []
    open_brackets: list[str] = []
    for char in text:
        if char in "([{":
            open_brackets.append(char)
            depths.append(1)
        elif char in _PAIRS:
            if not open_brackets or open_brackets.pop() != _PAIRS[char]:
                open_brackets, depths = [], []
                continue
            depth = depths.pop()
            if depth >= 5:
                return True
            if depths:
                depths[-1] = max(depths[-1], depth + 1)
    return False


def _nested_quotes(text: str, _: Arguments) -> Decision:
    open_quotes: list[str] = []
    deepest = 0
    for char in text:
        if open_quotes and char == open_quotes[-1]:
            open_quotes.pop()
            if deepest - len(open_quotes) >= 3:
                return True
        elif char in "\"'":
            open_quotes.append(char)
            deepest = max(deepest, len(open_quotes))
    return False


def _nested_quotation_marks(text: str, arguments: Arguments) -> Decision:
    plain = re.sub("[“”]", '"', text)
    # A mark between two letters is an apostrophe.
    return _nested_quotes(re.sub(r"(?<=\w)['’](?=\w)", "", re.sub("[‘’]", "'", plain)), arguments)


def _quotes_explained(text: str, _: Arguments) -> Decision:
    joined = "".join(re.sub("[“”]", '"', text).replace("'\"'", "").split())
    if '""' in joined:
        return False
    rest = joined.strip(string.digits + string.punctuation.replace('"', ""))
    return bool(rest) and rest[-1] != '"'


def _some_quotes_explained(text: str, arguments: Arguments) -> Decision:
    return len(re.findall('["“”]', text)) > 1 and _quotes_explained(text, arguments) is True


# Lines, bullets and templates


def _options(arguments: Arguments) -> list[str]:
    text = arguments.text("options")
    separator = "/" if "/" in text else "or" if "or" in text else ","
    return [option.strip() for option in text.split(separator)]


def _one_option(text: str, arguments: Arguments) -> Decision:
    options = _options(arguments)
    if _LETTERED.match(arguments.text("options")):
        return text in options
    bare = text.strip(PUNCTUATION).lower()
    return any(option.strip(PUNCTUATION).lower() == bare for option in options)


def _one_stripped_option(text: str, arguments: Arguments) -> Decision:
    return _one_option(text.strip(), arguments)


def _word_a_line(text: str, _: Arguments) -> Decision:
    bare = without_punctuation(text).strip()
    return sum(line != "" for line in bare.split("\n")) == len(bare.split())


def _one_word_a_line(text: str, _: Arguments) -> Decision:
    lines = [without_punctuation(line).split() for line in text.strip().split("\n")]
    return any(lines) and all(len(words) <= 1 for words in lines)


def _emoji_ends(text: str, _: Arguments) -> Decision:
    parts = [without_punctuation(sentence).strip() for sentence in sentences(text)]
    for number, part in enumerate(parts):
        if not part:
            return False
        if any(map(is_emoji, part[-2:])):
            continue
        # The emoji behind a mark is where the next sentence begins.
        following = parts[number + 1] if number + 1 < len(parts) else ""
        if not following or not is_emoji(following[0]):
            return False
    return True


def _emoji_ends_of_some(text: str, arguments: Arguments) -> Decision:
    return any(map(str.isalpha, text)) and _emoji_ends(text, arguments) is True


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _stairs(text: str, _: Arguments) -> Decision:
    """As published: of blank lines in a row, every other one is left where it is."""
    lines = text.split("\n")
    removals: Counter[str] = Counter()
    at = 0
    while at < len(lines):
        is_blank = not lines[at].strip()
        removals[lines[at]] += is_blank
        at += 2 if is_blank else 1
    remaining: list[str] = []
    for line in lines:
        if removals[line] > 0:
            removals[line] -= 1
        else:
            remaining.append(line)
    return all(_indent(one) < _indent(other) for one, other in pairwise(remaining))


def _stairs_of_lines(text: str, _: Arguments) -> Decision:
    lines = [line.expandtabs() for line in text.split("\n") if line.strip()]
    return len(lines) > 1 and all(_indent(one) < _indent(other) for one, other in pairwise(lines))


def _separated(text: str, arguments: Arguments) -> Decision:
    return text.count(arguments.text("sep")) >= 2


def _separated_lines(text: str, arguments: Arguments) -> Decision:
    mark = arguments.text("sep").strip()
    items = [line.strip() for line in text.split("\n")]
    return sum(item.startswith(mark) and item != mark for item in items) >= 2


def _thesis(text: str, _: Arguments) -> Decision:
    start = text.find("<i>")
    start = text.find("<em>") if start < 0 else start
    end = text.find("</i>", max(start, 0))
    end = text.find("</em>", max(start, 0)) if end < 0 else end
    if start < 0 or end < 0:
        return False
    return bool(text[start + 3 : end].strip()) and bool(text[end + 4 :].strip())


def _filled_thesis(text: str, _: Arguments) -> Decision:
    for tag in ("i", "em"):
        opening, closing = f"<{tag}>", f"</{tag}>"
        start = text.find(opening)
        end = text.find(closing, start + 1)
        if start >= 0 and end >= 0:
            inside = text[start + len(opening) : end]
            rest = text[end + len(closing) :]
            return any(map(str.isalpha, inside)) and any(map(str.isalpha, rest))
    return False


def _sub_bullets(text: str, _: Arguments) -> Decision:
    return all("-" in bullet for bullet in text.split("*")[1:])


def _sub_bullet_lines(text: str, _: Arguments) -> Decision:
    has_sub: list[bool] = []
    for line in text.split("\n"):
        mark = line.lstrip()[:2]
        if mark[:1] == "*" != mark[1:]:
            has_sub.append(False)
        elif mark[:1] == "-" != mark[1:] and has_sub:
            has_sub[-1] = True
    return bool(has_sub) and all(has_sub)


def _bullets_after_sentences(text: str, _: Arguments) -> Decision:
    """As published: once a blank line has come, only bullets may follow."""
    sentence_count = bullet_count = 0
    in_prose = True
    for line in text.split("\n"):
        if line.strip().startswith("*"):
            in_prose = False
            if sentence_count < 2:
                return False
            bullet_count += 1
        elif in_prose:
            in_prose = bool(line.strip())
            # More than two need not be counted.
            sentence_count += len(sentences(line.strip())) if sentence_count < 2 else 0
        else:
            return False
    return bullet_count >= 2


def _bullets_after_prose(text: str, _: Arguments) -> Decision:
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    bullets = [bool(re.match(r"\*\s", line)) for line in lines]
    if sum(bullets) < 2:
        return False
    first = bullets.index(True)
    prose = [part for line in lines[:first] for part in sentences(line)]
    return all(bullets[first:]) and sum(part.endswith(".") for part in prose) >= 2


def _title_case(text: str, _: Arguments) -> Decision:
    return not any(
        word[0].islower() and (word[1:].isupper() or word[1:].islower()) for word in tokens(text)
    )


def _major_title_case(text: str, _: Arguments) -> Decision:
    words = [
        bare
        for word in re.split(r"[\s\-–—/]+", text)
        if (bare := word.strip(string.punctuation + "“”‘’"))[:1].isalpha()
    ]
    major = [word for at, word in enumerate(words) if not at or word not in _MINOR]
    return bool(words) and not any(word[0].islower() for word in major)


_TEMPLATE: Final = ("My Answer:", "My Conclusion:", "Future Outlook:")


def _template(text: str, _: Arguments) -> Decision:
    return all(label in text for label in _TEMPLATE)


def _filled_template(text: str, _: Arguments) -> Decision:
    places = [text.find(label) for label in _TEMPLATE]
    if min(places) < 0 or places != sorted(places) or text[: places[0]].strip(" *#\n"):
        return False
    ends = [*places[1:], len(text)]
    return all(
        any(map(str.isalnum, text[start + len(label) : end]))
        for label, start, end in zip(_TEMPLATE, places, ends, strict=True)
    )


def _no_space(text: str, _: Arguments) -> Decision:
    return not any(map(str.isspace, text))


# One-off tasks


def _multiples(text: str, _: Arguments) -> Decision:
    return re.findall(r"\d+", text.replace(",", ", ")) == ["14", "21", "28", "35", "42", "49"]


def _questions(text: str, _: Arguments) -> Decision:
    if not text.startswith("Question"):
        return False
    questions = [part.strip() for part in _QUESTION.split(text) if part.strip()]
    if len(questions) != 4:
        return False
    lengths: list[int] = []
    for question in questions:
        lines = [line.strip() for line in question.split("\n")]
        options = [at for at, line in enumerate(lines) if _OPTION.match(line)]
        if len(options) != 5:
            return False
        lengths.append(len(" ".join(lines[: options[0]]).strip()))
    return all(one < other for one, other in pairwise(lengths))


def _ascii(text: str) -> str:
    """The text without accents, and without letters that have no other form."""
    return unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()


def _countries(text: str, _: Arguments) -> Decision:
    lines = [bare for line in text.split("\n") if (bare := line.strip(PUNCTUATION))]
    start = next((at for at, line in enumerate(lines) if "Zimbabwe" in line), len(lines))
    countries = [_ascii(line) for line in lines[start:]]
    return len(countries) >= 52 and countries == sorted(countries, reverse=True)


def _words_reversed(text: str, _: Arguments) -> Decision:
    words = without_punctuation(text.lower().strip()).split()
    return "bald eagle" in " ".join(words[::-1])


def _letters_reversed(text: str, _: Arguments) -> Decision:
    return "elgae dlab" in text.lower()


def _alphabet_of_sentences(text: str, _: Arguments) -> Decision:
    firsts = [sentence.split()[0][0].lower() if sentence else "" for sentence in sentences(text)]
    return firsts == list(string.ascii_lowercase)


def _alphabet_of_first_words(text: str, _: Arguments) -> Decision:
    firsts = [
        next((char for char in sentence.lower() if char.isalpha()), "")
        for sentence in sentences(text)
    ]
    return [first for first in firsts if first] == list(string.ascii_lowercase)


def _capitals(text: str, _: Arguments) -> Decision:
    cities = [city.strip() for city in _ascii(text).split(",") if city.strip()]
    return tuple(cities) == CAPITALS


def _rows(text: str, delimiter: str = ",") -> list[list[str]]:
    try:
        return list(csv.reader(io.StringIO(text), delimiter=delimiter))
    except csv.Error:
        return []


def _city_table(text: str, _: Arguments) -> Decision:
    rows = _rows(text)
    header = ["ID", "Country", "City", "Year", "Count"]
    return len(rows) == 8 and rows[0] == header and all(len(row) == 5 for row in rows)


def _header_matches(text: str, names: Sequence[str], between: str) -> bool:
    cells = [f'(?:{name}|"{name}")' for name in names]
    return re.fullmatch(between.join(cells), text.split("\n", 1)[0].strip()) is not None


def _product_table(text: str, _: Arguments) -> Decision:
    names = ("ProductID", "Category", "Brand", "Price", "Stock")
    if not _header_matches(text, names, r",[ \t]*"):
        return False
    rows = _rows(text.replace('"', '"""'))
    if len(rows) != 15:
        return False
    for row in rows[1:]:
        if len(row) != 5:
            return False
        if any(map(_has_special, row)):
            return True
    return False


def _has_special(cell: str) -> bool:
    """Whether a quoted cell has a special character, on its first line."""
    line = cell.partition("\n")[0]
    return line[:1] == '"' and _SPECIAL.search(line, 1, max(1, line.rfind('"'))) is not None


def _student_table(text: str, _: Arguments) -> Decision:
    names = ("StudentID", "Subject", "Grade", "Semester", "Score")
    if not _header_matches(text, names, r"\t *"):
        return False
    rows = _rows(text.replace('"', '"""'), "\t")
    return len(rows) == 4 and all(
        len(row) == 5 and all(_is_quoted(cell.strip()) for cell in row) for row in rows
    )


def _is_quoted(cell: str) -> bool:
    return cell[:1] == '"' == cell[-1:]


def _dates(text: str, _: Arguments) -> Decision:
    for item in text.strip().split(","):
        match = _DATE.match(item.strip())
        if match is None:
            return False
        year, month, day = map(int, match.groups())
        if not 1769 <= year <= 1821 or month > 12 or (month and day > _DAYS[month - 1]):
            return False
    return True


def _real_dates(text: str, arguments: Arguments) -> Decision:
    is_zero = any("-00" in item for item in text.split(","))
    return not is_zero and _dates(text, arguments) is True


CHECKS: Final = checks_of(
    {
        "format:parentheses": (_nested_brackets, _closed_brackets),
        "format:quotes": (_nested_quotes, _nested_quotation_marks),
        "format:options": (_one_option, _one_stripped_option),
        "format:newline": (_word_a_line, _one_word_a_line),
        "format:emoji": (_emoji_ends, _emoji_ends_of_some),
        "format:line_indent": (_stairs, _stairs_of_lines),
        "format:quote_unquote": (_quotes_explained, _some_quotes_explained),
        "format:list": (_separated, _separated_lines),
        "format:thesis": (_thesis, _filled_thesis),
        "format:sub-bullets": (_sub_bullets, _sub_bullet_lines),
        "format:no_bullets_bullets": (_bullets_after_sentences, _bullets_after_prose),
        "format:title_case": (_title_case, _major_title_case),
        "format:output_template": (_template, _filled_template),
        "format:no_whitespace": (_no_space, None),
        "custom:multiples": (_multiples, None),
        "custom:mcq_count_length": (_questions, None),
        "custom:reverse_newline": (_countries, None),
        "custom:word_reverse": (_words_reversed, None),
        "custom:character_reverse": (_letters_reversed, None),
        "custom:sentence_alphabet": (_alphabet_of_sentences, _alphabet_of_first_words),
        "custom:european_capitals_sort": (_capitals, None),
        "custom:csv_city": (_city_table, None),
        "custom:csv_special_character": (_product_table, None),
        "custom:csv_quotes": (_student_table, None),
        "custom:date_format_list": (_dates, _real_dates),
    }
)
