"""Tools that search for places, by kind of search: `geosleuth.evidence` knows searches, and no tools."""

from collections.abc import Mapping

from geosleuth.evidence.place_clues import SearchKind

SEARCH_OF_TOOL: Mapping[str, SearchKind] = {
    "maps_geocode": "address",
    "poi_keyword_search": "name",
    "poi_input_tips": "beginning",
    "find_crossing": "crossing",
    "find_colocated": "colocated",
    "range_fix": "ranges",
}
