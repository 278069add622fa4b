"""The words of the pages: one sentence for each number, code, mark and abbreviation.

A page shows the sentence when a word is pointed at, and all of its words under "Words and keys".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assay.report.causes import RULES, SUGGESTIONS, Cause
from assay.schema.evidence import StepEvents
from assay.schema.step_score import SENTENCES

WORDS: dict[str, str] = {
    "abstained": "Attempts whose reward could not be given, such as without a reference; they are "
    "in no mean.",
    "accuracy": "How often label and reward agree, by chance or not.",
    "agent": "The policy that chose the actions.",
    "agreement": "The size of kappa in a word, after Landis and Koch.",
    "answered": "Attempts that ended with an answer of the agent.",
    "archived": "A run that is left out of lists and of the history: assay history --archive RUN "
    "does so, --unarchive RUN takes it back, and nothing that was recorded changes.",
    "attempt": "One try at one task.",
    "attempts": "Attempts that lost points by this cause.",
    "audit": "The worst that the latest saved audit of the reward found: assay audit looks for "
    "ways to be paid without an answer, and for right answers that are refused.",
    "base": "The run that the other one is compared with, usually the older one.",
    "before": "The mean reward of the task in the run before, and what it moved by since.",
    "benchmark": "The tasks, the environment, the rewards and the limits of the run.",
    "candidate": "The run whose change is judged.",
    "cause": "Why points were lost: the first rule whose evidence is in the record, and that "
    "evidence.",
    "change": "The mean reward minus that of the run before that it can be compared with, over the "
    "tasks of both.",
    "commit": "The version of the agent's code; a plus says that not everything was committed.",
    "cost": "US dollars for the calls of models; a dash when no model was called or a price is not "
    "known.",
    "detectable change": "The smallest change of the mean that so many tasks would show four times "
    "out of five; a smaller one is likely to hide.",
    "difference": "The candidate minus the base, over the tasks that were scored in both.",
    "domain": "The part of the benchmark that the task belongs to.",
    "doubtful": "Labelled doubtful, or by as many people one way as the other; in no number here.",
    "ending": "How the attempt ended.",
    "errors": "Attempts that the agent, its model or the environment broke off.",
    "family": "What kind of change makes the form another one than the reference.",
    "fell, rose": "Tasks whose mean reward moved far, down and up: if nothing had changed, as many "
    "would rise as fall. A mark says where too many fell for that.",
    "first divergence": "The first step at which the actions differ, or the same action had "
    "another result.",
    "flaky": "The reward of the task varied although nothing was changed.",
    "focus": "What the run was meant to show, written before it began.",
    "form": "How the answer is written.",
    "interval": "The 95 % interval: tasks drawn again and again would give a mean in it 95 times "
    "out of 100; left out below five tasks.",
    "kappa": "Cohen's kappa: how far label and reward agree beyond chance. 1 is always, 0 no more "
    "than chance would.",
    "labels": "What people said of attempts and steps: right, wrong or doubtful.",
    "live environment": "The reward asks the environment that the agent acted in, so it cannot be "
    "tried on text.",
    "lost": "What the cause took from the run's mean reward.",
    "McNemar p": "How likely it is that chance alone made so many more tasks begin to pass than "
    "cease to, or the reverse; 0.05 or less is taken as a difference.",
    "mean reward": "The mean over the attempts that count; one that its model or environment "
    "ended, or that abstained, is not in it.",
    "model": "The model that the agent asked; a dash when the run names none.",
    "n": "Attempts that count: for each task and repeat the last one that neither its model nor "
    "its environment ended. Behind a stroke: how many were planned.",
    "needs": "What the reward reads: the final response, the trajectory, the context of the "
    "rollout, or columns of the task.",
    "option": "A setting of the reward; another value is another quantity.",
    "overlap": "How many of the tokens both have, from 0 for none to 1 for all.",
    "paid": "A reward of at least the threshold of this page; a step score is paid above 0.",
    "paired tasks": "Tasks that were scored in both runs; only these are compared.",
    "parts": "The numbers that make up the reward, under names that never change.",
    "pass rate": "The share of attempts with a reward of at least 0.99, over tasks.",
    "permutation p": "How often chance alone, which turns each task's difference up or down, moves "
    "the mean as far; 0.05 or less is taken as a difference.",
    "probed answer": "Whether the form means what the reference does; right ones that lose points "
    "and wrong ones that gain some come first.",
    "question": "What the task asks.",
    "reference": "The right answer of the task.",
    "repeat": "Each task may be run several times; repeats count from 0.",
    "returns at most": "What mending the cause could add to the mean reward, and no more.",
    "reward": "The score of the attempt: usually 0 is wrong and 1 is right.",
    "run": "One benchmark, executed once by one agent; its name is the time it began and six "
    "characters that tell it from others.",
    "started": "When the run began, in UTC.",
    "step scores": "A bar for each step: up and blue for a gain, down and orange for a loss, grey "
    "for no score.",
    "steps": "Actions of the agent; step 0 is the reset, and is not counted.",
    "submitted": "The answer that the agent gave.",
    "task": "One question or goal, by its id.",
    "time": "From the reset, which is step 0, to the end; of a run the sum over its attempts, of "
    "which concurrent ones overlap.",
    "tokens": "Of the prompts, which go in, and of the replies, which come out.",
    "verdict": "What the data says of the change: a difference is claimed only where a test "
    "carries it.",
    "version": "Goes up whenever the reward gives another number for the same answer.",
    "without a score": "Labelled, and without a score; in no number here.",
}
ENDINGS: dict[str, str] = {
    "answered": "The agent gave an answer.",
    "finished": "The environment ended the episode.",
    "gave_up": "The agent stopped without an answer.",
    "step_limit": "All steps were used.",
    "budget_limit": "The budget of tokens or money was used up.",
    "timeout": "A time limit passed.",
    "agent_error": "The agent broke.",
    "model_error": "No reply came from the model: no fault of the agent, and in no mean.",
    "env_error": "The environment broke: no fault of the agent, and in no mean.",
}
VERDICTS: dict[str, str] = {
    "improved": "A test shows that the run is better than the one before.",
    "regressed": "A test shows that the run is worse than the one before.",
    "mixed": "One test shows a gain and another one a loss.",
    "no difference shown": "Enough tasks to test, and no test shows a difference.",
    "no verdict possible": "Too few tasks for any test.",
    "not comparable": "The numbers are of different quantities.",
}


def _describe_cause(cause: Cause) -> str:
    """What the rule asks for, and what it suggests, as two sentences."""
    rule = RULES.get(cause)
    condition = (rule.__doc__ or "").partition("\n\n")[0] if rule is not None else ""
    sentence = " ".join(condition.split())
    fallback = "The answer differs from the reference, and nothing recorded explains why."
    return f"{sentence or fallback} To try: {SUGGESTIONS[cause]}.".replace("`", "")


CAUSES: dict[str, str] = {cause: _describe_cause(cause) for cause in SUGGESTIONS}
CLASSES: dict[str, str] = {
    "contract_pass": "The outcome contract passed on fresh facts.",
    "target_reached": "The step led to where the task wanted the agent.",
    "recovered": "What had failed before was achieved now.",
    "progress": "Something changed that had not been so before.",
    "observation": "The agent looked, and changed nothing.",
    "unknown": "Nothing was recorded that could tell.",
    "no_progress": "Nothing changed in the parts of the page that can be compared.",
    "repeat": "The same call in the same state as before: a loop.",
    "contract_fail": "The outcome contract failed.",
    "failure": "The call failed.",
    "blocked": "Something stands between the agent and the page.",
    "destructive_ungated": "A risky action was done without the confirmation that it needs.",
}
STRENGTHS: dict[str, str] = {
    "strong_positive": "a strong sign that the step helped",
    "weak_positive": "a weak sign that the step helped",
    "neutral": "neither for nor against the step",
    "negative": "a sign against the step",
    "hard_negative": "a step that must not happen",
}
GATES: dict[str, str] = {
    "not_required": "needs no confirmation",
    "satisfied": "the confirmation that it needs was given",
    "missing": "the confirmation that it needs was not given",
    "unknown": "whether a confirmation is needed is not known",
}
EFFECTS: dict[str, str] = {
    "read": "only reads",
    "browser": "changes the page or the browser, and can be undone there",
    "external": "sends something to the world outside",
    "destructive": "deletes or overwrites something",
    "irreversible": "cannot be undone",
}
OUTCOME: dict[str, str] = {
    "tool": "which tool was called",
    "effect": "the worst that the call can do",
    "gate": "whether the confirmation that policy asks for was given",
    "ok": "whether the tool says that its call worked",
    "error": "how the call failed",
    "block": "what stands in the way",
    "items": "items that were extracted and had not been before",
}
STATUSES: dict[int, str] = {
    200: "the page was loaded",
    204: "answered without a page",
    301: "moved",
    302: "moved",
    304: "not changed",
    400: "the request was refused as malformed",
    401: "a login is needed",
    403: "access is denied",
    404: "there is no such page",
    408: "the site did not answer in time",
    410: "the page is gone",
    429: "too many requests",
    500: "the site failed",
    502: "the site failed",
    503: "the site is not available",
    504: "the site did not answer in time",
}
_EVENTS: dict[str, tuple[str, str]] = {
    "redirects": ("a redirect on the way to the page", "{n} redirects on the way to the page"),
    "answered": ("a request of the step was answered", "{n} requests of the step were answered"),
    "failed_writes": (
        "a request that changes something was refused or broke off",
        "{n} requests that change something were refused or broke off",
    ),
    "failed_reads": (
        "a request for data was refused or broke off",
        "{n} requests for data were refused or broke off",
    ),
    "pending": (
        "a request had no answer yet when the page was read",
        "{n} requests had no answer yet when the page was read",
    ),
    "rejected": ("the page refused a field", "the page refused {n} fields"),
    "downloads": ("a download began", "{n} downloads began"),
    "tabs": ("a tab was opened", "{n} tabs were opened"),
    "dialogs": ("a dialog was opened", "{n} dialogs were opened"),
    "copies": ("something was copied to the clipboard", "{n} writes to the clipboard"),
    "scrolled": ("the page moved by a pixel", "the page moved by {n} pixels"),
    "popups": ("a pop-up came up by itself", "{n} pop-ups came up by themselves"),
}
BAD_EVENTS = frozenset({"failed_writes", "failed_reads", "rejected", "pending"})


def event_sentences(events: Any) -> tuple[tuple[str, bool], ...]:
    """What the browser reported of a step, each with whether it is bad news.

    What another version wrote in another form is left out.
    """
    if not isinstance(events, Mapping):
        return ()
    sentences: list[tuple[str, bool]] = []
    status = events.get("status")
    if isinstance(status, int) and not isinstance(status, bool):
        words = STATUSES.get(status, "refused" if status >= 400 else "answered")
        sentences.append((f"the site answered {status}: {words}", status >= 400))
    for name in StepEvents._fields:
        n = events.get(name)
        if name in _EVENTS and isinstance(n, int) and not isinstance(n, bool) and n:
            one, many = _EVENTS[name]
            sentences.append((one if n == 1 else many.format(n=f"{n:,}"), name in BAD_EVENTS))
    holds = events.get("kept")
    if isinstance(holds, bool):
        word = "holds" if holds else "does not hold"
        sentences.append((f"the field {word} what was put into it", not holds))
    return tuple(sentences)


def code_sentence(code: str, value: str = "") -> str:
    """The sentence for a code of a step, or for the value of one; empty for any other text."""
    tables = {"gate": GATES, "effect": EFFECTS}
    if code in tables and value:
        return tables[code].get(value, "")
    if code in ("error", "block") and value:
        return SENTENCES.get(f"{code}_{value}", "")
    for table in (CLASSES, STRENGTHS, OUTCOME):
        if code in table:
            return table[code]
    sentence = SENTENCES.get(code, "")
    return sentence.replace("{n}", "so many")
