"""Outlines are asked by several threads at once: maps, tiles and tools are."""

import subprocess
import sys

import pytest

# In a process of its own: what goes wrong here ends the process.
_ASKED = """
from concurrent.futures import ThreadPoolExecutor
from geosleuth.atlas.borders import Borders
from geosleuth.geo import Box

borders = Borders.load()
boxes = [Box(lat, lon, lat + 4, lon + 6) for lat in range(-50, 70, 8) for lon in range(-170, 170, 24)]
levels = ["country", "region", "land"]

def ask(number):
    box, level = boxes[number % len(boxes)], levels[number % 3]
    return sorted(shape.code for shape in borders.shapes_in(box, level=level))

with ThreadPoolExecutor(8) as threads:
    at_once = list(threads.map(ask, range(len(boxes))))
assert at_once == [ask(number) for number in range(len(boxes))]
assert any(at_once)
print("the same")
"""


@pytest.mark.slow
def test_many_threads_get_what_one_gets() -> None:
    done = subprocess.run([sys.executable, "-c", _ASKED], capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, "the same"), done.stderr[-2000:]
