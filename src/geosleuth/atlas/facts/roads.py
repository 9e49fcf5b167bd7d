"""Find the countries that use a road number's format, by a partial table.

Each scheme is a pattern for the whole number without blanks, the countries that use it, and its meaning there. Sources:
UNECE's AGR agreement (E roads) and UNESCAP's Asian Highway agreement (AH) with their annexes of routes; the national
road acts and sign manuals that define the classes; MUTCD for the USA; otherwise general knowledge of the signs. That a
scheme is missing from the table does not exclude a country.
"""

import re
import unicodedata
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from .countries import Evidence, all_countries, compute_shares

_BRAZIL = "AC AL AP AM BA CE DF ES GO MA MT MS MG PA PB PR PE PI RJ RN RS RO RR SC SP SE TO".replace(" ", "|")
_US = (
    "AL AK AZ AR CA CO CT DE FL GA HI ID IL IN IA KS KY LA ME MD MA MI MN MS MO MT NE NV NH NJ NM NY NC ND OH OK OR PA "
    "RI SC SD TN TX UT VT VA WA WV WI WY"
).replace(" ", "|")
_SPAIN = (
    "AC|AG|AL|AS|AV|AB|BI|BU|BA|CA|CC|CL|CM|CO|CR|CS|CU|CV|EX|GC|GI|GP|GR|GU|HU|JA|JV|LE|LR|LU|MA|MU|NA|OU|PM|PO|SA|SE|"
    "SG|SO|TE|TF|TO|VA|VG|ZA"
)
# Countries along each E road (UNECE AGR, annex I), without most three-digit branches and without Britain, whose signs
# show none.
E_ROUTES = {
    1: "IE PT ES", 3: "FR", 4: "SE FI", 5: "FR ES", 6: "SE NO", 7: "FR ES", 8: "NO FI", 9: "FR ES", 10: "NO SE",
    11: "FR", 12: "NO SE FI", 14: "NO SE", 15: "FR ES", 16: "NO SE", 17: "FR BE", 18: "NO SE FI RU", 19: "NL BE FR",
    20: "IE DK SE EE RU", 21: "FR CH", 22: "NL DE SE LV RU", 23: "FR CH", 25: "NL BE LU FR CH IT", 26: "DE",
    27: "CH IT FR", 28: "DE PL BY LT RU", 29: "DE LU FR", 30: "IE NL DE PL BY RU KZ", 31: "NL DE", 33: "IT",
    34: "BE NL DE", 35: "NL DE CH IT", 36: "DE PL", 37: "DE", 39: "NO DK", 40: "FR BE DE PL UA RU KZ UZ TM KG",
    41: "DE CH", 42: "FR BE DE", 43: "DE AT CH", 44: "FR LU DE", 45: "NO FI SE DK DE AT IT", 46: "FR BE",
    47: "SE DK DE", 48: "DE CZ", 49: "DE CZ AT", 50: "FR DE CZ SK UA RU", 51: "DE", 52: "FR DE AT", 53: "CZ DE",
    54: "FR CH DE", 55: "SE DK DE CZ AT IT GR", 56: "DE AT", 57: "AT SI", 58: "AT SK UA RO MD RU",
    59: "CZ AT SI HR", 60: "FR CH AT DE HU RO UA GE AZ TM UZ TJ KG", 61: "AT SI IT HR", 62: "FR CH IT", 63: "FI",
    64: "IT", 65: "SE PL CZ SK HU HR BA ME RS XK MK GR", 66: "IT AT HU", 67: "FI EE LV LT PL CZ", 68: "HU RO",
    69: "NO", 70: "ES FR IT SI HR RS RO BG TR GE", 71: "SK HU HR BA", 72: "FR", 73: "HU HR BA", 74: "FR IT",
    75: "NO FI PL CZ SK HU RS MK GR", 76: "IT", 77: "RU EE LV LT PL SK HU", 78: "IT", 79: "HU RO BG GR",
    80: "PT ES FR IT HR ME XK RS BG TR", 81: "UA RO", 82: "PT ES", 83: "BG", 84: "TR", 85: "LT BY UA RO BG GR",
    86: "GR", 87: "UA RO BG TR", 88: "TR", 89: "TR", 90: "PT ES IT GR TR", 91: "TR", 92: "GR", 94: "GR",
    95: "RU BY UA TR", 96: "TR", 97: "UA RU GE TR", 98: "TR", 99: "TR", 101: "UA RU", 105: "RU NO", 117: "RU GE AM",
    119: "RU AZ", 125: "RU KZ KG",
}  # fmt: skip
# Countries with E roads; Britain has them officially but not on its signs.
E_COUNTRIES = (
    "AL AM AT AZ BA BE BG BY CH CY CZ DE DK EE ES FI FR GE GR HR HU IE IT KG KZ LT LU LV MD ME MK NL NO PL PT RO RS RU "
    "SE SI SK TJ TM TR UA UZ XK"
)
MAX_ROAD_CHARS = 40
# Maps Cyrillic capitals to Latin letters of the same shape, so that М-4 on a Russian sign and M4 are the same.
_LOOKALIKES = str.maketrans("АВЕКМНОРСТХЕ", "ABEKMHOPCTXE")
_WORDS = (
    (re.compile(r"^(?:INTERSTATE)(?=\d)"), "I"),
    (re.compile(r"^(?:HIGHWAY|HIGHWAYNO\.?)(?=\d)"), "HWY"),
    (re.compile(r"^(?:ROUTENATIONALE|RUTANACIONAL|NATIONALE)(?=\d)"), "RN"),
    (re.compile(r"^(?:STATEHIGHWAY)(?=\d)"), "SH"),
    (re.compile(r"^(?:NATIONALHIGHWAY)(?=\d)"), "NH"),
)


