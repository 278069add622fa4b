"""The verdicts of `bfcl-eval`'s own checker on calls read from standard input, one JSON a line.

Runs in an environment that has `bfcl-eval`, and nothing of Assay. Its table of models, which the
checker asks one question of, imports the clients of every provider; a table of one answer stands in
for it, so that the package is enough without its dependencies.
"""

from __future__ import annotations

import json
import sys
import types
from typing import Any


class _Model:
    underscore_to_dot = True
    """Names come with `_` for `.`, as chat APIs demand."""


class _AnyModel(dict[str, Any]):
    def __missing__(self, name: str) -> type[_Model]:
        return _Model


def main() -> None:
    """Print a verdict for each line: true, false, or what the checker raised."""
    table: Any = types.ModuleType("bfcl_eval.constants.model_config")
    table.MODEL_CONFIG_MAPPING = _AnyModel()
    sys.modules[table.__name__] = table
    from bfcl_eval.constants.enums import Language  # type: ignore[import-not-found]
    from bfcl_eval.eval_checker.ast_eval.ast_checker import (  # type: ignore[import-not-found]
        ast_checker,
    )

    for line in sys.stdin:
        row = json.loads(line)
        try:
            result: Any = ast_checker(
                row["tools"], row["calls"], row["answer"], Language.PYTHON, row["category"], "any"
            )["valid"]
        except Exception as error:  # noqa: BLE001 - what it raises is its verdict on the row
            result = f"{type(error).__name__}: {error}"[:200]
        sys.stdout.write(json.dumps(result) + "\n")


if __name__ == "__main__":
    main()
