"""Folders of benchmark runs made by hand, for tests of what is read from them."""

import csv
import hashlib
import io
import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from PIL import Image

from geosleuth.agent import (
    Answered,
    Budget,
    Ended,
    Event,
    Prompted,
    Said,
    Spent,
    Started,
    Task,
    ToolObserved,
    Trajectory,
)
from geosleuth.agent.events import Answerer, Body, EndReason
from geosleuth.agent.trajectory import write_trajectory
from geosleuth.answer import Address, Answer, Level, answer_to_dict
from geosleuth.geo import LatLon
from geosleuth.lab.bench.run.journal import (
    Outcome,
    TryRecord,
    compute_photo_name,
    file_name,
    header_line,
    record_to_line,
)
from geosleuth.lab.bench.run.manifest import DataInfo, Manifest, manifest_to_dict
from geosleuth.lab.score import Truth
from geosleuth.models import Prompt, Step, Usage
from geosleuth.tools import ImageInfo, Observation, ToolCall
from geosleuth.tools.calls import FailureKind, Mended

NAME_KEY = "5a" * 32
DATA_SHA = "c0" * 32
_BEGAN = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Called:
    """A call of a tool, and what came of it."""

    tool: str
    failure: FailureKind | None = None
    seconds: float = 0.5
    text: str = "Something was found."
    mended: Mended | None = None


@dataclass(frozen=True, slots=True)
class TryMade:
    """One try at a photo; its calls are a turn each, and the answer is one more."""

    answer: Answer = field(default_factory=Answer)
    outcome: Outcome = "answered"
    by: Answerer = "policy"
    reason: EndReason = "answered"
    trouble: str | None = None
    host: str | None = None
    calls: tuple[Called, ...] = ()
    input_tokens: int = 900
    output_tokens: int = 100
    cost_usd: float | None = 0.01
    seconds: float = 3.0
    model_tries: int = 1
    keep: bool = True
    """Whether there is a trajectory."""

    @property
    def spent(self) -> Spent:
        """What the journal says that it used."""
        withheld = sum(call.failure in ("over_budget", "repeated") for call in self.calls)
        failed = sum(call.failure is not None for call in self.calls) - withheld
        usage = Usage(
            self.input_tokens, self.output_tokens, 0, self.cost_usd, self.seconds, len(self.calls) + self.model_tries
        )
        return Spent(len(self.calls) + 1, len(self.calls) - withheld, failed, withheld, self.seconds, usage)


@dataclass(frozen=True, slots=True)
class PhotoMade:
    """A photo of the data set and every try at it, oldest first."""

    id: str
    truth: Truth
    tries: tuple[TryMade, ...] = ()
    fields: Mapping[str, str] = field(default_factory=dict)


def answer_at(lat: float, lon: float, place: str = "", country: str = "", **more: Any) -> Answer:
    """An answer with a point, and names where they are given."""
    return Answer(LatLon(lat, lon), Address(Level(country or None), Level(), Level(place or None)), **more)


def write_run(
    folder: Path,
    photos: Sequence[PhotoMade],
    *,
    count: int | None = None,
    mask: str | None = None,
    data_name: str = "table",
    settings: Mapping[str, Any] | None = None,
    pictures: Mapping[str, bytes] | None = None,
) -> Path:
    """Write a whole run: manifest, journal, trajectories, results and errors.

    ``pictures`` are the photos' files by id, so that the journal can say what was seen.
    """
    folder.mkdir(parents=True)
    manifest = Manifest(
        data=DataInfo(data_name, len(photos) if count is None else count, DATA_SHA),
        settings={"model": "test:model", "method": "small", **(settings or {})},
        seed=0,
        mask=mask,
        id="0123456789abcdef",
        created=_BEGAN,
        name_key=NAME_KEY,
    )
    (folder / "manifest.json").write_text(json.dumps(manifest_to_dict(manifest)), "utf-8")
    # Tries end in the order in which photos come round: all first ones, then all second ones.
    most = max((len(photo.tries) for photo in photos), default=0)
    tries = (
        record_to_line(_kept(folder, photo, number, (pictures or {}).get(photo.id)))
        for number in range(1, 1 + most)
        for photo in photos
        if number <= len(photo.tries)
    )
    with (folder / "journal.jsonl").open("wb") as journal:
        journal.write(header_line(manifest.id))
        journal.writelines(tries)
    newest = [(photo, photo.tries[-1]) for photo in photos if photo.tries]
    _write_lines(folder / "results.jsonl", [_record(*pair) for pair in newest if pair[1].outcome == "answered"])
    _write_lines(
        folder / "errors.jsonl",
        [
            {
                "id": photo.id,
                "trouble": made.trouble,
                "host": made.host,
                "reason": made.reason,
                "tries": len(photo.tries),
            }
            for photo, made in newest
            if made.outcome == "failed"
        ],
    )
    return folder


