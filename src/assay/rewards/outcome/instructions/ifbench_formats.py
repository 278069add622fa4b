"""IFBench's instructions about format, and its one-off tasks (Pyatkin et al., 2507.02833)."""

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

from assay.rewards.outcome.instructions.check import checks
from assay.text.tokens import without_punctuation
from assay.text.words import PUNCTUATION, WORDS, has_word, is_emoji, sentences, tokens

_PAIRS: Final = {")": "(", "]": "[", "}": "{"}
_LETTERED: Final = re.compile(r"\W*[aA]\W*[bB]\W*[cC]\W*")
_QUESTION: Final = re.compile(r"Question \d+[.|):;]?\s*")
_OPTION: Final = re.compile(r"[A-Ea-e][.|)]\s*\w")
_DATE: Final = re.compile(r"(\d{4})-(\d{2})-(\d{2})$", re.ASCII)
_DAYS: Final = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_SPECIAL: Final = re.compile(r"[^\w\s]")
_TEMPLATE: Final = ("My Answer:", "My Conclusion:", "Future Outlook:")
_MINOR: Final = frozenset(
    "a an the and but for nor or so yet as at by in of off on per to up via with from".split()
)


def _nested_brackets(text: str, *, fixed: bool) -> bool:
    """In fixed mode, all five levels of brackets must close, not only the innermost one."""
    open_brackets: list[str] = []
    # Of each open bracket: how many are inside of each other in it, itself included.
    depths: list[int] = []
    deepest = 0
    for char in text:
        if char in "([{":
            open_brackets.append(char)
            depths.append(1)
            deepest = max(deepest, len(open_brackets))
        elif char in _PAIRS:
            if not open_brackets or open_brackets.pop() != _PAIRS[char]:
                open_brackets, depths, deepest = [], [], 0
                continue
            depth = depths.pop()
            if (depth if fixed else deepest) >= 5:
                return True
            if depths:
                depths[-1] = max(depths[-1], depth + 1)
    return False


def _nested_quotes(text: str, *, fixed: bool) -> bool:
    """In fixed mode, curly quotation marks count, and apostrophes do not."""
    if fixed:
        text = re.sub("[‘’]", "'", re.sub("[“”]", '"', text))
        # A mark between two letters is an apostrophe.
        text = re.sub(r"(?<=\w)'(?=\w)", "", text)
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


def _quotes_explained(text: str, *, fixed: bool) -> bool:
    """In fixed mode, the text needs at least one quotation."""
    if fixed and len(re.findall('["“”]', text)) < 2:
        return False
    joined = "".join(re.sub("[“”]", '"', text).replace("'\"'", "").split())
    if '""' in joined:
        return False
    rest = joined.strip(string.digits + string.punctuation.replace('"', ""))
    return bool(rest) and rest[-1] != '"'


def _one_option(text: str, options: str, *, fixed: bool) -> bool:
    """In fixed mode, white space around the option is ignored."""
    text = text.strip() if fixed else text
    separator = "/" if "/" in options else "or" if "or" in options else ","
    choices = [option.strip() for option in options.split(separator)]
    if _LETTERED.match(options):
        return text in choices
    bare = text.strip(PUNCTUATION).lower()
    return any(choice.strip(PUNCTUATION).lower() == bare for choice in choices)


def _word_a_line(text: str, *, fixed: bool) -> bool:
    """In fixed mode, no line may hold two words, even if another line is empty."""
    if fixed:
        lines = [without_punctuation(line).split() for line in text.strip().split("\n")]
        return any(lines) and all(len(words) <= 1 for words in lines)
    bare = without_punctuation(text).strip()
    return sum(line != "" for line in bare.split("\n")) == len(bare.split())


def _emoji_ends(text: str, *, fixed: bool) -> bool:
    """In fixed mode, the text needs at least one word."""
    if fixed and not any(map(str.isalpha, text)):
        return False
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


def _stairs(text: str, *, fixed: bool) -> bool:
    """In fixed mode, blank lines are ignored, a tab is eight spaces, and two lines are needed."""
    lines = text.split("\n")
    if fixed:
        rest = [line.expandtabs() for line in lines if line.strip()]
    else:
        rest = _without_some_blank_lines(lines)
    indents = [len(line) - len(line.lstrip(" ")) for line in rest]
    is_enough = len(indents) > 1 or not fixed
    return is_enough and all(one < other for one, other in pairwise(indents))


