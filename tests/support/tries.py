"""Tries of a stand-in for a model, made by hand: long ones, short ones, and such as failed."""

import json
from collections.abc import Sequence
from typing import Any

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
from geosleuth.agent.events import Answerer, Body, EndReason, Hypothesis, Noted
from geosleuth.answer import Address, Answer, Level
from geosleuth.geo import LatLon
from geosleuth.models import Prompt, Step
from geosleuth.tools import ImageInfo, Observation, ToolCall

SIZE = (1633, 1224)
"""A first view of two million pixels."""

TASK = Task((ImageInfo("image-1", SIZE, 1, (0, 0, *SIZE)),))


def said_place(
    lat: float,
    lon: float,
    *,
    country: str | None = None,
    precise: str | None = None,
    clues: Sequence[str] = (),
    probability: float | None = 0.6,
    radius_km: float | None = 1.0,
    why: str = "The sign says so.",
) -> Answer:
    """An answer with a point."""
    address = Address(Level(country), Level(), Level(precise, tuple(clues)))
    return Answer(LatLon(lat, lon), address, probability, radius_km, why)


def a_try(
    answer: Answer | None,
    *looks: tuple[str, dict[str, Any], str, Any],
    thinking: str = "I look.",
    by: Answerer = "policy",
    reason: EndReason = "answered",
    trouble: str | None = None,
    against: Sequence[tuple[str, str]] = (),
) -> Trajectory:
    """A trajectory with a turn for each look, (tool, arguments, text, data), and an answer."""
    bodies: list[Body] = [
        Started(TASK, "default", "scripted", ("read_text",), Budget(), "words"),
        Prompted(Prompt("Where?", ("image-1",))),
    ]
    for turn, (name, arguments, text, data) in enumerate(looks, 1):
        call = ToolCall(f"c{turn}", name, arguments)
        bodies += [
            Said(turn, Step("", thinking, (call,), finish="calls")),
            ToolObserved(turn, Observation(call.id, name, text, data, sources=("photo",))),
        ]
    for number, (place, line) in enumerate(against):
        bodies.append(Noted(Hypothesis(f"h{number}", place, evidence_against=(line,))))
    if answer is not None:
        point = {} if answer.point is None else {"lat": answer.point.lat, "lon": answer.point.lon}
        bodies.append(Said(len(looks) + 1, Step(json.dumps({**point, "precise": str(answer.address)}))))
        bodies.append(Answered(answer, by))
    else:
        bodies.append(Answered(Answer(explanation="No answer."), "nobody"))
    bodies.append(Ended(reason, Spent(turns=len(looks) + 1, calls=len(looks), seconds=1.0), trouble))
    return Trajectory(tuple(Event(index, float(index), body) for index, body in enumerate(bodies)))


def read(*lines: str) -> tuple[str, dict[str, Any], str, Any]:
    """A look that reads text in the photo."""
    rows = [{"text": line, "confidence": 0.9, "script": "latin", "bbox_px": [0, 0, 9, 9]} for line in lines]
    text = "\n".join(["Text in image-1:", *(f'{number}. "{line}"' for number, line in enumerate(lines, 1))])
    return "read_text", {"image": "image-1"}, text, {"image": "image-1", "lines": rows}


def found(asked: str, *hits: tuple[str, float, float]) -> tuple[str, dict[str, Any], str, Any]:
    """A look that searches the map."""
    rows = [
        {"name": name, "kind": "shop=bakery", "lat": lat, "lon": lon, "country": "MC", "match": "exact", "score": 1.0}
        for name, lat, lon in hits
    ]
    listed = [f"{number}. {name}; {lat:.5f}, {lon:.5f}" for number, (name, lat, lon) in enumerate(hits, 1)]
    text = "\n".join([f'Features called "{asked}":', *listed]) if hits else f'Nothing called "{asked}" was found.'
    return "poi_keyword_search", {"keyword": asked}, text, {"results": rows}


def long_try(number: int, turns: int = 12) -> Trajectory:
    """As long as tries get: every turn thinks at length, and every result fills what the method shows of one."""
    thought = (
        f"In turn after turn try {number} weighs kerbs, poles, plates, lettering and light against each other. " * 24
    )
    filler = "Une page qui parle de rues, de places et de boulangeries à Monaco et ailleurs. " * 90
    looks = [
        read(*(f"Boulangerie {number}-{line} 京都駅 ถนน" for line in range(12))),
        *(
            (
                "search_web",
                {"query": f"query {number} {turn}"},
                filler,
                {
                    "results": [
                        {"title": f"Page {number} {turn} {one}", "snippet": filler[:500], "url": "https://example.org"}
                        for one in range(10)
                    ]
                },
            )
            for turn in range(turns // 2)
        ),
        *(
            found(
                f"Rue {number} {turn}",
                *((f"Rue Grimaldi {turn}-{one}", 43.7 + turn / 100 + one / 1000, 7.42) for one in range(10)),
            )
            for turn in range(turns - turns // 2 - 1)
        ),
    ]
    clues = [f'a sign reads "Boulangerie {number}-{line}" and the kerb is painted {line} times' for line in range(6)]
    answer = said_place(
        43.7 + number / 1000, 7.42, country="Monaco", precise="Rue Grimaldi, Monaco", clues=clues, why="Because. " * 200
    )
    return a_try(answer, *looks, thinking=thought, against=[("Menton", "no such baker there")])
