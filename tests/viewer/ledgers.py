"""Ledgers for the viewer: a hostile one, one with every mark, a long one."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path
from typing import Any

from assay.browser.steps import Effect, RecoveryRewardScorer, StepHistory, StepInput, ToolOutcome
from assay.ledger.labels import add_label
from assay.ledger.run import Run
from assay.ledger.writer import RunWriter
from assay.schema.episode import Episode, Failure, Step, Trajectory
from assay.schema.evidence import PageEvidence, WorldEvidence
from assay.schema.manifest import RunManifest
from assay.schema.message import Message
from assay.schema.score import Scored
from assay.schema.step_score import step_score_to_record
from assay.schema.task import Task

SCORER = "assistantbench_reward@1"
SCRIPT = "<script>window.pwned = 1</script>"
IMAGE = "<img src=x onerror='window.pwned = 2'>"
LINK = "<a href='javascript:window.pwned=3'>javascript:window.pwned=3</a>"
HTMX = "<div hx-get='/runs' hx-trigger='load' hx-on::load='window.pwned=4'>x</div>"
TEMPLATE = "{{ 7 * 7 }}{% raw %}"
BREAKOUT = "\"' onmouseover='window.pwned=5' x=\"</pre></textarea></script>"
ANSI = "\x1b[31mred\x1b[0m\x1b]8;;http://evil.example\x07link\x07"
BIDI = "abc\u202egpj.exe\u200b\ud800\x00"
HOSTILE = "\n".join((SCRIPT, IMAGE, LINK, HTMX, TEMPLATE, BREAKOUT, ANSI, BIDI))
HUGE = 5_000_000


def png(width: int = 64, height: int = 48) -> bytes:
    """A grey picture."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    rows = zlib.compress(b"".join(b"\0" + b"\x90" * width for _ in range(height)))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def manifest(run_id: str, **fields: Any) -> RunManifest:
    values: dict[str, Any] = {
        "benchmark": "made",
        "agent": "made",
        "rewards": (SCORER,),
        "n_tasks": 1,
        "created_at": f"2026-01-01T00:00:00.000Z#{run_id}"[:24],
        **fields,
    }
    return RunManifest(run_id=run_id, **values)


def write_hostile(runs_dir: Path) -> Run:
    """A run in which everything that an agent or a page can write is an attack."""
    head = manifest(
        "hostile",
        benchmark=SCRIPT,
        agent=IMAGE,
        focus=HOSTILE,
        config={
            SCRIPT: {BREAKOUT: HOSTILE},
            "agent": {"options": {"model": HOSTILE, "model_options": {"model": HOSTILE}}},
        },
        n_tasks=3,
    )
    task = Task(
        id=f"task {SCRIPT}{BREAKOUT}",
        goal=HOSTILE,
        answer=HOSTILE,
        metadata={"domain": HOSTILE, SCRIPT: HOSTILE},
    )
    with RunWriter.create(runs_dir, head) as writer:
        page = writer.artifact(HOSTILE)
        html = writer.artifact(f"<!doctype html><html>{SCRIPT}</html>")
        endless = writer.artifact("<b>" + "x" * HUGE)
        steps = (
            Step(index=0, action="", observation=page, observation_chars=len(HOSTILE)),
            Step(
                index=1,
                action=HOSTILE,
                observation=html,
                think=HOSTILE,
                error=HOSTILE,
                outcome={SCRIPT: HOSTILE, "error": "other", "box": [1, 2, "x", None]},
                scores=(
                    {
                        "scorer": SCRIPT,
                        "score": -0.5,
                        "classification": SCRIPT,
                        "reasons": [{"code": SCRIPT, "sentence": HOSTILE, "n": 1}, SCRIPT],
                        "contract": {SCRIPT: HOSTILE},
                    },
                ),
                screenshot=page,
            ),
            Step(index=2, action="y" * HUGE, observation=endless, observation_chars=HUGE),
        )
        score = Scored(0.25, HOSTILE, {SCRIPT: 1.0}, {SCRIPT: HOSTILE}, SCORER, {SCRIPT: HOSTILE})
        writer.append(
            Episode(
                attempt="hostile.r0.a1",
                task=task,
                trajectory=Trajectory(steps=steps, messages=hostile_talk()),
                final_response=HOSTILE,
                scores=(score,),
                metadata={SCRIPT: HOSTILE},
            )
        )
        writer.append(
            Episode(
                attempt="endless.r0.a1",
                task=Task(id="endless", goal="z" * HUGE, answer="g" * HUGE),
                final_response="a" * HUGE,
                scores=(Scored(0.0, "b" * HUGE, scorer=SCORER),),
            )
        )
        broken = Task(id=HOSTILE, goal=HOSTILE, answer={SCRIPT: [HOSTILE]})
        writer.append(
            Episode(
                attempt="broken.r0.a1",
                task=broken,
                trajectory=Trajectory(stop_reason="model_error"),
                failure=Failure(kind="model_error", message=HOSTILE, traceback=HOSTILE),
            )
        )
    for step in (None, 1):
        add_label(writer.path, "hostile.r0.a1", "right", step=step, note=HOSTILE, author=SCRIPT)
    return Run(writer.path)


