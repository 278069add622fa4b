"""Names are found, collisions are errors, and a decorated function stays a plain function."""

import functools
import inspect
import marshal
import pickle
import re
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

import assay
from assay.errors import BadParameter, NameCollision, UnknownName
from assay.registry import (
    AGENTS,
    ENVIRONMENTS,
    MODELS,
    REWARDS,
    SERVICES,
    TASKS,
    Registry,
    describe,
    find_reward,
)
from assay.scoring import Scorer


@assay.reward(name="registry_brevity", version=2, parts=("words",))
def brevity(final_response: str, *, max_words: int = 20) -> dict[str, float]:
    """One when the answer is short."""
    words = len(final_response.split())
    return {"reward": float(words <= max_words), "words": words}


def _make(function_name: str) -> Callable[..., Any]:
    def scorer(final_response: str) -> float:
        return float(len(final_response))

    scorer.__qualname__ = function_name
    return scorer


def test_a_decorated_function_is_still_that_function() -> None:
    assert brevity(final_response="so short") == {"reward": 1.0, "words": 2}
    assert brevity.__doc__ == "One when the answer is short."
    assert list(inspect.signature(brevity).parameters) == ["final_response", "max_words"]
    assert pickle.loads(pickle.dumps(brevity)) is brevity


def test_a_reward_is_found_by_name_and_by_name_and_version() -> None:
    @assay.reward(name="registry_found", version=2, replace=True)
    def found(final_response: str) -> float:
        return float(bool(final_response))

    assert REWARDS.get("registry_found") is found
    assert REWARDS.get("registry_found@2") is found
    assert find_reward("registry_found").id == "registry_found@2"
    with pytest.raises(UnknownName, match="registry_found@2"):
        REWARDS.get("registry_found@1")


def test_an_unknown_name_says_what_may_have_been_meant() -> None:
    with pytest.raises(UnknownName, match=re.escape("did you mean 'qa_f1_reward'")):
        REWARDS.get("qa_f1_rewrd")


def test_two_functions_cannot_share_a_name_and_version() -> None:
    registry: Registry[Callable[..., Any]] = Registry("reward", {})
    registry.add("same", _make("first"))
    with pytest.raises(NameCollision, match="is already registered as"):
        registry.add("same", _make("second"))
    registry.add("same", _make("second"), version=2)
    assert registry.get("same").__qualname__ == "second"
    assert registry.get("same@1").__qualname__ == "first"


def test_defining_the_same_function_again_replaces_it_as_in_a_notebook() -> None:
    registry: Registry[Callable[..., Any]] = Registry("reward", {})
    registry.add("again", _make("cell"))
    newer = _make("cell")
    registry.add("again", newer)
    assert registry.get("again") is newer


def test_a_built_in_name_cannot_be_taken() -> None:
    with pytest.raises(NameCollision, match="built in"):
        REWARDS.add("math_equal_reward", _make("mine"))


def test_an_entry_point_offers_a_reward(monkeypatch: pytest.MonkeyPatch) -> None:
    from importlib import metadata

    point = metadata.EntryPoint("offered", "math:sqrt", "assay.rewards")
    monkeypatch.setattr(metadata, "entry_points", lambda group: [point] if group else [])
    registry: Registry[Callable[..., Any]] = Registry("reward", {})
    assert registry.names() == ["offered"]
    assert registry.get("offered")(4) == 2


@pytest.mark.parametrize("name", ["", "with space", "a/b", "x@1"])
def test_a_name_that_could_not_be_typed_is_refused(name: str) -> None:
    with pytest.raises(BadParameter, match="is an invalid reward name"):
        Registry[object]("reward", {}).add(name, object())


def test_a_signature_says_what_a_reward_needs() -> None:
    def scorer(
        final_response: str, answer: str, level: int = 0, *, mode: str, **rest: Any
    ) -> float:
        return 0.0

    spec = describe(scorer)
    assert (spec.required, spec.optional) == (("final_response", "answer"), ("level",))
    assert (list(spec.options), spec.takes_any, spec.is_async) == (["mode"], True, False)


def test_a_reward_cannot_take_arguments_by_position() -> None:
    def scorer(final_response: str, /) -> float:
        return 0.0

    with pytest.raises(BadParameter, match="positional parameter"):
        describe(scorer)


