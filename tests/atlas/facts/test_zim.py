"""ZIM files: search, snippets, and files that are damaged or missing."""

from pathlib import Path
from typing import Any

import pytest

from geosleuth.atlas.facts import ZimDocuments
from geosleuth.atlas.facts.documents import MAX_ARTICLE_CHARS, SNIPPET_CHARS, best_part, plain_text
from geosleuth.support.errors import BadInput

writer: Any = pytest.importorskip("libzim.writer", reason="libzim is not installed")

PAGES = {
    "Nice": "<h1>Nice</h1><script>alert('x')</script><p>Nice is a city on the <b>French Riviera</b>.</p>"
    "<p>The Promenade des Anglais runs along the sea.</p>",
    "Zermatt": "<style>p {color: red}</style><p>Zermatt lies below the Matterhorn &amp; has no cars.</p>",
}


def make_zim(path: Path, *, full_text: bool) -> None:
    base: Any = writer.Item

    class Page(base):  # type: ignore[misc]
        def __init__(self, title: str, markup: str) -> None:
            super().__init__()
            self.title, self.markup = title, markup

        def get_path(self) -> str:
            return self.title

        def get_title(self) -> str:
            return self.title

        def get_mimetype(self) -> str:
            return "text/html"

        def get_contentprovider(self) -> Any:
            return writer.StringProvider(f"<html><head><title>t</title></head><body>{self.markup}</body></html>")

        def get_hints(self) -> dict[Any, int]:
            return {writer.Hint.FRONT_ARTICLE: True}

    with writer.Creator(path).config_indexing(full_text, "eng") as creator:
        creator.set_mainpath("Nice")
        for title, markup in PAGES.items():
            creator.add_item(Page(title, markup))
        creator.add_metadata("Title", "Tiny travel guide")
        creator.add_metadata("Language", "eng")


@pytest.fixture(scope="module")
def zim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("zim") / "tiny.zim"
    make_zim(path, full_text=True)
    return path


def test_full_text_search(zim: Path) -> None:
    documents = ZimDocuments(zim)
    assert documents.title == "Tiny travel guide"
    hits = documents.search("promenade anglais")
    assert [hit.title for hit in hits] == ["Nice"]
    assert hits[0].id == "zim:tiny:Nice"
    assert hits[0].source == "Tiny travel guide"
    assert "Promenade des Anglais" in hits[0].snippet
    assert "alert" not in hits[0].snippet
    assert "<" not in hits[0].snippet


def test_titles_where_there_is_no_full_text(tmp_path: Path) -> None:
    make_zim(tmp_path / "titles.zim", full_text=False)
    assert isinstance(ZimDocuments(tmp_path / "titles.zim").search("Zermatt"), list)


def test_missing_and_damaged_files_are_bad_input(zim: Path, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no such file"):
        ZimDocuments(tmp_path / "none.zim")
    with pytest.raises(BadInput, match="no such file"):
        ZimDocuments(tmp_path)
    text = tmp_path / "text.zim"
    text.write_text("not a zim file")
    with pytest.raises(BadInput, match="not a complete ZIM file"):
        ZimDocuments(text)
    cut = tmp_path / "cut.zim"
    cut.write_bytes(zim.read_bytes()[:3000])
    with pytest.raises(BadInput):
        ZimDocuments(cut).search("nice")


def test_long_pages_are_cut() -> None:
    assert len(plain_text("<p>" + "word " * 1_000_000)) <= MAX_ARTICLE_CHARS
    assert plain_text("<script>never closed <p>x") == ""
    part = best_part("filler " * 500 + "the needle is here " + "filler " * 500, ["needle"])
    assert "needle" in part
    assert len(part) <= SNIPPET_CHARS + 2
