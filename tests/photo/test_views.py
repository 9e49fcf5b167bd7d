"""Views show what they say they show: boxes on them lead back to the original pixels."""

import gc
import io
import threading
import weakref
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from geosleuth.photo import Album, Photo, View, crop, encode, first_view, to_pixels
from geosleuth.support.errors import BadInput


@cache
def numbered(width: int, height: int) -> Photo:
    """Every pixel holds its own place: red and green the column, green and blue the row."""
    y, x = np.mgrid[0:height, 0:width]
    channels = (x & 255, (x >> 8) << 4 | y >> 8, y & 255)
    return Photo(Image.fromarray(np.stack(channels, axis=-1).astype(np.uint8)))


def cut(photo: Photo, box: tuple[int, int, int, int]) -> "np.ndarray[tuple[int, ...], np.dtype[np.uint8]]":
    return np.asarray(photo.image)[box[1] : box[3], box[0] : box[2]]


def test_the_first_view_is_the_whole_photo_within_the_limit() -> None:
    for width, height in ((4000, 3000), (3001, 2999), (12_000, 40), (5, 3000)):
        view = first_view(numbered(width, height))
        assert view.size[0] * view.size[1] <= 2_000_000
        assert view.box_in_original == (0, 0, width, height)
    assert first_view(numbered(4000, 3000)).size == (1632, 1224)
    small = numbered(300, 200)
    assert np.array_equal(np.asarray(first_view(small).image), np.asarray(small.image))


def test_who_opens_the_same_photo_shares_the_pixels_of_its_first_view() -> None:
    photo = Photo(Image.new("RGB", (400, 300), "navy"))
    one, other = first_view(photo, 1000), first_view(photo, 1000)
    assert one.image is other.image
    assert one.handle != other.handle
    assert first_view(photo, 500).size != one.size
    again = first_view(photo, 1000)
    assert (again.image.size, again.image.tobytes()) == (one.image.size, one.image.tobytes())
    assert first_view(Photo(photo.image), 1000).image is not one.image
    gone = weakref.ref(photo)
    del photo
    gc.collect()
    assert gone() is None


def test_crops_come_from_the_original_pixels() -> None:
    photo = numbered(4000, 3000)
    view = first_view(photo, 120_000)
    assert view.size == (400, 300)
    part = crop(view, [100, 50, 220, 140], photo)
    assert part.box_in_original == (1000, 500, 2200, 1400)
    # 1200 x 900 pixels need no scaling: they are the photo's own.
    assert np.array_equal(np.asarray(part.image), cut(photo, part.box_in_original))


def test_small_crops_are_magnified_within_reason() -> None:
    photo = numbered(4000, 3000)
    view = first_view(photo, 12_000_000)
    assert crop(view, [0, 0, 400, 100], photo).size == (800, 200)
    assert crop(view, [0, 0, 40, 10], photo).size == (320, 80)
    assert crop(view, [7.2, 7.2, 7.3, 7.3], photo).size == (8, 8)
    wide = crop(view, [0, 0, 4000, 2900], photo)
    assert wide.size[0] * wide.size[1] <= 2_000_000


@given(st.tuples(*[st.floats(-500, 2500)] * 4))
def test_any_box_is_cut_where_it_lies_or_refused(box: tuple[float, float, float, float]) -> None:
    photo = numbered(1000, 800)
    view = first_view(photo, 50_000)
    across, down = 1000 / view.size[0], 800 / view.size[1]
    try:
        part = crop(view, box, photo)
    except BadInput:
        x, y = sorted(box[::2]), sorted(box[1::2])
        outside = x[1] <= 0 or y[1] <= 0 or x[0] >= view.size[0] or y[0] >= view.size[1]
        assert outside or x[0] == x[1] or y[0] == y[1]
        return
    left, top, right, bottom = part.box_in_original
    assert 0 <= left < right <= 1000
    assert 0 <= top < bottom <= 800
    # All of the box that is in the photo is in the crop, and less than a pixel more on each side.
    assert 0 <= max(0, min(box[0], box[2]) * across) - left + 1e-5 < 1 + 1e-4
    assert 0 <= bottom - min(800, max(box[1], box[3]) * down) + 1e-5 < 1 + 1e-4


