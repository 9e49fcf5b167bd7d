"""All tools together: the papers' names, one schema each, nothing loaded too early."""

import json
import subprocess
import sys

import pytest

from geosleuth.tools.toolset import all_tools


def test_the_papers_tools_and_ours_are_there() -> None:
    assert set(all_tools().names) == {
        "image_zoom_in_tool", "search_web", "search_documents", "search_image", "maps_geocode", "poi_input_tips",
        "poi_keyword_search", "poi_detail_query", "static_map_query", "satellite_map_query", "read_text",
        "reverse_geocode", "nearby", "find_colocated", "find_crossing", "country_facts", "brand_lookup",
        "sun_position", "range_fix", "note_hypothesis", "visual_prior", "text_clues", "weigh_sightings", "tell_apart",
        "field_guide", "place_facts", "request_map", "resection",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("alias", "name"),
    [
        ("image_zoom_tool", "image_zoom_in_tool"),
        ("zoom", "image_zoom_in_tool"),
        ("web_search_tool", "search_web"),
        ("image_search", "search_image"),
        ("geocode", "maps_geocode"),
        ("static_map_tool", "static_map_query"),
    ],
)
def test_aliases(alias: str, name: str) -> None:
    found = all_tools().get(alias)
    assert found is not None
    assert found.name == name


def test_the_set_is_made_once_and_any_part_of_it_can_be_chosen() -> None:
    assert all_tools() is all_tools()
    assert all_tools().select(["search_web", "zoom"]).names == ("image_zoom_in_tool", "search_web")


def test_every_tool_is_told_in_plain_words() -> None:
    for tool in all_tools():
        schema = json.loads(json.dumps(tool.schema()))
        assert schema["parameters"]["type"] == "object"
        assert len(tool.description) > 20
        assert set(tool.renames.values()) <= {parameter.name for parameter in tool.parameters}, tool.name
        # A name that is an argument's own must not lead to another.
        assert not set(tool.renames) & {parameter.name for parameter in tool.parameters}, tool.name
        assert all(parameter.description for parameter in tool.parameters)


def test_nothing_heavy_is_loaded_with_the_catalogue() -> None:
    code = (
        "import sys; from geosleuth.tools.toolset import all_tools; all_tools(); "
        "print([name for name in ('onnxruntime', 'rapidocr', 'cv2', 'PIL.Image', 'pydantic', 'pvlib') "
        "if name in sys.modules])"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "[]"