def test_the_bare_decorator_takes_the_functions_own_name() -> None:
    @assay.reward
    def bare_decorated_reward(final_response: str) -> float:
        return 1.0

    assert find_reward("bare_decorated_reward").function is bare_decorated_reward


def _cell(source: str) -> Callable[..., Any]:
    """The function `again` that a notebook cell with this source defines."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    exec(source, namespace)
    return cast("Callable[..., Any]", namespace["again"])


def _unpickled(function: Callable[..., Any]) -> Callable[..., Any]:
    """A copy as a worker gets it that has no copy of the module."""
    assert isinstance(function, types.FunctionType)
    code = marshal.loads(marshal.dumps(function.__code__))
    copy = types.FunctionType(code, {"__name__": "__main__"}, function.__name__)
    copy.__kwdefaults__ = {**(function.__kwdefaults__ or {})}
    return copy


CELL = """
def again(final_response, *, limit=3):
    'One when it is short.'
    return float(len(final_response) < limit)
"""


def test_other_code_under_the_same_name_and_version_is_refused() -> None:
    registry: Registry[Callable[..., Any]] = Registry("reward", {})
    registry.add("again", _cell(CELL))
    with pytest.raises(NameCollision, match=r"raise its version, or pass `replace=True`"):
        registry.add("again", _cell(CELL.replace("<", ">")))
    with pytest.raises(NameCollision, match="'again@1'"):
        registry.add("again", _cell(CELL.replace("limit=3", "limit=4")))
    other = _cell(CELL.replace("<", ">"))
    registry.add("again", other, replace=True)
    assert registry.get("again") is other
    registry.add("again", _cell(CELL), version=2)


@pytest.mark.parametrize(
    "copy",
    [
        lambda: _cell(CELL),
        lambda: _cell("\n\n# moved down\n" + CELL),
        lambda: _cell(CELL.replace("One when it is short.", "Says it better.")),
        lambda: _unpickled(_cell(CELL)),
    ],
    ids=["again", "at another line", "other docstring", "unpickled"],
)
def test_the_same_code_again_replaces_it_quietly(copy: Callable[[], Callable[..., Any]]) -> None:
    registry: Registry[Callable[..., Any]] = Registry("reward", {})
    registry.add("again", _cell(CELL))
    newer = copy()
    registry.add("again", newer)
    assert registry.get("again") is newer


def test_what_a_function_closes_over_is_part_of_its_code() -> None:
    def make(factor: float) -> Callable[..., Any]:
        def scorer(final_response: str) -> float:
            return factor * len(final_response)

        return scorer

    registry: Registry[Callable[..., Any]] = Registry("reward", {})
    registry.add("scaled", make(1.0))
    registry.add("scaled", make(1.0))
    with pytest.raises(NameCollision, match="with other code"):
        registry.add("scaled", make(2.0))


def test_a_class_with_other_methods_is_other_code() -> None:
    def make(answer: str) -> Callable[..., Any]:
        class Policy:
            def act(self) -> str:
                return answer

        return Policy

    registry: Registry[Callable[..., Any]] = Registry("agent", {})
    registry.add("policy", make("yes"))
    registry.add("policy", make("yes"))
    with pytest.raises(NameCollision, match="with other code"):
        registry.add("policy", make("no"))


def test_the_decorator_replaces_on_request() -> None:
    assay.reward(name="registry_draft")(_cell(CELL))
    other = _cell(CELL.replace("<", ">"))
    with pytest.raises(NameCollision, match=r"`@assay\.reward`"):
        assay.reward(name="registry_draft")(other)
    assay.reward(name="registry_draft", replace=True)(other)
    assert float(assay.score("registry_draft", final_response="long enough")) == 1.0


class _ExactMatch:
    def __call__(self, final_response: str) -> float:
        return float(final_response == "x")

    def grade(self, final_response: str) -> float:
        return float(final_response == "x")


def _compare(final_response: str, answer: str) -> float:
    return float(final_response == answer)


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (lambda final_response: float(final_response == "x"), "lambda"),
        (functools.partial(_compare, answer="x"), "_compare"),
        (functools.partial(lambda final_response, answer: 1.0, answer="x"), "lambda"),
        (_ExactMatch(), "_ExactMatch"),
        (_ExactMatch().grade, "grade"),
    ],
)
def test_any_callable_scores_where_no_name_is_needed(
    function: Callable[..., Any], name: str
) -> None:
    score = assay.score(function, final_response="x")
    assert (float(score), score.scorer) == (1.0, f"{name}@1")
    assert float(Scorer(function)({"final_response": "x"})) == 1.0
    rows = [{"final_response": "x"}, {"final_response": "x"}]
    assert [float(score) for score in assay.score_batch(function, rows)] == [1.0, 1.0]
    with pytest.raises(BadParameter, match=r"give the reward a name with `assay\.reward\(name="):
        assay.reward(function)


def test_a_callable_with_a_name_is_registered() -> None:
    exact = assay.reward(name="registry_exact", version=3)(functools.partial(_compare, answer="x"))
    assert assay.score("registry_exact", final_response="x").scorer == "registry_exact@3"
    assert find_reward("registry_exact").function is exact
    with pytest.raises(BadParameter, match="cannot be registered"):
        assay.reward(name="registry_method")(_ExactMatch().grade)


def test_a_partial_of_a_reward_keeps_its_name_version_and_parts() -> None:
    spec = find_reward(functools.partial(brevity, max_words=1))
    assert (spec.id, spec.parts) == ("registry_brevity@2", ("words",))
    score = assay.score(functools.partial(brevity, max_words=1), final_response="so short")
    assert float(score) == 0.0


def test_a_cell_is_the_same_code_after_its_defaults_and_closures_have_changed() -> None:
    cell = """
