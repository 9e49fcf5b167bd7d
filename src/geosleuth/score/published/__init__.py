"""What the five source papers published, as data to stand beside our own figures.

One JSON file a paper, facts only: who, which table, which images, which figures. A figure is copied as it is
printed; where papers contradict themselves, each other or plain arithmetic, the row carries a :class:`Flag` that
says so. Figures with different ``n`` or different splits do not rest on the same images, whatever the tables'
layout suggests.

One vocabulary of metrics for all papers (see ``METRICS``):

=================================== =============================================================================
``acc@<km>km``                      percent of images whose answer lies within that distance, ``acc@0.5km`` ...
``median_km``                       median distance of the answers
``geoscore``                        mean GeoScore, 0 to 5000
``country``, ``province``, ``city`` percent of images with that level right (``province``: province, state or region)
``tokens``                          mean tokens a query, image tokens included
``response_ms``                     response time
``pass8_images``, ``pass8_percent`` images that all of eight tries locate; ``pass0_``: none; ``kept_``: some, not all
=================================== =============================================================================

The papers' own words for distances are mapped to these: smileGeo's accuracy is ``acc@50km``; "city", "region",
"country" and "continent" in GeoAgent's tables are ``acc@25km``, ``acc@200km``, ``acc@750km`` and ``acc@2500km``.
The levels ``country``, ``province`` and ``city`` are names that match, and only GeoVista has them.

``n`` is the number of images that the figures rest on. Some papers leave it vague, and some state a number that
their figures rule out: 33.33 % can be 1 of 3, never 1 of 4. ``n_note`` begins with "stated" or "inferred".
"""

from .load import papers, published_rows, read_papers
from .model import Flag, Paper, PublishedRow, PublishedTable
from .vocabulary import DATASETS, GROUPS, METRICS, canonical_dataset, is_metric

__all__ = [
    "DATASETS",
    "GROUPS",
    "METRICS",
    "Flag",
    "Paper",
    "PublishedRow",
    "PublishedTable",
    "canonical_dataset",
    "is_metric",
    "papers",
    "published_rows",
    "read_papers",
]
