"""IFBench's instructions about words, sentences and repetitions (Pyatkin et al., 2507.02833).

`published` is the program whose decisions the benchmark's authors recorded, of October 2025.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Final

from assay.rewards.outcome.instructions.check import (
    Arguments,
    Decision,
    Undecided,
    checks_of,
    needs_model,
)
from assay.text.words import (
    PUNCTUATION,
    STOP_WORDS,
    WORD,
    sentences,
    tokens,
    without_punctuation,
    word_list,
)

NAMES: Final = tuple(word_list("names"))
"""The names that the instruction lists."""
CONJUNCTIONS: Final = frozenset("and but for nor or so yet".split())
PERSONAL: Final = frozenset(word_list("personal_pronouns"))
PRONOUNS: Final = PERSONAL.union(word_list("other_pronouns"))
_VOWELS: Final = frozenset("aeiou")
_CLUSTER: Final = re.compile(r"[bcdfghjklmnpqrstvwxyz]{2}")
_JAPANESE: Final = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]")
_NUMBER: Final = re.compile(r"\d+(?:[.,]\d+)*")
_PRIMES: Final = frozenset(
    (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97)
)
_TIMES: Final = (1, 2, 3, 5, 7)
"""How often each of the five keywords is to be there."""


def _bare(words: Sequence[str]) -> list[str]:
    """The words without marks around them; those that are only marks are left out."""
    return [bare for word in words if (bare := word.strip(PUNCTUATION + "“”‘’…—–"))]


# Counts


def _word_count(text: str, arguments: Arguments) -> Decision:
    count = sum(1 for _ in WORD.finditer(text))
    return arguments.number("min_words") <= count <= arguments.number("max_words")


def _spaced_word_count(text: str, arguments: Arguments) -> Decision:
    count = len(_bare(text.split()))
    return arguments.number("min_words") <= count <= arguments.number("max_words")


def _unique_words(text: str, arguments: Arguments) -> Decision:
    return len({word.strip(PUNCTUATION) for word in text.lower().split()}) >= arguments.number("N")


def _unique_bare_words(text: str, arguments: Arguments) -> Decision:
    return len(set(_bare(text.lower().split()))) >= arguments.number("N")


def _stop_words(text: str, arguments: Arguments) -> Decision:
    words = [match.group().lower() for match in WORD.finditer(text)]
    share = sum(word in STOP_WORDS for word in words)
    return bool(words) and share / len(words) * 100 <= arguments.number("percentage")


def _conjunctions(text: str, arguments: Arguments) -> Decision:
    words = {word for word in text.split() if word.strip(PUNCTUATION).lower() in CONJUNCTIONS}
    return len(words) >= arguments.number("small_n")


def _different_conjunctions(text: str, arguments: Arguments) -> Decision:
    return len(CONJUNCTIONS.intersection(_bare(text.lower().split()))) >= arguments.number(
        "small_n"
    )


def _names(text: str, arguments: Arguments) -> Decision:
    return sum(name in text for name in NAMES) >= arguments.number("N")


def _whole_names(text: str, arguments: Arguments) -> Decision:
    return len(set(NAMES).intersection(WORD.findall(text))) >= arguments.number("N")


def _trigrams(text: str, arguments: Arguments) -> Decision:
    return _overlap(text, arguments.text("reference_text"), arguments.number("percentage"))


def _word_trigrams(text: str, arguments: Arguments) -> Decision:
    words, reference = (
        WORD.findall(each.lower()) for each in (text, arguments.text("reference_text"))
    )
    return _overlap(words, reference, arguments.number("percentage"))


def _overlap(items: Sequence[str], reference: Sequence[str], percentage: int) -> bool:
    """Whether that part of the different trigrams of a text, within 2 %, are the reference's."""
    ours, theirs = (
        {tuple(each[at : at + 3]) for at in range(len(each) - 2)} for each in (items, reference)
    )
    share = len(ours & theirs) / len(ours) * 100 if ours else -1.0
    return bool(ours) and percentage - 2 <= share <= percentage + 2


def _numbers(text: str, arguments: Arguments) -> Decision:
    return len(re.findall(r"\d+", without_punctuation(text))) == arguments.number("N")


def _whole_numbers(text: str, arguments: Arguments) -> Decision:
    return len(_NUMBER.findall(text)) == arguments.number("N")


def _pronouns(text: str, arguments: Arguments) -> Decision:
    words = without_punctuation(text.replace("/", " ").lower()).split()
    return sum(word in PERSONAL for word in words) >= arguments.number("N")


def _all_pronouns(text: str, arguments: Arguments) -> Decision:
    words = (match.group() for match in re.finditer(r"[^\W\d_]+", text.lower()))
    return sum(word in PRONOUNS for word in words) >= arguments.number("N")