def _without_some_blank_lines(lines: Sequence[str]) -> list[str]:
    """Remove blank lines as the published program does: it skips every second one in a row."""
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
    return remaining


def _separated(text: str, sep: str, *, fixed: bool) -> bool:
    """In fixed mode, the separator starts a line, and an item follows it."""
    if not fixed:
        return text.count(sep) >= 2
    mark, items = sep.strip(), [line.strip() for line in text.split("\n")]
    return sum(item.startswith(mark) and item != mark for item in items) >= 2


def _thesis(text: str, *, fixed: bool) -> bool:
    """In fixed mode, the two tags match, with words between them and after them."""
    if fixed:
        for tag in ("i", "em"):
            _, opening, rest = text.partition(f"<{tag}>")
            inside, closing, rest = rest.partition(f"</{tag}>")
            if opening and closing:
                return any(map(str.isalpha, inside)) and any(map(str.isalpha, rest))
        return False
    start = text.find("<i>")
    start = text.find("<em>") if start < 0 else start
    end = text.find("</i>", max(start, 0))
    end = text.find("</em>", max(start, 0)) if end < 0 else end
    if start < 0 or end < 0:
        return False
    return bool(text[start + 3 : end].strip()) and bool(text[end + 4 :].strip())


def _sub_bullets(text: str, *, fixed: bool) -> bool:
    """In fixed mode, only a line can be a bullet, and at least one bullet is needed."""
    if not fixed:
        return all("-" in bullet for bullet in text.split("*")[1:])
    has_sub: list[bool] = []
    for line in text.split("\n"):
        mark = line.lstrip()[:2]
        if mark[:1] == "*" != mark[1:]:
            has_sub.append(False)
        elif mark[:1] == "-" != mark[1:] and has_sub:
            has_sub[-1] = True
    return bool(has_sub) and all(has_sub)


def _bullets_after_sentences(text: str, *, fixed: bool) -> bool:
    """In fixed mode, blank lines are ignored, and two sentences must end in a full stop."""
    if fixed:
        lines = [line.strip() for line in text.split("\n") if line.strip()]
        bullets = [bool(re.match(r"\*\s", line)) for line in lines]
        first = bullets.index(True) if any(bullets) else len(lines)
        prose = [part for line in lines[:first] for part in sentences(line)]
        is_prose = sum(part.endswith(".") for part in prose) >= 2
        return is_prose and all(bullets[first:]) and sum(bullets) >= 2
    # As published: once a blank line has come, only bullets may follow.
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


def _title_case(text: str, *, fixed: bool) -> bool:
    """In fixed mode, articles, conjunctions and short prepositions may be lower case."""
    if not fixed:
        return not any(
            word[0].islower() and (word[1:].isupper() or word[1:].islower())
            for word in tokens(text)
        )
    words = [
        bare
        for word in re.split(r"[\s\-–—/]+", text)
        if (bare := word.strip(string.punctuation + "“”‘’"))[:1].isalpha()
    ]
    major = [word for at, word in enumerate(words) if not at or word not in _MINOR]
    return bool(words) and not any(word[0].islower() for word in major)


def _template(text: str, *, fixed: bool) -> bool:
    """In fixed mode, the labels are in order; text follows each, and none precedes the first."""
    places = [text.find(label) for label in _TEMPLATE]
    if not fixed or min(places) < 0:
        return min(places) >= 0
    if places != sorted(places) or text[: places[0]].strip(" *#\n"):
        return False
    return all(
        has_word(text[start + len(label) : end])
        for label, start, end in zip(_TEMPLATE, places, [*places[1:], len(text)], strict=True)
    )


def _no_space(text: str) -> bool:
    return not any(map(str.isspace, text))


def _multiples(text: str) -> bool:
    return re.findall(r"\d+", text.replace(",", ", ")) == ["14", "21", "28", "35", "42", "49"]


def _questions(text: str) -> bool:
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
    """The text in ASCII: accents are removed, and letters without an ASCII form too."""
    return unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()


