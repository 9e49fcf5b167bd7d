"""The processes on a cluster's nodes as the driver sees them: who is there, who is free, who was lost."""

import asyncio
import math
import uuid
from dataclasses import dataclass
from typing import Any

from geosleuth import __version__
from geosleuth.bench.run.model import Making
from geosleuth.errors import BadInput

from .keeper import Keeper
from .node import NodeHand, Refused


@dataclass(frozen=True, slots=True)
class Node:
    """A machine of the cluster that takes work."""

    id: str
    name: str
    cpus: int


@dataclass(slots=True, eq=False)
class Hand:
    """A process on a node: how many tries it has under way, and how many it takes."""

    node: Node
    actor: Any
    holder: str
    takes: int
    under_way: int = 0


def nodes_of(ray: Any) -> list[Node]:
    """The machines that are there and have a core to work with."""
    return [
        Node(one["NodeID"], one.get("NodeManagerAddress") or one["NodeID"][:8], int(one["Resources"].get("CPU", 0)))
        for one in ray.nodes()
        if one["Alive"] and one["Resources"].get("CPU", 0) >= 1
    ]


async def check_versions(ray: Any, nodes: list[Node], within_s: float) -> None:
    """Whether every node has this geosleuth.

    Raises:
        BadInput: one has another, or none; or it has no core free to say so.
    """

    # A function inside of a function travels whole: the node may not have any of our modules.
    def installed() -> str:
        try:
            import geosleuth
        except ImportError:
            return "none"
        return geosleuth.__version__

    asked = [_on(ray.remote(installed), node, num_cpus=0).remote() for node in nodes]
    for node, ref in zip(nodes, asked, strict=True):
        try:
            found = await asyncio.wait_for(_awaited(ref), within_s)
        except TimeoutError:
            raise BadInput(f"node {node.name} did not answer within {within_s:.0f} s; is it busy?") from None
        except ray.exceptions.RayError as error:
            raise BadInput(f"node {node.name} can't be asked ({type(error).__name__}); is it well?") from error
        if found != __version__:
            raise BadInput(
                f"node {node.name} has geosleuth {found}, here is {__version__}; install the same version on every node"
            )


def start_keeper(ray: Any, limits_per_host: dict[str, int]) -> Any:
    """The one process that holds the gates; it stays on the driver's own node, which the run can't lose anyway."""
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=True)
    keeper = ray.remote(Keeper).options(num_cpus=0, max_restarts=-1, max_concurrency=100_000, scheduling_strategy=here)
    return keeper.remote(limits_per_host)


def start_hand(ray: Any, node: Node, making: Making, keeper: Any, *, takes: int, gpus: float) -> Hand:
    """A process on a node; it is not ready yet."""
    holder = uuid.uuid4().hex
    # One more at once than it takes, at least: tries are called off beside those under way.
    made = _on(ray.remote(NodeHand), node, num_cpus=1, num_gpus=gpus, max_restarts=0, max_concurrency=takes + 8)
    return Hand(node, made.remote(making, keeper, holder), holder, takes)


async def make_ready(hand: Hand) -> Refused | None:
    """Wait until a process has loaded everything; what it refuses to do, otherwise."""
    found: Refused | None = await hand.actor.ready.remote()
    return found


def shares(nodes: list[Node], at_once: int) -> dict[str, list[int]]:
    """How many processes each node gets, and how many tries each process takes: together ``at_once`` or a few more."""
    processes = {node.id: min(node.cpus, math.ceil(at_once / len(nodes))) for node in nodes}
    takes = math.ceil(at_once / sum(processes.values()))
    return {node.id: [takes] * processes[node.id] for node in nodes}


def _on(remote: Any, node: Node, **options: Any) -> Any:
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    return remote.options(scheduling_strategy=NodeAffinitySchedulingStrategy(node.id, soft=False), **options)


async def _awaited(ref: Any) -> Any:
    return await ref