def _all_marks(text: str, _: Arguments) -> Decision:
    if not ("!?" in text or "?!" in text or "‽" in text):
        return False
    rest = text.replace("?!", "", 1)
    rest = text.replace("!?", "", 1) if len(rest) == len(text) else rest
    return set(".,!?;:") <= set(rest)


def _keyword_counts(text: str, arguments: Arguments) -> Decision:
    lowered = text.lower()
    return all(
        lowered.count(arguments.text(f"keyword{number}").strip().lower()) == times
        for number, times in enumerate(_TIMES, 1)
    )


def _whole_keyword_counts(text: str, arguments: Arguments) -> Decision:
    def count(keyword: str) -> int:
        return len(re.findall(rf"(?<!\w){re.escape(keyword)}(?!\w)", text, re.IGNORECASE))

    return all(
        count(arguments.text(f"keyword{number}").strip()) == times
        for number, times in enumerate(_TIMES, 1)
    )


def _nth_japanese(text: str, arguments: Arguments) -> Decision:
    step = arguments.number("N")
    if not step:
        return Undecided("every 0th word is none")
    words = [word.strip(PUNCTUATION) for word in text.split()][step - 1 :: step]
    return all(_JAPANESE.search(word) for word in words if word and not word.isdigit())


def _some_nth_japanese(text: str, arguments: Arguments) -> Decision:
    step = arguments.number("N")
    if not step:
        return Undecided("every 0th word is none")
    words = _bare(text.split())[step - 1 :: step]
    return bool(words) and all(_JAPANESE.search(word) for word in words)


# Sentences


def _count_ends(parts: Sequence[str], mark: str) -> int:
    return sum(sentence.endswith(mark) for sentence in parts)


def _two_to_one(text: str, _: Arguments) -> Decision:
    parts = sentences(text)
    return _count_ends(parts, ".") == 2 * _count_ends(parts, "?")


def _two_to_one_of_some(text: str, _: Arguments) -> Decision:
    parts = _worded(text)
    return _count_ends(parts, ".") == 2 * _count_ends(parts, "?") > 0


def _balanced(text: str, _: Arguments) -> Decision:
    parts = sentences(text)
    return len({_count_ends(parts, mark) for mark in ".?!"}) == 1


def _balanced_of_some(text: str, _: Arguments) -> Decision:
    parts = _worded(text)
    counts = {_count_ends(parts, mark) for mark in ".?!"}
    return len(counts) == 1 and counts != {0}


def _worded(text: str) -> list[str]:
    """The sentences with a word in them; a second mark behind one, as in ?!, is no sentence."""
    return [
        sentence.rstrip("\"'”’)*_ ")
        for sentence in sentences(text)
        if any(map(str.isalnum, sentence))
    ]


def _alliteration(text: str, _: Arguments) -> Decision:
    return _grows([_alliterative(sentence) for sentence in sentences(text)])


def _alliterative(sentence: str) -> int:
    """How many words begin with the letter of a neighbour."""
    words = [bare for word in sentence.lower().split() if (bare := word.lstrip(PUNCTUATION))]
    count, is_running = 0, False
    for one, other in pairwise(words):
        if one[0] == other[0]:
            count += 1 if is_running else 2
        is_running = one[0] == other[0]
    return count


def _longest_alliteration(text: str, _: Arguments) -> Decision:
    runs: list[int] = []
    for sentence in _worded(text):
        longest = run = 1
        for one, other in pairwise(_bare(sentence.lower().split())):
            run = run + 1 if one[0] == other[0] else 1
            longest = max(longest, run)
        runs.append(longest)
    return len(runs) > 1 and _grows(runs)


def _grows(counts: Sequence[int]) -> bool:
    return all(one < other for one, other in pairwise([-1, *counts]))


def _same_lengths(text: str, _: Arguments) -> Decision:
    parts = sentences(text)
    return len(parts) == 3 and len({len(part.strip()) for part in parts}) == 1


def _same_lengths_different_words(text: str, _: Arguments) -> Decision:
    parts = sentences(text)
    words = [word for part in parts for word in WORD.findall(part.lower())]
    is_same = len(parts) == 3 and len({len(part.strip()) for part in parts}) == 1
    return is_same and len(set(words)) == len(words) > 0


def _keyword_in_sentence(text: str, arguments: Arguments) -> Decision:
    parts, number = sentences(text), arguments.number("N")
    if not number:
        return Undecided("there is no sentence 0")
    if len(parts) < number:
        return False
    return arguments.text("word").lower() in parts[number - 1].lower()


