"""The reward of WebShop: the shop's score of the purchase."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assay.registry import reward
from assay.resources.context import Context
from assay.schema.score import Abstained, Score, Scored
from assay.worlds.evidence import bad_evidence, is_score, read_evidence

ITEM_CHARS = 80
"""Characters of a product or page that are repeated; a record may hold anything there."""


@reward(parts=("bought", "r_type", "r_att", "r_option", "r_price"), kind="environment")
async def webshop_reward(
    final_response: object,  # noqa: ARG001 - the purchase is scored, not the response
    context: Context,
    task_id: str | int,
    *,
    agentfly: bool = False,
) -> Score:
    """WebShop's score of the purchase, from 0 to 1; 0 when nothing was bought.

    `bought` and the four factors of the score are parts: whether it is the kind of product of the
    goal, and the shares of the attributes, options and price limit that it meets.

    AgentFly's code differs in one number that a recording can show: a rollout that never entered
    the shop scores 0.0 there. `agentfly=True` does the same. That a broken shop also scores 0.0
    there is not reproduced.
    """
    evidence = await read_evidence(context, "webshop", str(task_id))
    if isinstance(evidence, Abstained):
        if agentfly and evidence.reason == "not_reset":
            return Scored(0.0, evidence.because, _purchase({}), {"output": ""})
        return evidence
    if not is_score(evidence.score, 0, 1):
        return bad_evidence("webshop", "score", evidence.score)
    parts = _purchase(evidence.progress if evidence.done else {})
    if not evidence.done or evidence.score is None:
        page = str(evidence.progress.get("page", "unknown"))[:ITEM_CHARS]
        return Scored(
            0.0, f"nothing was bought; the episode ended on the {page} page", parts, {"output": ""}
        )
    item = str(evidence.progress.get("asin"))[:ITEM_CHARS]
    because = f"bought {item}, which scores {evidence.score:.3g} for this goal"
    return Scored(evidence.score, because, parts, {"output": item})


def _purchase(progress: Mapping[str, Any]) -> dict[str, float | None]:
    if not progress:
        return {"bought": 0.0, **dict.fromkeys(("r_type", "r_att", "r_option", "r_price"))}
    price_ok = progress.get("price_ok")
    return {
        "bought": 1.0,
        "r_type": _number(progress.get("r_type")),
        "r_att": _share(progress.get("attributes_matched"), progress.get("attributes")),
        "r_option": _share(progress.get("options_matched"), progress.get("goal_options")),
        "r_price": None if price_ok is None else float(price_ok is True),
    }


def _number(value: Any) -> float | None:
    """Return a number from 0 to 1, or `None` for any other value."""
    return float(value) if isinstance(value, (int, float)) and 0 <= value <= 1 else None


def _share(met: Any, total: Any) -> float | None:
    """Return the share of conditions that are met; `None` if there are no conditions."""
    if not isinstance(met, int) or not isinstance(total, int) or not 0 <= met <= total > 0:
        return None
    return met / total
