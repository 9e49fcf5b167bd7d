"""Findings made by hand, and a reader for the pages made of them."""

import re
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

from PIL import Image

from geosleuth.agent import (
    Answered,
    Budget,
    Ended,
    Event,
    Noted,
    Prompted,
    Said,
    Started,
    Task,
    ToolObserved,
    Trajectory,
)
from geosleuth.agent.events import Body, Hypothesis, Spent
from geosleuth.agent.locate import Finding
from geosleuth.answer import Address, Answer, Candidate, Level
from geosleuth.geo import LatLon
from geosleuth.models import Prompt, Step
from geosleuth.photo import Album, Claims, Photo
from geosleuth.tools import ImageInfo, Observation, ToolCall

SIZE = (800, 600)
MONACO = LatLon(43.73073, 7.42547)
SHA = "ab" * 32
ANSWER = Answer(
    MONACO,
    Address(
        Level("Monaco", ('a telephone number in "+377 93 15": Monaco',)),
        Level(),
        Level("La Terrasse, Monaco", ('a business name: "La Terrasse" is the name of La Terrasse',), None, "low"),
    ),
    0.72,
    0.22,
    "La Terrasse, Monaco: 72 %. The evidence is a business name. Against it speaks the language. "
    'It hangs on one clue, a business name "What would help: nothing": without it no place could be told. '
    "What would help: another photo.",
    (
        Candidate("La Terrasse, Monaco", MONACO, 0.72, "For: a name. Against: the language."),
        Candidate("Nice, France", LatLon(43.7031, 7.2661), 0.2, "For: the sea."),
    ),
)
"""What the detective might say."""


def finding_of(answer: Answer | None = ANSWER, *, claims: tuple[Claims, ...] | None = None, **more: Any) -> Finding:
    """A run that read two lines, failed once, found nothing once, and answered."""
    lines = [
        {"text": "La Terrasse", "bbox_px": [80, 60, 400, 120], "confidence": 0.98, "script": "latin"},
        {"text": "ouvert le dimanche", "bbox_px": [80, 300, 400, 330], "confidence": 0.7, "script": "latin"},
    ]
    seen = Observation(
        "c1", "read_text", "Two lines.\n1. a\n2. b", {"image": "image-1", "lines": lines}, (), ("photo",)
    )
    missed = Observation("c2", "maps_geocode", "Nothing called so.", {"results": []})
    failed = Observation("c3", "satellite_map_query", "there are no tiles on this machine", failure="refused")
    calls = (
        ToolCall("c1", "read_text", {"image": "image-1"}),
        ToolCall("c2", "maps_geocode", {"address": "Zzz"}),
        ToolCall("c3", "satellite_map_query", {"latitude": 43.7}),
    )
    bodies: list[Body] = [
        Started(
            Task((ImageInfo("image-1", SIZE, 1, (0, 0, *SIZE)),)),
            "detective",
            "detective",
            ("read_text",),
            Budget(),
            "s",
        ),
        Prompted(Prompt("Where was this photo taken?", ("image-1",))),
        Said(1, Step(thinking="I read all text.", calls=calls, finish="calls", model="detective")),
        *(ToolObserved(1, one) for one in (seen, missed, failed)),
        Noted(
            Hypothesis("h1", "Genoa, Italy", confidence=0.1, evidence_against=("no such name there",), fate="dropped")
        ),
    ]
    if answer is not None:
        bodies.append(Answered(answer))
    bodies.append(Ended("answered", Spent(turns=1, calls=3, failed_calls=1, seconds=1.5)))
    trajectory = Trajectory(tuple(Event(index, float(index), body) for index, body in enumerate(bodies)))
    return Finding(trajectory, (Claims("JPEG", 1234, SHA, SIZE),) if claims is None else claims, **more)


def album() -> Album:
    """The pixels of such a run."""
    made = Album()
    made.add(Photo(Image.effect_mandelbrot(SIZE, (-2, -1.5, 1, 1.5), 30).convert("RGB")))
    return made


def saying(text: str) -> Finding:
    """The same run with one text wherever a model, a page or a photo can put one."""
    finding = finding_of(
        Answer(
            MONACO,
            Address(Level(text, (text,), text, text), Level(text), Level(text, (f'"{text}"',))),
            0.5,
            1.0,
            text,
            (Candidate(text, LatLon(1, 1), 0.3, f"For: {text} Against: {text}"),),
        ),
        claims=(Claims("JPEG", 1, SHA, SIZE, LatLon(0, 0), camera_make=text, software=text, notes=(text,)),),
    )
    events = []
    for event in finding.trajectory.events:
        body = event.body
        match body:
            case Started():
                task = replace(body.task, hint=text, area=text)
                body = replace(body, task=task, policy=text, method=text, tools=(text,), system=text)
            case Prompted():
                body = Prompted(Prompt(text))
            case Said(step=step):
                asked = tuple(ToolCall(one.id, text, {text: text}) for one in step.calls)
                body = replace(body, step=Step(text, text, asked, model=text))
            case ToolObserved(observation=one):
                line = {"text": text, "bbox_px": [1, 1, 90, 90], "confidence": 1}
                data = {"image": "image-1", "lines": [line]}
                body = replace(body, observation=replace(one, name=text, text=text, data=data, sources=(text,)))
            case Noted(hypothesis=one):
                body = Noted(replace(one, place=text, evidence_against=(text,)))
            case Ended():
                body = replace(body, reason="service", trouble=text)
            case _:
                pass
        events.append(replace(event, body=body))
    return replace(finding, trajectory=replace(finding.trajectory, events=tuple(events)))


class Page(HTMLParser):
    """What a browser would see: elements, attributes, text."""

    VOID = frozenset({"meta", "img", "input", "br"})
    INLINE = frozenset({"a", "b", "bdi", "code", "span", "strong"})

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.words: list[str] = []
        self._open: list[str] = []
        self.feed(html)
        self.close()
        assert self._open == [], "every element is closed"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        self.words.append("" if tag in self.INLINE else " ")
        if tag not in self.VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag
        self.words.append("" if tag in self.INLINE else " ")

    def handle_data(self, data: str) -> None:
        if not {"style", "script"} & set(self._open):
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join("".join(self.words).split())

    def named(self, tag: str, kind: str = "") -> list[dict[str, str]]:
        """The attributes of all elements of a name, and of a class if one is given."""
        return [found for name, found in self.elements if name == tag and kind in ("", *found.get("class", "").split())]

    @property
    def policy(self) -> str:
        return next(
            found["content"] for found in self.named("meta") if found.get("http-equiv") == "Content-Security-Policy"
        )

    def assert_alone(self) -> None:
        """Nothing is loaded, nothing runs but what the policy names, and links stay here."""
        assert "default-src 'none'" in self.policy
        assert "unsafe" not in self.policy
        for tag, found in self.elements:
            assert tag not in ("link", "iframe", "object", "embed", "base", "form", "video", "audio", "source")
            for name, value in found.items():
                assert not name.startswith("on"), (tag, name)
                assert name != "style"
                if name in ("src", "href", "srcset", "action", "xlink:href", "poster"):
                    assert re.match(r"#|data:image/(jpeg|png);base64,|geo:|\./", value), (tag, value[:60])


def without_pixels(html: str) -> str:
    """A page without its embedded pictures, whose letters mean nothing."""
    return re.sub(r"data:image/[a-z]+;base64,[A-Za-z0-9+/=]*", "", html)