def test_boxes_are_put_in_order_clipped_and_converted() -> None:
    view = first_view(numbered(400, 300))
    assert to_pixels([300, 200, 100, 50], view) == (100, 50, 300, 200)
    assert to_pixels([-50, 10, 90, 900], view) == (0, 10, 90, 300)
    assert to_pixels([250, 500, 1000, 1000], view, "thousandths") == (100, 150, 400, 300)
    photo = numbered(4000, 3000)
    part = crop(first_view(photo), [0, 0, 1000, 1000], photo, scale="thousandths")
    assert part.box_in_original == (0, 0, 4000, 3000)


@pytest.mark.parametrize(
    ("box", "trouble"),
    [
        ([400, 0, 500, 100], "outside"),
        ([-9, -9, -1, -1], "outside"),
        ([10, 10, 10, 50], "empty"),
        ([1, 2, 3], "four numbers"),
        ("1234", "four numbers"),
        (None, "four numbers"),
        ([float("nan"), 0, 5, 5], "not a number"),
        ([0, 0, float("inf"), 5], "not a number"),
        ([0, 0, 10**400, 5], "not a number"),
        (["0", 0, 5, 5], "not a number"),
        ([True, 0, 5, 5], "not a number"),
    ],
)
def test_bad_boxes_are_told_what_would_be_right(box: list[float], trouble: str) -> None:
    with pytest.raises(BadInput, match=trouble) as caught:
        to_pixels(box, first_view(numbered(400, 300)))
    assert "[left, top, right, bottom] within 0 to 400 across and 0 to 300 down" in str(caught.value)


def test_encoding_keeps_the_size_and_fits_the_bytes() -> None:
    noise = Image.effect_noise((600, 400), 60).convert("RGB")
    view = first_view(Photo(noise))
    whole = encode(view, quality=95)
    tight = encode(view, quality=95, max_bytes=len(whole) // 2)
    assert len(tight) <= len(whole) // 2
    for data, name in ((whole, "JPEG"), (tight, "JPEG"), (encode(view, "png"), "PNG"), (encode(view, "webp"), "WEBP")):
        with Image.open(io.BytesIO(data)) as image:
            assert (image.format, image.size) == (name, (600, 400))
    with pytest.raises(BadInput, match="does not fit into 500 bytes"):
        encode(view, max_bytes=500)


def test_an_album_knows_its_views_by_their_handles() -> None:
    photo = numbered(4000, 3000)
    album = Album()
    first = album.add(photo)
    part = album.crop(first.handle, [816, 612, 1632, 1224])
    deeper = album.crop(part.handle, [0, 0, 500, 500], "thousandths")
    assert album.handles == ("image-1", "image-2", "image-3") == (first.handle, part.handle, deeper.handle)
    assert part.box_in_original == (2000, 1500, 4000, 3000)
    assert deeper.box_in_original == (2000, 1500, 3000, 2250)
    with pytest.raises(BadInput, match="there is no image 'image-9'; there are: image-1, image-2, image-3"):
        album.crop("image-9", [0, 0, 5, 5])


def test_old_views_come_back_the_same() -> None:
    album = Album()
    first = album.add(numbered(900, 700))
    parts = [album.crop(first.handle, [i, i, i + 300, i + 200]) for i in range(40)]
    for part in (first, *parts):
        again = album[part.handle]
        assert again.box_in_original == part.box_in_original
        assert np.array_equal(np.asarray(again.image), np.asarray(part.image))


def test_crops_cut_at_once_each_have_their_own_handle() -> None:
    album = Album()
    first = album.add(numbered(900, 700))
    views: list[View] = []
    threads = [
        threading.Thread(target=lambda i=i: views.append(album.crop(first.handle, [i, 0, i + 50, 50])))
        for i in range(50)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({view.handle for view in views}) == 50
    assert all(album[view.handle].box_in_original == view.box_in_original for view in views)