def _write_lines(path: Path, lines: Sequence[Mapping[str, Any]]) -> None:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")


def _kept(folder: Path, photo: PhotoMade, number: int, picture: bytes | None) -> TryRecord:
    name, made = compute_photo_name(NAME_KEY, photo.id), photo.tries[number - 1]
    if made.keep:
        kept = folder / "trajectories" / name[:2] / file_name(name, number)
        kept.parent.mkdir(parents=True, exist_ok=True)
        write_trajectory(kept, trajectory_of(made))
    return TryRecord(
        name, photo.id, number, made.outcome, made.reason, made.by, made.answer, made.spent, _BEGAN,
        _BEGAN + timedelta(seconds=made.seconds), None if picture is None else hashlib.sha256(picture).hexdigest(),
        made.trouble, made.host,
    )  # fmt: skip


def _record(photo: PhotoMade, made: TryMade) -> dict[str, Any]:
    truth, spent = photo.truth, made.spent
    names = {key: value for key in ("country", "region", "city") if (value := getattr(truth, key)) is not None}
    return {
        "id": photo.id,
        "truth": {"lat": truth.point.lat, "lon": truth.point.lon, **names},
        "answer": answer_to_dict(made.answer),
        **photo.fields,
        "by": made.by,
        "reason": made.reason,
        "turns": spent.turns,
        "calls": spent.calls,
        "failed_calls": spent.failed_calls,
        "input_tokens": spent.usage.input_tokens,
        "output_tokens": spent.usage.output_tokens,
        "cost_usd": spent.usage.cost_usd,
    }


def write_set(folder: Path, photos: Sequence[PhotoMade], pictures: Mapping[str, bytes] | None = None) -> Path:
    """A table of the photos beside their files, plain coloured ones unless given: a data set to be opened."""
    folder.mkdir(parents=True)
    with (folder / "photos.csv").open("w", encoding="utf-8", newline="") as stream:
        table = csv.writer(stream)
        table.writerow(("id", "image", "lat", "lon"))
        for photo in photos:
            (folder / photo.id).write_bytes(picture_of(photo.id) if pictures is None else pictures[photo.id])
            table.writerow((photo.id, photo.id, photo.truth.point.lat, photo.truth.point.lon))
    return folder / "photos.csv"


def picture_of(photo_id: str, size: tuple[int, int] = (96, 64)) -> bytes:
    """A photo of one colour, a different one for every id."""
    stream = io.BytesIO()
    Image.new("RGB", size, tuple(hashlib.sha256(photo_id.encode()).digest()[:3])).save(stream, "JPEG")
    return stream.getvalue()


def trajectory_of(made: TryMade) -> Trajectory:
    """The try's own events: a turn for each call, then the answer."""
    picture = ImageInfo("image-1", (640, 480), 1, (0, 0, 640, 480))
    tools = tuple(dict.fromkeys(call.tool for call in made.calls))
    bodies: list[Body] = [
        Started(Task((picture,)), "small", "test:model", tools, Budget(), "Find the place."),
        Prompted(Prompt("Where was this photo taken?", ("image-1",))),
    ]
    usage = Usage(made.input_tokens, made.output_tokens, 0, made.cost_usd, made.seconds, made.model_tries)
    for turn, call in enumerate(made.calls, 1):
        asked = ToolCall(f"c{turn}", call.tool, {"image": "image-1"})
        bodies.append(Said(turn, Step("I look closer.", calls=(asked,), finish="calls")))
        seen = Observation(
            asked.id, call.tool, call.text, failure=call.failure, seconds=call.seconds, mended=call.mended
        )
        bodies.append(ToolObserved(turn, seen))
    bodies.append(Said(len(made.calls) + 1, Step("Here.", usage=usage)))
    bodies += [Answered(made.answer, made.by), Ended(made.reason, made.spent, made.trouble)]
    return Trajectory(tuple(Event(index, float(index), body) for index, body in enumerate(bodies)))


