"""Every tool there is."""

from functools import cache

from .toolset import Toolset


@cache
def all_tools() -> Toolset:
    """All tools, in the order that models are shown them."""
    from . import facts, maps, notes, pictures, ranges, reading, searching, sun, telling, visual, zoom

    return Toolset(
        (
            zoom.image_zoom_in_tool,
            reading.read_text,
            searching.search_image,
            visual.visual_prior,
            searching.search_web,
            maps.maps_geocode,
            maps.reverse_geocode,
            maps.nearby,
            maps.poi_input_tips,
            maps.poi_keyword_search,
            maps.poi_detail_query,
            maps.find_colocated,
            maps.find_crossing,
            pictures.static_map_query,
            pictures.satellite_map_query,
            facts.country_facts,
            facts.brand_lookup,
            telling.text_clues,
            sun.sun_position,
            ranges.range_fix,
            notes.note_hypothesis,
        )
    )
