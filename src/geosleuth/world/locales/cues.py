"""Things that stand in one country and speak of another: what a scene misleads with."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Cue:
    """What is written, and the country that it speaks of."""

    sort: str
    country: str
    lines: tuple[str, ...]


def _cues(sort: str, text: str) -> tuple[Cue, ...]:
    found = []
    for part in text.split("|"):
        country, *lines = (word.strip() for word in part.split(";"))
        found.append(Cue(sort, country, tuple(lines)))
    return tuple(found)


CUES = (
    *_cues(
        "airline",
        "DE; Lufthansa; Frankfurt | FR; Air France; Paris | NL; KLM; Amsterdam | ES; Iberia; Madrid"
        " | PT; TAP Air Portugal; Lisboa | TR; Turkish Airlines; İstanbul | AE; Emirates; Dubai | FI; Finnair"
        " | PL; LOT Polish Airlines; Warszawa | IS; Icelandair; Reykjavík | GR; Aegean; Athens | CH; Swiss; Zürich"
        " | IE; Ryanair; Dublin | GB; British Airways; London | AU; Qantas; Sydney | NZ; Air New Zealand"
        " | JP; Japan Airlines; Tokyo | KR; Korean Air; Seoul | TH; Thai Airways; Bangkok | VN; Vietnam Airlines"
        " | ID; Garuda Indonesia; Bali | ET; Ethiopian Airlines | KE; Kenya Airways; Nairobi | CO; Avianca; Bogotá"
        " | MX; Aeroméxico; Cancún | CA; Air Canada; Toronto | US; Delta Air Lines; New York",
    ),
    *_cues(
        "foreign chain",
        "CA; Tim Hortons | FR; Carrefour | DE; Lidl | JP; UNIQLO | ES; Zara | SE; IKEA | PH; Jollibee | US; McDonald's"
        " | US; Starbucks Coffee | US; Domino's Pizza | ES; Mango | IT; United Colors of Benetton | SE; H&M"
        " | FR; Decathlon | NL; SPAR | DE; ALDI | GB; Costa Coffee | GB; Marks & Spencer | ZA; Nando's | JP; MUJI"
        " | FR; Sephora | CH; Migros | PT; Pingo Doce | KR; Paris Baguette",
    ),
    *_cues(
        "imported product",
        "NL; Heineken; Amsterdam | IE; Guinness; Dublin | JP; Asahi; アサヒビール | DE; Miele; Made in Germany"
        " | IT; Barilla; Pasta Italiana | FR; Perrier; Source Vergèze France | MX; Corona; Cerveza de México"
        " | PL; Żubrówka; Polska Wódka | DK; Carlsberg; København | BE; Stella Artois; Leuven | CN; Tsingtao; 青岛啤酒"
        " | TR; Efes; Türkiye | TH; Singha; เบียร์สิงห์ | JP; Kikkoman; しょうゆ | IE; Jameson; Irish Whiskey"
        " | IT; Lavazza; Torino | CZ; Pilsner Urquell; Plzeň",
    ),
    *_cues(
        "foreign kitchen",
        "CN; 北京饭店; Chinese Restaurant | IT; Trattoria Napoli; Pizza al forno | GR; Ταβέρνα; Greek Taverna"
        " | TR; İstanbul Kebap; Döner | TH; ร้านอาหารไทย; Thai Food | KR; 한국식당; Korean BBQ | JP; すし; Sushi Bar"
        " | IN; Taj Mahal; Indian Curry | VN; Phở Hà Nội; Vietnamese Food | GE; ხინკალი; Georgian Kitchen"
        " | MX; Cantina Oaxaca; Tacos | DE; Bayrischer Biergarten; Münchner Bier",
    ),
)  # fmt: skip
"""Tour buses are made up on the spot, from a town of another country and a number there."""

COACHES = {
    "DE": "Reisen", "AT": "Reisen", "CH": "Carreisen", "FR": "Voyages", "BE": "Autocars", "NL": "Touringcars",
    "IT": "Viaggi", "ES": "Autocares", "PT": "Viagens", "BR": "Turismo", "AR": "Viajes", "MX": "Viajes",
    "PL": "Autokary", "CZ": "Autobusy", "SK": "Autobusy", "HU": "Busz", "HR": "Putovanja", "SI": "Potovanja",
    "SE": "Buss", "NO": "Buss", "DK": "Turist", "FI": "Bussit", "TR": "Turizm", "GB": "Coaches", "IE": "Coaches",
    "RO": "Transport", "EE": "Reisid", "LV": "Autobusi", "LT": "Kelionės",
}  # fmt: skip
"""What firms that run buses call themselves behind the name of their town."""

_NAMED_AFTER_TOWNS = (
    "IT; Ristorante Venezia | IT; Pizzeria Napoli | IT; Gelateria Firenze | IT; Caffè Roma | FR; Café Paris"
    " | FR; Brasserie Lyon | FR; Salon Versailles | GB; London Pub | GB; Hotel Bristol | GB; Oxford Barber"
    " | US; Boston Bagel | US; Manhattan Grill | US; Chicago Diner | TR; Istanbul Kebap | TR; Ankara Market"
    " | CN; Restaurant Shanghai | CN; Peking Garden | JP; Tokyo Sushi | JP; Osaka Ramen | GR; Taverna Athen"
    " | GR; Kreta Grill | ES; Bar Sevilla | ES; Bodega Granada | AT; Café Wien | DE; Berlin Döner"
    " | PT; Café Lisboa | IN; Bombay Palace | IN; Delhi Tandoori | TH; Bangkok Massage | VN; Saigon Bistro"
    " | LB; Beirut Grill | CU; Havana Bar | EG; Cairo Lounge | MX; Cancun Cantina | KR; Seoul Kitchen"
)
NAMED_AFTER_TOWNS = _cues("shop called after a town", _NAMED_AFTER_TOWNS)

SURNAMES = {
    "DE": ("Hamburger", "Bamberger", "Neustadt", "Mannheimer"), "AT": ("Steyrer", "Wiener", "Brucker", "Leobner"),
    "FR": ("Lyon", "Bordeaux", "Nevers", "Toulouse"), "IT": ("Pisano", "Rossano", "Messina", "Genovese"),
    "ES": ("Cuenca", "Toledo", "Aranda", "Soria"), "PT": ("Oliveira", "Guimarães", "Viana", "Leiria"),
    "BR": ("Santos", "Campos", "Natal", "Niterói"), "AR": ("Córdoba", "Tucumán", "Luján", "Paraná"),
    "MX": ("Durango", "León", "Tampico", "Morelos"), "CO": ("Pereira", "Armenia", "Ibagué", "Córdoba"),
    "GB": ("Hamilton", "Lincoln", "Preston", "Durham"), "NL": ("Van Delden", "Van Dam", "Van Breda", "Van Tilburg"),
    "PL": ("Tarnowski", "Krakowski", "Zamojski", "Toruński"), "SE": ("Lund", "Borås", "Sandviken", "Boden"),
    "DK": ("Holstebro", "Vejle", "Skive", "Ribe"), "NO": ("Molde", "Hamar", "Moss", "Halden"),
    "HU": ("Budai", "Szegedi", "Egri", "Váci"), "CZ": ("Kolín", "Tábor", "Písek", "Most"),
    "FI": ("Lahti", "Salo", "Kotka", "Rauma"),
}  # fmt: skip
"""Names of people that are names of towns, too, or come from one."""
