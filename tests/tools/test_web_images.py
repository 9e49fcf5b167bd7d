"""Each image search as it documents its answers: what is sent of the photo, and what becomes of what comes back."""

import asyncio
import io
import json
from collections.abc import Iterator, Sequence
from email import message_from_bytes
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from geosleuth.atlas.online import OnlineSettings
from geosleuth.photo import Photo, View, crop, first_view
from geosleuth.support.errors import BadInput, ServiceFault
from geosleuth.tools import ImageSearch, Observation, Similar, ToolCall, Toolset
from geosleuth.tools.search import search_image
from geosleuth.tools.web import Published, make_image_search
from search_server import KEY, VARIABLES, Asked, SearchServer, serving, settings_for
from tool_cases import case_of, sign


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[SearchServer]:
    for variable in VARIABLES:
        monkeypatch.setenv(variable, KEY)
    with serving() as one:
        yield one


def search(
    name: str, settings: OnlineSettings, view: View, limit: int = 10, published: Sequence[Published] = ()
) -> list[Similar]:
    async def go() -> list[Similar]:
        async with make_image_search(name, settings, published=published) as service:
            images: ImageSearch = service
            return await images.search(view, limit=limit)

    return asyncio.run(go())


def sent_picture(asked: Asked) -> Image.Image:
    """The picture in a form, read as any server would read it."""
    form = message_from_bytes(b"content-type: " + asked.headers["content-type"].encode() + b"\r\n\r\n" + asked.body)
    _, part = form.walk()
    assert part.get_param("name", header="content-disposition") == "image"
    assert part.get_content_type() == "image/jpeg"
    content = part.get_payload(decode=True)
    assert isinstance(content, bytes)
    assert len(content) <= 500_000
    return Image.open(io.BytesIO(content))


MATCHES = {
    "search_metadata": {"status": "Success"},
    "visual_matches": [
        {
            "position": 1,
            "title": "Casino <b>Monaco</b>",
            "link": "https://a.example/1",
            "source": "A",
            "thumbnail": "t",
        },
        {"position": 2, "title": None, "link": "https://a.example/2"},
        {"position": 3, "title": "No link"},
        {"position": 4, "title": "Bad", "link": "javascript:alert(1)"},
        "text",
    ],
}


def test_serpapi_uploads_the_photo_and_searches_with_it(server: SearchServer, tmp_path: Path) -> None:
    server.answer("/image", {"message": "Image uploaded successfully.", "image_id": "xok-J_1"})
    server.answer("/search.json", MATCHES)
    found = search("serpapi", settings_for(server, tmp_path, language="pt-BR"), first_view(Photo(sign("CASINO"))))
    assert [(one.title, one.url, one.source, one.score, one.point) for one in found] == [
        ("Casino Monaco", "https://a.example/1", "serpapi", None, None),
        ("https://a.example/2", "https://a.example/2", "serpapi", None, None),
    ]
    upload, query = server.asked
    assert (upload.method, upload.params) == ("POST", {"api_key": KEY})
    assert query.params == {
        "engine": "google_lens", "type": "visual_matches", "image_id": "xok-J_1", "hl": "pt", "api_key": KEY,
    }  # fmt: skip
    picture = sent_picture(upload)
    assert picture.size == (900, 500)
    assert not picture.getexif()


def test_serpapi_s_nothing_found_is_no_failure(server: SearchServer, tmp_path: Path) -> None:
    view, settings = first_view(Photo(sign("A"))), settings_for(server, tmp_path)
    server.answer("/image", {"image_id": "x"})
    server.answer(
        "/search.json", {"search_metadata": {"status": "Success"}, "error": "Google hasn't returned any results"}
    )
    assert search("serpapi", settings, view) == []
    server.answer("/search.json", {"search_metadata": {"status": "Error"}, "error": f"The image expired, {KEY}"})
    with pytest.raises(ServiceFault, match=r'could not search: "The image expired, \[key\]"'):
        search("serpapi", settings, view)


@pytest.mark.parametrize(
    "answer",
    [
        {"error": "Invalid image format."},
        {"image_id": None},
        {"image_id": ["x"]},
        {"image_id": "a&engine=x"},
        {},
        [],
        5,
    ],
)
def test_serpapi_without_a_picture_to_search_with(answer: Any, server: SearchServer, tmp_path: Path) -> None:
    server.answer("/image", json.dumps(answer).encode())
    with pytest.raises(ServiceFault, match=r"did not take the picture|unexpected shape"):
        search("serpapi", settings_for(server, tmp_path), first_view(Photo(sign("A"))))
    assert [asked.path for asked in server.asked] == ["/image"]


def test_only_the_part_that_was_asked_about_is_sent(server: SearchServer, tmp_path: Path) -> None:
    photo = Photo(Image.new("RGB", (1000, 500), "#ff0000"))
    photo.image.paste("#0000ff", (0, 0, 500, 500))
    server.answer("/image", {"image_id": "x"})
    server.answer("/search.json", MATCHES)

    async def go() -> Observation:
        case = case_of(photo.image)
        calls = [ToolCall("1", "search_image", {"bbox_2d": [0, 0, 400, 500]})]
        async with make_image_search("serpapi", settings_for(server, tmp_path)) as case.similar:
            (seen,) = await Toolset([search_image]).run(calls, case)
            return seen

    seen = asyncio.run(go())
    assert seen.failure is None
    assert "Casino Monaco" in seen.text
    picture = sent_picture(server.asked[0])
    red, _, blue = np.asarray(picture.convert("RGB"), dtype=float).mean(axis=(0, 1))
    assert (red < 10, blue > 240) == (True, True)


def test_serper_is_given_an_address_and_never_the_photo(server: SearchServer, tmp_path: Path) -> None:
    photo = Photo(sign("CASINO"))
    settings, mine = settings_for(server, tmp_path), Published(photo, "https://me.example/photo.jpg")
    server.answer("/lens", {"searchParameters": {}, "organic": [{"title": "Casino", "link": "https://a.example/1"}]})
    (found,) = search("serper", settings, first_view(photo), published=[mine])
    assert (found.title, found.url) == ("Casino", "https://a.example/1")
    assert json.loads(server.last.body) == {"url": "https://me.example/photo.jpg", "hl": "en"}
    assert server.last.headers["x-api-key"] == KEY
    part = crop(first_view(photo), [0, 0, 100, 100], photo)
    for view in (part, first_view(Photo(sign("CASINO")))):
        with pytest.raises(BadInput, match="only with the whole of a photo whose address was given"):
            search("serper", settings, view, published=[mine])
    assert len(server.asked) == 1


def test_addresses_go_where_they_are_of_use(server: SearchServer, tmp_path: Path) -> None:
    photo, settings = Photo(sign("A")), settings_for(server, tmp_path)
    with pytest.raises(
        BadInput, match="uploads your photo to no third place for it; give that address with --image-url"
    ):
        make_image_search("serper", settings)
    with pytest.raises(BadInput, match="serpapi is sent the photo itself"):
        make_image_search("serpapi", settings, published=[Published(photo, "https://me.example/photo.jpg")])
    for bad in ("photo.jpg", "file:///etc/passwd", "https://me:secret@me.example/photo.jpg", "https://"):
        with pytest.raises(BadInput, match="not the address of a picture on the web"):
            make_image_search("serper", settings, published=[Published(photo, bad)])