def _whole_keyword_in_sentence(text: str, arguments: Arguments) -> Decision:
    parts, number = _worded(text), arguments.number("N")
    if not 1 <= number <= len(parts):
        return False
    pattern = rf"(?<!\w){re.escape(arguments.text('word'))}(?!\w)"
    return re.search(pattern, parts[number - 1], re.IGNORECASE) is not None


def _increment(text: str, arguments: Arguments) -> Decision:
    return _grows_by(sentences(text), arguments.number("small_n"))


def _increment_of_several(text: str, arguments: Arguments) -> Decision:
    parts = _worded(text)
    return len(parts) > 1 and _grows_by(parts, arguments.number("small_n"))


def _grows_by(parts: Sequence[str], step: int) -> bool:
    counts = [len(without_punctuation(part).split()) for part in parts]
    return bool(counts) and all(other - one == step for one, other in pairwise(counts))


def _last_is_first(text: str, _: Arguments) -> Decision:
    return _linked(sentences(text))


def _last_is_first_of_several(text: str, _: Arguments) -> Decision:
    parts = _worded(text)
    return len(parts) > 1 and _linked(parts)


def _linked(parts: Sequence[str]) -> bool:
    for one, other in pairwise(parts):
        ends, begins = one.rstrip(PUNCTUATION).split(), other.lstrip(PUNCTUATION).split()
        if not ends or not begins:
            return False
        if ends[-1].lower() != begins[0].lower():
            return False
    return True


# Words


def _alphabet(text: str, _: Arguments) -> Decision:
    return _follows_alphabet(without_punctuation(text).lower().split())


def _alphabet_of_words(text: str, _: Arguments) -> Decision:
    return _follows_alphabet(_bare(text.lower().split()))


def _follows_alphabet(words: Sequence[str]) -> bool:
    letters = string.ascii_lowercase
    if not words or words[0][0] not in letters:
        return False
    start = letters.index(words[0][0])
    return all(word[0] == letters[(start + at) % 26] for at, word in enumerate(words))


def _three_vowels(text: str, _: Arguments) -> Decision:
    paragraph = text.strip().lower()
    return "\n" not in paragraph and len(_VOWELS.intersection(paragraph)) <= 3


def _three_vowels_in_words(text: str, arguments: Arguments) -> Decision:
    return any(map(str.isalpha, text)) and _three_vowels(text, arguments) is True


def _clusters(text: str, _: Arguments) -> Decision:
    return all(_CLUSTER.search(word) for word in text.lower().split())


def _clusters_of_words(text: str, _: Arguments) -> Decision:
    words = [word for word in text.lower().split() if any(map(str.isalpha, word))]
    return bool(words) and all(_CLUSTER.search(word) for word in words)


def _palindromes(text: str) -> list[str]:
    words = without_punctuation(text).lower().split()
    return [word for word in words if len(word) >= 5 and word == word[::-1]]


def _ten_palindromes(text: str, _: Arguments) -> Decision:
    return len(_palindromes(text)) >= 10


def _ten_different_palindromes(text: str, _: Arguments) -> Decision:
    return len({word for word in _palindromes(text) if word.isalpha()}) >= 10


def _prime_lengths(text: str, _: Arguments) -> Decision:
    return all(len(word) in _PRIMES for word in without_punctuation(text).split())


def _prime_lengths_of_words(text: str, arguments: Arguments) -> Decision:
    return bool(_bare(text.split())) and _prime_lengths(text, arguments) is True


def _few_repeats(text: str, arguments: Arguments) -> Decision:
    words = without_punctuation(text.lower()).split()
    return max(Counter(words).values(), default=0) <= arguments.number("small_n")


def _no_consecutive(text: str, _: Arguments) -> Decision:
    words = without_punctuation(text.lower()).split()
    return all(one[0] != other[0] for one, other in pairwise(words))


def _no_consecutive_in_lines(text: str, _: Arguments) -> Decision:
    lines = [without_punctuation(line.lower()).split() for line in text.split("\n")]
    pairs = [pair for words in lines for pair in pairwise(words)]
    return any(lines) and all(one[0] != other[0] for one, other in pairs)


def _paragraph_last_first(text: str, _: Arguments) -> Decision:
    paragraphs = [line.strip().lower().strip(PUNCTUATION).split() for line in text.split("\n")]
    return all(words[0] == words[-1] for words in paragraphs if words)


def _paragraph_last_first_of_several(text: str, _: Arguments) -> Decision:
    paragraphs = [_bare(line.lower().split()) for line in text.split("\n")]
    filled = [words for words in paragraphs if words]
    return bool(filled) and all(len(words) > 1 and words[0] == words[-1] for words in filled)


def _keyword_at(text: str, arguments: Arguments) -> Decision:
    return _is_word_at(sentences(text), tokens, arguments, exact=True)