CITIES = (
    ("Lyon", "France", 45.76, 4.84), ("Porto", "Portugal", 41.15, -8.61), ("Kraków", "Poland", 50.06, 19.94),
    ("Tromsø", "Norway", 69.65, 18.96), ("Palermo", "Italy", 38.12, 13.36), ("İzmir", "Turkey", 38.42, 27.14),
    ("Fes", "Morocco", 34.03, -5.00), ("Nairobi", "Kenya", -1.29, 36.82), ("Durban", "South Africa", -29.86, 31.02),
    ("Jaipur", "India", 26.91, 75.79), ("Chiang Mai", "Thailand", 18.79, 98.98), ("Kyoto", "Japan", 35.01, 135.77),
    ("Busan", "South Korea", 35.18, 129.08), ("Chengdu", "China", 30.57, 104.07),
    ("Hobart", "Australia", -42.88, 147.33), ("Dunedin", "New Zealand", -45.87, 170.50),
    ("Valparaíso", "Chile", -33.05, -71.61), ("Salvador", "Brazil", -12.97, -38.50),
    ("Medellín", "Colombia", 6.25, -75.57), ("Oaxaca", "Mexico", 17.07, -96.73),
    ("Austin", "United States", 30.27, -97.74), ("Halifax", "Canada", 44.65, -63.58),
    ("Dakar", "Senegal", 14.69, -17.45), ("Tbilisi", "Georgia", 41.72, 44.79),
)  # fmt: skip
"""Name, country, latitude and longitude."""

_TOOLS = ("image_zoom_in_tool", "read_text", "maps_geocode", "search_web", "static_map_query", "poi_search")


def world_photos(
    count: int, *, seed: int = 0, skill: float = 0.6, thrift: float = 1.0, failing: float = 0.05
) -> list[PhotoMade]:
    """Photos around the cities, and tries that are the better the higher ``skill`` is: of chance, but the same again.

    The truths are the same for every skill and thrift.
    """
    where, how = random.Random(seed), random.Random(f"{seed} {skill} {thrift}")
    photos = []
    for number in range(count):
        city, country, lat, lon = CITIES[where.randrange(len(CITIES))]
        at = LatLon(lat + where.gauss(0, 0.05), lon + where.gauss(0, 0.05))
        truth = Truth(at, country=country, city=city)
        scene = where.choice(("street", "market", "coast", "countryside"))
        tries = [_world_try(how, truth, skill, thrift)]
        if how.random() < failing:
            lost = TryMade(
                outcome="failed", by="nobody", reason="service", host="models.example",
                trouble=how.choice(("the server answers 503 for 12.5 s", "no answer within 60 s", "cut off mid-reply")),
                input_tokens=400, output_tokens=0, cost_usd=0.002,
            )  # fmt: skip
            tries = [lost, *tries] if how.random() < 0.5 else [lost, lost]
        photos.append(
            PhotoMade(f"{city.lower().replace(' ', '-')}-{number:04}.jpg", truth, tuple(tries), {"scene": scene})
        )
    return photos


def _world_try(how: random.Random, truth: Truth, skill: float, thrift: float) -> TryMade:
    draw = how.random()
    if draw > 0.97:
        answer, place = Answer(explanation="Nothing here tells a place."), ""
    elif draw < skill:
        off = abs(how.gauss(0, 0.05))
        answer = answer_at(
            truth.point.lat + off, truth.point.lon - off, truth.city or "", truth.country or "",
            probability=min(0.97, 0.9 - off), radius_km=25.0,
            explanation=f"The street signs and the plates speak for {truth.city}; the map has the same bend.",
        )  # fmt: skip
    else:
        place, country, lat, lon = CITIES[how.randrange(len(CITIES))]
        answer = answer_at(
            lat, lon, place, country, probability=round(how.uniform(0.1, 0.7), 2), radius_km=50.0,
            explanation=f"The roofs and the trees look like {country}, and nothing that is written can be read.",
        )  # fmt: skip
    calls = []
    for _ in range(how.choices((0, 1, 2, 3, 5, 8), (1, 2, 4, 4, 2, 1))[0]):
        failure: FailureKind | None = None
        if how.random() < 0.12:
            failure = how.choice(("service", "bad_arguments", "refused", "timeout", "repeated"))
        calls.append(Called(how.choices(_TOOLS, (6, 4, 3, 2, 2, 1))[0], failure, round(how.uniform(0.05, 2.5), 2)))
    tokens = int(1800 * (1 + len(calls)) * thrift * how.uniform(0.8, 1.3))
    return TryMade(
        answer, calls=tuple(calls), input_tokens=tokens, output_tokens=tokens // 9,
        cost_usd=round(tokens * 3e-6, 6), seconds=round(2.4 * (1 + len(calls)) * how.uniform(0.7, 1.6), 2),
        reason="answered" if how.random() < 0.95 else "turns", by="policy",
    )  # fmt: skip
