"""A reward behind an address: Assay's own server, or the shape that OpenRLHF posts."""

from __future__ import annotations

import json
import os
import urllib.error
import urllib.parse
import urllib.request
from typing import Any

from .call import TargetCall
from .values import batch_reply, refused, reply

TIMEOUT_S = 60.0
TOKEN = "ASSAY_TOKEN"  # noqa: S105 - the variable's name
"""A variable with the server's token, handed on by `--env ASSAY_TOKEN`."""
REFUSALS = (400, 413, 422)
"""Rows that a server will not score: no number, and no failure of the reward."""


def ask(call: TargetCall) -> Any:
    """The JSON that the address returns for one row; the part after `#` names the reward."""
    address, _, reward = str(call.target).partition("#")
    path = urllib.parse.urlsplit(address).path
    if path.endswith("/get_reward"):
        body = call.openrlhf_batch("query")
    else:
        if not path.endswith("/v1/score"):
            address = address.rstrip("/") + "/v1/score"
        body = {"reward": reward, "row": call.named_values()}
    headers = {"Content-Type": "application/json"}
    if TOKEN in os.environ:
        headers["Authorization"] = f"Bearer {os.environ[TOKEN]}"
    request = urllib.request.Request(  # noqa: S310 - the scheme was checked when it was named
        address, data=json.dumps(body).encode("ascii"), headers=headers
    )
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_S) as response:  # noqa: S310 - as above
            return json.loads(response.read())
    except urllib.error.HTTPError as error:
        text = error.read(500).decode("utf-8", "replace")
        if error.code in REFUSALS:
            return {"abstained": str(error.code), "because": text}
        raise RuntimeError(f"the server answered {error.code}: {text}") from error


def to_reply(answer: Any) -> dict[str, Any]:
    """The number of a JSON answer, whichever of the two shapes it has."""
    if not isinstance(answer, dict):
        return reply(answer)
    if "rewards" in answer:
        return batch_reply(answer)
    row = _one_row(answer)
    if row.get("abstained"):
        return {**reply(None), "because": f"{row['abstained']}: {row.get('because', '')}"[:300]}
    names = [name for name in ("reward", "value", "score") if name in row]
    if not names:
        return refused(f"the answer has no number: {sorted(row)}", "dict")
    parts = row.get("parts")
    numbers = parts if isinstance(parts, dict) else {}
    scored = reply({"reward": row[names[0]], **numbers})
    return {**scored, "because": str(row.get("because", ""))[:300]}


def _one_row(answer: dict[str, Any]) -> dict[str, Any]:
    """The result of the one row that was sent, and of its one reward."""
    results = answer.get("results")
    first = results[0] if isinstance(results, list) and results else None
    row = first if isinstance(first, dict) else answer
    scores = row.get("scores")
    if isinstance(scores, dict):
        only = next(iter(scores.values()), None)
        return only if isinstance(only, dict) else {}
    return row
