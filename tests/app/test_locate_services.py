"""Services that ``geosleuth locate`` may ask: who gets the photo is said first, and own servers are found."""

from pathlib import Path

import pytest

from geosleuth.pipeline.plan import online_settings
from locating import locate_here, photo_file


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
