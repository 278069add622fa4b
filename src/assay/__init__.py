"""Score the work of LLM agents, and give the reason for each score."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.lazy import lazy_names

if TYPE_CHECKING:
    from assay import adapters as adapters
    from assay import agents as agents
    from assay import audit as audit
    from assay import browser as browser
    from assay import errors as errors
    from assay import formats as formats
    from assay import ledger as ledger
    from assay import registry as registry
    from assay import report as report
    from assay import resources as resources
    from assay import rewards as rewards
    from assay import runner as runner
    from assay import schema as schema
    from assay import scoring as scoring
    from assay import server as server
    from assay import tasks as tasks
    from assay import text as text
    from assay import worlds as worlds
    from assay.adapters.tracking import track as track
    from assay.audit.engine import audit_reward as audit_reward
    from assay.browser.connect.playwright import watch as watch
    from assay.browser.steps.scorer import RecoveryRewardScorer as RecoveryRewardScorer
    from assay.errors import AssayError as AssayError
    from assay.ledger.run import open_run as open_run
    from assay.registry import reward as reward
    from assay.report.comparison import compare as compare
    from assay.report.diagnosis import diagnose as diagnose
    from assay.resources.context import Context as Context
    from assay.rewards import credit as credit
    from assay.runner.run import run as run
    from assay.runner.run import run_async as run_async
    from assay.schema.episode import Episode as Episode
    from assay.schema.episode import Step as Step
    from assay.schema.episode import Trajectory as Trajectory
    from assay.schema.message import Message as Message
    from assay.schema.score import Abstained as Abstained
    from assay.schema.score import Score as Score
    from assay.schema.score import Scored as Scored
    from assay.schema.task import Task as Task
    from assay.scoring.batch import mean as mean
    from assay.scoring.batch import score_batch as score_batch
    from assay.scoring.composition import compose as compose
    from assay.scoring.files.jobs import score_file as score_file
    from assay.scoring.scorer import Scorer as Scorer
    from assay.scoring.scorer import score as score
    from assay.scoring.scorer import score_async as score_async
    from assay.server.client import Client as Client

__version__ = "0.1.0"
__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "assay.adapters.tracking": "track",
        "assay.browser.connect.playwright": "watch",
        "assay.audit.engine": "audit_reward",
        "assay.errors": "AssayError",
        "assay.ledger.run": "open_run",
        "assay.registry": "reward",
        "assay.report.comparison": "compare",
        "assay.report.diagnosis": "diagnose",
        "assay.resources.context": "Context",
        "assay.rewards": "credit",
        "assay.browser.steps.scorer": "RecoveryRewardScorer",
        "assay.scoring.batch": "mean score_batch",
        "assay.scoring.files.jobs": "score_file",
        "assay.runner.run": "run run_async",
        "assay.schema.episode": "Episode Step Trajectory",
        "assay.schema.message": "Message",
        "assay.schema.score": "Abstained Score Scored",
        "assay.schema.task": "Task",
        "assay.scoring.composition": "compose",
        "assay.scoring.scorer": "Scorer score score_async",
        "assay.server.client": "Client",
    },
    rooms=(
        "adapters agents audit browser errors formats ledger registry report resources rewards "
        "runner schema scoring server tasks text worlds"
    ),
)
