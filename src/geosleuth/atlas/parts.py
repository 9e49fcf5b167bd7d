"""Split a query into parts: house and street, town, region, country; in any order, with or without commas."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import inf

from geosleuth.geo import Disc, LatLon, great_circle_km
from geosleuth.names import country_code, country_name, fold
from geosleuth.support.lazy import lazy_pattern

from .search import MAX_QUERY_CHARS, exact_key

MAX_PARTS = 6
_SEPARATOR = lazy_pattern(r"[,;،؛、，；|\n()（）\[\]]+|\s[-–—·/]\s|\s[-–—](?=[^\W\d])")
# Addresses in Chinese and Japanese go from the large to the small; each step ends with the name of its unit.
_CJK = lazy_pattern(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{4,}")
_CJK_STEP = lazy_pattern(
    r"北海道|.{2,}?(?:特别行政区|特別行政區|自治区|自治區|自治州|地区|省|州|市|县|縣|県|郡|区|區|镇|鎮|乡|鄉|町|村|都|府|街道|路|街|島|岛|$)"
)
_POSTCODES = lazy_pattern(
    r"""(?:^|(?<=\s))(?:
        〒\s?\d{3}-?\d{4} | \d{3}-\d{3,4} |
        [A-Z]{1,2}\d[A-Z\d]?\s\d[A-Z]{2} | [A-Z]\d[A-Z]\s?\d[A-Z]\d |
        (?:[A-Z]{1,3}-)?\d{5,6}(?:-\d{3,4})? | [A-Z]{1,3}-\d{4,6} | \d{3}\s\d{2}(?=\s\D) | ^\d{4}(?:\s[A-Z]{2})?(?=\s\D)
    )(?=\s|$)""",
    re.VERBOSE,
)
_NUMBER = lazy_pattern(r"\d{1,4}\s?[a-z]?(?:\s?[-/]\s?\d+)?", re.IGNORECASE)
_BEFORE_POSTCODE = lazy_pattern(
    r"^([^,\d]+\s\d{1,4}\s?[A-Za-z]?|\d{1,4}[A-Za-z]?\s[^,\d]+)\s+(?=\d{4,6}\s+[^\d\s,][^\d,]*$)"
)
_HOUSE_NUMBER = lazy_pattern(
    r"^\d{1,5}[a-z]?(?:\s?[-/]\s?\d+[a-z]?)?\s+\D|\D\s+\d{1,5}\s?[a-z]?(?:\s?[-/]\s?\d+)?$", re.IGNORECASE
)
_STREET_WORDS = frozenset(
    """
    street road rd avenue ave av boulevard blvd lane ln drive highway hwy freeway expressway parkway terrace crescent
    alley quay mews route motorway intersection
    rue chemin impasse allee quai cours voie ruelle autoroute chaussee
    via viale vicolo corso piazza piazzale strada lungomare
    calle avenida avda carrer carretera paseo passeig plaza placa camino travesia ronda autopista jiron
    rua travessa estrada rodovia praca largo alameda avinguda
    strasse str gasse weg platz ufer damm ring straat laan plein gracht kade dijk
    ulica ul aleja ulitsa prospekt pereulok shosse naberezhnaya utca korut bulevar bulvar trg calea
    katu gatan gata vagen vei veien gade vej jalan jln jl lorong soi thanon duong cadde caddesi sokak sokagi bulvari
    улица ул проспект переулок шоссе площадь бульвар набережная вулиця οδος λεωφορος شارع طريق רחוב ถนน ซอย मार्ग रोड
    """.split()  # noqa: SIM905  (a hundred words in quotation marks each say no more)
)
# Words that name a kind of street only at the end of a name; at its start they mean something else, as in St Louis.
_TRAILING_STREET_WORDS = frozenset({"st", "dr", "ct", "sq", "row", "court", "square", "gate", "tie", "ut"})

_STREET_ENDS = (
    "strasse", "gasse", "allee", "platz", "damm", "straat", "laan", "gracht", "gatan", "vagen", "veien", "gaten",
    "katu", "intie", "kuja",
)  # fmt: skip
_STREET_SIGNS = ("大道", "大街", "路", "街", "巷", "胡同", "通り", "丁目", "대로", "로", "길")
_TOWN_KM, TOWN_REACHES = 30.0, 4.0

_IN_BRACKETS = lazy_pattern(r"[(（\[]([^()（）\[\]]*)[)）\]]")
_SIDE = (
    r"(?:north|south|east|west|central|mid|nord|sud|süd|ost|öst|est|ouest|oeste|norte|sur|sul|leste|este|ovest)"
    r"(?:[-\s]?(?:east|west|est|ouest|oeste|ovest|ost|öst))?"
)
_COMPASS = lazy_pattern(
    rf"(?:(?:the|le|la|el|il|der|im)\s)?(?:{_SIDE}(?:en|ern|lich|liche[rsn]?)?|noreste|noroeste|sureste|suroeste|nordeste|"
    r"sudeste|sudoeste|settentrionale|meridionale|(?:северо-|юго-)?(?:север|юг|восток|запад)|[东東西南北中]+部|NE|NW|SE|SW)"
    r"(?:\s(?:part|side|half|coast|corner|shore))?",
    re.IGNORECASE,
)
_BEFORE_NAME = lazy_pattern(
    rf"""(?:(?:(?:the|probably|possibly|likely|perhaps|maybe|somewhere|approximately|just)\s)*(?:
        near(?:by)?|close\sto|next\sto|around|outside(?:\sof)?|in|within|off|along|rural|greater|downtown|
        (?:city\s|town\s|historic\s)?cent(?:er|re)\sof|(?:outskirts|suburbs|vicinity|surroundings|area|coast|heart)\sof|
        central|{_SIDE}ern(?:\s(?:part|side|half|coast|end)\sof)?|{_SIDE}(?:\s(?:part|side|half|coast|end))?\sof|
        bei|nahe|nähe|in\sder\snähe\svon|umgebung\svon|{_SIDE}(?:en\svon|liche[rsn]?)|
        près\sde|proche\sde|autour\sde|centre-ville\sde|(?:nord|sud|est|ouest)\sde(?:\sla)?|
        cerca\sde|alrededores\sde|centro\sde|(?:norte|sur|este|oeste)\sde|vicino\sa|presso|nei\spressi\sdi|perto\sde|
        рядом\sс|около|возле
    )\s(?:the\s)?)+""",
    re.IGNORECASE | re.VERBOSE,
)
_SIDE_BEFORE = lazy_pattern(rf"(?:the\s)?{_SIDE}[-\s]", re.IGNORECASE)
_AFTER_NAME = lazy_pattern(
    r"""\s(?:
        (?:metro(?:politan)?\s)?area|vicinity|surroundings|outskirts|suburbs|(?:city|town)\scent(?:er|re)|downtown|
        old\stown|countryside|neighbou?rhood|or\snearby|umgebung|innenstadt|altstadt|centro|centre-ville
    )|(?:附近|周辺|周边|付近|一带|一帯)""",
    re.IGNORECASE | re.VERBOSE,
)
_EITHER = lazy_pattern(r"\s(?:or|oder|ou|или)\s", re.IGNORECASE)
_OF = r"(?:\s(?:dell|d|l|de l)['’]|\s(?:(?:de|del|della|delle|dei|degli|di|du|des|do|da|dos|of|van)\s)?)"
_ARTICLE = lazy_pattern(r"(?:la|le|les|las|los|el|the|den|der)\s", re.IGNORECASE)
_FEATURE_WORDS = {
    "{} National Park": (
        "parque nacional|parque natural|parc national|parc naturel|nationalpark|naturpark|parco nazionale|"
        "nationaal park|national park|taman nasional|национальный парк|парк",
        "national park|nationalpark|national reserve|nature reserve|state park|national forest|"
        "game reserve|milli parkı",
        "国家森林公园|国家公园|國家公園|国立公園|국립공원",
    ),
    "{} Island": (
        "isla|isola|île|ilha|insel|isle|island|pulau|остров|νησί|جزيرة",
        "island|islands|insel|adası|sziget|ø",
        "群岛|岛|諸島|群島|列島|島|섬|도",
    ),
    "Lake {}": (
        "lago|laguna|lac|lake|loch|lough|jezioro|jezero|озеро|λίμνη|بحيرة",
        "lake|see|jezero|gölü|tó|озеро",
        "湖|호",
    ),
    "Mount {}": (
        "monte|mont|mount|mt|cerro|nevado|pico|pic|piz|volcán|vulkan|berg|gunung|гора|вулкан|όρος|جبل",
        "mountain|peak|volcano|dağı|hegy|fjellet",
        "山|岳|산",
    ),
}
_UNIT_WORDS = (
    r"landkreis|kreis|provincia|província|province|provincie|provinz|county|co\.?|département|departement|"
    r"departamento|distrito|powiat|okres|district|kabupaten|amphoe|huyện|quận|thị xã|shahrest[aā]n-e|partido|"
    r"cant[oó]n|arrondissement|politischer bezirk|bezirk|markaz|srŏk|muang|nom[oó]s|liw[aā][’']?|cercle|daïra|caza|"
    r"condado|comté|contea|grafschaft|shire|regency|municipality|raion|rayon|rejon|nohiyai|"
    r"(?:metropolitan|unitary) city|città metropolitana|borough|parish|район|округ",
    r"county|district|kreis|municipality|local municipality|district municipality|metropolitan municipality|"
    r"borough|parish|raion|rayon|rajon|regency|shire|prefecture|department|province|[iİ]̇?lçesi|tumani|j[aá]r[aá]s|"
    r"okrug|aūdany|subregion|local government area|(?:yao |zhuang |miao |tujia |yi |hui |tibetan |mongol )?"
    r"autonomous (?:county|prefecture)|banner|gun|gu|ku|xian|qu|район|муниципальный район|округ|ауданы|rajonas",
    "地区|自治州|盟|区|區|县|縣|郡|旗|구|군",
)
_TOWN_WORDS = (
    r"municipio|município|municipality|municipi|gemeente|(?:markt|stadt)?gemeinde|kommune|comune|commune|comuna|obshtina|"
    r"općina|opština|bashkia|concelho|kota|city|(?:kreisfreie )?stadt|ciudad|ville|città|cidade|oraş|municipiul|town|"
    r"village|gmina|miasto|wieś|obec|město|thành phố|pueblo|villaggio|desa|село|деревня|посёлок|город|община|громада",
    r"municipality|kommune?|vald|city|town|township|village|shi|si|cho|machi|linn|köyü|kasabası|belediyesi",
    "市|町|村|镇|鎮|乡|鄉|시|읍|면",
)
_MAX_SPELLINGS = 6
_STREET_ABBREVIATIONS = {
    short: tuple(full.split("|"))
    for short, _, full in (
        pair.partition(":")
        for pair in """
        bd:boulevard bld:boulevard blvd:boulevard boul:boulevard av:avenue|avinguda|avenida ave:avenue avda:avenida
        avgda:avinguda r:rue pl:place|plaza|plaça|platz pza:plaza sq:square rte:route ch:chemin imp:impasse all:allée
        fg:faubourg fbg:faubourg c:carrer|calle ctra:carretera cra:carretera pg:passeig ps:passeig|paseo rd:road
        st:street|saint str:straße|street dr:drive ln:lane hwy:highway pkwy:parkway ct:court ter:terrace ul:ulica|улица
        al:aleja ул:улица пр:проспект пер:переулок jl:jalan jln:jalan v:via p:piazza
        """.split()  # noqa: SIM905  (as above)
    )
}


def split_parts(text: str) -> list[str]:
    """Return the parts of a query in its order, without postcodes and without parts that have no letters or digits."""
    plain = map(without_postcode, split_written_parts(text))
    return [part for part in plain if exact_key(part)]


def split_written_parts(text: str) -> list[str]:
    """Return the parts of a query as written; a separate house number joins its street: "12, Rue Grimaldi".

    A postcode between a house number and a town starts a new part: "Mannerheimintie 5 00100 Helsinki".
    """
    text = _BEFORE_POSTCODE.sub(r"\1, ", text[:MAX_QUERY_CHARS])
    parts = [" ".join(part.split()) for part in _SEPARATOR.split(text)]
    parts = [part for part in parts if exact_key(part)]
    if len(parts) > 1 and any(map(_NUMBER.fullmatch, parts[:2])):
        parts = [" ".join(parts[:2]), *parts[2:]]
    return parts[:MAX_PARTS]


def _compile_named(before: str, after: str, glued: str) -> re.Pattern[str]:
    return lazy_pattern(rf"(?:(?:{before}){_OF}(\S.*)|(\S.*)[\s-](?:{after})|(\S.+)(?:{glued}))", re.IGNORECASE)


_FEATURES = {english: _compile_named(*words) for english, words in _FEATURE_WORDS.items()}
_UNIT, _TOWN = _compile_named(*_UNIT_WORDS), _compile_named(*_TOWN_WORDS)


def feature_names(part: str) -> list[str]:
    """Return other names of a park, island, lake or mountain: "Lago di Como" is "Como" and "Lake Como"."""
    named = [(english, bare) for english, words in _FEATURES.items() for bare in _bare_names(part, words)]
    return [name for english, bare in named for name in (english.format(bare), bare)]


def unit_names(part: str) -> list[str]:
    """Return other names of a second-level unit: "Kreis Mettmann" is "Mettmann County" and "Mettmann"."""
    return [name for bare in _bare_names(part, _UNIT) for name in (f"{bare} County", bare)]


def town_names(part: str) -> list[str]:
    """Return the names of a town that is called a town, city or municipality: "Comune di Siena" is "Siena"."""
    return _bare_names(part, _TOWN)


def _bare_names(part: str, words: re.Pattern[str]) -> list[str]:
    """Return a name without the word for its kind, and then without its article, where it has that word."""
    match = words.fullmatch(part)
    bare = next(filter(None, match.groups()), "") if match else ""
    article = _ARTICLE.match(bare)
    return [name for name in (bare, bare[article.end() :] if article else "") if name]


def extract_bracketed_parts(text: str) -> set[str]:
    """Return the parts of a query that stand in brackets, as written."""
    return {part for inner in _IN_BRACKETS.findall(text[:MAX_QUERY_CHARS]) for part in split_written_parts(inner)}


def is_compass(part: str) -> bool:
    """Return whether a part is only a side: "north-east", "Süden", "东部"."""
    return _COMPASS.fullmatch(part.strip()) is not None


def without_qualifiers(part: str) -> str:
    """Return a part without words that only qualify its name: "near Ushuaia", "Chamonix area", "northern Iceland"."""
    start = _BEFORE_NAME.match(part)
    rest = part[start.end() :] if start else part
    ends = list(_AFTER_NAME.finditer(rest))
    name = (rest[: ends[-1].start()] if ends and ends[-1].end() == len(rest) else rest).strip() or part
    side = _SIDE_BEFORE.match(name)  # "North Italy" is Italy, but "West Hampton" is not Hampton
    return name[side.end() :] if side and country_code(name) is None and country_code(name[side.end() :]) else name


def either(part: str) -> list[str]:
    """Return the names of a part that offers several: "Lisbon or Porto"."""
    return [name.strip() for name in _EITHER.split(part) if name.strip()]


def without_postcode(part: str) -> str:
    """Return a part without the postcode beside a town ("22149 Hamburg", "NY 10001"); empty if it is only a code."""
    return " ".join(_POSTCODES.sub(" ", part).split())


def expand_street_name(name: str) -> list[str]:
    """Return spellings of a street name with each abbreviation ("bd", "st") expanded in every possible way."""
    words = name.replace("/", "/ ").split()
    if len(words) < 2:
        return []
    return [
        " ".join([*words[:at], full, *words[at + 1 :]])
        for at, word in enumerate(words)
        for full in _STREET_ABBREVIATIONS.get(exact_key(word), ())
    ][:_MAX_SPELLINGS]


def split_script(part: str) -> list[str]:
    """Return the steps of a Chinese or Japanese address without spaces ("広島県広島市中区"); other texts stay whole."""
    return _CJK_STEP.findall(part)[:MAX_PARTS] if _CJK.fullmatch(part) else [part]


def names_street(part: str) -> bool:
    """Return whether a part is a street or an address, by its words or by a house number."""
    words = exact_key(part).split()
    if len(words) > 1 and (words[-1] in _TRAILING_STREET_WORDS or not _STREET_WORDS.isdisjoint(words)):
        return True
    if any(len(word) > 6 and word.endswith(_STREET_ENDS) for word in words):
        return True
    return (len(part) > 2 and part.endswith(_STREET_SIGNS)) or _HOUSE_NUMBER.search(part) is not None


@dataclass(frozen=True, slots=True)
class EnclosingTown:
    """A settlement that other places may be said to lie in."""

    country: str
    point: LatLon
    reach_km: float
    population: int

    @property
    def around_km(self) -> float:
        """Return up to what distance a place may still be said to lie in it."""
        return max(_TOWN_KM, TOWN_REACHES * self.reach_km)


@dataclass(frozen=True, slots=True)
class EnclosingPlaces:
    """The country, regions and towns that a part of a query may name, and that other places may lie in.

    ``regions`` are codes such as "US.TX".
    """

    name: str
    country: str | None = None
    regions: frozenset[str] = frozenset()
    towns: tuple[EnclosingTown, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.country or self.regions or self.towns)

    def holds(self, country: str | None, region: Callable[[], str | None], point: LatLon, population: int = 0) -> bool:
        """Return whether a place lies in one of them.

        Args:
            country: the place's country.
            region: returns the code of the place's region; only called if it matters.
            point: where the place is.
            population: of the place; it can only lie in towns with more people.
        """
        if self.country is not None and country is not None and belongs_to_country(country, self.country):
            return True
        if self.regions and region() in self.regions:
            return True
        return any(
            (country is None or town.country == country)
            and population < max(1, town.population)
            and great_circle_km(point.lat, point.lon, town.point.lat, town.point.lon) <= town.around_km
            for town in self.towns
        )

    @property
    def town_areas(self) -> Iterator[Disc]:
        """Yield the area around each town, the largest town first."""
        return (Disc(town.point, town.around_km) for town in self.towns)

    def distance_km(self, point: LatLon) -> float:
        """Return the distance to the nearest of the towns; infinite if there are none."""
        away = (great_circle_km(point.lat, point.lon, town.point.lat, town.point.lon) for town in self.towns)
        return float(min(away, default=inf))


@lru_cache(maxsize=1 << 12)
def belongs_to_country(country: str, whole: str) -> bool:
    """Return whether a country is, or belongs to, another, as Puerto Rico belongs to the United States."""
    if whole in (country, "GE"):  # "Georgia, USA" would be read as the state, and no country belongs to Georgia
        return country == whole
    return country_code(f"{country_name(country)}, {country_name(whole)}") == country


def cuts(words: Sequence[str], most: int = 4) -> Iterator[tuple[str, str]]:
    """Yield the ways to cut a name off the end of a text without commas, the longest first: (rest, name)."""
    for count in range(min(most, len(words) - 1), 0, -1):
        name, tail = " ".join(words[:-count]), " ".join(words[-count:])
        if fold(name) != fold(tail):  # "Bora Bora" is one name
            yield name, tail
