"""From the lines that were read in a photo to clues: what each kind of text says about countries."""

from collections.abc import Sequence

from .brands import brand_findings
from .clue import Clue, TextSeen
from .clue_reliability import ReliabilityTable
from .dates import date_findings
from .distances import distance_findings, distances
from .languages import language_findings, national_findings
from .money import money_findings
from .phones import phone_findings, phones_seen
from .plates import plate_findings
from .postcodes import postcode_findings, postcodes_seen
from .roads import road_findings
from .scripts import script_findings
from .sign_layout import usable
from .text_clue import ClueDraft, distinct
from .town_names import district_findings
from .units import unit_findings
from .web import addresses_seen, web_findings


def text_clues(lines: Sequence[TextSeen], *, reliabilities: ReliabilityTable | None = None) -> list[Clue]:
    """Every clue in the lines of one scene, each with the line it was seen in, the strongest first.

    Latin letters and English alone say nothing or nearly so. For any text, the countries of a clue add up to 1 or
    are empty. ``reliabilities`` replaces rows of `geosleuth.evidence.reliability`.
    """
    chosen = usable(lines)
    found: list[ClueDraft] = [
        *script_findings(chosen),
        *language_findings(chosen),
        *national_findings(chosen),
        *phone_findings(phones_seen(chosen)),
        *web_findings(addresses_seen(chosen)),
        *postcode_findings(postcodes_seen(chosen)),
        *district_findings(chosen),
        *money_findings(chosen),
        *road_findings(chosen),
        *brand_findings(chosen),
        *plate_findings(chosen),
        *distance_findings(distances(chosen)),
        *date_findings(chosen),
        *unit_findings(chosen),
    ]
    clues = [finding.clue(reliabilities) for finding in distinct(found)]
    return sorted(clues, key=lambda clue: (-clue.reliability, clue.kind, clue.seen))