def _countries(text: str) -> bool:
    lines = [bare for line in text.split("\n") if (bare := line.strip(PUNCTUATION))]
    start = next((at for at, line in enumerate(lines) if "Zimbabwe" in line), len(lines))
    countries = [_ascii(line) for line in lines[start:]]
    return len(countries) >= 52 and countries == sorted(countries, reverse=True)


def _words_reversed(text: str) -> bool:
    words = without_punctuation(text.lower().strip()).split()
    return "bald eagle" in " ".join(words[::-1])


def _letters_reversed(text: str) -> bool:
    return "elgae dlab" in text.lower()


def _alphabet_of_sentences(text: str, *, fixed: bool) -> bool:
    """In fixed mode, an opening quotation mark is not the first letter of a sentence."""
    parts = [sentence.lower() for sentence in sentences(text)]
    published = (part.split()[0][0] if part else "" for part in parts)
    letters = (char for part in parts if (char := next(filter(str.isalpha, part), "")))
    return [*(letters if fixed else published)] == list(string.ascii_lowercase)


def _capitals(text: str) -> bool:
    cities = [city.strip() for city in _ascii(text).split(",") if city.strip()]
    return tuple(cities) == WORDS.capitals


def _rows(text: str, delimiter: str = ",") -> list[list[str]]:
    try:
        return list(csv.reader(io.StringIO(text), delimiter=delimiter))
    except csv.Error:
        return []


def _city_table(text: str) -> bool:
    rows = _rows(text)
    header = ["ID", "Country", "City", "Year", "Count"]
    return len(rows) == 8 and rows[0] == header and all(len(row) == 5 for row in rows)


def _header_matches(text: str, names: Sequence[str], between: str) -> bool:
    cells = [f'(?:{name}|"{name}")' for name in names]
    return re.fullmatch(between.join(cells), text.split("\n", 1)[0].strip()) is not None


def _product_table(text: str) -> bool:
    names = ("ProductID", "Category", "Brand", "Price", "Stock")
    if not _header_matches(text, names, r",[ \t]*"):
        return False
    rows = _rows(text.replace('"', '"""'))
    for row in rows[1:] if len(rows) == 15 else ():
        # A special character on the first line of a quoted cell.
        lines = [cell.partition("\n")[0] for cell in row if cell[:1] == '"']
        is_special = any(_SPECIAL.search(line, 1, max(1, line.rfind('"'))) for line in lines)
        if len(row) != 5 or is_special:
            return len(row) == 5
    return False


def _student_table(text: str) -> bool:
    names = ("StudentID", "Subject", "Grade", "Semester", "Score")
    if not _header_matches(text, names, r"\t *"):
        return False
    rows = _rows(text.replace('"', '"""'), "\t")
    cells = [cell.strip() for row in rows for cell in row]
    is_quoted = all(cell[:1] == '"' == cell[-1:] for cell in cells)
    return is_quoted and len(rows) == 4 and all(len(row) == 5 for row in rows)


def _dates(text: str, *, fixed: bool) -> bool:
    """In fixed mode, month 0 and day 0 are not valid."""
    if fixed and "-00" in text:
        return False
    for item in text.strip().split(","):
        match = _DATE.match(item.strip())
        if match is None:
            return False
        year, month, day = map(int, match.groups())
        if not 1769 <= year <= 1821 or month > 12 or (month and day > _DAYS[month - 1]):
            return False
    return True


CHECKS: Final = {
    **checks("format", parentheses=_nested_brackets, quotes=_nested_quotes, options=_one_option),
    **checks("format", newline=_word_a_line, emoji=_emoji_ends, line_indent=_stairs),
    **checks("format", quote_unquote=_quotes_explained, list=_separated, thesis=_thesis),
    **checks("format", no_bullets_bullets=_bullets_after_sentences, title_case=_title_case),
    **checks("format", output_template=_template, no_whitespace=_no_space),
    **checks("format", **{"sub-bullets": _sub_bullets}),
    **checks("custom", multiples=_multiples, mcq_count_length=_questions),
    **checks("custom", reverse_newline=_countries, word_reverse=_words_reversed),
    **checks("custom", character_reverse=_letters_reversed),
    **checks("custom", sentence_alphabet=_alphabet_of_sentences, european_capitals_sort=_capitals),
    **checks("custom", csv_city=_city_table, csv_special_character=_product_table),
    **checks("custom", csv_quotes=_student_table, date_format_list=_dates),
}
