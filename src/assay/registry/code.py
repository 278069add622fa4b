"""Compare the code of two definitions, such as two runs of one notebook cell."""

from __future__ import annotations

import functools
import types
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import PurePath


def address_of(item: object) -> str:
    """The `module:name` of a function or a class, or of an object's class."""
    module = getattr(item, "__module__", type(item).__module__)
    return f"{module}:{getattr(item, '__qualname__', type(item).__qualname__)}"


def code_of(item: object) -> object:
    """A value that is equal for two definitions of the same code.

    Line numbers and a function's docstring do not count. Of what the code refers to by defaults
    and closures, functions and plain values count; of any other object only its class does,
    because an unpickled copy of it is rarely equal to the original.
    """
    if isinstance(item, type | types.FunctionType | functools.partial | types.MethodType):
        return _members(item) if isinstance(item, type) else _value_of(item, {})
    attributes = vars(item) if hasattr(item, "__dict__") else {}
    return _members(type(item)), _value_of(item, {}), _value_of(attributes, {})


def _members(class_: type) -> object:
    skipped = ("__doc__", "__module__", "__annotations__", "__firstlineno__")
    members = {name: value for name, value in vars(class_).items() if name not in skipped}
    return _value_of(members, {})


def _value_of(item: object, memo: dict[int, tuple[object, object]]) -> object:
    if isinstance(item, str | bytes | int | float | complex | PurePath | None):
        return type(item), repr(item)
    if id(item) not in memo:
        # While the item is being read, its address stands for it: code may refer to itself.
        memo[id(item)] = (item, address_of(item))
        memo[id(item)] = (item, _read_value(item, memo))
    return memo[id(item)][1]


def _read_value(item: object, memo: dict[int, tuple[object, object]]) -> object:
    if isinstance(item, set | frozenset):
        return frozenset(_value_of(value, memo) for value in item)
    values: tuple[object, ...] = ()
    if isinstance(item, list | tuple):
        values = tuple(item)
    elif isinstance(item, Mapping):
        values = tuple(item.items())
    elif isinstance(item, types.CodeType):
        counts = (item.co_argcount, item.co_posonlyargcount, item.co_kwonlyargcount, item.co_flags)
        names = (item.co_names, item.co_varnames, item.co_freevars)
        values = (item.co_code, *counts, *names, item.co_consts)
    elif isinstance(item, types.FunctionType):
        values = (address_of(item), *_function_parts(item))
    elif isinstance(item, functools.partial):
        values = (item.func, item.args, item.keywords)
    elif isinstance(item, types.MethodType | staticmethod | classmethod):
        values = (item.__func__, getattr(item, "__self__", None))
    elif isinstance(item, property):
        values = (item.fget, item.fset, item.fdel)
    else:
        return address_of(item)
    return tuple(_value_of(value, memo) for value in values)


def _function_parts(function: types.FunctionType) -> Iterator[object]:
    code = function.__code__
    if code.co_consts and code.co_consts[0] == function.__doc__:
        code = code.replace(co_consts=(None, *code.co_consts[1:]))
    yield from (code, function.__defaults__, function.__kwdefaults__)
    yield getattr(getattr(function, "__assay__", None), "parts", None)
    for cell in function.__closure__ or ():
        with suppress(ValueError):  # a cell that is empty as yet
            yield cell.cell_contents
