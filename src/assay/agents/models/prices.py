"""Prices of models: the list prices that come with Assay, and users' price files."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from importlib.resources import files
from math import isfinite
from pathlib import Path
from typing import Any

from assay.errors import BadParameter, UnknownName

SNAPSHOT = re.compile(r"-(\d{4}-\d{2}-\d{2}|\d{8}|latest)$")
"""The end of a model's name that says which of its snapshots is meant; they cost the same."""


@dataclass(frozen=True, slots=True)
class ModelPrice:
    """The price of a million tokens in US dollars; a model has options of the same names."""

    input_usd_per_mtok: float
    output_usd_per_mtok: float


@dataclass(frozen=True, slots=True)
class PriceTable:
    """A table of the prices of models."""

    models: Mapping[str, ModelPrice]
    as_of: str = ""
    """The date on which the prices were looked up; empty when the file does not say."""

    def find(self, model: str) -> ModelPrice | None:
        """Return the price of the model, also for the name of a dated snapshot, or `None`."""
        return self.models.get(model) or self.models.get(SNAPSHOT.sub("", model))


def default_prices() -> PriceTable:
    """Return the list prices that come with Assay; they hold at the vendors' own addresses."""
    text = files("assay.agents.models").joinpath("prices.toml").read_text("utf-8")
    return _table(tomllib.loads(text), "prices.toml")


def read_prices(path: str | Path) -> PriceTable:
    """Return the prices in a TOML or JSON file."""
    file = Path(path)
    try:
        text = file.read_text("utf-8")
        document = json.loads(text) if file.suffix == ".json" else tomllib.loads(text)
    except OSError as error:
        raise UnknownName(f"cannot read the prices {str(file)!r}: {error.strerror}") from error
    except ValueError as error:
        raise BadParameter(f"{file} is not a valid price file: {error}") from error
    return _table(document, str(file))


def _table(document: Any, where: str) -> PriceTable:
    models = document.get("models") if isinstance(document, Mapping) else None
    if not isinstance(models, Mapping) or not models:
        raise BadParameter(
            f"{where} has no table [models]; write one line for each model, such as "
            '"my-model" = { input_usd_per_mtok = 0.5, output_usd_per_mtok = 2.0 }'
        )
    return PriceTable(
        {name: _price(price, f"{where}: model {name!r}") for name, price in models.items()},
        str(document.get("as_of", "")),
    )


def _price(price: Any, where: str) -> ModelPrice:
    names = [field.name for field in fields(ModelPrice)]
    if not isinstance(price, Mapping) or set(price) != set(names):
        raise BadParameter(
            f"{where} is {price!r:.200}; it must be a table with {' and '.join(names)}"
        )
    for name, value in price.items():
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not is_number or not isfinite(value) or value < 0:
            raise BadParameter(f"{where}: {name} is {value!r:.100}; it must be a number of dollars")
    return ModelPrice(**{name: float(price[name]) for name in names})