class RoadScheme(NamedTuple):
    """A pattern, the ISO codes of the countries that use it, and the class of such roads."""

    pattern: str
    countries: str
    meaning: str


SCHEMES = (
    RoadScheme(
        r"A\d{1,4}[A-Z]?",
        "FR DE IT ES PT CH AT BE NL LU SI HR PL RO BG CY LT LV GB AU LK KE BW ZW IM JE SN CI MA DZ TN RU BA ME RS MK "
        "AL",
        "motorway (autoroute, Autobahn, autostrada, autopista), or a main road as in Britain, Australia, Sri Lanka",
    ),
    RoadScheme(r"A\d{1,3}\(M\)", "GB", "A road built as a motorway"),
    RoadScheme(
        r"M\d{1,2}", "GB IE HU PK AU UA BY RU KZ KG AM ZA ZM MW IN EG SY", "motorway, or a main road (M for magistral)"
    ),
    RoadScheme(r"M\d{3}", "ZA", "metropolitan route"),
    RoadScheme(r"B\d{1,4}[A-Z]?", "DE AT GB AU LK KE CY IM NA", "federal road (Bundesstraße), or a secondary road"),
    RoadScheme(r"C\d{1,4}", "GB AU KE NA ES IM", "minor road"),
    RoadScheme(
        r"D\d{1,4}[A-Z]?\d?",
        "FR TR HR CZ SK",
        "département road, Turkish or Croatian state road, Czech or Slovak motorway",
    ),
    RoadScheme(r"RD\d{1,4}[A-Z]?", "FR GP MQ RE GF", "département road"),
    RoadScheme(
        r"N\d{1,4}[A-Z]?",
        "FR BE NL IE CH PT ES LU ZA GH LK MA DZ SN PH BD PK ML BF GN CI CM GA CG CD IN",
        "national road",
    ),
    RoadScheme(
        r"RN\d{1,4}[A-Z]?",
        "FR MG AR MA DZ BJ BF CI CM CG CD GA GN HT ML NE SN TD TG TN MR NC RE BI RW GT CF",
        "national road (route or ruta nacional)",
    ),
    RoadScheme(r"RP\d{1,4}[A-Z]?", "AR MA NC", "provincial road"),
    RoadScheme(r"RR\d{1,4}", "MA SN BJ IT", "regional road"),
    RoadScheme(r"SS\d{1,3}[A-Z]*", "IT", "state road (strada statale)"),
    RoadScheme(r"SP\d{1,4}[A-Z]*", "IT BR", "provincial road in Italy; road of São Paulo in Brazil"),
    RoadScheme(r"SR\d{1,3}[A-Z]*", "IT US", "regional road in Italy; state route in the USA"),
    RoadScheme(r"RA\d{1,2}", "IT", "motorway link (raccordo autostradale)"),
    RoadScheme(r"S\d{1,3}[A-Z]?", "PL CN GB", "expressway in Poland; provincial expressway or road in China"),
    RoadScheme(r"S\d{1,3}", "AT", "expressway (Schnellstraße)"),
    RoadScheme(r"DK\d{1,2}", "PL", "national road (droga krajowa)"),
    RoadScheme(r"DW\d{3}", "PL", "voivodeship road"),
    RoadScheme(r"L\d{1,4}[A-Z]?", "DE AT GR MX", "state road (Landesstraße)"),
    RoadScheme(r"K\d{1,4}", "DE", "district road (Kreisstraße)"),
    RoadScheme(r"ST\d{4}", "DE", "Bavarian state road (Staatsstraße)"),
    RoadScheme(r"R\d{1,4}", "IE ZA BE UA BY RU NA LS SZ PH BD CZ IT", "regional road"),
    RoadScheme(r"P\d{1,4}[A-Z]?", "RU UA BY KZ LV ZA", "regional road"),
    RoadScheme(r"H\d{1,2}", "UA CH PK", "national road in Ukraine (Н)"),
    RoadScheme(r"T\d{3,4}", "UA", "territorial road (Т)"),
    RoadScheme(r"V\d{1,4}", "LV", "local road"),
    RoadScheme(
        r"IC\d{1,2}|IP\d{1,2}|EN\d{1,3}|EM\d{1,4}",
        "PT",
        "itinerário complementar or principal, estrada nacional or municipal",
    ),
    RoadScheme(rf"(?:{_SPAIN})-?\d{{1,4}}[A-Z]?", "ES", "road of a Spanish region or province"),
    RoadScheme(r"AP-?\d{1,3}", "ES BR", "toll motorway (autopista de peaje) in Spain; Amapá in Brazil"),
    RoadScheme(r"DN\d{1,3}[A-Z]?|DJ\d{3}[A-Z]?|DC\d{1,3}[A-Z]?", "RO", "national, county or communal road"),
    RoadScheme(r"RV\d{1,3}|FV\d{1,4}", "NO", "riksvei or fylkesvei"),
    RoadScheme(r"LV\d{1,4}|RV\d{1,3}", "SE", "länsväg or riksväg"),
    RoadScheme(r"VT\d{1,2}|KT\d{1,2}|ST\d{3}", "FI", "valtatie, kantatie or seututie"),
    RoadScheme(r"T\d{1,2}", "EE SK AU GB", "main road"),
    RoadScheme(r"O-?\d{1,2}", "TR DK", "Turkish motorway (otoyol); ring road in Denmark"),
    RoadScheme(r"I/\d{1,3}|II/\d{3}|III/\d{3,5}", "CZ SK BG", "road of the first, second or third class"),
    RoadScheme(r"EO\d{1,3}", "GR", "national road (Εθνική Οδός)"),
    RoadScheme(r"I-?\d{1,3}[NSEW]?", "US", "Interstate highway"),
    RoadScheme(r"US-?\d{1,3}[A-Z]?", "US", "United States Numbered Highway"),
    RoadScheme(rf"(?:{_US})-?\d{{1,4}}", "US", "state highway, by the state's letters"),
    RoadScheme(r"FM\d{1,4}|RM\d{1,4}", "US", "farm-to-market or ranch-to-market road: Texas"),
    RoadScheme(r"CR-?\d{1,4}[A-Z]?", "US CA", "county road"),
    RoadScheme(r"QEW|(?:ON|QC|BC|AB|MB|SK|NB|NS|PE|NL)-?\d{1,4}", "CA", "provincial highway"),
    RoadScheme(r"HWY-?\d{1,3}", "CA US AU NZ IS", "highway, by its number alone"),
    RoadScheme(r"BR-?\d{3}", "BR", "federal highway (rodovia federal)"),
    RoadScheme(rf"(?:{_BRAZIL})-?\d{{3}}", "BR", "state highway, by the state's letters"),
    RoadScheme(r"MEX-?\d{1,3}D?", "MX", "federal highway"),
    RoadScheme(r"CA-?\d{1,2}", "GT SV HN NI CR", "Central American highway (carretera centroamericana)"),
    RoadScheme(r"PE-?\d{1,3}[A-Z]{0,2}", "PE", "national road"),
    RoadScheme(
        r"E-?\d{1,3}", "EC AE MY PH LK", "main road or expressway: Ecuador, Emirates, Malaysia, Philippines, Sri Lanka"
    ),
    RoadScheme(r"RUTA\d{1,3}", "CL AR UY PY BO CO", "national route"),
    RoadScheme(r"NH-?\d{1,4}[A-Z]?", "IN NP", "National Highway"),
    RoadScheme(r"SH-?\d{1,3}[A-Z]?", "IN NZ US AU", "State Highway"),
    RoadScheme(r"MDR-?\d{1,3}", "IN", "major district road"),
    RoadScheme(
        r"AH-?\d{1,3}",
        "JP KR KP CN VN KH TH LA MM BD IN PK AF IR TR RU MN KZ KG TJ UZ TM AZ GE AM NP BT LK MY SG ID PH",
        "Asian Highway",
    ),
    RoadScheme(
        r"QL-?\d{1,3}[A-Z]?|CT-?\d{2}|TL-?\d{1,3}|ĐT-?\d{1,3}", "VN", "national road, expressway or provincial road"
    ),
    RoadScheme(r"G\d{1,4}|X\d{3}|Y\d{3}", "CN", "national expressway or road; county or township road"),
    RoadScheme(r"G\d{1,4}(?:线|高速|国道)", "CN", "national road"),
    RoadScheme(r"国道第?\d{1,3}号線?", "JP", "national route"),
    RoadScheme(r"(?:都道|府道|県道|道道)第?\d{1,4}号線?", "JP", "prefectural road"),
    RoadScheme(
        r"國道\d{1,2}號|台\d{1,3}[甲乙丙丁]?線?|省道台\d{1,3}線?|縣道\d{3}", "TW", "freeway, provincial or county road"
    ),
    RoadScheme(
        r"\d{3}国道|国道\d{3}|[京津沪渝冀豫云辽黑湘皖鲁新苏浙赣鄂桂甘晋蒙陕吉闽贵粤青藏川宁琼]?[SG]\d{1,4}线?",
        "CN",
        "national or provincial road",
    ),
    RoadScheme(
        r"국도\d{1,2}호선?|고속도로제?\d{1,3}호선?|지방도\d{1,4}호선?", "KR", "national road, expressway or local road"
    ),
    RoadScheme(r"כביש\d{1,4}", "IL", "numbered highway"),
    RoadScheme(r"ทล\.?\d{1,4}|ทางหลวง(?:หมายเลข)?\d{1,4}", "TH", "national highway"),
)


