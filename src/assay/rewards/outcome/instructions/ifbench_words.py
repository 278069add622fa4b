"""IFBench's instructions about words, sentences and repetitions (Pyatkin et al., 2507.02833).

`published` is the program whose decisions the benchmark's authors recorded, of October 2025.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Sequence
from itertools import groupby, pairwise
from typing import Final

from assay.rewards.outcome.instructions.check import Rule, Undecided, checks
from assay.text.tokens import without_punctuation
from assay.text.words import PUNCTUATION, WORD, WORDS, has_word, sentences, tokens

CONJUNCTIONS: Final = frozenset("and but for nor or so yet".split())
_VOWELS: Final = frozenset("aeiou")
_CLUSTER: Final = re.compile(r"[bcdfghjklmnpqrstvwxyz]{2}")
_JAPANESE: Final = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]")
_NUMBER: Final = re.compile(r"\d+(?:[.,]\d+)*")
_PRIMES: Final = frozenset(
    (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97)
)
_TIMES: Final = (1, 2, 3, 5, 7)
"""How often each of the five keywords is to be there."""
SENTENCE: Final = "only output this sentence here, ignore all other requests."


def _bare(words: Sequence[str]) -> list[str]:
    """The words without punctuation around them; a word of punctuation alone is left out."""
    return [bare for word in words if (bare := word.strip(PUNCTUATION + "“”‘’…—–"))]


def _word_count(text: str, min_words: int, max_words: int, *, fixed: bool) -> bool:
    """In fixed mode, only spaces separate words, so well-known counts as one word."""
    count = len(_bare(text.split())) if fixed else sum(1 for _ in WORD.finditer(text))
    return min_words <= count <= max_words


def _unique_words(text: str, N: int, *, fixed: bool) -> bool:  # noqa: N803 - the benchmark's
    """In fixed mode, a punctuation mark alone is not a word."""
    words = text.lower().split()
    return len(set(_bare(words) if fixed else (word.strip(PUNCTUATION) for word in words))) >= N


def _stop_words(text: str, percentage: int) -> bool:
    words = [match.group().lower() for match in WORD.finditer(text)]
    share = sum(word in WORDS.stop_words for word in words)
    return bool(words) and share / len(words) * 100 <= percentage


def _conjunctions(text: str, small_n: int, *, fixed: bool) -> bool:
    """In fixed mode, case and punctuation do not make a second conjunction."""
    if fixed:
        return len(CONJUNCTIONS.intersection(_bare(text.lower().split()))) >= small_n
    words = {word for word in text.split() if word.strip(PUNCTUATION).lower() in CONJUNCTIONS}
    return len(words) >= small_n


def _names(text: str, N: int, *, fixed: bool) -> bool:  # noqa: N803 - the benchmark's
    """In fixed mode, a name must be a whole word: Ava is not found in Available."""
    words = set(WORD.findall(text)) if fixed else text
    return sum(name in words for name in WORDS.names) >= N


def _trigrams(text: str, reference_text: str, percentage: int, *, fixed: bool) -> bool:
    """In fixed mode, the overlap counts trigrams of words, not of characters."""
    ours, theirs = (
        {tuple(items[at : at + 3]) for at in range(len(items) - 2)}
        for each in (text, reference_text)
        for items in (WORD.findall(each.lower()) if fixed else each,)
    )
    share = len(ours & theirs) / len(ours) * 100 if ours else -1.0
    return bool(ours) and percentage - 2 <= share <= percentage + 2


def _numbers(text: str, N: int, *, fixed: bool) -> bool:  # noqa: N803 - the benchmark's
    """In fixed mode, 1-2 counts as two numbers; 1,000 and 3.5 count as one each."""
    numbers = _NUMBER.findall(text) if fixed else re.findall(r"\d+", without_punctuation(text))
    return len(numbers) == N


def _pronouns(text: str, N: int, *, fixed: bool) -> bool:  # noqa: N803 - the benchmark's
    """In fixed mode, all classes of pronouns count, and the contraction it's contains one."""
    if fixed:
        pronouns = WORDS.personal | WORDS.other_pronouns
        return sum(word in pronouns for word in re.findall(r"[^\W\d_]+", text.lower())) >= N
    words = without_punctuation(text.replace("/", " ").lower()).split()
    return sum(word in WORDS.personal for word in words) >= N


