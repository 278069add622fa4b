"""A short text in plain typography: quotes, dashes, spaces, and nothing around it."""

from __future__ import annotations

import unicodedata

_MARKS = str.maketrans(
    {
        **dict.fromkeys("‘’‚‛′`´ʼ", "'"),
        **dict.fromkeys("“”„‟″«»", '"'),
        **dict.fromkeys("‐‑‒–—―−", "-"),
    }
)
_WRAPPING = ("**", "__", '"', "'", "*", "_")


def tidy_text(text: str) -> str:
    """The text with plain quotes, dashes and spaces, without invisible characters and wrapping."""
    if not text.isascii():
        text = unicodedata.normalize("NFC", "".join(map(_plain, text)))
    text = " ".join(text.translate(_MARKS).split())
    bare = text
    while True:
        text = bare.removesuffix(".").strip() if not bare.endswith("..") else bare
        for mark in _WRAPPING:
            if len(text) > 2 * len(mark) and text.startswith(mark) and text.endswith(mark):
                text = text[len(mark) : -len(mark)].strip()
                break
        if text == bare or not text:
            return bare
        bare = text


def _plain(char: str) -> str:
    """The compatible plain character; nothing for an invisible one.

    Superscripts and fractions stay: 10² is not 102.
    """
    category = unicodedata.category(char)
    if category == "Cf":
        return ""
    return char if category == "No" else unicodedata.normalize("NFKC", char)