@dataclass(frozen=True, slots=True)
class RoadNumber:
    """A normalized road number, the meaning and countries of each matching scheme, and their combined evidence."""

    number: str
    schemes: tuple[tuple[str, tuple[str, ...]], ...]
    evidence: Evidence


def by_road_number(text: str) -> RoadNumber:
    """Return the countries that use a road number's format: ``A8``, ``E45``, ``BR-101``, ``D 906``, ``国道1号``.

    The table is partial, so an unknown number says nothing. Countries are weighted by the length of their roads, as a
    proxy for how often such a sign is seen.
    """
    number = _normalize_road(text)
    found: list[tuple[str, tuple[str, ...]]] = []
    e_road = re.fullmatch(r"E-?0?(\d{1,3})", number)
    if e_road:
        route = E_ROUTES.get(int(e_road[1]))
        meaning = f"European route E{int(e_road[1])}" + ("" if route else ", countries not known here")
        found.append((meaning, tuple((route or E_COUNTRIES).split())))
    compact = number.replace(" ", "")
    found.extend(
        (meaning, countries)
        for pattern, countries, meaning in _compile_schemes()
        if pattern.fullmatch(compact) or pattern.fullmatch(compact.replace("-", ""))
    )
    weights: dict[str, float] = {}
    for _, countries in found:
        for code in countries:
            weights[code] = _road_km(code)
    note = "; ".join(meaning for meaning, _ in found) or "no scheme of the table fits, which is partial"
    evidence = Evidence("road number", number, compute_shares(weights), note, "length of roads", "the table is partial")
    return RoadNumber(number, tuple(found), evidence)


def _normalize_road(text: str) -> str:
    text = unicodedata.normalize("NFKC", text[:MAX_ROAD_CHARS]).upper().translate(_LOOKALIKES)
    text = re.sub(r"[\s.‐‑–—_]+", lambda match: "-" if match[0].strip(" .") else "", text)
    for words, short in _WORDS:
        text = words.sub(short, text)
    return text


@cache
def _compile_schemes() -> tuple[tuple[re.Pattern[str], tuple[str, ...], str], ...]:
    return tuple((re.compile(scheme.pattern), tuple(scheme.countries.split()), scheme.meaning) for scheme in SCHEMES)


def _road_km(code: str) -> float:
    """Return the length of a country's roads, estimated from its population if the Factbook has no figure."""
    country = all_countries()[code]
    return country.road_km or max(country.population / 100, 1.0)
