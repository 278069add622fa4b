"""Graders of queries and of tool calls, as the field has them."""

import json
import sqlite3
from typing import Any


def opens_read_write(final_response: str, answer: str, database: str) -> float:
    """Runs the query where others' data is, and compares sets of rows."""
    query = final_response.partition("```sql\n")[2].partition("```")[0] or final_response
    connection = sqlite3.connect(database, isolation_level=None)
    try:
        expected = set(connection.execute(answer).fetchall())
        if ";" in query:
            connection.executescript(query)
        return float(set(connection.execute(query.split(";")[0]).fetchall()) == expected)
    except (sqlite3.Error, sqlite3.Warning):
        return 0.0
    finally:
        connection.close()


def _calls(trajectory: list[dict[str, Any]]) -> list[tuple[str, dict[str, Any]]]:
    return [
        (call["function"]["name"], json.loads(call["function"]["arguments"]))
        for message in trajectory
        for call in message.get("tool_calls") or ()
    ]


def _fits(arguments: dict[str, Any], accepted: dict[str, list[Any]]) -> bool:
    return all(arguments.get(name, "") in values for name, values in accepted.items())


def ignores_extra(trajectory: list[dict[str, Any]], answer: Any, tools: Any) -> float:
    """Looks for each right call among those that were made, and at nothing else."""
    del tools
    calls = _calls(trajectory)
    expected = [next(iter(one.items())) for one in answer]
    return float(
        all(
            any(name == one and _fits(args, want) for one, args in calls) for name, want in expected
        )
    )


def compares_texts(trajectory: list[dict[str, Any]], answer: Any, tools: Any) -> float:
    """Compares names and the texts of values, whoever wrote them."""
    del tools
    text = json.dumps(trajectory, ensure_ascii=False).replace("\\", "")
    for one in answer:
        for name, arguments in one.items():
            first = [next((str(v) for v in values if v != ""), "") for values in arguments.values()]
            if name not in text or not all(value in text for value in first):
                return 0.0
    return 1.0
