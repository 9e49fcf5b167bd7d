"""What a maker of trajectories hands over, and what a store keeps of it.

A maker is an iterator of `Sample` and `Rejected`; `write_store` takes it in, `StoreWriter` is for those who need more::

    with StoreWriter(folder, about) as store:
        for key, task in tasks:
            if key not in store:  # an earlier run may have finished it
                store.add(make(key, task))  # a Sample or a Rejected

Keys are the maker's own: unique in a store, the same whenever the same thing is made again.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from geosleuth.agent import Trajectory
from geosleuth.score import Truth


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """A trajectory worth keeping, with what is needed to learn from it.

    Attributes:
        key: what it is called in its store.
        trajectory: the whole run.
        images: the JPEG file of each picture by its handle; those of the task and those that tools made. A handle of
            the trajectory that is not here has no picture in the store, and `check` tells.
        scene: the id of the scene, or whatever names the photo; several samples may share one.
        source: how it was made, in one word: "spotagent", "geovista", "geoagent", "imported".
        split: what it may be used for: "train" or "held-out".
        truth: where the photo really was; None where nobody knows.
        meta: whatever else is to be kept, in JSON types; it takes no part in training.
    """

    key: str
    trajectory: Trajectory
    images: Mapping[str, bytes] = field(repr=False, hash=False)
    scene: str
    source: str
    split: str = "train"
    truth: Truth | None = None
    meta: Mapping[str, Any] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejected:
    """Something that was made and not kept.

    ``reason`` is one of few words that are counted ("far_answer", "failed_call", "no_answer", ...); ``detail`` is for
    people. ``source``, ``scene`` and ``meta`` are as in `Sample`.
    """

    key: str
    scene: str
    source: str
    reason: str
    detail: str = ""
    meta: Mapping[str, Any] = field(default_factory=dict, hash=False)


Made = Sample | Rejected


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """What people must know of a set before they train on it; the counts are worked out and are not here.

    Attributes:
        name: short, fit for a file name.
        title: in one line.
        licence: of trajectories and pictures together.
        how_made: by whom or what, in plain sentences.
        sources: where pictures, places and words come from, each with its licence.
        faults: what is known to be wrong with it, or to be missed easily.
        settings: the maker's own settings (seeds, rates, models), in JSON types. A store is only ever added to with
            the same name and the same settings.
    """

    name: str
    title: str
    licence: str
    how_made: str
    sources: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict, hash=False)