def write_hostile_head(runs_dir: Path) -> Run:
    """A run before the hostile one, with other hostile settings and the same hostile task."""
    head = manifest(
        "hostile-before",
        benchmark=SCRIPT,
        agent=IMAGE,
        config={SCRIPT: {BREAKOUT: IMAGE}, IMAGE: HOSTILE},
        created_at="2025-01-01T00:00:00.000Z",
    )
    task = Task(id=f"task {SCRIPT}{BREAKOUT}", goal=HOSTILE, answer=HOSTILE)
    with RunWriter.create(runs_dir, head) as writer:
        writer.append(
            Episode(
                attempt="hostile.r0.a1",
                task=task,
                trajectory=Trajectory(
                    steps=(Step(index=0, action=""), Step(index=1, action=IMAGE))
                ),
                final_response=SCRIPT,
                scores=(Scored(1.0, HOSTILE, scorer=SCORER),),
            )
        )
    return Run(writer.path)


def hostile_talk() -> tuple[Message, ...]:
    """The conversation of two actions, every text of which is an attack."""
    call = {"id": SCRIPT, "function": {"name": IMAGE, "arguments": f'{{"{SCRIPT}": "{LINK}"}}'}}
    marks = {"reasoning_content": HOSTILE, "unreadable": HOSTILE, "made_by": SCRIPT}
    cut = f"{HOSTILE}\n… 99 characters not shown; {SCRIPT} …"
    return tuple(
        Message.model_validate(message)
        for message in (
            {"role": "system", "content": HOSTILE},
            {"role": "user", "content": cut},
            {
                "role": "assistant",
                "content": f"```{SCRIPT}\n{HOSTILE}",
                "tool_calls": [call],
                **marks,
            },
            {"role": "tool", "tool_call_id": SCRIPT, "name": IMAGE, "content": f'["{SCRIPT}"]'},
            {"role": SCRIPT, "content": [{"type": "text", "text": HOSTILE}]},
            {"role": "assistant", "content": HOSTILE},
        )
    )


PAGE_LINES = [f"line {i} of the page" for i in range(200)]
CUT_AT = 120


def write_talked(runs_dir: Path, run_id: str = "talked") -> Run:
    """A run with a cut page, and one of a text environment, each with its messages."""
    with RunWriter.create(runs_dir, manifest(run_id, n_tasks=2)) as writer:
        writer.append(_episode_with_pages(writer))
        writer.append(_episode_in_a_shop(writer))
    return Run(writer.path)


def _episode_with_pages(writer: RunWriter) -> Episode:
    page = "\n".join(PAGE_LINES)
    left = sum(len(line) + 1 for line in PAGE_LINES[CUT_AT:])
    shown = "\n".join(PAGE_LINES[:CUT_AT])
    cut = f"Step 2 of 9.\nPage:\n{shown}\n… {left} characters not shown; scroll or narrow down …"
    call = {"id": "c1", "function": {"name": "scroll", "arguments": '{"direction": "down"}'}}
    messages = [
        {"role": "system", "content": "You answer a question."},
        {"role": "user", "content": "Question: q\n\nStep 1 of 9.\nPage:\nline 0 of the page\nold"},
        {
            "role": "assistant",
            "content": "I scroll.\n```python\nscroll()\n```",
            "tool_calls": [call],
        },
        {"role": "tool", "tool_call_id": "c1", "name": "scroll", "content": cut},
        {"role": "assistant", "content": "line 150"},
    ]
    first, whole = writer.artifact("line 0 of the page\nold"), writer.artifact(page)
    events = {"status": 404, "pending": 2, "kept": False, "redirects": 1}
    score = {"scorer": "recovery@3", "score": 0.5, "classification": "progress", "events": events}
    steps = (
        Step(index=0, action="", observation=first),
        Step(index=1, action='scroll("down")', observation=whole, scores=(score,)),
        Step(index=2, action='answer("line 150")'),
    )
    return Episode(
        attempt="pages.r0.a1",
        task=Task(id="pages", goal="Which line?", answer="line 180"),
        trajectory=Trajectory(steps=steps, messages=tuple(map(Message.model_validate, messages))),
        final_response="line 150",
        scores=(Scored(0.25, "another line", scorer=SCORER),),
    )


