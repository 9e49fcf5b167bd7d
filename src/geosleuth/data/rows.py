"""Samples: what a maker of trajectories hands over, and the row of plain values that a store keeps of it.

A maker is an iterator of `Sample` and `Rejected`; `write_store` takes it in, `StoreWriter` is for those who need more::

    with StoreWriter(folder, about) as store:
        for key, task in tasks:
            if key not in store:  # an earlier run may have finished it
                store.add(make(key, task))  # a Sample or a Rejected

Keys are the maker's own: unique in a store, the same whenever the same thing is made again.
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
from geosleuth.errors import BadInput, require
from geosleuth.geo import LatLon, distance_km
from geosleuth.score import Truth

if TYPE_CHECKING:
    import pyarrow as pa


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


Row = dict[str, Any]

_JPEG = b"\xff\xd8\xff"
_TEXTS = ("key", "scene", "source", "split", "trajectory_id", "method", "policy")
_MAYBE_TEXTS = ("truth_country", "truth_region", "truth_city", "answered_by", "end")
_MAYBE_NUMBERS = ("truth_lat", "truth_lon", "answer_lat", "answer_lon", "error_km")
_COUNTS = ("turns", "calls", "failed_calls", "characters")
SMALL_COLUMNS = (*_TEXTS, *_MAYBE_TEXTS, *_MAYBE_NUMBERS, *_COUNTS, "tools", "images")
"""All but the trajectory itself and what the maker put beside it: what figures are made of."""


def schema() -> "pa.Schema":
    """The columns of a shard.

    Raises:
        MissingExtra: pyarrow is not installed.
    """
    arrow = require("pyarrow", extra="bench")
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


def row_of(sample: Sample) -> Row:
    """The row of a sample; its images are in it by their checksums alone.

    Raises:
        BadInput: an image is no JPEG file or belongs to no handle of the trajectory, or JSON can't hold something.
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
        "trajectory_id": _shown(run.id),
        "method": _shown(run.started.method),
        "policy": _shown(run.started.policy),
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
        "tools": [_shown(call.name) for step in steps for call in step.calls],
        "images": [
            {"handle": handle, "sha256": sha256(data).hexdigest(), "bytes": len(data)}
            for handle, data in sample.images.items()
        ],
        "meta": _json_of(sample.meta),
        "trajectory": trajectory_text(run),
    }


def _shown(text: str) -> str:
    """What models wrote may hold half a surrogate pair, which no column of text can; the trajectory keeps it."""
    return text.encode("utf-8", "replace").decode()


def _check_words(sample: Sample) -> None:
    truth = sample.truth
    names = (truth.country, truth.region, truth.city) if truth else ()
    words = (sample.key, sample.scene, sample.source, sample.split, *names, *sample.images)
    try:
        "".join(word or "" for word in words).encode()
    except UnicodeEncodeError as error:
        raise BadInput(f"{_shown(sample.key)[:60]!r}: half a surrogate pair is no text: {error.reason}") from error


def _check_images(sample: Sample) -> None:
    known = {image.handle for image in sample.trajectory.images}
    for handle, data in sample.images.items():
        if handle not in known:
            raise BadInput(f"{sample.key}: the trajectory has no picture {handle[:40]!r}")
        if not data.startswith(_JPEG):
            raise BadInput(f"{sample.key}: {handle} is no JPEG file; stores hold JPEG files alone")


def _json_of(meta: Mapping[str, Any]) -> str:
    try:
        return json.dumps(dict(meta), ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError) as error:
        raise BadInput(f"what is kept beside a trajectory must be JSON ({error})") from error


def sample_of(row: Mapping[str, Any], images: Mapping[str, bytes]) -> Sample:
    """The sample of a row, with the images that its checksums stand for.

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
    """A trajectory as the text of its file, with which geosleuth made it, and whether its end was lost."""
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
    """What `trajectory_text` wrote.

    Raises:
        BadInput: it is damaged, or of another version.
    """
    # Not splitlines: replies hold other characters that it would break at.
    head, *lines = (line.encode() for line in text.split("\n")[:-1])
    header = from_line(head)
    if (header.get("format"), header.get("version")) != (FORMAT, VERSION):
        raise BadInput(f"this is no trajectory of version {VERSION}")
    events = tuple(event_from_dict(from_line(line)) for line in lines)
    created = datetime.fromisoformat(str(header.get("created")))
    torn = header.get("torn", False) is True
    return Trajectory(events, str(header.get("id")), created, str(header.get("geosleuth")), torn)
