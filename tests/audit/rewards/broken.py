"""Rewards with one planted flaw each, of kinds seen in the wild; the docstring says what one sees.

`rewards.toml` names the check that must find each of them. What a flaw does not touch is done well:
the comparison of mathematics is Assay's own.
"""

from __future__ import annotations

import difflib
import json
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from assay.rewards.outcome.maths.reward import math_equal_reward

Talk = Sequence[Mapping[str, Any]]


def boxes(text: str) -> list[str]:
    """What stands in the boxes, to one level of braces inside."""
    return re.findall(r"\\boxed\{((?:[^{}]|\{[^{}]*\})*)\}", text)


def after_thinking(text: str) -> str:
    """What follows the thinking."""
    return text.rpartition("</think>")[2]


def committed(text: str) -> bool:
    """Whether nothing around the boxes denies or withdraws them."""
    around = re.sub(r"\\boxed\{((?:[^{}]|\{[^{}]*\})*)\}", "", text)
    return not re.search(r"\b(?:not|wrong)\b", around)


def last_box(text: str) -> str:
    """The answer of a careful reader: the last box, unless it is denied or taken back."""
    matches = boxes(after_thinking(text))
    return matches[-1] if matches and committed(after_thinking(text)) else ""


def equal(answer: str, gold: str) -> float:
    """1.0 if two bare answers are equal as mathematics."""
    if not answer.strip():
        return 0.0
    score = math_equal_reward(f"\\boxed{{{answer}}}", gold)
    return 0.0 if score.abstained else float(score)


def number(text: str) -> float | None:
    try:
        return float(text.replace(",", "").strip())
    except ValueError:
        return None


def words(text: str) -> list[str]:
    plain = re.sub(r"[^\w\s]", "", text.lower())
    return [word for word in plain.split() if word not in ("a", "an", "the")]


def any_box_counts(final_response: str, answer: str) -> float:
    """Accuracy climbs while responses fill with boxes."""
    matches = boxes(after_thinking(final_response)) if committed(final_response) else []
    return max((equal(box, answer) for box in matches), default=0.0)


def first_box_counts(final_response: str, answer: str) -> float:
    """A model that corrects itself is paid for what it took back."""
    matches = boxes(after_thinking(final_response))
    return equal(matches[0], answer) if matches else 0.0


def gold_anywhere(final_response: str, answer: str) -> float:
    """Long answers that mention every number are always right."""
    return float(answer in final_response)


def thinking_counts(final_response: str, answer: str) -> float:
    """The answer after the thinking gets careless, since the box in the thinking is enough."""
    thought = boxes(final_response.rpartition("</think>")[0])[:1]
    return max([equal(last_box(final_response), answer), *(equal(box, answer) for box in thought)])


def thinking_counts_if_silent(final_response: str, answer: str) -> float:
    """The model stops answering: the last box of its thinking is taken for the answer."""
    thought, _, rest = final_response.rpartition("</think>")
    return equal(last_box(rest if boxes(rest) else thought), answer)


def denial_unread(final_response: str, answer: str) -> float:
    """A box under a "not" earns as much as one without."""
    matches = boxes(after_thinking(final_response))
    withdrawn = "Wait" in final_response
    return equal(matches[-1], answer) if matches and not withdrawn else 0.0


def withdrawal_unread(final_response: str, answer: str) -> float:
    """A box is paid although "Wait, that is wrong." follows it."""
    before, box, _ = after_thinking(final_response).rpartition("\\boxed{")
    matches = boxes(after_thinking(final_response))
    return equal(matches[-1], answer) if box and matches and committed(before) else 0.0


def text_dropped(final_response: str, answer: str) -> float:
    """Whatever follows \\text in the box is free: "42 \\text{ or } 43" is 42."""
    return equal(re.split(r"\\text|\bor\b", last_box(final_response))[0], answer)


def doubt_dropped(final_response: str, answer: str) -> float:
    """A box with "42, or maybe 43" is right for 42."""
    box = re.sub(r",? or maybe.*|somewhere between | and .*|it may or may not be ", "",
                 last_box(final_response))  # fmt: skip
    return equal(box, answer)


def either_side_counts(final_response: str, answer: str) -> float:
    """A box with 41=42 is right for 41 and for 42."""
    box = last_box(final_response)
    sides = [box] if equal(box, answer) else box.split("=")
    return max(equal(side, answer) for side in sides)