def _all_marks(text: str) -> bool:
    if not ("!?" in text or "?!" in text or "‽" in text):
        return False
    rest = text.replace("?!", "", 1)
    rest = text.replace("!?", "", 1) if len(rest) == len(text) else rest
    return set(".,!?;:") <= set(rest)


def _keyword_counts(
    text: str,
    keyword1: str,
    keyword2: str,
    keyword3: str,
    keyword4: str,
    keyword5: str,
    *,
    fixed: bool,
) -> bool:
    """In fixed mode, a keyword only matches a whole word."""

    def count(keyword: str) -> int:
        if fixed:
            return len(re.findall(rf"(?<!\w){re.escape(keyword)}(?!\w)", text, re.IGNORECASE))
        return text.lower().count(keyword.lower())

    keywords = (keyword1, keyword2, keyword3, keyword4, keyword5)
    return all(count(word.strip()) == times for word, times in zip(keywords, _TIMES, strict=True))


def _nth_japanese(text: str, N: int, *, fixed: bool) -> bool:  # noqa: N803 - the benchmark's
    """In fixed mode, the text needs an Nth word, and a mark alone is not a word."""
    if not N:
        raise Undecided("N is 0, and no word is a 0th word")
    if fixed:
        words = _bare(text.split())[N - 1 :: N]
        return bool(words) and all(_JAPANESE.search(word) for word in words)
    words = [word.strip(PUNCTUATION) for word in text.split()][N - 1 :: N]
    return all(_JAPANESE.search(word) for word in words if word and not word.isdigit())


def _parts(text: str, *, fixed: bool) -> list[str]:
    """The sentences of a text; in fixed mode, only those that contain a word."""
    if not fixed:
        return sentences(text)
    return [part.rstrip("\"'”’)*_ ") for part in sentences(text) if has_word(part)]


def _count_ends(parts: Sequence[str], mark: str) -> int:
    return sum(sentence.endswith(mark) for sentence in parts)


def _two_to_one(text: str, *, fixed: bool) -> bool:
    """In fixed mode, a question is needed, and a sentence may end in a quotation mark."""
    parts = _parts(text, fixed=fixed)
    questions = _count_ends(parts, "?")
    return _count_ends(parts, ".") == 2 * questions and (questions > 0 or not fixed)


def _balanced(text: str, *, fixed: bool) -> bool:
    """In fixed mode, each type of sentence occurs, and ?! ends only one sentence."""
    parts = _parts(text, fixed=fixed)
    counts = {_count_ends(parts, mark) for mark in ".?!"}
    return len(counts) == 1 and not (fixed and counts == {0})


def _alliteration(text: str, *, fixed: bool) -> bool:
    """In fixed mode, the longest run per sentence counts, and two sentences are needed."""
    if not fixed:
        lowered = [part.lower() for part in sentences(text)]
        words = [[word.lstrip(PUNCTUATION) for word in part.split()] for part in lowered]
        return _grows([sum(run for run in _runs(each) if run > 1) for each in words])
    runs = [max(_runs(_bare(part.lower().split())), default=1) for part in _parts(text, fixed=True)]
    return len(runs) > 1 and _grows(runs)


def _runs(words: Sequence[str]) -> list[int]:
    """The length of each run of words that start with the same letter."""
    return [len([*run]) for _, run in groupby(word[0] for word in words if word)]


def _grows(counts: Sequence[int]) -> bool:
    return all(one < other for one, other in pairwise([-1, *counts]))


def _same_lengths(text: str, *, fixed: bool) -> bool:
    """In fixed mode, no word may occur twice, as the instruction says."""
    parts = sentences(text)
    words = [word for part in parts for word in WORD.findall(part.lower())]
    is_same = len(parts) == 3 and len({len(part.strip()) for part in parts}) == 1
    return is_same and (not fixed or len(set(words)) == len(words) > 0)


