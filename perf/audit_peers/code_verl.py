"""verl's `prime_code`, its grader without a sandbox service, loaded without the rest of verl."""

import importlib.util
import json
import sys
from pathlib import Path
from typing import Any


def _load() -> Any:
    spec = importlib.util.find_spec("numpy")
    assert spec is not None
    assert spec.origin is not None
    site = Path(spec.origin).parents[1]
    folder = site / "verl/utils/reward_score/prime_code"
    package: Any = importlib.util.spec_from_file_location(
        "prime_code", folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    module = importlib.util.module_from_spec(package)
    sys.modules["prime_code"] = module
    package.loader.exec_module(module)
    return module


prime_code = _load()


def reward(final_response: str, tests: dict[str, Any]) -> float:
    calls = tests["calls"]
    cases = {
        "inputs": ["\n".join(map(json.dumps, call["args"])) for call in calls],
        "outputs": [json.dumps(call["expected"]) for call in calls],
        "fn_name": tests["fn"],
    }
    success, _ = prime_code.compute_score(final_response, cases, continuous=True)
    return float(success)
