"""Samples: what a maker of trajectories yields, and the row of plain values that a store keeps of it.

A maker is an iterator of `Sample` and `Rejected`; `write_store` consumes it. Use `StoreWriter` for more control::

    with StoreWriter(folder, about) as store:
        for key, task in tasks:
            if key not in store:  # an earlier run may have finished it
                store.add(make(key, task))  # a Sample or a Rejected

Keys are chosen by the maker: unique in a store, and stable when the same thing is made again.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from geosleuth.agent import Trajectory, event_from_dict, event_to_dict
from geosleuth.agent.codec import from_line, to_line
from geosleuth.agent.trajectory import FORMAT, VERSION
from geosleuth.geo import LatLon, distance_km
from geosleuth.lab.score import Truth
from geosleuth.support.errors import BadInput, require

if TYPE_CHECKING:
    import pyarrow as pa

Row = dict[str, Any]
_JPEG = b"\xff\xd8\xff"
_TEXTS = ("key", "scene", "source", "split", "trajectory_id", "method", "policy")
_MAYBE_TEXTS = ("truth_country", "truth_region", "truth_city", "answered_by", "end")
_MAYBE_NUMBERS = ("truth_lat", "truth_lon", "answer_lat", "answer_lon", "error_km")
_COUNTS = ("turns", "calls", "failed_calls", "characters")
# All columns except the trajectory and the maker's ``meta``: the ones that figures are computed from.
SMALL_COLUMNS = (*_TEXTS, *_MAYBE_TEXTS, *_MAYBE_NUMBERS, *_COUNTS, "tools", "images")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """A trajectory worth keeping, with what is needed to learn from it.

    Attributes:
        key: its name in the store.
        trajectory: the whole run.
        images: the JPEG file of each picture by its handle, from the task and from tools. A handle of the trajectory
            that is missing here has no picture in the store, and `check` reports it.
        scene: the id of the scene or photo; several samples may share one.
        source: how it was made, in one word: "spotagent", "geovista", "geoagent", "imported".
        split: what it may be used for: "train" or "held-out".
        truth: where the photo was taken; None if unknown.
        meta: further facts, in JSON types; not used in training.
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
    """A trajectory that was made and not kept.

    ``reason`` is one of a few counted words ("far_answer", "failed_call", "no_answer", ...); ``detail`` is for
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
    """The description of a set for people who train on it; counts are computed elsewhere.

    Attributes:
        name: short, usable as a file name.
        title: in one line.
        licence: of trajectories and pictures together.
        how_made: by what means, in plain sentences.
        sources: where pictures, places and words come from, each with its licence.
        faults: known errors and pitfalls.
        settings: the maker's settings (seeds, rates, models), in JSON types. A store only grows with the same name and
            the same settings.
    """

    name: str
    title: str
    licence: str
    how_made: str
    sources: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict, hash=False)


def schema() -> "pa.Schema":
    """Return the columns of a shard.

    Raises:
        MissingExtra: pyarrow is not installed.
    """
    arrow = require("pyarrow", extra="lab")
    text = arrow.string()
    image = arrow.struct([("handle", text), ("sha256", text), ("bytes", arrow.int64())])
    found: pa.Schema = arrow.schema(
        [
            *((name, text) for name in (*_TEXTS, *_MAYBE_TEXTS)),
            *((name, arrow.float64()) for name in _MAYBE_NUMBERS),
            *((name, arrow.int32()) for name in _COUNTS),
            ("tools", arrow.list_(text)),
            ("images", arrow.list_(image)),
            ("meta", text),
            ("trajectory", arrow.large_string()),
        ]
    )
    return found


def build_sample_row(sample: Sample) -> Row:
    """Return the row of a sample; it refers to images by checksum.

    Raises:
        BadInput: an image is not a JPEG file or has no handle in the trajectory, or a value is not JSON.
    """
    run = sample.trajectory
    _check_words(sample)
    _check_images(sample)
    answer, truth = run.answer, sample.truth
    point = answer.point if answer is not None else None
    spent = run.spent
    steps = run.steps
    return {
        "key": sample.key,
        "scene": sample.scene,
        "source": sample.source,
        "split": sample.split,
        "trajectory_id": _replace_surrogates(run.id),
        "method": _replace_surrogates(run.started.method),
        "policy": _replace_surrogates(run.started.policy),
        "truth_country": truth.country if truth else None,
        "truth_region": truth.region if truth else None,
        "truth_city": truth.city if truth else None,
        "answered_by": run.answered.by if run.answered else None,
        "end": run.ended.reason if run.ended else None,
        "truth_lat": truth.point.lat if truth else None,
        "truth_lon": truth.point.lon if truth else None,
        "answer_lat": point.lat if point else None,
        "answer_lon": point.lon if point else None,
        "error_km": distance_km(truth.point, point, "geodesic") if truth and point else None,
        "turns": spent.turns,
        "calls": spent.calls,
        "failed_calls": spent.failed_calls,
        "characters": sum(len(step.text) + len(step.thinking) for step in steps),
        "tools": [_replace_surrogates(call.name) for step in steps for call in step.calls],
        "images": [
            {"handle": handle, "sha256": sha256(data).hexdigest(), "bytes": len(data)}
            for handle, data in sample.images.items()
        ],
        "meta": _encode_meta(sample.meta),
        "trajectory": trajectory_text(run),
    }


def _replace_surrogates(text: str) -> str:
    """Replace unpaired surrogates, which text columns can't hold; the trajectory keeps them."""
    return text.encode("utf-8", "replace").decode()


