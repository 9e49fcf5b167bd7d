"""``geosleuth locate`` as people run it, and in this process where only words matter; photos and replies for it."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from PIL import Image, ImageDraw

from geosleuth.answer import FORMAT
from in_process import whole_command
from openai_server import Reply, chat_reply
from signs import camera_exif

GEOSLEUTH = Path(sys.executable).with_name("geosleuth")
LAT, LON = 43.7354, 7.4211
ANSWER = {
    "format": FORMAT,
    "lat": LAT,
    "lon": LON,
    "country": {"conclusion": "Monaco", "clues": ["a blue street sign"]},
    "precise": {"conclusion": "Rue Grimaldi, Monaco"},
    "probability": 0.7,
    "radius_km": 2.0,
    "explanation": "The street sign names it.",
    "candidates": [{"name": "Menton", "probability": 0.1}],
}
ZOOM = chat_reply("I look at the sign.", [("image_zoom_in_tool", {"bbox_2d": [40, 30, 140, 90]})])
FINAL = chat_reply(json.dumps(ANSWER))


@dataclass(frozen=True)
class Done:
    """What came of a command."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """The one JSON document on stdout."""
        assert self.out.count("\n") == 1
        return json.loads(self.out)

    @property
    def refusal(self) -> str:
        """The one line of a command whose words or files must be mended."""
        assert (self.code, self.out) == (2, ""), (self.out, self.err)
        assert self.err.startswith("geosleuth: ")
        assert self.err.count("\n") == 1, self.err
        return self.err.removeprefix("geosleuth: ").strip()


def command(*words: object) -> list[str]:
    """The command line of a real process."""
    return [str(GEOSLEUTH), "locate", *(str(word) for word in words)]


def environment(more: Mapping[str, str] = MappingProxyType({})) -> dict[str, str]:
    """Ours, with an output that tests can compare."""
    return {**os.environ, "NO_COLOR": "1", "COLUMNS": "80", "PYTHONUTF8": "1", **more}


def locate_outside(*words: object, env: Mapping[str, str] = MappingProxyType({})) -> Done:
    """Run the command as a process of its own."""
    done = subprocess.run(
        command(*words),
        env=environment(env),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    return Done(done.returncode, done.stdout, done.stderr)


def locate_here(*words: object) -> Done:
    """Run the command in this process: everything is the same but the process itself."""
    done = whole_command("locate", *words)
    return Done(done.returncode, done.stdout, done.stderr)


def photo_file(folder: Path, name: str = "telling-name.jpg", size: tuple[int, int] = (240, 160)) -> Path:
    """A small photo of a sign on a wall."""
    image = Image.new("RGB", size, (214, 196, 160))
    ImageDraw.Draw(image).rectangle((40, 30, 140, 90), fill=(30, 60, 140))
    path = folder / name
    image.save(path, exif=camera_exif())
    return path


def at(url: str, *more: object) -> Sequence[object]:
    """The words that name a model at a server."""
    return ("--model", "server:any", "--base-url", url, *more)


def texts(request: Any) -> str:
    """All words of a request."""
    found: list[str] = []

    def collect(value: Any) -> None:
        if isinstance(value, dict):
            for one in value.values():
                collect(one)
        elif isinstance(value, list):
            for one in value:
                collect(one)
        elif isinstance(value, str) and not value.startswith("data:image/"):
            found.append(value)

    collect(request)
    return "\n".join(found)


def says(text: str) -> Reply:
    """A reply of words alone."""
    return chat_reply(text)
