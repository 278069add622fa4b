"""Step rewards for browser agents: what one observed step is worth.

`RecoveryRewardScorer` classifies and scores steps for ranking and telemetry; `Shaping` is the part
that may be added up in training; contracts say what success is; `advice` ranks recoveries. Every
function is pure: no model, clock, random number, file or network.
"""

from assay.rewards.step.contract_text import (
    contract_from_json,
    contract_from_toml,
    parse_contract,
)
from assay.rewards.step.contracts import Contract, ContractProgress, evaluate, follow
from assay.rewards.step.history import StepHistory, history_from_json, history_to_json, observe
from assay.rewards.step.inputs import ContractStatus, RecentSteps, StepInput
from assay.rewards.step.recovery import RecoveryRewardScorer
from assay.rewards.step.shaping import Shaping, StepCost, step_cost
from assay.rewards.step.status import AgentStatus, status
from assay.schema.blocking import BlockCode
from assay.schema.evidence import StepEvents
from assay.schema.outcome import Effect, ErrorCode, ToolOutcome

__all__ = [
    "AgentStatus",
    "BlockCode",
    "Contract",
    "ContractProgress",
    "ContractStatus",
    "Effect",
    "ErrorCode",
    "RecentSteps",
    "RecoveryRewardScorer",
    "Shaping",
    "StepCost",
    "StepEvents",
    "StepHistory",
    "StepInput",
    "ToolOutcome",
    "contract_from_json",
    "contract_from_toml",
    "evaluate",
    "follow",
    "history_from_json",
    "history_to_json",
    "observe",
    "parse_contract",
    "status",
    "step_cost",
]
