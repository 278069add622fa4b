"""The words that the town's names are made of: the lists of `words.toml`."""

from __future__ import annotations

from assay.lazy import package_table

_LISTS = package_table(__package__, "words")
FIRST_NAMES = _LISTS["first_names"]
LAST_NAMES = _LISTS["last_names"]
STREETS = _LISTS["streets"]
STATIONS = _LISTS["stations"]
ADJECTIVES = _LISTS["adjectives"]
THINGS = _LISTS["things"]
HALLS = _LISTS["halls"]
HOBBIES = _LISTS["hobbies"]
SHOP_KINDS = _LISTS["shop_kinds"]
ITEMS = _LISTS["items"]
COMMITTEES = _LISTS["committees"]
BRANCHES = _LISTS["branches"]
STOPS = _LISTS["stops"]
WORKS = _LISTS["works"]
