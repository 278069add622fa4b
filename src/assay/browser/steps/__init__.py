"""Step rewards for browser agents: pure functions that score one observed step."""

from assay.browser.steps.contract_text import contract_from_json, contract_from_toml, parse_contract
from assay.browser.steps.contracts import Contract, ContractProgress, evaluate, follow
from assay.browser.steps.history import (
    AgentStatus,
    StepHistory,
    history_from_json,
    history_to_json,
    observe,
    status,
)
from assay.browser.steps.inputs import ContractStatus, HistoryFacts, StepInput
from assay.browser.steps.scorer import RecoveryRewardScorer
from assay.browser.steps.shaping import Shaping, StepCost, step_cost
from assay.schema.blocking import BlockCode
from assay.schema.evidence import StepEvents
from assay.schema.outcome import Effect, ErrorCode, ToolOutcome

__all__ = [
    "AgentStatus", "BlockCode", "Contract", "ContractProgress", "ContractStatus", "Effect",
    "ErrorCode", "HistoryFacts", "RecoveryRewardScorer", "Shaping", "StepCost", "StepEvents",
    "StepHistory", "StepInput", "ToolOutcome", "contract_from_json", "contract_from_toml",
    "evaluate", "follow", "history_from_json", "history_to_json", "observe", "parse_contract",
    "status", "step_cost",
]  # fmt: skip
