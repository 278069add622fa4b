"""Where the answer is in a response, and when the response gives none."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.text.answers import (
    POLICIES,
    ExtractionPolicy,
    Rule,
    find_answer,
    reference_span,
)

FOUND: list[tuple[str, Rule, str, str]] = [
    (r"so \boxed{42}", "boxed", "42", "the plain case"),
    (r"\boxed {42}", "boxed", "42", "a space before the brace is legal TeX"),
    (r"\boxed 42", "boxed", "42", "a box without braces holds the next token"),
    (r"\fbox{42}", "boxed", "42", "a frame is a box"),
    (r"\boxed{\boxed{42}}", "boxed", "42", "the inner of two nested boxes"),
    (r"\boxed{\{1, 2\}}", "boxed", r"\{1, 2\}", "escaped braces do not count as braces"),
    (r"\boxed{\left\{ x \right.}", "boxed", r"\left\{ x \right.", "not even an unbalanced one"),
    (r"\boxed{\frac{1}{2}}", "boxed", r"\frac{1}{2}", "braces inside are balanced"),
    (r"\boxed{41} \boxed{42}", "boxed", "42", "two boxes are a correction; the last counts"),
    (r"\boxed{41}, no: \boxed{42}", "boxed", "42", "a correction in words"),
    (r"\boxed{1}, \boxed{2} and \boxed{3}", "boxed", "1, 2, 3", "boxes joined by commas: a list"),
    (r"$\boxed{42}$ or $\boxed{43}$", "boxed", "42 or 43", "alternatives stay visible"),
    (r"\boxed{3} so the answer is \boxed{7}", "boxed", "7", "a conclusion is no list"),
    (r"\boxed{42} Fill in \boxed{}", "boxed", "42", "an empty box is passed over"),
    (r"<think>\boxed{41}</think>\boxed{42}", "boxed", "42", "what was thought does not count"),
    (r"\boxed{42}<think>\boxed{41}", "boxed", "42", "an unclosed thought hides what follows"),
    (r"reasoning</think> \boxed{42}", "boxed", "42", "templates may open the tag in the prompt"),
    (r"Since x is not 0, it is \boxed{42}.", "boxed", "42", "a negation of something else"),
    (r"\boxed{42}. Actually, that is not hard.", "boxed", "42", "a remark is no retraction"),
    (r"\boxed{\frac12} or 0.5", "boxed", r"\frac12", "one value, said twice"),
    (r"\boxed{42} Let me know if I can help.", "boxed", "42", "a farewell is no retraction"),
    (r"\boxed{42} The final answer is 42.", "boxed", "42", "said twice"),
    (r"So far \boxed{200}. Final answer: 455", "phrase", "455", "the last statement wins"),
    (r"\boxed{42}<|im_end|><|im_start|>user \boxed{1}", "boxed", "42", "the turn had ended"),
    ("<answer>42</answer>", "answer_tag", "42", "answer tags"),
    ("<answer>41</answer> <answer>42</answer>", "answer_tag", "42", "the last pair of tags"),
    ("<answer>42", "answer_tag", "42", "a stop string eats the closing tag"),
    ("<answer>The answer is 42.</answer>", "answer_tag", "42", "a sentence inside the tags"),
    ("6 * 7 = 42\n#### 42", "hash", "42", "the GSM8K mark"),
    ("It is the fourth.\n#### D", "hash", "D", "a letter in the last line"),
    ("#### Solution\nIt is 42.", "last_statement", "42", "a heading is no answer"),
    ("The answer is 42.", "phrase", "42", "an anchored phrase"),
    ("Final answer: $x = 3$.", "phrase", "$x = 3$", "a formula after a phrase"),
    ("**Answer:** 42", "phrase", "42", "bold, colon inside"),
    ("**Answer**: 42", "phrase", "42", "bold, colon outside"),
    ("### Final Answer\n\n$42$", "phrase", "$42$", "a heading above a formula"),
    ("The answer to the question is 42 meters.", "phrase", "42 meters", "words in between"),
    ("Final Answer: The largest $n$ is 34.", "phrase", "34", "a sentence after the phrase"),
    ("The answer is 41. No: the answer is 42.", "phrase", "42", "the last phrase counts"),
    ("Final answer: $42$ I hope it is correct.", "phrase", "$42$", "a farewell in the sentence"),
    ("The answer is 42, not 43.", "phrase", "42", "what it is not is an aside"),
    ("The answer is 42 because 84/2 is 42.", "phrase", "42", "a reason is an aside"),
    ('{"thought": "easy", "answer": "42"}', "phrase", "42", "JSON"),
    ("(The answer is 42)", "phrase", "42", "the bracket was opened before"),
    ("所以答案是42。", "phrase", "42", "Chinese"),
    ("Respuesta: 42", "phrase", "42", "Spanish"),
    ("Die Antwort lautet 42.", "phrase", "42", "German"),
    (r"\boxed{42} I don't know if you need more.", "boxed", "42", "not about the answer"),
    (
        r"\boxed{\text{all } x \text{ but not } 0}",
        "boxed",
        r"\text{all } x \text{ but not } 0",
        "a set",
    ),
    ("42", "whole_text", "42", "a bare number"),
    (r"\frac{1}{2}", "whole_text", r"\frac{1}{2}", "a bare fraction"),
    ("5!", "whole_text", "5!", "a factorial is no exclamation"),
    ("x^2+1", "whole_text", "x^2+1", "a bare expression"),
    ("5 meters", "whole_text", "5 meters", "a unit is not prose"),
    ("**42**", "whole_text", "42", "bold"),
    ("```\n42\n```", "whole_text", "42", "a code fence"),
    ("[90]", "whole_text", "90", "brackets around one value"),
    ("[0, 1)", "whole_text", "[0, 1)", "an interval keeps its brackets"),
    (
        "We are left with this and no more:\n\\[\nx = 42\n\\]",
        "last_statement",
        "x = 42",
        "a display",
    ),
    ("The product is **42**.", "last_statement", "42", "what the last sentence says"),
    ("Therefore $x \\geq 5$ is the solution.", "last_statement", "x \\geq 5", "before the verb"),
    ("it's not 10, it's 1,000.99", "last_statement", "1,000.99", "after the last verb"),
    ("There are 12 such sequences that work here.", "last_number", "12", "a number in a sentence"),
]

REFUSED: list[tuple[str, str]] = [
    ("~~42~~", "struck through"),
    ("", "nothing at all"),
    (" \n\t ", "white space"),
    (r"\boxed{}", "an empty box"),
    (r"\boxed{42", "cut off: the next character might have been a digit"),
    (r"<think>\boxed{42}</think> I do not know", "only thought, never said"),
    (r"<think>\boxed{42}", "still thinking"),
    ("<think></think><answer></answer>", "empty tags"),
    ("Answer:", "announced, not given"),
    (r"not \boxed{42}", "negated"),
    (r"The answer is not $\boxed{42}$.", "negated in a sentence"),
    (r"It is not the case that the answer is \boxed{42}", "negated as a whole"),
    (r"x \neq \boxed{42}", "negated in symbols"),
    (r"It isn’t \boxed{42}", "negated with a typographic apostrophe"),
    ("The answer is definitely not 42.", "negated phrase"),
    ("The answer could be 42.", "no commitment"),
    ("I cannot solve this problem. It is certainly not 42, though.", "gives up"),
    ("We get 42 apples, but I give up.", "gives up"),
    ("I don't know.", "gives up"),
    (r"\boxed{42} is wrong", "denied at once"),
    (r"\boxed{42}. Wait, actually no.", "taken back"),
    (r"\boxed{42}. Scratch that, I give up.", "taken back"),
    (r"\boxed{42 \text{ is wrong}}", "denied inside the box"),
    (r"\boxed{\text{not } 42}", "negated inside the box"),
    (r"\boxed{40} \boxed{41} \boxed{42} \boxed{43} \boxed{44}", "a spray of guesses"),
    (r"\boxed{42} or 43", "a second value beside the box"),
    (r"41 or \boxed{42}", "a second value beside the box"),
    (r"Anything but \boxed{42}", "excluded"),
    (r"~~\boxed{42}~~", "struck through"),
    ("What is 6 times 7?", "a question"),
    ("The question asks: what is 6 times 7? Let me think about that.", "no statement"),
]


@pytest.mark.parametrize(("response", "rule", "span", "reason"), FOUND)
def test_the_answer_is_found_by_the_rule_that_should_find_it(
    response: str, rule: Rule, span: str, reason: str
) -> None:
    extraction = find_answer(response)
    assert (extraction.rule, extraction.text) == (rule, span), reason


@pytest.mark.parametrize(("response", "reason"), REFUSED)
def test_no_answer_is_read_into_a_response_that_gives_none(response: str, reason: str) -> None:
    extraction = find_answer(response)
    assert extraction.text is None, reason
    assert extraction.because


@pytest.mark.parametrize("rule", ["boxed", "answer_tag", "hash", "phrase", "whole_text"])
def test_a_rule_that_is_switched_off_does_not_fire(rule: Rule) -> None:
    every = POLICIES["default"].rules
    policy = ExtractionPolicy(rules=tuple(other for other in every if other != rule))
    for response, fires, _, reason in FOUND:
        if fires == rule:
            assert find_answer(response, policy).rule != rule, reason


def test_the_boxed_policy_reads_boxes_only() -> None:
    assert find_answer("The answer is 42.", POLICIES["boxed"]).text is None
    assert find_answer(r"\boxed{42}", POLICIES["boxed"]).text == "42"


def test_the_anchored_policy_gives_no_credit_for_a_number_in_passing() -> None:
    in_passing = "There are 12 such sequences that work here."
    assert find_answer(in_passing, POLICIES["anchored"]).text is None


def test_up_to_three_different_boxes_in_a_row_are_a_correction() -> None:
    assert find_answer(r"\boxed{1} \boxed{2} \boxed{3}").text == "3"
    assert find_answer(r"\boxed{1} \boxed{2} \boxed{3} \boxed{4}").text is None
    assert find_answer(r"\boxed{2} " * 100).text == "2", "the same box again is no guess"


REFERENCES = [
    ("42", "42", "a bare reference"),
    (r"$\frac{1}{2}$", r"$\frac{1}{2}$", "its delimiters are the comparator's to read"),
    (r"\boxed{5}", "5", "a boxed reference"),
    (r"Thus $x = \boxed{1,-2}.$", "1,-2", "a whole solution"),
    (r"$\boxed{1}\boxed{2}$", "1, 2", "boxes side by side: a reference corrects nothing"),
    (r"\boxed{1} papers and \boxed{2} bins", "1, 2", "boxes with words between them"),
    (r"\boxed{1} no no no no no \boxed{2}", "2", "too many words between them"),
    (r"it is \boxed{x + 1", "x + 1", "a reference may be cut off; it is still trusted"),
]


@pytest.mark.parametrize(("reference", "span", "reason"), REFERENCES)
def test_a_reference_is_read_as_the_answer_that_it_states(
    reference: str, span: str, reason: str
) -> None:
    assert reference_span(reference) == span, reason


PIECES = st.sampled_from(
    r"\boxed{|}|{|<think>|</think>|<answer>|</answer>|#### |. |the answer is |not |42|$|\[|or |"
    r"Answer|: |\|**|答案是".split("|")
)


# The tables of a language are compiled when its first text is read.
@settings(deadline=None)
@given(st.lists(PIECES | st.text(max_size=8), max_size=40).map("".join))
def test_any_text_is_read_without_an_error(response: str) -> None:
    extraction = find_answer(response)
    assert extraction.because
    assert extraction.text is None or extraction.text.strip()


@given(st.text(alphabet="0123456789+-x^ /", min_size=1, max_size=20).filter(str.strip), st.text())
def test_a_box_at_the_end_is_read_whatever_was_thought_before(answer: str, thought: str) -> None:
    response = f"<think>{thought}</think>\n\\boxed{{{answer}}}"
    assert find_answer(response).text == answer.strip()


@pytest.mark.parametrize(
    "piece",
    [r"\boxed{", r"\boxed ", "boxed", "the answer ", "$", "{", "<think>", "####", "not ", "9"],
)
def test_a_megabyte_of_one_piece_is_read(piece: str) -> None:
    extraction = find_answer(piece * (1_000_000 // len(piece)))
    assert extraction.text is None


@pytest.mark.parametrize("end", [".", "!", "?", "。", "！", "？", "؟", "…", "\n", "*", "`", '"'])
def test_every_end_of_a_sentence_is_passed_once(end: str) -> None:
    assert find_answer(f"هل هو 42{end}").because
    assert find_answer(f"why is that so {end} {end}").because
