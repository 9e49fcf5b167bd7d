"""How many texts a regular expression matches, and which, for the finite ones that postcodes and short numbers are."""

import re._constants as ops  # type: ignore[import-not-found]
import re._parser as parser  # type: ignore[import-not-found]
from itertools import product
from typing import Any

DIGITS, LETTERS = "0123456789", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def texts(pattern: str, limit: int) -> list[str]:
    """Every text that a pattern matches, in order; an empty list where there are more than ``limit``."""
    if sum(sizes(pattern).values()) > limit:
        return []
    return sorted(set(_enumerate(list(parser.parse(pattern)))))


def sizes(pattern: str) -> dict[int, int]:
    """How many texts a pattern matches by their length; separators count for nothing, letters are capitals."""
    return _sizes(list(parser.parse(pattern)))


def _sizes(items: list[Any]) -> dict[int, int]:
    total = {0: 1}
    for operator, argument in items:
        total = _joined(total, _sizes_of_one(operator, argument))
    return total


def _joined(first: dict[int, int], second: dict[int, int]) -> dict[int, int]:
    joined: dict[int, int] = {}
    for (length, count), (further, times) in product(first.items(), second.items()):
        joined[length + further] = joined.get(length + further, 0) + count * times
    return joined


def _sizes_of_one(operator: Any, argument: Any) -> dict[int, int]:
    if operator in (ops.MAX_REPEAT, ops.MIN_REPEAT):
        low, high, body = argument
        once = _sizes(list(body))
        if set(once) == {0}:
            return {0: 1}
        repeated = [{0: 1}]
        for _ in range(high):
            repeated.append(_joined(repeated[-1], once))
        return _either(repeated[low:])
    if operator is ops.SUBPATTERN:
        return _sizes(list(argument[-1]))
    if operator is ops.BRANCH:
        return _either([_sizes(list(branch)) for branch in argument[1]])
    characters = [character for character in _characters(operator, argument) if character.isalnum()]
    return {1: len(characters)} if characters else {0: 1}


def _either(choices: list[dict[int, int]]) -> dict[int, int]:
    total: dict[int, int] = {}
    for choice in choices:
        for length, count in choice.items():
            total[length] = total.get(length, 0) + count
    return total


def _characters(operator: Any, argument: Any) -> str:
    if operator is ops.LITERAL:
        return chr(argument)
    if operator is ops.IN:
        found = "".join(_characters(*item) for item in argument)
        return "".join(sorted(set(found.upper())))
    if operator is ops.RANGE:
        return "".join(map(chr, range(argument[0], argument[1] + 1)))
    if operator is ops.CATEGORY and argument is ops.CATEGORY_DIGIT:
        return DIGITS
    if operator is ops.CATEGORY and argument is ops.CATEGORY_WORD:
        return DIGITS + LETTERS
    if operator in (ops.AT, ops.CATEGORY):
        return ""
    raise SystemExit(f"can't count what {operator} matches")


def _enumerate(items: list[Any]) -> list[str]:
    choices: list[list[str]] = []
    for operator, argument in items:
        if operator in (ops.MAX_REPEAT, ops.MIN_REPEAT):
            low, high, body = argument
            once = _enumerate(list(body))
            choices.append(["".join(group) for count in range(low, high + 1) for group in product(once, repeat=count)])
        elif operator is ops.SUBPATTERN:
            choices.append(_enumerate(list(argument[-1])))
        elif operator is ops.BRANCH:
            choices.append([text for branch in argument[1] for text in _enumerate(list(branch))])
        else:
            choices.append(list(_characters(operator, argument)) or [""])
    return ["".join(group) for group in product(*choices)]
