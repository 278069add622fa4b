"""Read what a model wrote: final text, answers, options, numbers, dates, code, calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.lazy import lazy_names

if TYPE_CHECKING:
    from assay.text.answers import FoundAnswer as FoundAnswer
    from assay.text.answers import find_answer as find_answer
    from assay.text.blocks import CodeBlock as CodeBlock
    from assay.text.blocks import CodeBlocks as CodeBlocks
    from assay.text.blocks import code_blocks as code_blocks
    from assay.text.calls import TextCall as TextCall
    from assay.text.calls import TextCalls as TextCalls
    from assay.text.calls import read_calls as read_calls
    from assay.text.channels import FinalText as FinalText
    from assay.text.channels import final_text as final_text
    from assay.text.dates import DateReading as DateReading
    from assay.text.dates import read_date as read_date
    from assay.text.options import OptionReading as OptionReading
    from assay.text.options import read_option as read_option
    from assay.text.quantities import QuantityReading as QuantityReading
    from assay.text.quantities import read_quantity as read_quantity

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "assay.text.answers": "FoundAnswer find_answer",
        "assay.text.blocks": "CodeBlock CodeBlocks code_blocks",
        "assay.text.calls": "TextCall TextCalls read_calls",
        "assay.text.channels": "FinalText final_text",
        "assay.text.dates": "DateReading read_date",
        "assay.text.options": "OptionReading read_option",
        "assay.text.quantities": "QuantityReading read_quantity",
    },
)
