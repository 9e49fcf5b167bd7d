"""Boxes and words from what the networks give."""

import cv2
import numpy as np
import pytest

from geosleuth.photo.text.network_outputs import Map, decode_text, extract_boxes

CHARACTERS = ("", "a", "b", " ")


def a_map(*lines: tuple[int, int, int, int, float, float]) -> Map:
    """A map of the detector with lines in it: middle, size, turned by degrees, how much like text."""
    whole = np.zeros((160, 320), np.float32)
    for x, y, width, height, turned, like in lines:
        corners = cv2.boxPoints(((x, y), (width, height), turned)).astype(np.int32)
        cv2.fillPoly(whole, [corners], like)
    return whole[None, None]


def test_lines_are_grown_scaled_and_given_clockwise() -> None:
    ((quad, score),) = extract_boxes(a_map((160, 80, 100, 20, 0, 0.9)), (320, 640))
    # Twice the size; all around 1.6 times the area over the length of its edge, 13.5, is added.
    assert quad[0] == pytest.approx([2 * (110 - 13), 2 * (70 - 13)], abs=4)
    assert quad[2] == pytest.approx([2 * (210 + 13), 2 * (90 + 13)], abs=4)
    assert quad[1][0] > quad[0][0]
    assert quad[3][1] > quad[0][1]
    assert score == pytest.approx(0.9, abs=0.05)


def test_what_is_small_or_unlike_text_is_no_line() -> None:
    assert extract_boxes(a_map((40, 40, 1, 1, 0, 0.9), (200, 80, 80, 20, 0, 0.4)), (160, 320)) == []


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40))
def test_rapidocr_gives_the_same(seed: int) -> None:
    from rapidocr.ch_ppocr_det.utils import DBPostProcess
    from rapidocr.ch_ppocr_rec.utils import CTCLabelDecode

    rng = np.random.default_rng(seed)
    lines = rng.uniform((0, 0, 2, 2, -90, 0.2), (320, 160, 200, 40, 90, 1.0), (8, 6))
    found = a_map(*(tuple(line) for line in np.round(lines, 2).tolist()))
    found[0, 0] = cv2.GaussianBlur(found[0, 0], (5, 5), 0)
    theirs = DBPostProcess(thresh=0.3, box_thresh=0.5, unclip_ratio=1.6, use_dilation=True)
    quads, scores = theirs(found, (211, 433))
    ours = extract_boxes(found, (211, 433))
    assert [quad.tolist() for quad, _ in ours] == quads.tolist()
    assert [score for _, score in ours] == pytest.approx(scores)
    strip = rng.random((1, 60, len(CHARACTERS)), dtype=np.float32)
    ((text, confidence),), _ = CTCLabelDecode(character=list(CHARACTERS[1:-1]))(strip)
    read, sure = decode_text(strip, CHARACTERS)
    assert read == text
    assert sure == pytest.approx(confidence)
