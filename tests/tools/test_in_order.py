"""Questions that are asked at once: the same call ends with the same words, whichever is the quickest."""

import asyncio

import pytest

from geosleuth.support.errors import BadInput
from geosleuth.tools.calls import in_order


async def _answer(number: int, seconds: float, *, fails: bool) -> int:
    await asyncio.sleep(seconds)
    if fails:
        raise BadInput(f"number {number}")
    return number


def test_answers_come_in_the_order_of_the_questions() -> None:
    async def work() -> list[int]:
        return await in_order(_answer(1, 0.02, fails=False), _answer(2, 0, fails=False))

    assert asyncio.run(work()) == [1, 2]


def test_the_first_failure_of_the_list_is_told_and_not_the_quickest() -> None:
    async def work() -> list[int]:
        return await in_order(_answer(1, 0, fails=False), _answer(2, 0.02, fails=True), _answer(3, 0, fails=True))

    with pytest.raises(BadInput, match="number 2"):
        asyncio.run(work())