def _episode_in_a_shop(writer: RunWriter) -> Episode:
    """Two searches, a click that does nothing, and a purchase."""
    shelf = f"Results [SEP] B01\nClickables: ['back to search', 'b01', {SCRIPT!r}]"
    texts = (shelf, shelf, f"Nothing happened: this page has no 'x' to click.\n{shelf}", "bought")
    actions = ("", "search[tea]", "click[x]", "click[buy now]")
    scores = (None, None, None, 0.5)
    progress = {"page": "results", "options": {"size": SCRIPT}, "asin": None}
    bought = {"attributes": ["a", "b"], "attributes_matched": ["a"], "price_ok": False}
    steps = tuple(
        Step(
            index=i,
            action=actions[i],
            observation=writer.artifact(texts[i]),
            evidence=WorldEvidence(
                "webshop",
                "shop",
                scores[i],
                done=i == 3,
                won=False if i == 3 else None,
                progress={**progress, **(bought if i == 3 else {})},
            ),
        )
        for i in range(4)
    )
    return Episode(
        attempt="shop.r0.a1",
        task=Task(id="shop", goal="Buy cheap tea."),
        trajectory=Trajectory(steps=steps, stop_reason="finished"),
        scores=(Scored(0.5, "half of it fits", scorer="webshop_reward@1"),),
    )


def write_marked(runs_dir: Path, n_steps: int = 12, *, run_id: str = "marked") -> Run:
    """A run whose one episode has every mark, scored by the real step scorer."""
    task = Task(id="marked", goal="See every mark.", answer="yes")
    with RunWriter.create(runs_dir, manifest(run_id)) as writer:
        picture = writer.artifact(png())
        steps = scored_steps(n_steps, picture)
        writer.append(
            Episode(
                attempt="marked.r0.a1",
                task=task,
                trajectory=Trajectory(steps=steps),
                final_response="yes",
                scores=(Scored(1.0, "equal", scorer=SCORER),),
            )
        )
    return Run(writer.path)


def scored_steps(n: int, picture: str = "") -> tuple[Step, ...]:
    """Progress, a failure, its recovery, a block, a loop, and so on in turn; step 0 resets."""
    scorer, history = RecoveryRewardScorer(), StepHistory()
    before = PageEvidence(url="u0", text="t0", refs="r0")
    steps = [Step(index=0, action="", evidence=before, screenshot=picture)]
    for i in range(1, n):
        kind = ("progress", "failure", "recovered", "blocked", "loop", "loop")[(i - 1) % 6]
        outcome, after = _turn(kind, i, before)
        history, score = scorer.advance(history, StepInput(outcome, before, after))
        steps.append(
            Step(
                index=i,
                action=f'click("{i}")',
                evidence=after,
                outcome={
                    **outcome._asdict(),
                    "effect": "browser",
                    **({"box": [10, 12, 20, 8]} if picture else {}),
                },
                scores=(step_score_to_record(score, scorer=scorer.id),),
                screenshot=picture,
            )
        )
        before = after
    return tuple(steps)


def _turn(kind: str, i: int, before: PageEvidence) -> tuple[ToolOutcome, PageEvidence]:
    changed = PageEvidence(url=f"u{i}", text=f"t{i}", refs=f"r{i}")
    target, call = f"save {(i - 1) // 6}", f"call {i}"
    if kind == "failure":
        return ToolOutcome("click", call, target, ok=False, error="stale_ref"), before
    if kind == "recovered":
        return ToolOutcome("click", call, target, ok=True), changed
    if kind == "blocked":
        return ToolOutcome("goto", call, ok=True, block="captcha"), changed
    if kind == "loop":
        return ToolOutcome("noop", "noop", effect=Effect.READ, ok=True, info="i"), before
    return ToolOutcome("click", call, f"go {i}", ok=True), changed


def audit_record(**changed: Any) -> dict[str, Any]:
    """A record as `assay audit` writes it, with every text hostile."""
    finding = {
        "check": "prompt_echo",
        "family": "degenerate",
        "severity": "high",
        "title": HOSTILE,
        "observed": HOSTILE,
        "expected": HOSTILE,
        "fix": HOSTILE,
        "count": 3,
        "tried": 75,
        "accepted": None,
        "reproducer": {"final_response": HOSTILE},
        "snippet": f"print({SCRIPT!r})",
    }
    rate = {"name": "wrong answers paid", "hits": 0, "n": 154, "low": 0.0, "high": 0.024}
    check = {
        "name": "gold",
        "family": "correctness",
        "summary": HOSTILE,
        "outcome": "passed",
        "worst": None,
        "rates": [rate],
        "skipped": None,
    }
    target = {
        "text": "a_reward",
        "name": "a_reward@1",
        "form": "registered",
        "shape": "assay",
        "parts": None,
        "parameters": ["final_response"],
        "is_async": False,
        "picklable": True,
        "pickle_error": None,
        "source": None,
        "summary": HOSTILE,
        "python": "3.11",
    }
    return {
        "schema": "assay.audit/1",
        "assay": "0.1.0",
        "target": target,
        "kind": "qa",
        "budget": "fast",
        "seed": 0,
        "data": "built in",
        "samples": 25,
        "full_marks": 1.0,
        "frame": "bare",
        "probes": 2_760,
        "verdict": "repeating the question is paid",
        "badge": HOSTILE,
        "worst": "high",
        "passes_at": "critical",
        "findings": [finding],
        "checks": [check],
        **changed,
    }
