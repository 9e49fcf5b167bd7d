"""The keeper of gates for many processes: limits hold for all, and what the dead held comes back."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from geosleuth.lab.bench.run.cluster import check_address, join_cluster
from geosleuth.lab.bench.run.cluster_nodes import GateHolder
from geosleuth.models.endpoints import GateSettings
from geosleuth.support.errors import BadInput

HOST = "models.example"
TWO = GateSettings(concurrency=2, failures=1, rest_s=0.2)


def with_keeper(work: Callable[[GateHolder], Awaitable[None]], **limits: int) -> None:
    async def go() -> None:
        await work(GateHolder({name.replace("_", "."): limit for name, limit in limits.items()}))

    asyncio.run(go())


async def is_waiting(task: "asyncio.Task[float | str]") -> bool:
    await asyncio.sleep(0.05)
    return not task.done()


def test_all_processes_share_a_host() -> None:
    async def work(keeper: GateHolder) -> None:
        assert isinstance(await keeper.enter(HOST, TWO, ("a", 1), 1), float)
        assert isinstance(await keeper.enter(HOST, TWO, ("b", 1), 1), float)
        third = asyncio.create_task(keeper.enter(HOST, TWO, ("c", 1), 1))
        assert await is_waiting(third)
        assert isinstance(await keeper.enter("another.example", TWO, ("c", 2), 1), float)
        await keeper.leave(("a", 1), "answered")
        assert isinstance(await third, float)

    with_keeper(work)


def test_the_runs_own_limit_goes_before_what_those_who_ask_want() -> None:
    async def work(keeper: GateHolder) -> None:
        await keeper.enter(HOST, TWO, ("a", 1), 1)
        assert await is_waiting(asyncio.create_task(keeper.enter(HOST, TWO, ("b", 1), 1)))

    with_keeper(work, models_example=1)


def test_what_the_dead_held_comes_back() -> None:
    async def work(keeper: GateHolder) -> None:
        for number in (1, 2):
            await keeper.enter(HOST, TWO, ("dead", number), 1)
        waiting_dead = asyncio.create_task(keeper.enter(HOST, TWO, ("dead", 3), 1))
        waiting = [asyncio.create_task(keeper.enter(HOST, TWO, ("alive", number), 1)) for number in (1, 2)]
        assert await is_waiting(waiting[0])
        await keeper.release("dead")
        done = await asyncio.wait_for(asyncio.gather(*waiting), 1)
        assert all(isinstance(one, float) for one in done)
        assert isinstance(await waiting_dead, str)
        # Whoever is alive keeps what it has.
        assert await is_waiting(asyncio.create_task(keeper.enter(HOST, TWO, ("late", 1), 1)))

    with_keeper(work)


def test_who_is_called_off_while_waiting_takes_no_slot() -> None:
    async def work(keeper: GateHolder) -> None:
        for number in (1, 2):
            await keeper.enter(HOST, TWO, ("a", number), 1)
        called_off = asyncio.create_task(keeper.enter(HOST, TWO, ("b", 1), 1))
        patient = asyncio.create_task(keeper.enter(HOST, TWO, ("c", 1), 1))
        assert await is_waiting(called_off)
        await keeper.leave(("b", 1), "nothing")
        await keeper.leave(("a", 1), "answered")
        assert isinstance(await called_off, str)
        assert isinstance(await patient, float)

    with_keeper(work)


def test_a_host_rests_for_all_and_everybody_hears_of_it() -> None:
    async def work(keeper: GateHolder) -> None:
        await keeper.enter(HOST, TWO, ("a", 1), 1)
        await keeper.leave(("a", 1), "answered")
        await keeper.enter(HOST, TWO, ("a", 2), 1)
        await keeper.leave(("a", 2), "failed")
        assert list(await keeper.resting()) == [HOST]
        assert (
            await keeper.enter(HOST, TWO, ("b", 1), 0.05)
            == "failed again and again and is left alone for 1 s; try later"
        )
        rested = await keeper.enter(HOST, TWO, ("b", 2), 5)
        assert isinstance(rested, float)
        assert rested > 0.1
        await keeper.leave(("b", 2), "answered")
        assert list(await keeper.resting()) == []

    with_keeper(work)


@pytest.mark.parametrize("address", ["", "here", "ray://", "ray://host", ":6379", "host:port", "http://host/"])
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(BadInput, match="give local, auto, HOST:PORT or ray://HOST:PORT"):
        check_address(address)


def test_a_cluster_that_is_not_there_is_noticed_at_once() -> None:
    with pytest.raises(BadInput, match=r"nothing listens at 127.0.0.1:9"), join_cluster("127.0.0.1:9"):
        raise AssertionError("nobody is there")
