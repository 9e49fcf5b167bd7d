"""Services that ``geosleuth locate`` may ask: who gets the photo is said first, and own servers are found."""

import socket
from pathlib import Path

import pytest

from geosleuth.pipeline.searches import online_settings
from locating import FINAL, at, locate_here, photo_file
from openai_server import chat_reply, openai_server


def test_a_map_service_that_fails_is_replaced_and_that_is_said_once(tmp_path: Path) -> None:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))  # nobody listens there
        maps = ("--maps", "nominatim", "--maps-url", f"http://127.0.0.1:{nobody.getsockname()[1]}")
        calls = [chat_reply("", [("maps_geocode", {"address": name})]) for name in ("Monaco", "Menton")]
        with openai_server([*calls, FINAL]) as url:
            done = locate_here(photo_file(tmp_path), *at(url, *maps, "--trajectory", tmp_path / "run.jsonl"))
    said = [line for line in done.err.splitlines() if "offline atlas" in line]
    assert len(said) == 1, done.err
    assert "127.0.0.1: can't be reached" in said[0]
    assert "the offline atlas answers in place of nominatim" in said[0]
    assert done.code == 0
    assert "GeoNames" in (tmp_path / "run.jsonl").read_text()


def test_hosts_that_get_the_photo_for_an_image_search_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SERPAPI_API_KEY", "made-up")
    words = (photo_file(tmp_path), "--image-search", "serpapi", "--allow", "serpapi.com")
    refusal = locate_here(*words).refusal
    assert "the image search sends the photo and cuts of it to serpapi.com; add --yes to allow it" in refusal


def test_an_image_search_by_address_needs_the_address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SERPER_API_KEY", "made-up")
    words = (photo_file(tmp_path), "--image-search", "serper", "--allow", "google.serper.dev")
    assert "--image-url" in locate_here(*words).refusal


@pytest.mark.parametrize("name", ["searxng", "serpapi"])
def test_own_search_servers_come_from_the_environment(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(f"GEOSLEUTH_{name.upper()}_URL", "http://127.0.0.1:8888")
    settings = online_settings(())
    assert settings.base_urls[name] == "http://127.0.0.1:8888"
    assert "127.0.0.1" in settings.private_hosts
