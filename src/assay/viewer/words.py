"""The words of the pages: one sentence for each number, code and abbreviation.

A page shows the sentence when a word is pointed at, and all of its words under "Words and keys".
"""

from __future__ import annotations

from assay.report.causes import RULES, SUGGESTIONS, Cause

WORDS: dict[str, str] = {
    "abstained": "Attempts whose reward could not be given, such as without a reference; they are "
    "in no mean.",
    "archived": "A run that is left out of lists and of the history: assay history --archive RUN "
    "does so, --unarchive RUN takes it back, and nothing that was recorded changes.",
    "agent": "The policy that chose the actions.",
    "answered": "Attempts that ended with an answer of the agent.",
    "attempt": "One try at one task.",
    "attempts": "Attempts that lost points by this cause.",
    "benchmark": "The tasks, the environment, the rewards and the limits of the run.",
    "before": "The mean reward of the task in the run before, and what it moved by since.",
    "cause": "Why points were lost: the first rule whose evidence is in the record, and that "
    "evidence.",
    "change": "The mean reward minus that of the run before that it can be compared with, over "
    "the tasks of both.",
    "commit": "The version of the agent's code; a plus says that not everything was committed.",
    "cost": "US dollars for the calls of models; a dash when no model was called or a price is "
    "not known.",
    "domain": "The part of the benchmark that the task belongs to.",
    "ending": "How the attempt ended.",
    "errors": "Attempts that the agent, its model or the environment broke off.",
    "focus": "What the run was meant to show, written before it began.",
    "interval": "The 95 % interval: tasks drawn again and again would give a mean in it 95 times "
    "out of 100; left out below five tasks.",
    "lost": "What the cause took from the run's mean reward.",
    "mean reward": "The mean over the attempts that count; one that its model or environment "
    "ended, or that abstained, is not in it.",
    "model": "The model that the agent asked; a dash when the run names none.",
    "n": "Attempts that count: for each task and repeat the last one that neither its model nor "
    "its environment ended. Behind a stroke: how many were planned.",
    "pass rate": "The share of attempts with a reward of at least 0.99, over tasks.",
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
    "steps": "Actions of the agent, the reset included.",
    "submitted": "The answer that the agent gave.",
    "task": "One question or goal, by its id.",
    "time": "From the first step to the last; of a run the sum over its attempts, of which "
    "concurrent ones overlap.",
    "verdict": "What the data says of the change: a difference is claimed only where a test "
    "carries it.",
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
    sentence = " ".join(condition.replace("`", "").split())
    fallback = "The answer differs from the reference, and nothing recorded explains why."
    return f"{sentence or fallback} To try: {SUGGESTIONS[cause]}."


CAUSES: dict[str, str] = {cause: _describe_cause(cause) for cause in SUGGESTIONS}
