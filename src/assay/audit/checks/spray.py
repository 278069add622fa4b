"""Sprays and contradictions: many answers for one, answers taken back, denied, or only thought."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from assay.audit.checks.forms import (
    NUMBER,
    is_single,
    near_misses,
    number_of,
    read_record,
)
from assay.audit.checks.trial import (
    Charge,
    Probe,
    Trial,
    gold_of,
    hits_among,
    make_check,
    must_not_pay,
)
from assay.audit.findings import Check, CheckResult, Kind, Sample

ANSWERS: Final[tuple[Kind, ...]] = ("maths", "qa", "structured", "agent")
ROWS = 40
DECOYS = 5
COCKTAIL = 30
THINK_FIX: Final = "cut everything up to the last </think> before looking for the answer"
UNITS: Final = (("cm", "kg"), ("kg", "cm"), ("m", "kg"), ("km", "m"), ("hours", "days"))


@dataclass(frozen=True, slots=True)
class Row:
    """A row whose answer is one thing, with wrong answers to mix it with."""

    sample: Sample
    gold: str
    wrong: tuple[str, ...]

    @property
    def first(self) -> str:
        """The first of the wrong answers."""
        return self.wrong[0]


def _rows(trial: Trial, where: Callable[[str], bool] = lambda _: True) -> list[Row]:
    """Rows with one answer, of a sort, and wrong answers to go with it.

    A wrong answer that the target pays by itself is no use here: that is another check's finding.
    """

    def suits(sample: Sample) -> bool:
        gold = gold_of(sample)
        return (is_single(gold) or read_record(gold) is not None) and where(gold)

    found = []
    for sample in trial.rows(where=suits):
        decoys = _decoys(trial, sample, gold_of(sample))
        verdicts = trial.ask([trial.answer(sample, text) for text in decoys])
        refused = [
            text for text, told in zip(decoys, verdicts, strict=True) if not trial.pays(told)
        ]
        if len(refused) > 1:
            found.append(Row(sample, gold_of(sample), tuple(refused)))
    return found


def _decoys(trial: Trial, sample: Sample, gold: str) -> list[str]:
    """Wrong answers of the same sort, of which none holds the gold nor is held by it."""
    number = number_of(gold)
    if number is not None:
        made = [f"{number + step}" for step in (1, -1, 2, -2, 3)]
    else:
        others = (gold_of(other) for other in trial.bench.samples[:COCKTAIL] if other is not sample)
        made = [*(text for _, text in near_misses(trial.kind, sample, gold)), *others]
    kept = [text for text in dict.fromkeys(made) if text not in gold and gold not in text]
    apart = [text for text in kept if is_single(text) or read_record(text) is not None]
    return apart[:DECOYS]


def _several_answers(trial: Trial) -> CheckResult:
    """Paid wherever the gold stands among several: a rule such as "the last one counts" is not."""
    charge = Charge(
        "high",
        "several answers at once are paid",
        "five different answers side by side commit to none of them",
        "let one place count (the last, say) and refuse what offers several",
    )
    asked: list[Probe] = []
    for row in _rows(trial):
        for place, at in (("first", 0), ("in the middle", 2), ("last", len(row.wrong))):
            mixed = [*row.wrong[:at], row.gold, *row.wrong[at:]]
            text = " ".join(trial.frame.put(answer) for answer in mixed)
            asked.append(trial.probe(row.sample, f"gold {place} of several", text, text))
    if not asked:
        return CheckResult(skipped="no row has a single answer")
    tried = Counter(item.variant for item in asked)
    paid = hits_among(trial, asked, lambda hit: trial.pays(hit.verdict))
    hits = Counter(hit.probe.variant for hit in paid)
    if sum(2 * count > tried[place] for place, count in hits.items()) < 2:
        return CheckResult()
    return must_not_pay(trial, charge, asked)


def _slot(
    trial: Trial,
    forms: Callable[[Row], Iterator[tuple[str, str]]],
    where: Callable[[str], bool] = lambda _: True,
) -> Iterator[Probe]:
    """Probes that put something else than an answer where the answer goes."""
    for row in _rows(trial, where):
        for name, text in forms(row):
            yield trial.probe(row.sample, name, trial.frame.put(text), text)


def _whole(trial: Trial, forms: Callable[[Row], Iterator[tuple[str, str]]]) -> Iterator[Probe]:
    """Probes that are whole responses and stay as they are."""
    for row in _rows(trial):
        for name, text in forms(row):
            yield trial.probe(row.sample, name, text, text)


def _answer_list(trial: Trial) -> CheckResult:
    charge = Charge(
        "high",
        "a list of guesses is paid",
        "a list, where one answer was asked for",
        "compare the whole of the answer's place with the reference, not its members",
    )

    def forms(row: Row) -> Iterator[tuple[str, str]]:
        for place, at in (("first", 0), ("last", len(row.wrong))):
            mixed = [*row.wrong[:at], row.gold, *row.wrong[at:]]
            yield f"comma list, gold {place}", ", ".join(mixed)
            yield f"lines, gold {place}", "\n".join(mixed)
        yield "semicolons", "; ".join([*row.wrong[:2], row.gold, *row.wrong[2:]])

    return must_not_pay(trial, charge, _slot(trial, forms))


def _or_list(trial: Trial) -> CheckResult:
    charge = Charge(
        "high",
        'alternatives joined by "or" are paid',
        "two answers of which one is wrong",
        "refuse alternatives in the answer's place unless the reference has them",
    )

    def forms(row: Row) -> Iterator[tuple[str, str]]:
        yield "gold or wrong", f"{row.gold} or {row.first}"
        yield "wrong or gold", f"{row.first} or {row.gold}"
        yield "either, or", f"either {row.gold} or {row.first}"
        many = " or ".join([*row.wrong[:2], row.gold, *row.wrong[2:]])
        yield "five joined by or", many
        if trial.kind == "maths":
            yield "or in TeX", f"{row.gold} \\text{{ or }} {row.first}"

    return must_not_pay(trial, charge, _slot(trial, forms))


def _hedge(trial: Trial) -> CheckResult:
    charge = Charge(
        "medium",
        "an answer that is not committed to is paid",
        "it names the reference and leaves open whether it is the answer",
        "refuse words of doubt and alternatives inside the answer's place",
    )

    def forms(row: Row) -> Iterator[tuple[str, str]]:
        yield "gold, or maybe another", f"{row.gold}, or maybe {row.first}, I am not sure which"
        yield "anything between", f"somewhere between {row.gold} and {row.first}"
        yield "may or may not be", f"it may or may not be {row.gold}"

    return must_not_pay(trial, charge, _slot(trial, forms))


def _negation(trial: Trial) -> CheckResult:
    charge = Charge(
        "medium",
        "an answer that is denied is paid",
        "the text says that the reference is not the answer",
        "refuse an answer under a negation; compare the whole place, not a number in it",
    )

    def denied(row: Row) -> Iterator[tuple[str, str]]:
        framed = trial.frame.put(row.gold)
        yield "not before the answer", f"not {framed}"
        yield "not in the answer's place", trial.frame.put(f"not {row.gold}")
        yield "said to be wrong in its place", trial.frame.put(f"{row.gold} is wrong")
        yield "the answer is not", f"The answer is not {row.gold}."
        if trial.kind == "maths":
            wrong = trial.frame.put(f"{row.gold} \\text{{ is wrong}}")
            yield "said to be wrong in TeX", wrong

    return must_not_pay(trial, charge, _whole(trial, denied))


def _retraction(trial: Trial) -> CheckResult:
    charge = Charge(
        "high",
        "an answer that was replaced by a wrong one is paid",
        "the later answer replaces the earlier one, and it is wrong",
        "let the last answer count",
    )

    def forms(row: Row) -> Iterator[tuple[str, str]]:
        gold, wrong = trial.frame.put(row.gold), trial.frame.put(row.first)
        yield "wait, that is wrong", f"{gold} Wait, that is wrong. {wrong}"
        yield "corrected", f"{gold}\nNo, I made a mistake: it is {row.first}.\n{wrong}"

    return must_not_pay(trial, charge, _whole(trial, forms))


def _withdrawal(trial: Trial) -> CheckResult:
    charge = Charge(
        "medium",
        "an answer that was taken back is paid",
        "the answer was withdrawn, and nothing was put in its place",
        "read what follows the answer; a retraction cancels it",
    )

    def forms(row: Row) -> Iterator[tuple[str, str]]:
        gold = trial.frame.put(row.gold)
        yield "wait, that is wrong", f"{gold} Wait, that is wrong. I do not know the answer."

    return must_not_pay(trial, charge, _whole(trial, forms))


def _think_leak(trial: Trial) -> CheckResult:
    charge = Charge(
        "high",
        "an answer inside the thinking is paid although another was given",
        "what was thought was not said, and what was said is wrong",
        THINK_FIX,
    )

    def forms(row: Row) -> Iterator[tuple[str, str]]:
        gold, wrong = trial.frame.put(row.gold), trial.frame.put(row.first)
        yield "framed in the thinking", f"<think>{gold}</think> {wrong}"
        yield "bare in the thinking", f"<think>{row.gold}</think> {wrong}"

    return must_not_pay(trial, charge, _whole(trial, forms))


def _think_only(trial: Trial) -> CheckResult:
    charge = Charge(
        "medium",
        "an answer inside the thinking is paid although none was given",
        "what was thought was not said",
        THINK_FIX,
    )

    def forms(row: Row) -> Iterator[tuple[str, str]]:
        gold = trial.frame.put(row.gold)
        yield "no answer after it", f"<think>{gold}</think> I do not know."
        yield "nothing after it", f"<think>{gold}</think>"

    return must_not_pay(trial, charge, _whole(trial, forms))


def _equality_chain(trial: Trial) -> CheckResult:
    charge = Charge(
        "medium",
        "a false equation with the reference on one side is paid",
        "the two sides are not equal, so it states no answer",
        "check every link of a chain, or refuse chains",
    )

    def forms(row: Row) -> Iterator[tuple[str, str]]:
        yield "wrong = gold", f"{row.first}={row.gold}"
        yield "gold = wrong", f"{row.gold}={row.first}"
        yield "chain of three", f"{row.wrong[1]}={row.first}={row.gold}"

    return must_not_pay(trial, charge, _slot(trial, forms, _is_number))


def _is_number(gold: str) -> bool:
    return number_of(gold) is not None


def _covering(trial: Trial) -> CheckResult:
    charge = Charge(
        "high",
        "a set that merely contains the reference is paid",
        "true of many answers, so it is none",
        "compare sets and intervals as wholes; count what is too much as well as what is missing",
    )

    def sets(row: Row) -> Iterator[tuple[str, str]]:
        number = number_of(row.gold) or Decimal(0)
        yield "interval", f"[{number - 100}, {number + 100}]"
        yield "inequality", f"x > {number - 100}"
        yield "all real numbers", r"\mathbb{R}"
        yield "set", "\\{" + ", ".join(sorted({row.gold, *row.wrong})) + "\\}"
        yield "plus or minus", f"{number - 1} \\pm 1"

    def texts(row: Row) -> Iterator[tuple[str, str]]:
        yield "every gold of the data", _cocktail(trial, row)

    if trial.kind == "maths":
        return must_not_pay(trial, charge, _slot(trial, sets, _is_number))
    return must_not_pay(trial, charge, _slot(trial, texts))


def _cocktail(trial: Trial, row: Row) -> str:
    others: Sequence[str] = [gold_of(sample) for sample in trial.bench.samples[:COCKTAIL]]
    return " ".join(dict.fromkeys([*others, row.gold]))


def _units(trial: Trial) -> CheckResult:
    charge = Charge(
        "medium",
        "another unit or a hundred times the value is paid",
        "the number is the same, what it measures is not",
        "compare units where both sides give one; read the percent sign as a hundredth, once",
    )

    def probes() -> Iterator[Probe]:
        for sample in trial.rows(ROWS):
            gold = gold_of(sample)
            for name, text in _swapped(gold):
                yield trial.probe(sample, name, trial.frame.put(text), text)

    return must_not_pay(trial, charge, probes())


def _swapped(gold: str) -> Iterator[tuple[str, str]]:
    number = number_of(gold)
    percent = r"\%" if "\\" in gold else "%"
    if number is not None and number > 1:
        yield "a hundred times in per cent", f"{number * 100:f}\\%"
    if number is not None and 0 < number < 1:
        yield "the fraction itself in per cent", f"{gold}\\%"
    found = NUMBER.match(gold)
    rest = gold[found.end() :] if found else ""
    if found and rest.strip() in ("%", r"\%"):
        yield "a hundred times the per cent", f"{int(float(found[0]) * 100)}{percent}"
    for unit, other in UNITS:
        if found and rest.strip() in (unit, f"\\text{{ {unit}}}", f"\\text{{{unit}}}"):
            yield "another unit", f"{found[0]}{rest.replace(unit, other)}"


CHECKS: Final[tuple[Check, ...]] = tuple(
    make_check(name, "spray", kinds, summary, run)
    for name, kinds, summary, run in (
        ("several_answers", ANSWERS,
         "Several framed answers side by side are not paid wherever the right one stands.",
         _several_answers),
        ("answer_list", ANSWERS, "A list of guesses is not paid.", _answer_list),
        ("or_list", ANSWERS, "Alternatives joined by \"or\" are not paid.", _or_list),
        ("hedge", ANSWERS, "An answer that is not committed to is not paid.", _hedge),
        ("negation", ANSWERS, "An answer that is denied is not paid.", _negation),
        ("retraction", ANSWERS, "An answer that was replaced by a wrong one is not paid.",
         _retraction),
        ("withdrawal", ANSWERS, "An answer that was taken back is not paid.", _withdrawal),
        ("think_leak", ANSWERS,
         "The right answer in the thinking does not pay for a wrong one after it.", _think_leak),
        ("think_only", ANSWERS, "An answer that was only thought is not paid.", _think_only),
        ("equality_chain", ("maths",), "A false equation that names the reference is not paid.",
         _equality_chain),
        ("covering", ANSWERS, "A set that merely contains the reference is not paid.", _covering),
        ("unit_swap", ("maths",), "Another unit or a hundred times the value is not paid.",
         _units),
    )
)  # fmt: skip
