"""Put a short text into plain typography: quotes, dashes, spaces."""

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
    """Return the text with plain quotes, dashes and spaces, without any wrapping."""
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
    """Return the plain form of a character, empty if invisible; a power as in 10² is kept."""
    category = unicodedata.category(char)
    if category == "Cf":
        return ""
    return char if category == "No" else unicodedata.normalize("NFKC", char)