@assay.reward(name="cached_again")
def cached(final_response, seen={}):
    return float(seen.setdefault(final_response, len(seen)))
"""
    namespace: dict[str, Any] = {"assay": assay, "__name__": "notebook"}
    exec(cell, namespace)
    assert float(assay.score("cached_again", final_response="x")) == 0.0
    exec(cell, namespace)
    assert float(assay.score("cached_again", final_response="y")) == 0.0


def _offer(monkeypatch: pytest.MonkeyPatch, *offers: tuple[str, str, str]) -> None:
    """Let packages be installed that offer rewards: package, name, address."""
    from importlib import metadata

    def package(name: str) -> metadata.PathDistribution:
        class Installed(metadata.PathDistribution):
            name = property(lambda self: title)

        title = name
        return Installed(Path())

    points = [
        metadata.EntryPoint(name, address, "assay.rewards")._for(package(who))  # type: ignore[attr-defined]
        for who, name, address in offers
    ]
    monkeypatch.setattr(metadata, "entry_points", lambda group: points)


def test_two_packages_that_offer_one_name_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    _offer(monkeypatch, ("one", "root", "math:sqrt"), ("two", "root", "cmath:sqrt"))
    registry: Registry[Callable[..., Any]] = Registry("reward", {})
    assert registry.names() == ["root"]
    with pytest.raises(NameCollision, match=r"'root' is offered by .* \(one\) and .* \(two\)"):
        registry.get("root")


def test_an_offer_that_is_seen_twice_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    _offer(monkeypatch, ("one", "root", "math:sqrt"), ("one", "root", "math:sqrt"))
    registry: Registry[Callable[..., Any]] = Registry("reward", {})
    assert registry.get("root")(4) == 2


def _halved(reward: Callable[..., float]) -> Callable[..., float]:
    @functools.wraps(reward)
    def half(**columns: Any) -> float:
        return reward(**columns) / 2

    return half


def test_a_wrapper_of_a_reward_is_not_that_reward() -> None:
    @assay.reward(name="registry_wrapped", version=3, register=False)
    def whole(final_response: str) -> float:
        return 1.0

    half = _halved(whole)
    score = assay.score(half, final_response="x")
    assert (float(score), score.scorer) == (0.5, "half@1")
    assert assay.score(whole, final_response="x").scorer == "registry_wrapped@3"
    named = assay.reward(name="registry_half", register=False)(half)
    assert assay.score(named, final_response="x").scorer == "registry_half@1"


def test_a_wrapper_of_a_plain_function_keeps_its_name() -> None:
    def plain(final_response: str) -> float:
        return 1.0

    assert assay.score(_halved(plain), final_response="x").scorer == "plain@1"


def test_an_instance_of_a_reward_class_is_called_itself() -> None:
    @assay.reward(name="registry_class", register=False)
    class Exact:
        def __init__(self, reference: str = "x") -> None:
            self.reference = reference

        def __call__(self, final_response: str) -> float:
            return float(final_response == self.reference)

    assert float(assay.score(Exact("y"), final_response="y")) == 1.0


def test_one_function_has_one_name() -> None:
    def only(final_response: str) -> float:
        return 1.0

    assay.reward(name="registry_only")(only)
    assay.reward(name="registry_only")(only)
    for name, version in (("registry_other", 1), ("registry_only", 2)):
        with pytest.raises(
            NameCollision, match="is already registered as the reward 'registry_only@1'"
        ):
            assay.reward(name=name, version=version)(only)
    assert assay.score("registry_only", final_response="").scorer == "registry_only@1"


def test_what_a_partial_sets_is_a_part_of_the_identity() -> None:
    strict = functools.partial(brevity, max_words=1)
    score = assay.score(strict, final_response="so short")
    assert score.params == {"max_words": 1}
    assert score.params == assay.score(
        brevity, params={"max_words": 1}, final_response="so short"
    ).params  # fmt: skip
    default = functools.partial(brevity, max_words=20)
    assert assay.score(default, final_response="x").params == {}
    loose = assay.score(strict, params={"max_words": 9}, final_response="so short")
    assert (float(loose), loose.params) == (1.0, {"max_words": 9})


def test_a_name_out_of_a_record_or_a_request_never_loads_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only `find`, for what a person typed, follows an address: it runs the file's code."""
    file = tmp_path / "hostile_for_registry.py"
    file.write_text("raise SystemExit('the file ran')\n")
    monkeypatch.chdir(tmp_path)
    for address in (f"{file}:reward", "hostile_for_registry:reward", "hostile_for_registry.py:x"):
        for registry in (REWARDS, AGENTS, ENVIRONMENTS, MODELS, TASKS, SERVICES):
            with pytest.raises(UnknownName):
                registry.get(address)
        with pytest.raises(UnknownName):
            Scorer(address)
        with pytest.raises(UnknownName):
            find_reward(address)