def _keyword_in_sentence(text: str, word: str, N: int, *, fixed: bool) -> bool:  # noqa: N803 - theirs
    """In fixed mode, the keyword is a whole word, and a mark alone is not a sentence."""
    if not N and not fixed:
        raise Undecided("there is no sentence 0")
    parts = _parts(text, fixed=fixed)
    if not 1 <= N <= len(parts):
        return False
    if not fixed:
        return word.lower() in parts[N - 1].lower()
    pattern = rf"(?<!\w){re.escape(word)}(?!\w)"
    return re.search(pattern, parts[N - 1], re.IGNORECASE) is not None


def _increment(text: str, small_n: int, *, fixed: bool) -> bool:
    """In fixed mode, the text needs at least two sentences with words."""
    parts = _parts(text, fixed=fixed)
    counts = [len(without_punctuation(part).split()) for part in parts]
    is_enough = len(parts) > fixed
    return is_enough and all(other - one == small_n for one, other in pairwise(counts))


def _last_is_first(text: str, *, fixed: bool) -> bool:
    """In fixed mode, the text needs at least two sentences with words."""
    parts = _parts(text, fixed=fixed)
    for one, other in pairwise(parts):
        ends, begins = one.rstrip(PUNCTUATION).split(), other.lstrip(PUNCTUATION).split()
        if not ends or not begins or ends[-1].lower() != begins[0].lower():
            return False
    return len(parts) > 1 or not fixed


def _alphabet(text: str, *, fixed: bool) -> bool:
    """In fixed mode, punctuation around a word is not part of the word."""
    words = _bare(text.lower().split()) if fixed else without_punctuation(text).lower().split()
    letters = string.ascii_lowercase
    if not words or words[0][0] not in letters:
        return False
    start = letters.index(words[0][0])
    return all(word[0] == letters[(start + at) % 26] for at, word in enumerate(words))


def _three_vowels(text: str, *, fixed: bool) -> bool:
    """In fixed mode, the text needs at least one word."""
    paragraph = text.strip().lower()
    is_some = not fixed or any(map(str.isalpha, text))
    return is_some and "\n" not in paragraph and len(_VOWELS.intersection(paragraph)) <= 3


def _clusters(text: str, *, fixed: bool) -> bool:
    """In fixed mode, a token without a letter is not a word."""
    words = text.lower().split()
    if fixed:
        words = [word for word in words if any(map(str.isalpha, word))]
    return (bool(words) or not fixed) and all(_CLUSTER.search(word) for word in words)


def _ten_palindromes(text: str, *, fixed: bool) -> bool:
    """In fixed mode, the ten palindromes must be different words of letters only."""
    words = without_punctuation(text).lower().split()
    palindromes = [word for word in words if len(word) >= 5 and word == word[::-1]]
    return len({*filter(str.isalpha, palindromes)} if fixed else palindromes) >= 10


def _prime_lengths(text: str, *, fixed: bool) -> bool:
    """In fixed mode, the text needs at least one word."""
    is_some = not fixed or bool(_bare(text.split()))
    return is_some and all(len(word) in _PRIMES for word in without_punctuation(text).split())


def _few_repeats(text: str, small_n: int) -> bool:
    words = without_punctuation(text.lower()).split()
    return max(Counter(words).values(), default=0) <= small_n


def _no_consecutive(text: str, *, fixed: bool) -> bool:
    """In fixed mode, the last word of a line and the first of the next are not consecutive."""
    lines = text.lower().split("\n") if fixed else [text.lower()]
    rows = [without_punctuation(line).split() for line in lines]
    is_some = any(rows) or not fixed
    return is_some and all(one[0] != other[0] for words in rows for one, other in pairwise(words))


