"""The style: whole, valid by its own rules, and with a drawing for everything that tiles hold."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from geosleuth.atlas.tiles import LAYERS, TileMaker
from geosleuth.support.errors import BadInput

Read = Callable[[bytes], dict[str, list[dict[str, Any]]]]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_layer_of_the_tiles_is_drawn(tiles: TileMaker, theme: Any) -> None:
    style = tiles.style(theme)
    assert {layer["source-layer"] for layer in style["layers"] if "source-layer" in layer} == set(LAYERS)
    assert len({layer["id"] for layer in style["layers"]}) == len(style["layers"])
    assert json.loads(json.dumps(style)) == style


def test_both_themes_draw_the_same_things(tiles: TileMaker) -> None:
    light, dark = tiles.style("light"), tiles.style("dark")
    assert [layer["id"] for layer in light["layers"]] == [layer["id"] for layer in dark["layers"]]
    assert light["layers"] != dark["layers"]


def test_nothing_is_fetched_from_elsewhere(tiles: TileMaker) -> None:
    """No glyphs, no sprite: letters come from the reader's own fonts, and the only address is the caller's."""
    style = tiles.style("light", "exact", "http://127.0.0.1:8711/tiles")
    assert "glyphs" not in style
    assert "sprite" not in style
    (url,) = style["sources"]["atlas"]["tiles"]
    assert url == f"http://127.0.0.1:8711/tiles/{{z}}/{{x}}/{{y}}.mvt?v={tiles.version}"
    addresses = [url for source in style["sources"].values() for url in source["tiles"]]
    assert all(url.startswith("http://127.0.0.1:8711/tiles/") for url in addresses)
    assert json.dumps(style).count("http") == len(addresses)


def test_unknown_themes_and_granularities_are_refused(tiles: TileMaker) -> None:
    theme: Any = "sepia"
    finest: Any = "house"
    with pytest.raises(BadInput, match="light or dark"):
        tiles.style(theme)
    with pytest.raises(BadInput, match="country, region"):
        tiles.style("light", finest)
    with pytest.raises(BadInput, match="country, region"):
        tiles.tile(0, 0, 0, finest)


@pytest.mark.slow
def test_classes_that_tiles_hold_have_colours(tiles: TileMaker, read: Read) -> None:
    found = read(tiles.tile(14, 8529, 5974))
    style = json.dumps(tiles.style())
    for one in found["landuse"]:
        assert f'"{one["properties"]["class"]}"' in style


def _flat(value: Any) -> list[Any]:
    return [part for one in value for part in _flat(one)] if isinstance(value, list) else [value]
