"""Whether tools answer with what was asked for, or say that they do not know: 60 questions as models ask them.

    python benchmarks/noise.py [--check]

Map and document tools are asked without any added region and without the web. What may come back is written beside
each question: a part of the address of every place, or of the title of every document. "-" means that nothing may.
Whatever else comes back is unrelated. `--check` exits with 1 where there is any.
"""

import argparse
import asyncio
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from geosleuth.atlas import OfflineAtlas
from geosleuth.names import fold
from geosleuth.photo import Album
from geosleuth.tools import Case, ToolCall
from geosleuth.tools.toolset import all_tools

NOTHING = "-"


@dataclass(frozen=True, slots=True)
class Question:
    """A call, and what may come back: one of these texts must stand in everything that does."""

    tool: str
    arguments: dict[str, Any]
    may: tuple[str, ...]
    named: bool = False  # one of the ten that went wrong and made us ask

    @property
    def words(self) -> str:
        """The call on one line."""
        return f"{self.tool}({', '.join(str(value) for value in self.arguments.values())})"


def _geocode(text: str, *may: str, named: bool = False) -> Question:
    return Question("maps_geocode", {"address": text}, may or (NOTHING,), named)


def _documents(text: str, *may: str, named: bool = False) -> Question:
    return Question("search_documents", {"query": text}, may or (NOTHING,), named)


def _poi(text: str, near: str, *may: str, named: bool = False) -> Question:
    return Question("poi_keyword_search", {"keyword": text, "near": near}, may or (NOTHING,), named)


def _at(tool: str, lat: float, lon: float, *may: str, named: bool = False, **more: Any) -> Question:
    return Question(tool, {"latitude": lat, "longitude": lon, **more}, may or (NOTHING,), named)


