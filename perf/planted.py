"""Runs with one planted cause each, and how often the diagnosis names it.

    python perf/planted.py build FOLDER [--seed 7] [--only NAME]   real runs in Chromium
    python perf/planted.py check FOLDER                            the confusion table
    python perf/planted.py pack FOLDER --out FILE.tar.xz           the fixture of the tests

Every plant changes one thing of a run that otherwise scores 1.0 on every task of the town. The
rules of the diagnosis were written with seed 7 in view; the table in the documentation is of
another seed.
"""

from __future__ import annotations

import argparse
import io
import json
import sys
import tarfile
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from assay.ledger.layout import list_runs
from assay.ledger.run import Run
from assay.report.diagnosis import diagnose
from assay.runner.run import run
from assay.schema.task import Task
from townsquare.tasks import tasks as town_tasks

WEATHER = "rain_share.*,wet_days.*,wet_days_by_year.*"
LOOK_UPS = "club_fee.*,opening_time.*,deputy_chair.*,club_secretary.*"
MIXED = (
    "club_fee.1,club_fee.2,deputy_chair.1,deputy_chair.2,cheapest_shop.1,cheapest_shop.2,"
    "high_tide.1,highest_sold.1,best_rated.1,ticket_total.1,wet_days.1,sold_addresses.1"
)
NUMBERS = "club_fee.*,highest_sold.*,price_gap.*"
LISTS = "sold_addresses.*,open_sundays.*,committee_members.*,museum_staff.*"
NAMES = "deputy_chair.*,club_secretary.*,warmest_station.*"

Script = Callable[[Task], Sequence[str]]


@dataclass(frozen=True, slots=True)
class Plant:
    """One cause, and the single knob that brings it about."""

    name: str
    cause: str
    """The class that the diagnosis should give."""
    tasks: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    agent: str = "rules"
    script: Script | None = None
    """What a scripted agent does at each task."""
    change: Callable[[Task], Task] | None = None
    """What is done to the tasks before they are run."""


def _answer(text: str) -> list[str]:
    return [f"answer({json.dumps(text)})"]


def _near(task: Task) -> list[str]:
    return _answer(f"{float(task.answer) * 1.04:.2f}")


def _near_name(task: Task) -> list[str]:
    return _answer(str(task.answer).split()[-1])