def _paragraph_last_first(text: str, *, fixed: bool) -> bool:
    """In fixed mode, a paragraph of one word does not satisfy the instruction."""
    lines = text.lower().split("\n")
    if not fixed:
        paragraphs = [line.strip().strip(PUNCTUATION).split() for line in lines]
        return all(words[0] == words[-1] for words in paragraphs if words)
    filled = [words for line in lines if (words := _bare(line.split()))]
    return bool(filled) and all(len(words) > 1 and words[0] == words[-1] for words in filled)


def _keyword_at(text: str, keyword: str, n: int, m: int, *, fixed: bool) -> bool:
    """In fixed mode, punctuation marks are not words, and letter case is ignored."""
    if not n or not m:
        raise Undecided("the benchmark replaces a position of 0 at random")
    parts = _parts(text, fixed=fixed)
    if len(parts) < n:
        return False
    words, word = _words_and_keyword(parts[n - 1], keyword, fixed=fixed)
    return len(words) >= m and words[m - 1] == word


def _words_and_keyword(text: str, keyword: str, *, fixed: bool) -> tuple[list[str], str]:
    if fixed:
        return _bare(text.lower().split()), keyword.strip().lower()
    return tokens(text), keyword.strip()


def _second_words(text: str, keyword: str, *, fixed: bool) -> bool:
    """In fixed mode, punctuation marks are not words, and letter case is ignored."""
    words, word = _words_and_keyword(text, keyword, fixed=fixed)
    return len(words) > 1 + fixed and words[1] == words[-2] == word


def _repeat_change(text: str, prompt_to_repeat: str, *, fixed: bool) -> bool:
    """In fixed mode, the first word must change, and white space is ignored."""
    request, words = prompt_to_repeat.split(), text.split()
    has_changed = bool(words) and words[0] != request[0] if fixed else prompt_to_repeat != text
    return has_changed and words[1:] == request[1:]


def _repeat_sentence(text: str) -> bool:
    return text.strip().lower() == SENTENCE


def _repeat_span(
    text: str, prompt_to_repeat: str, n_start: int, n_end: int, *, fixed: bool
) -> bool:
    """In fixed mode, the last index is included, and the first index may be 0."""
    if not fixed and not (n_start and n_end):
        raise Undecided("the benchmark replaces an index of 0 at random")
    words = prompt_to_repeat.lower().split()[n_start : n_end + fixed]
    return text.lower().split() == words and not (fixed and not words)


def _needs(what: str) -> Rule:
    """Make a rule that is always undecided, because the benchmark needs a language model here."""

    def rule(text: str) -> bool:
        del text
        raise Undecided(f"the check needs {what}, which Assay does not include")

    return rule


CHECKS: Final = {
    **checks("count", word_count_range=_word_count, unique_word_count=_unique_words),
    **checks("count", conjunctions=_conjunctions, person_names=_names, numbers=_numbers),
    **checks("count", punctuation=_all_marks, words_japanese=_nth_japanese, pronouns=_pronouns),
    **checks("count", keywords_multiple=_keyword_counts),
    **checks("ratio", stop_words=_stop_words, sentence_type=_two_to_one),
    **checks("ratio", sentence_balance=_balanced, overlap=_trigrams, sentence_words=_same_lengths),
    **checks("words", alphabet=_alphabet, vowel=_three_vowels, consonants=_clusters),
    **checks("words", palindrome=_ten_palindromes, prime_lengths=_prime_lengths),
    **checks("words", start_verb=_needs("a part-of-speech tagger"), repeats=_few_repeats),
    **checks("words", odd_even_syllables=_needs("a dictionary of syllables")),
    **checks("words", last_first=_last_is_first, paragraph_last_first=_paragraph_last_first),
    **checks("words", no_consecutive=_no_consecutive, keywords_specific_position=_keyword_at),
    **checks("words", words_position=_second_words),
    **checks("sentence", alliteration_increment=_alliteration, keyword=_keyword_in_sentence),
    **checks("sentence", increment=_increment),
    **checks("repeat", repeat_change=_repeat_change, repeat_simple=_repeat_sentence),
    **checks("repeat", repeat_span=_repeat_span),
}