QUESTIONS = (
    # The ten.
    _documents("Callitris New South Wales", named=True),
    _documents("Lucky Nasi Kandar food stall", named=True),
    _geocode("Glacier Bay, Alaska", "Alaska", named=True),
    _geocode("Lake Balaton", "Hungary", named=True),
    _geocode("桂山岛", "Guangdong", named=True),
    _geocode("Bawang, Banjarnegara, Central Java", "Banjarnegara, Central Java", named=True),
    _geocode("Schöneberger Straße, 22149 Hamburg", "Hamburg", named=True),
    _poi("water tower", "Budapest", named=True),
    _at("nearby", 47.5, 19.05, radius_m=50_000, named=True),
    _at("reverse_geocode", 46.9, 20.1, "Hungary", named=True),
    # Landmarks and natural features, most of which the atlas does not have.
    _geocode("Sunset Boulevard, Los Angeles", "Los Angeles, California"),
    _geocode("Yosemite National Park", "California"),
    _geocode("Mount Kosciuszko, New South Wales, Australia", "Australia"),
    _geocode("Great Rift Valley, Kenya", "Kenya"),
    _geocode("Cliffs of Moher", "Ireland"),
    _geocode("Drakensberg, South Africa", "South Africa"),
    _geocode("Isle of Skye, Scotland", "Skye", "Scotland"),
    _geocode("Eiffel Tower, Paris", "Eiffel Tower"),
    _geocode("Pulau Weh, Aceh, Indonesia", "Aceh", "Indonesia"),
    _geocode("Lake Titicaca", "Peru", "Bolivia"),
    _geocode("Carretera Austral, Chile", "Chile"),
    _geocode("Gulf of Bothnia", "Finland", "Sweden"),
    # Roads and addresses.
    _geocode("Ruta 40, Santa Cruz, Argentina", "Santa Cruz, Argentina", "Argentina"),
    _geocode("BR-230, Altamira, Pará, Brazil", "Altamira, Pará"),
    _geocode("221B Baker Street, London NW1 6XE, UK", "London", "Baker Street"),
    _geocode("1600 Pennsylvania Avenue NW, Washington, DC 20500", "Washington"),
    _geocode("R. Augusta 1500, São Paulo - SP, Brasil", "São Paulo, Brazil"),
    _geocode("Jl. Malioboro No. 52, Yogyakarta", "Yogyakarta"),
    _geocode("Unit 4, Industrial Estate, Limerick, Ireland", "Limerick"),
    _geocode("Main Street", "Main Street"),
    # Shops and names on signs.
    _geocode("Texas Chicken"),
    _geocode("Hotel Paris"),
    _geocode("Warung Bu Sri, Ubud, Bali", "Ubud, Bali", "Bali, Indonesia"),
    _geocode("Supermercado El Ahorro, Trujillo, Peru", "Trujillo"),
    _geocode("Pharmacie du Marché, Abidjan", "Abidjan"),
    _geocode("Toyota Boshoku"),
    _poi("Boulangerie Costa", "Lisbon"),
    _poi("Lotus's", "Chiang Mai, Thailand"),
    _poi("Shell", "Nairobi"),
    _poi("church with two towers", "Kaunas, Lithuania"),
    Question("poi_input_tips", {"text": "Waterto", "near": "Budapest"}, (NOTHING,)),
    # Other scripts, misread names, other orders.
    _geocode("広島県広島市中区", "Hiroshima"),
    _geocode("نزوى، عمان", "Nizwa", "Oman"),
    _geocode("с. Верхние Мандроги, Ленинградская область, Россия", "Leningrad", "Russia"),
    _geocode("เชียงใหม่ ประเทศไทย", "Chiang Mai"),
    _geocode("Κολωνάκι, Αθήνα", "Athens", "Attica"),
    _geocode("Bangalroe, India", "Karnataka"),
    _geocode("Lubumbash1, DR Congo", "Lubumbashi"),
    _geocode("Peru, Cusco, Urubamba", "Urubamba"),
    _geocode("Xqzvkkw"),
    # Documents.
    _documents("phone code +62 274"),
    _documents("yellow road lines concrete poles red soil"),
    _documents("Boulangerie Costa Monaco"),
    _documents("blue street signs with white letters"),
    _documents("eucalyptus savanna Northern Territory"),
    _documents("tuk tuk three wheeler green yellow"),
    _documents("terrain Mongolia", "Mongolia"),
    _documents("flag with a cedar tree", "Lebanon"),
    _documents("doubly landlocked country", "Uzbekistan", "Liechtenstein", "World"),
    _documents("driving side Suriname", "Suriname"),
)  # fmt: skip


async def asked(question: Question, case: Case) -> list[str]:
    """What came back, a line each: the address of a place or the title of a document."""
    tools = all_tools().select([question.tool])
    (seen,) = await tools.run([ToolCall("1", question.tool, question.arguments)], case)
    if seen.failure is not None:
        return []
    rows = seen.data.get("results", seen.data.get("places", []))
    return [str(row.get("address") or row.get("title") or row.get("name")) for row in rows]


def unrelated(question: Question, found: list[str]) -> list[str]:
    """What has nothing of what may come back."""
    return [one for one in found if not any(fold(text) in fold(one) for text in question.may if text != NOTHING)]


def main() -> int:
    """Ask, print, check."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="exit with 1 where anything unrelated comes back")
    options = parser.parse_args()
    noise = 0
    with TemporaryDirectory() as folder:
        case = Case(Album(), OfflineAtlas(Path(folder)))
        for question in QUESTIONS:
            found = asyncio.run(asked(question, case))
            wrong = unrelated(question, found)
            noise += bool(wrong)
            told = "; ".join(found[:3]) if found else "nothing"
            print(f"{'WRONG' if wrong else 'fine':5} {'*' if question.named else ' '} {question.words}: {told}")
    print(f"{len(QUESTIONS)} questions, {noise} with something unrelated (* one of the ten)")
    return int(options.check and noise > 0)


if __name__ == "__main__":
    sys.exit(main())