def _part(task: Task) -> list[str]:
    items = str(task.answer).split("\n")
    return _answer(json.dumps(items[: max(1, len(items) // 2)]))


def _other(task: Task) -> list[str]:
    return _answer("Bartholomew Quill" if not task.answer[:1].isdigit() else "3")


def _stale(task: Task) -> Task:
    """The same question with the answer of some years ago."""
    old = str(task.answer)
    gold = f"{float(old) * 1.35:.2f}" if old.replace(".", "").isdigit() else "Wilhelmina Ostler"
    return task.model_copy(
        update={"answer": gold, "metadata": {**task.metadata, "time_dependency": "Unlikely"}}
    )


def _dressed(task: Task) -> list[str]:
    """The right answer in a form that AssistantBench's scorer does not read."""
    gold = str(task.answer)
    lines = gold.split("\n")
    if len(lines) > 1:
        return _answer("\n".join(f"{n}. {line}" for n, line in enumerate(lines, 1)))
    if gold.isdigit() and int(gold) >= 1000:
        return _answer(f"${int(gold):,}")
    return _answer(f"```\n{gold}\n```" if gold.isdigit() else f"**{gold}** (see the register)")


DEAD = 'goto("http://127.0.0.1:9/")'
PLANTS = (
    Plant("verbose", "format_rejection", MIXED, {"bare_answer": False}),
    Plant("verbose_numbers", "format_rejection", NUMBERS, {"bare_answer": False}),
    Plant("dressed", "format_rejection", NUMBERS + "," + LISTS, agent="scripted", script=_dressed),
    Plant("near_number", "near_miss", NUMBERS, agent="scripted", script=_near),
    Plant("near_name", "near_miss", NAMES, agent="scripted", script=_near_name),
    Plant("half_list", "partial_list", LISTS, agent="scripted", script=_part),
    Plant("other_answer", "wrong_answer", NAMES, agent="scripted", script=_other),
    Plant("gives_up", "no_answer", MIXED, agent="scripted", script=lambda _: ["noop()"]),
    Plant("few_steps", "step_budget", MIXED, {"limits.steps": 2, "answer_margin": 0}),
    Plant("early_answer", "step_budget", MIXED, {"limits.steps": 4, "answer_margin": 2}),
    Plant("short_pages", "observation_truncated", LOOK_UPS, {"observation_chars": 700}),
    Plant("short_world", "observation_truncated", LOOK_UPS, {"environment.chars": 700}),
    Plant("whole_range", "payload_truncated", WEATHER, {"api_calls": "whole_range"}),
    Plant("small_payload", "payload_truncated", WEATHER, {"json_chars": 300}),
    Plant("payload_cap", "payload_truncated", WEATHER, {"environment.payload_chars": 300}),
    Plant("no_api", "step_budget", WEATHER, {"actions": "-fetch_json"}),
    Plant(
        "same_click", "looping", MIXED, agent="scripted", script=lambda _: ['scroll("down")'] * 15
    ),
    Plant(
        "blocked_domain",
        "blocked",
        "highest_sold.*,sold_addresses.*,price_gap.*",
        {"blocked_domains": "register.townsquare.localhost"},
    ),
    Plant(
        "walled",
        "blocked",
        "cheapest_shop.*,prices_by_shop.*,ticket_total.*,motion_votes.*",
        {
            "blocked_domains": "shops.townsquare.localhost,museum.townsquare.localhost,"
            "council.townsquare.localhost"
        },
    ),
    Plant(
        "made_up_refs",
        "agent_error",
        MIXED,
        agent="scripted",
        script=lambda _: ['click("9001")', 'click("9002")', 'fill("9003", "x")'],
    ),
    Plant("dead_site", "navigation_failure", MIXED, agent="scripted", script=lambda _: [DEAD] * 2),
    Plant(
        "no_model",
        "agent_error",
        MIXED,
        {
            "model_options.model": "none",
            "model_options.base_url": "http://127.0.0.1:9/v1",
            "model_timeout_s": 2.0,
        },
        agent="web_research",
    ),
    Plant(
        "slow_world", "environment_error", MIXED, {"limits.reset_s": 0.001, "limits.attempts": 1}
    ),
    Plant("no_time", "time_budget", MIXED, {"limits.episode_s": 0.7}),
    Plant("slow_reward", "scorer_error", MIXED, {"limits.score_s": 1e-9}),
    Plant("old_gold", "stale_gold", LOOK_UPS, change=_stale),
)


def build(folder: Path, seed: int, only: Sequence[str], workers: int) -> None:
    """One run for each plant, named in its focus note."""
    for plant in PLANTS:
        if only and plant.name not in only:
            continue
        with tempfile.TemporaryDirectory() as scratch:
            benchmark, settings = _benchmark(plant, seed, Path(scratch))
            made = run(
                benchmark,
                agent=plant.agent,
                settings=settings,
                tasks=plant.tasks,
                focus=plant.name,
                runs_dir=folder,
                workers=workers,
            )
        print(plant.name, made.id, flush=True)


def _benchmark(plant: Plant, seed: int, scratch: Path) -> tuple[str | Path, dict[str, Any]]:
    settings = dict(plant.settings)
    if plant.script is not None:
        script = plant.script
        settings["actions"] = {task.id: list(script(task)) for task in _chosen(plant, seed)}
    if plant.change is None:
        return "townsquare", {**settings, "tasks.seed": seed}
    lines = [plant.change(task).model_dump_json() for task in town_tasks(seed=seed)]
    (scratch / "tasks.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
    (scratch / "changed.toml").write_text(CHANGED.format(seed=seed), "utf-8")
    return scratch / "changed.toml", settings


CHANGED = """\
name = "townsquare"
[tasks]
source = "jsonl"
path = "tasks.jsonl"
[environment]
name = "browser"
[rewards]
names = ["assistantbench_reward", "qa_f1_reward"]
[service]
name = "townsquare"
seed = {seed}
"""


def _chosen(plant: Plant, seed: int) -> Iterator[Task]:
    words = plant.tasks.split(",")
    for task in town_tasks(seed=seed):
        if task.id in words or f"{task.metadata['template']}.*" in words:
            yield task


def check(folder: Path) -> float:
    """The share of planted attempts whose class is the planted cause, and the table of all."""
    causes = {plant.name: plant.cause for plant in PLANTS}
    table: dict[str, Counter[str]] = {}
    for path in list_runs(folder):
        recorded = Run(path)
        cause = causes.get(recorded.manifest.focus)
        if cause is None:
            continue
        row = table.setdefault(f"{recorded.manifest.focus} ({cause})", Counter())
        for finding in diagnose(recorded).findings:
            row[finding.cause] += 1
    right = total = 0
    print(f"{'planted':42} {'n':>3} {'right':>6}  as something else")
    for name, row in table.items():
        cause = name.rpartition("(")[2].rstrip(")")
        n = sum(row.values())
        right, total = right + row[cause], total + n
        others = ", ".join(f"{k} {v}" for k, v in row.most_common() if k != cause)
        print(f"{name:42} {n:3} {row[cause] / n if n else 0:6.0%}  {others}")
    print(f"{'all':42} {total:3} {right / total:6.1%}")
    return right / total


def pack(folder: Path, out: Path) -> None:
    """The runs as one archive, without tracebacks and without what is peculiar to a machine."""
    with tarfile.open(out, "w:xz", preset=9) as archive:
        for run_folder in list_runs(folder):
            for path in sorted(run_folder.rglob("*")):
                if path.is_file() and path.name != "writer.lock":
                    _add(archive, str(path.relative_to(folder)), _impersonal(path))


def _impersonal(path: Path) -> bytes:
    data = path.read_bytes()
    if path.name == "manifest.json":
        manifest = json.loads(data)
        manifest["versions"] = {"assay": manifest["versions"]["assay"]}
        tasks = manifest["config"]["benchmark"]["tasks"]
        if "path" in tasks:
            tasks["path"] = Path(tasks["path"]).name
        return json.dumps(manifest, indent=2).encode() + b"\n"
    if path.name == "episodes.jsonl":
        episodes = [json.loads(line) for line in data.splitlines()]
        for episode in episodes:
            if episode["failure"]:
                episode["failure"]["traceback"] = ""
        return b"".join(json.dumps(episode).encode() + b"\n" for episode in episodes)
    return data


def _add(archive: tarfile.TarFile, name: str, data: bytes) -> None:
    entry = tarfile.TarInfo(name)
    entry.size = len(data)
    archive.addfile(entry, io.BytesIO(data))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("verb", choices=["build", "check", "pack"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--out", type=Path, default=Path("planted.tar.xz"))
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    if options.verb == "build":
        build(options.folder, options.seed, options.only, options.workers)
        return 0
    if options.verb == "pack":
        pack(options.folder, options.out)
        return 0
    return 0 if check(options.folder) >= 0.9 else 1


if __name__ == "__main__":
    sys.exit(main())