def _check_words(sample: Sample) -> None:
    truth = sample.truth
    names = (truth.country, truth.region, truth.city) if truth else ()
    words = (sample.key, sample.scene, sample.source, sample.split, *names, *sample.images)
    try:
        "".join(word or "" for word in words).encode()
    except UnicodeEncodeError as error:
        raise BadInput(
            f"{_replace_surrogates(sample.key)[:60]!r}: contains an unpaired surrogate: {error.reason}"
        ) from error


def _check_images(sample: Sample) -> None:
    known = {image.handle for image in sample.trajectory.images}
    for handle, data in sample.images.items():
        if handle not in known:
            raise BadInput(f"{sample.key}: the trajectory has no picture {handle[:40]!r}")
        if not data.startswith(_JPEG):
            raise BadInput(f"{sample.key}: {handle} is not a JPEG file; stores hold only JPEG files")


def _encode_meta(meta: Mapping[str, Any]) -> str:
    try:
        return json.dumps(dict(meta), ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError) as error:
        raise BadInput(f"the meta of a sample must be JSON ({error})") from error


def build_sample(row: Mapping[str, Any], images: Mapping[str, bytes]) -> Sample:
    """Return the sample of a row, with the images that its checksums refer to.

    Raises:
        BadInput: the row is damaged.
    """
    try:
        truth = None
        if row["truth_lat"] is not None:
            point = LatLon(row["truth_lat"], row["truth_lon"])
            truth = Truth(point, row["truth_country"], row["truth_region"], row["truth_city"])
        return Sample(
            key=row["key"],
            trajectory=read_trajectory_text(row["trajectory"]),
            images=images,
            scene=row["scene"],
            source=row["source"],
            split=row["split"],
            truth=truth,
            meta=json.loads(row["meta"]),
        )
    except (KeyError, TypeError, ValueError, BadInput) as error:
        raise BadInput(f"the row of {str(row.get('key'))[:60]!r} is damaged: {error}") from error


def trajectory_text(trajectory: Trajectory) -> str:
    """Return a trajectory as the text of its file, with the version that made it and whether its end was lost."""
    header: Row = {
        "format": FORMAT,
        "version": VERSION,
        "id": trajectory.id,
        "created": trajectory.created.isoformat(),
        "geosleuth": trajectory.geosleuth,
        **({"torn": True} if trajectory.torn else {}),
    }
    lines = [to_line(header), *(to_line(event_to_dict(event)) for event in trajectory.events)]
    return b"".join(lines).decode()


def read_trajectory_text(text: str) -> Trajectory:
    """Parse the text that `trajectory_text` wrote.

    Raises:
        BadInput: it is damaged, or has another version.
    """
    # Not splitlines: replies contain other characters that it would split at.
    head, *lines = (line.encode() for line in text.split("\n")[:-1])
    header = from_line(head)
    if (header.get("format"), header.get("version")) != (FORMAT, VERSION):
        raise BadInput(f"not a trajectory of version {VERSION}")
    events = tuple(event_from_dict(from_line(line)) for line in lines)
    created = datetime.fromisoformat(str(header.get("created")))
    torn = header.get("torn", False) is True
    return Trajectory(events, str(header.get("id")), created, str(header.get("geosleuth")), torn)
