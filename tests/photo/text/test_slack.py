"""OpenCV may read a little past the end of a picture; nothing may die of it."""

import subprocess
import sys

import numpy as np
import pytest

from geosleuth.photo.text.strips import SLACK_BYTES, with_slack

# A page that can't be read begins right behind the slack, so that reading further kills this process alone.
_GUARDED = """
import ctypes, mmap, sys
import cv2, numpy as np
from geosleuth.photo.text import strips

empty = np.empty
kept = []

def guarded(count, dtype):
    page = mmap.PAGESIZE
    whole = (-(-count // page) + 1) * page
    room = mmap.mmap(-1, whole)
    kept.append(room)
    start = ctypes.addressof(ctypes.c_char.from_buffer(room))
    protect = ctypes.CDLL(None).mprotect
    protect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    assert protect(start + whole - page, page, 0) == 0
    return np.frombuffer(room, dtype=dtype, count=count, offset=whole - page - count)

np.empty = guarded
for height, width in ((1153, 1090), (929, 392), (1188, 995), (1281, 583), (1187, 1519), (930, 1506), (61, 47)):
    plain = np.full((height, width, 3), 7, dtype=np.uint8)
    kept.append(strips.with_slack(plain))
    to = round(width / 32) * 32, round(height / 32) * 32
    cv2.resize(kept[-1], to)
    cv2.resize(kept[-1], to, interpolation=cv2.INTER_AREA)
print("alive")
"""


def test_a_copy_with_slack_is_the_same_picture_with_room_behind_it() -> None:
    picture = np.arange(5 * 7 * 3, dtype=np.uint8).reshape(5, 7, 3)
    copy = with_slack(picture[:, ::-1])
    assert np.array_equal(copy, picture[:, ::-1])
    assert copy.flags.c_contiguous
    assert copy.base is not None
    assert copy.base.size >= picture.size + picture[0].size + SLACK_BYTES


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="page protection is asked for as Linux has it")
def test_opencv_finds_room_behind_every_picture_that_it_is_given() -> None:
    done = subprocess.run([sys.executable, "-c", _GUARDED], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, "alive"), done.stderr
