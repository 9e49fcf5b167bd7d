"""Train the trust network at the paper's size with torch, on a GPU or a CPU; a run that is stopped goes on later.

It is the network of `geosleuth.teams.network` in another order. A row of Fea is the sum of a member's and a picture's,
u_n + v_b. So its products need pictures + members rows in place of pictures x members, and of the scores

    Fea_bn . Fea_bm = u_n . u_m + v_b . u_m + (terms without m)

the rest falls out of the softmax over m. What is learned are the same parameters.
"""

import hashlib
import json
import math
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from geosleuth.support.errors import require
from geosleuth.teams.network import LEAK, Array, Parameters

from .rounds import TrainSettings

SAVE_SECONDS = 20.0
_PART_KIND = "geosleuth-trust-training-1"


class TrainingStopped(Exception):
    """Training was stopped; what it had come to is kept."""


@dataclass(frozen=True, slots=True)
class Interruption:
    """Where a run that is stopped is kept, and who stops it.

    Attributes:
        kept: the file; None keeps nothing.
        stopped: asked after every epoch.
    """

    kept: Path | None = None
    stopped: Callable[[], bool] = lambda: False


_NEVER = Interruption()


def torch_slopes(
    torch: Any, parameters: list[Any], encoded: Any, targets: tuple[Any, Any, Any], distance_weight: float
) -> Any:
    """Return the loss of `geosleuth.lab.teams.learning.training.loss` as a tensor that knows its slopes."""
    emb, fea_weight, fea_bias, hidden_weight, out_weight, out_bias = parameters
    labels, distances, links = targets
    count = emb.shape[0]
    of_members, of_pictures = emb @ fea_weight + fea_bias, encoded @ fea_weight[: encoded.shape[1]]
    scores = (of_members @ of_members.T)[None] + (of_pictures @ of_members.T)[:, None, :]
    attention = torch.softmax(scores / math.sqrt(of_members.shape[1]), dim=2)
    hidden = attention @ (of_members @ hidden_weight) + (of_pictures @ hidden_weight)[:, None, :]
    bent = torch.nn.functional.leaky_relu(hidden, LEAK)
    election = torch.sigmoid((bent.flatten(1) @ out_weight + out_bias).clamp(-60.0, 60.0))
    others = attention * (1 - torch.eye(count, device=emb.device, dtype=emb.dtype))
    found = others / others.sum(dim=2, keepdim=True).clamp_min(torch.finfo(emb.dtype).tiny)
    off = ((found - links) ** 2).sum() / (len(links) * count * max(1, count - 1))
    return distance_weight * (election * distances).mean() + ((election - labels) ** 2).mean() + off


def taught_with_torch(
    start: Parameters,
    encoded: Array,
    targets: tuple[Array, Array, Array],
    settings: TrainSettings,
    rng: np.random.Generator,
    progress: Callable[[int, int], None],
    interruption: Interruption = _NEVER,
) -> Parameters:
    """Return the parameters after all epochs, averaged over the last ones where the settings say so.

    Args:
        start: the first parameters.
        encoded: the pictures, a row each.
        targets: labels, distances and links, as in `Targets`.
        settings: how to train; pictures are not held out here.
        rng: draws the order of pictures.
        progress: called with epochs done and in all.
        interruption: where a stopped run is kept.

    Raises:
        TrainingStopped: ``interruption`` said so; the same call goes on from there.
        MissingExtra: torch is not installed.
    """
    torch = require("torch", extra="weights")
    device = "cuda" if torch.cuda.is_available() else "cpu"
    key = _key(encoded, targets, settings)
    parameters = [torch.tensor(np.asarray(one, np.float32), device=device) for one in start.arrays()]
    sums = [torch.zeros_like(one) for one in parameters]
    adam = torch.optim.Adam(parameters, lr=settings.rate, fused=True)
    epoch = _resumed(torch, interruption.kept, key, parameters, sums, adam, rng)
    for one in parameters:
        one.requires_grad_(True)  # noqa: FBT003
    # Columns beyond the rank of the pictures are zero.
    rank = int(np.flatnonzero(np.any(encoded != 0, axis=0)).max(initial=0)) + 1
    pictures = torch.tensor(np.asarray(encoded[:, :rank], np.float32), device=device)
    wanted = tuple(torch.tensor(np.asarray(one, np.float32), device=device) for one in targets)
    with _one_thread(torch):
        saved = time.monotonic()
        while epoch < settings.epochs:
            progress(epoch, settings.epochs)
            order = torch.tensor(rng.permutation(len(encoded)), device=device)
            epoch += 1
            for chosen in order.split(settings.batch or len(order)):
                adam.zero_grad()
                rows = tuple(one[chosen] for one in wanted)
                torch_slopes(torch, parameters, pictures[chosen], rows, settings.distance_weight).backward()
                adam.step()
            if settings.averaged and epoch > settings.epochs - settings.averaged:
                for total, one in zip(sums, parameters, strict=True):
                    total.add_(one.detach())
            stopped = interruption.stopped() and epoch < settings.epochs
            if stopped or time.monotonic() - saved > SAVE_SECONDS:
                _save(torch, interruption.kept, key, {"epoch": epoch, "parameters": parameters, "sums": sums,
                                                      "adam": adam.state_dict()}, rng)  # fmt: skip
                saved = time.monotonic()
            if stopped:
                raise TrainingStopped
    progress(epoch, settings.epochs)
    if interruption.kept is not None:
        interruption.kept.unlink(missing_ok=True)
    share = min(settings.averaged, settings.epochs)
    found = [total / share for total in sums] if share else [one.detach() for one in parameters]
    return Parameters(*(one.cpu().numpy() for one in found))


@contextmanager
def _one_thread(torch: Any) -> Iterator[None]:
    """Compute in one thread: products of this size take three times the CPU time in two, and hardly less time."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _key(encoded: Array, targets: tuple[Array, ...], settings: TrainSettings) -> str:
    """Return what a kept run belongs to: the same pictures, labels and settings."""
    digest = hashlib.sha256(json.dumps(asdict(settings), sort_keys=True).encode())
    for array in (encoded, *targets):
        digest.update(np.ascontiguousarray(array, np.float32).tobytes())
    return digest.hexdigest()


def _save(torch: Any, path: Path | None, key: str, state: dict[str, Any], rng: np.random.Generator) -> None:
    if path is None:
        return
    part = path.with_name(f"{path.name}.part{os.getpid()}")
    torch.save({"kind": _PART_KIND, "key": key, "rng": json.dumps(rng.bit_generator.state), **state}, part)
    part.replace(path)


def _resumed(
    torch: Any, path: Path | None, key: str, parameters: list[Any], sums: list[Any], adam: Any, rng: np.random.Generator
) -> int:
    """Return how many epochs a kept run has done, and take it over; 0 if there is none of these pictures."""
    if path is None or not path.is_file():
        return 0
    try:
        # Tensors, numbers and words alone are read: nothing in the file runs.
        kept = torch.load(path, weights_only=True, map_location=parameters[0].device)
        if kept["kind"] != _PART_KIND or kept["key"] != key:
            return 0
        rng.bit_generator.state = json.loads(kept["rng"])
        for mine, theirs in ((parameters, kept["parameters"]), (sums, kept["sums"])):
            for one, other in zip(mine, theirs, strict=True):
                one.copy_(other.detach())
        adam.load_state_dict(kept["adam"])
        return int(kept["epoch"])
    except Exception:  # noqa: BLE001  (a damaged file only costs its epochs)
        return 0