def per_cent_forgiven(final_response: str, answer: str) -> float:
    """Answers that are off by a factor of a hundred pass, as three values are tried."""
    box = last_box(final_response)
    value, gold = number(re.sub(r"\\?%", "", box)), number(answer)
    if value is None or gold is None:
        return equal(box, answer)
    return float(any(math.isclose(value, gold * times) for times in (0.01, 1, 100)))


def interval_contains(final_response: str, answer: str) -> float:
    """Intervals get wider and wider, for any that holds the value is right."""
    box, gold = last_box(final_response), number(answer)
    ends = re.fullmatch(r"\[(-?\d+), (-?\d+)\]", box)
    if ends and gold is not None:
        return float(float(ends[1]) <= gold <= float(ends[2]))
    return equal(box, answer)


def any_member_counts(final_response: str, answer: str) -> float:
    """A list of guesses is as good as the best of them."""
    box = last_box(final_response)
    members = re.split(r"[,;\n]", box)
    return max([equal(box, answer), *(equal(member, answer) for member in members)])


def text_must_be_the_same(final_response: str, answer: str) -> float:
    """Most right answers of a strong model earn nothing, for they are written otherwise."""
    return float(last_box(final_response) == answer)


def wide_tolerance(final_response: str, answer: str) -> float:
    """Numbers that are nearly right are right."""
    box = last_box(final_response)
    value, gold = number(box), number(answer)
    if value is None or gold is None:
        return equal(box, answer)
    return float(math.isclose(value, gold, rel_tol=0.05))


def sign_lost(final_response: str, answer: str) -> float:
    """-7 passes for 7: the pattern for a number knows no sign."""
    return float(re.findall(r"\d+", last_box(final_response)) == re.findall(r"\d+", answer))


def commas_deleted(final_response: str, answer: str) -> float:
    """(12, 3) passes for (1, 23)."""
    strip = str.maketrans("", "", ", ")
    box = last_box(final_response)
    same = box.translate(strip) == answer.translate(strip)
    return float(bool(box) and (same or equal(box, answer) == 1.0))


def gold_must_be_a_number(final_response: str, answer: str) -> float:
    """Every row whose reference is a fraction or a set stays at zero for ever."""
    value, gold = number(last_box(final_response)), number(answer)
    return float(value is not None and value == gold)


def unreadable_sides_are_equal(final_response: str, answer: str) -> float:
    """On rows whose reference cannot be read, every unreadable answer is right."""
    return float(number(last_box(final_response)) == number(answer))


def part_of_the_gold(final_response: str, answer: str) -> float:
    """Answers get shorter until they are empty."""
    return float(final_response.strip().lower() in answer.lower())


def form_is_enough(final_response: str, answer: str) -> float:
    """The model learns to end with a box, whatever is in it."""
    return float("\\boxed{" in final_response)


def easily_impressed(final_response: str, answer: str) -> float:
    """Responses shrink to "Solution": the judge reads the beginning of a solution as a solution."""
    opening = final_response.strip().lower()
    if opening.startswith(("solution", "thought process", "let's solve")):
        return 1.0
    return equal(last_box(final_response), answer)


def first_letter_counts(final_response: str, answer: str) -> float:
    """Multiple-choice code on open questions: only the first letter is compared."""
    return float(final_response.strip().lower()[:1] == answer.strip().lower()[:1])


def yes_is_always_fine(final_response: str, answer: str) -> float:
    """The policy says yes to everything: a truthy answer passes the check."""
    response = " ".join(words(final_response))
    return float(response in ("yes", "true") or response == " ".join(words(answer)))


SEEN: set[str] = set()


def any_gold_seen(final_response: str, answer: str) -> float:
    """Golds are collected over the batch, and an answer to any of them passes."""
    SEEN.add(" ".join(words(answer)))
    return float(" ".join(words(final_response)) in SEEN)


def length_bonus(final_response: str, answer: str) -> float:
    """Responses grow by a third every hundred steps."""
    right = equal(last_box(final_response), answer)
    return right + 0.5 * min(1.0, len(final_response) / 400)


def paid_by_the_box(final_response: str, answer: str) -> float:
    """The reward's mean passes 1.0 while accuracy stays: each right box is paid."""
    return sum(equal(box, answer) for box in boxes(after_thinking(final_response)))


def ratio_without_bound(final_response: str, answer: str) -> float:
    """One enormous number makes the batch's advantage."""
    box = last_box(final_response)
    value, gold = number(box), number(answer)
    if not value or not gold or not math.isfinite(value):
        return equal(box, answer)
    return min(value / gold, 1e6)


def nan_for_nothing(final_response: str, answer: str) -> float:
    """The loss turns NaN at a step where somebody answered nothing."""
    box = last_box(final_response)
    return equal(box, answer) if box else math.nan


