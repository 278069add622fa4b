"""Makes a model from its name and options."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from assay.agents.models.protocol import Model
from assay.errors import BadParameter
from assay.registry import MODELS


def make_model(model: str | Model, options: Mapping[str, Any]) -> Model:
    """Return the model of that name with these options; a ready-made model is returned as is."""
    if not isinstance(model, str):
        if options:
            raise BadParameter("`model_options` need the name of a model, not a model object")
        return model
    factory = MODELS.get(model)
    try:
        instance: Model = factory(**options)
    except TypeError as error:
        # Asked only then: reading a signature takes longer than making most models.
        try:
            inspect.signature(factory).bind(**options)
        except TypeError:
            names = ", ".join(inspect.signature(factory).parameters)
            raise BadParameter(
                f"model_options of model {model!r}: {error}; its options are: {names or 'none'}"
            ) from error
        raise
    return instance