def test_every_version_of_a_predefined_reward_says_what_it_changed() -> None:
    for name in REWARDS.built_in():
        spec = find_reward(name)
        assert set(range(2, spec.version + 1)) <= spec.changes.keys(), spec.id
        assert spec.to_record()["changes"] == {str(n): text for n, text in spec.changes.items()}


def test_an_earlier_version_stays_callable_beside_the_newest() -> None:
    assert REWARDS.versions("scienceworld_reward") == [1, 2]
    assert find_reward("scienceworld_reward").version == 2
    assert find_reward("scienceworld_reward@1").id == "scienceworld_reward@1"
    assert pickle.loads(pickle.dumps(Scorer("scienceworld_reward@1"))).spec.version == 1
    assert REWARDS.versions("no_such_reward") == []


def test_a_version_that_is_gone_says_what_later_ones_changed() -> None:
    with pytest.raises(UnknownName, match="has math_equal_reward@2; version 2: answers have types"):
        REWARDS.get("math_equal_reward@1")
    with pytest.raises(UnknownName, match=r"has math_equal_reward@2$"):
        REWARDS.get("math_equal_reward@3")


def test_an_earlier_version_of_a_predefined_reward_is_not_anybodys_to_define() -> None:
    def math_equal_reward_1(final_response: str) -> float:
        return float(len(final_response))

    with pytest.raises(NameCollision, match="is built in"):
        assay.reward(name="math_equal_reward", version=1)(math_equal_reward_1)


@pytest.mark.parametrize("changes", [{3: "too new"}, {0: "too old"}, {2: " "}, {"2": "a text"}])
def test_changes_name_versions_that_there_are(changes: Any) -> None:
    with pytest.raises(BadParameter, match="the keys are versions from 1 to 2"):
        assay.reward(name="registry_changes", version=2, changes=changes)(_make("changes"))