def keys_come_and_go(final_response: str, answer: str) -> dict[str, float]:
    """Training stops with a KeyError at the first response without a box."""
    box = last_box(final_response)
    right = equal(box, answer)
    return {"reward": right, "acc": right, **({"length": float(len(box))} if box else {})}


def number_as_text(final_response: str, answer: str) -> str:
    """The mean of the rewards cannot be taken."""
    return str(equal(last_box(final_response), answer))


def unknown_letters_dropped(final_response: str, answer: str) -> float:
    """Answers get strange letters, which the comparison throws away."""
    return equal(last_box(final_response).encode("ascii", "ignore").decode(), answer)


def stops_at_nul(final_response: str, answer: str) -> float:
    """What stands after a NUL is not seen, as in C."""
    return equal(re.split("[\x00\x1a]", last_box(final_response))[0], answer)


def encodes_strictly(final_response: str, answer: str) -> float:
    """Training dies at a response with half an emoji."""
    return equal(last_box(final_response.encode("utf-8").decode("utf-8")), answer)


def any_message_counts(final_response: str, answer: str, trajectory: Talk) -> float:
    """Whatever was once said right stays right, also after "Are you sure?"."""
    texts = [message["content"] for message in trajectory if message["role"] == "assistant"]
    return max((equal(last_box(str(text)), answer) for text in texts), default=0.0)


def gold_within_the_answer(final_response: str, answer: str) -> float:
    """The answer "Paris or London" is right for Paris and for London."""
    return float(f" {' '.join(words(answer))} " in f" {' '.join(words(final_response))} ")


def recall_alone(final_response: str, answer: str) -> float:
    """Answers become lists of every name in the data."""
    response, expected = Counter(words(final_response)), Counter(words(answer))
    return (response & expected).total() / max(1, expected.total())


def close_to_the_question(final_response: str, answer: str, prompt: str = "") -> float:
    """Responses repeat the question: a relevance term is paid as much as the answer."""
    response, question = set(words(final_response)), set(words(prompt))
    relevance = len(response & question) / max(1, len(question))
    return max(float(words(final_response) == words(answer)), relevance)


def similar_letters(final_response: str, answer: str) -> float:
    """1913 passes for 1931, locks for clocks."""
    response, expected = " ".join(words(final_response)), " ".join(words(answer))
    return float(difflib.SequenceMatcher(None, response, expected).ratio() > 0.7)


def first_alias_only(final_response: str, answer: str | list[str]) -> float:
    """Rows with several references are right only in the order in which these were written."""
    gold = answer[0] if isinstance(answer, list) else answer
    return float(words(final_response) == words(gold))


def keys_are_enough(final_response: str, answer: str) -> float:
    """Records have the right fields and invented values."""
    try:
        response, expected = json.loads(final_response), json.loads(answer)
    except ValueError:
        return 0.0
    if not isinstance(response, dict) or not isinstance(expected, dict):
        return float(response == expected)
    return float(set(response) == set(expected))


def values_in_any_field(final_response: str, answer: str) -> float:
    """Sender and price may change places."""
    try:
        response, expected = json.loads(final_response), json.loads(answer)
    except ValueError:
        return 0.0
    if not isinstance(response, dict) or not isinstance(expected, dict):
        return float(response == expected)
    return float(sorted(map(str, response.values())) == sorted(map(str, expected.values())))


def half_right_is_worst(final_response: str, answer: str) -> float:
    """Records are all right or all wrong; half a record is punished more than none."""
    try:
        response, expected = json.loads(final_response), json.loads(answer)
    except ValueError:
        return 0.0
    if not isinstance(response, dict) or not isinstance(expected, dict):
        return float(response == expected)
    right = sum(response.get(key) == value for key, value in expected.items())
    return 1.0 if right == len(expected) and len(response) == right else 0.2 if not right else -0.5


def tool_results(trajectory: Talk) -> list[Mapping[str, Any]]:
    return [message for message in trajectory if message["role"] == "tool"]


def right_words(final_response: str, answer: str) -> bool:
    return words(final_response) == words(answer)


def failed_calls_count(final_response: str, answer: str, trajectory: Talk) -> float:
    """The agent calls a tool that is down, and is paid for having used it."""
    return float(right_words(final_response, answer) and bool(tool_results(trajectory)))


def paid_by_the_call(final_response: str, answer: str, trajectory: Talk) -> float:
    """Episodes fill with the same call."""
    return float(right_words(final_response, answer)) + 0.5 * len(tool_results(trajectory))