def _keyword_at_word(text: str, arguments: Arguments) -> Decision:
    return _is_word_at(_worded(text), lambda part: _bare(part.split()), arguments, exact=False)


def _is_word_at(
    parts: Sequence[str],
    split: Callable[[str], Sequence[str]],
    arguments: Arguments,
    *,
    exact: bool,
) -> Decision:
    n, m = arguments.number("n"), arguments.number("m")
    if not n or not m:
        return Undecided("a position of 0 is drawn at random")
    if len(parts) < n:
        return False
    words = split(parts[n - 1])
    if len(words) < m:
        return False
    word, keyword = words[m - 1], arguments.text("keyword").strip()
    return word == keyword if exact else word.lower() == keyword.lower()


def _second_words(text: str, arguments: Arguments) -> Decision:
    words = tokens(text)
    return len(words) > 1 and words[1] == words[-2] == arguments.text("keyword").strip()


def _second_bare_words(text: str, arguments: Arguments) -> Decision:
    words = _bare(text.lower().split())
    return len(words) > 2 and words[1] == words[-2] == arguments.text("keyword").strip().lower()


# Repetitions


def _repeat_change(text: str, arguments: Arguments) -> Decision:
    request = arguments.text("prompt_to_repeat")
    return request != text and request.split()[1:] == text.split()[1:]


def _repeat_with_another_word(text: str, arguments: Arguments) -> Decision:
    request, words = arguments.text("prompt_to_repeat").split(), text.split()
    return bool(words) and words[0] != request[0] and words[1:] == request[1:]


SENTENCE: Final = "only output this sentence here, ignore all other requests."


def _repeat_sentence(text: str, _: Arguments) -> Decision:
    return text.strip().lower() == SENTENCE


def _repeat_span(text: str, arguments: Arguments) -> Decision:
    start, end = arguments.number("n_start"), arguments.number("n_end")
    if not start or not end:
        return Undecided("an index of 0 is drawn at random when published")
    return text.lower().split() == arguments.text("prompt_to_repeat").lower().split()[start:end]


def _repeat_whole_span(text: str, arguments: Arguments) -> Decision:
    start, end = arguments.number("n_start"), arguments.number("n_end")
    words = arguments.text("prompt_to_repeat").lower().split()[start : end + 1]
    return text.lower().split() == words != []


CHECKS: Final = checks_of(
    {
        "count:word_count_range": (_word_count, _spaced_word_count),
        "count:unique_word_count": (_unique_words, _unique_bare_words),
        "ratio:stop_words": (_stop_words, None),
        "ratio:sentence_type": (_two_to_one, _two_to_one_of_some),
        "ratio:sentence_balance": (_balanced, _balanced_of_some),
        "count:conjunctions": (_conjunctions, _different_conjunctions),
        "count:person_names": (_names, _whole_names),
        "ratio:overlap": (_trigrams, _word_trigrams),
        "count:numbers": (_numbers, _whole_numbers),
        "words:alphabet": (_alphabet, _alphabet_of_words),
        "words:vowel": (_three_vowels, _three_vowels_in_words),
        "words:consonants": (_clusters, _clusters_of_words),
        "sentence:alliteration_increment": (_alliteration, _longest_alliteration),
        "words:palindrome": (_ten_palindromes, _ten_different_palindromes),
        "count:punctuation": (_all_marks, None),
        "words:prime_lengths": (_prime_lengths, _prime_lengths_of_words),
        "ratio:sentence_words": (_same_lengths, _same_lengths_different_words),
        "count:words_japanese": (_nth_japanese, _some_nth_japanese),
        "words:start_verb": (needs_model("a part-of-speech tagger"), None),
        "words:repeats": (_few_repeats, None),
        "sentence:keyword": (_keyword_in_sentence, _whole_keyword_in_sentence),
        "count:pronouns": (_pronouns, _all_pronouns),
        "words:odd_even_syllables": (needs_model("a dictionary of syllables"), None),
        "words:last_first": (_last_is_first, _last_is_first_of_several),
        "words:paragraph_last_first": (_paragraph_last_first, _paragraph_last_first_of_several),
        "sentence:increment": (_increment, _increment_of_several),
        "words:no_consecutive": (_no_consecutive, _no_consecutive_in_lines),
        "count:keywords_multiple": (_keyword_counts, _whole_keyword_counts),
        "words:keywords_specific_position": (_keyword_at, _keyword_at_word),
        "words:words_position": (_second_words, _second_bare_words),
        "repeat:repeat_change": (_repeat_change, _repeat_with_another_word),
        "repeat:repeat_simple": (_repeat_sentence, None),
        "repeat:repeat_span": (_repeat_span, _repeat_whole_span),
    }
)
