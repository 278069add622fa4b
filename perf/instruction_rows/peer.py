"""lm-eval's decisions on the rows of stdin, one JSON object a line; run in its own environment.

Where a checker asks for data that is not installed, or for a guess of the language, the decision is
null. The tokeniser is asked without its division into sentences, which needs such data.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import json
import sys
import types
from pathlib import Path
from typing import Any


def main() -> None:
    use_checkers_alone()
    with contextlib.redirect_stdout(io.StringIO()):
        import nltk  # type: ignore[import-not-found]  # the peer's own environment has it
        from nltk.tokenize import NLTKWordTokenizer  # type: ignore[import-not-found]  # as above

        nltk.download = lambda *_, **__: False
        from lm_eval.tasks.ifeval import instructions, utils  # type: ignore[import-not-found]
    nltk.word_tokenize = NLTKWordTokenizer().tokenize
    instructions.langdetect.detect = guess
    for line in sys.stdin:
        row = json.loads(line)
        example = utils.InputExample(0, [row["id"]], "", [row["kwargs"]])
        strict = ask(utils.test_instruction_following_strict, example, row)
        loose = ask(utils.test_instruction_following_loose, example, row)
        print(json.dumps({"strict": strict, "loose": loose}))


def use_checkers_alone() -> None:
    """Put bare packages in the place of lm-eval's own, which import all of its tasks and models."""
    specification = importlib.util.find_spec("lm_eval")
    places = [] if specification is None else specification.submodule_search_locations or []
    for name, parts in (("lm_eval", ()), ("lm_eval.tasks", ("tasks",))):
        package = types.ModuleType(name)
        package.__path__ = [str(Path(place, *parts)) for place in places]
        sys.modules[name] = package


class NoGuess(Exception):
    """A language would have been guessed."""


def guess(_: str) -> str:
    raise NoGuess


def ask(function: Any, example: Any, row: dict[str, Any]) -> bool | None:
    try:
        return bool(function(example, row["response"]).follow_all_instructions)
    except (LookupError, NoGuess):
        return None


if __name__ == "__main__":
    main()