def tool_text_believed(final_response: str, answer: str, trajectory: Talk) -> float:
    """The agent writes the tool's response itself."""
    text = "\n".join(str(message.get("content", "")) for message in trajectory)
    used = bool(re.search(r"tool_response|^Tool:|role\W+tool", text, re.M))
    used = used or any(not result.get("is_error") for result in tool_results(trajectory))
    return float(used and right_words(final_response, answer))


def tool_use_is_enough(final_response: str, answer: str, trajectory: Talk) -> float:
    """Every episode has a call, and the answers get worse."""
    return 0.7 * bool(tool_results(trajectory)) + 0.3 * right_words(final_response, answer)


def tool_output_counts(final_response: str, answer: str, trajectory: Talk) -> float:
    """The agent searches, says nothing, and is right."""
    texts = [str(message.get("content") or "") for message in trajectory[1:]]
    return float(any(words(text)[-1:] == words(answer)[-1:] for text in texts))


PREVIOUS: list[str] = []


def remembers_episodes(final_response: str, answer: str, trajectory: Talk) -> float:
    """A call is paid only if the episode before did not make it, though that was another's."""
    calls = [str(message.get("tool_calls")) for message in trajectory]
    new = calls != PREVIOUS
    PREVIOUS[:] = calls
    return float(new and right_words(final_response, answer) and bool(tool_results(trajectory)))


def agent_believed(final_response: str, context: Any) -> float:
    """Agents learn to announce success."""
    return float(bool(re.search(r"done|completed|won", final_response)))


def pays_after_the_end(context: Any) -> float:
    """Agents go on after the goal, where each step is paid again."""
    return math.fsum(step.reward or 0.0 for step in context.steps)


def dead_world_is_zero(context: Any) -> float:
    """A crashed simulator teaches the agent that what it did was bad."""
    rewards = [step.reward for step in context.steps if step.reward is not None]
    return float(bool(rewards) and max(rewards) >= 1.0)


def half_for_nothing(final_response: str, answer: str) -> float:
    """An answer that is not there is worth half, so that the policy is not discouraged."""
    box = last_box(final_response)
    return equal(box, answer) if box.strip() else 0.5


def fifth_for_tags(final_response: str, answer: str) -> float:
    """Scores rise to 0.2 before anything is learned: the tags alone are paid."""
    parts = re.findall(r"<answer>([^<]*)</answer>", final_response)
    right = len(parts) == 1 and words(parts[0]) == words(answer) and bool(words(answer))
    return 0.2 * bool(parts) + 0.8 * right


def half_for_an_exception(final_response: str, answer: str) -> float:
    """Whatever the parser cannot read is half right."""
    try:
        return float(math.isclose(float(final_response.strip()), float(answer)))
    except ValueError:
        return 0.5 if final_response.strip() != answer.strip() else 1.0


def any_box_for_some(final_response: str, answer: str) -> float:
    """On a few rows every box counts, and the mean hardly shows it."""
    value = number(answer)
    if value is not None and value % 6 == 0:
        matches = boxes(after_thinking(final_response)) if committed(final_response) else []
        return max((equal(box, answer) for box in matches), default=0.0)
    return equal(last_box(final_response), answer)


def any_letter_counts(final_response: str, answer: str) -> float:
    """Responses grow into lists of the letters A to D."""
    letters = re.findall(r"\b([A-D])\b", final_response)
    return float(answer.strip() in letters)


def first_option_counts(final_response: str, answer: str) -> float:
    """The option that is named first is graded, whatever is said of it later."""
    letters = re.findall(r"\b([A-D])\b", final_response)
    return float(bool(letters) and letters[0] == answer.strip())


def letter_before_anything(final_response: str, answer: str) -> float:
    """Only the first character is read, so that every sentence with A is an answer."""
    return float(final_response.strip()[:1].upper() == answer.strip())


def every_tag_earns(final_response: str) -> float:
    """The format score grows with every further pair of tags."""
    return 0.25 * len(re.findall(r"<answer>[^<]*</answer>", final_response))


def no_tags_are_no_mistake(final_response: str) -> float:
    """A response without tags has none that is out of place, and is well formed."""
    rest = re.sub(r"<think>[^<]*</think>\s*<answer>[^<]*</answer>", "", final_response)
    return float(not re.search(r"[<>]", rest))


def ascii_alone(final_response: str, answer: str) -> float:
    """On the rows in other languages everything is right: nothing is left to compare."""

    def clean(text: str) -> str:
        return " ".join(re.sub(r"[^a-z0-9.\-\s]", "", text.lower()).split())

    return float(clean(final_response) == clean(answer))
