"""Which towns a world takes in each land, and how they write themselves where the atlas has an English name."""

from typing import Final

USUAL_TOWN_COUNT: Final = 12
TOWN_COUNTS: Final = {
    "US": 40, "DE": 24, "FR": 24, "GB": 24, "IT": 20, "ES": 18, "BR": 22, "MX": 18, "CA": 14, "AU": 14, "PL": 16,
    "RU": 20, "CN": 22, "JP": 20, "TR": 16, "AR": 14, "IS": 6, "HK": 4, "IN": 9, "ID": 16, "UA": 14, "KR": 14,
    "TH": 14, "VN": 14, "EE": 8, "IE": 8, "NZ": 8, "SI": 7, "LV": 7, "LT": 8, "AM": 6, "GE": 7,
}  # fmt: skip

EXONYMS: Final = {
    ("DE", "Munich"): "München", ("DE", "Nuremberg"): "Nürnberg", ("AT", "Vienna"): "Wien",
    ("CH", "Sankt Gallen"): "St. Gallen", ("BE", "Antwerp"): "Antwerpen", ("BE", "Ostend"): "Oostende",
    ("IT", "Rome"): "Roma", ("IT", "Milan"): "Milano", ("IT", "Naples"): "Napoli", ("IT", "Turin"): "Torino",
    ("IT", "Genoa"): "Genova", ("IT", "Florence"): "Firenze", ("IT", "Padua"): "Padova", ("IT", "Venice"): "Venezia",
    ("IT", "Syracuse"): "Siracusa", ("IT", "Mantua"): "Mantova", ("IT", "Leghorn"): "Livorno",
    ("PT", "Lisbon"): "Lisboa", ("PL", "Warsaw"): "Warszawa", ("PL", "Bielsko-Biala"): "Bielsko-Biała",
    ("CZ", "Prague"): "Praha", ("CZ", "Pilsen"): "Plzeň", ("RO", "Bucharest"): "București",
    ("SE", "Gothenburg"): "Göteborg", ("DK", "Copenhagen"): "København", ("DK", "Århus"): "Aarhus",
    ("NL", "The Hague"): "Den Haag", ("RS", "Belgrade"): "Beograd", ("TR", "Istanbul"): "İstanbul",
    ("MX", "Mexico City"): "Ciudad de México", ("MY", "Malacca"): "Melaka", ("ID", "South Tangerang"): "Tangerang Selatan",
    ("ID", "Jambi City"): "Jambi", ("ES", "Seville"): "Sevilla",
}  # fmt: skip

ONLY_IN_REGIONS: Final = {"BE": frozenset({"VLG"})}
NOT_IN_REGIONS: Final = {
    "CH": frozenset({"GE", "VD", "NE", "JU", "FR", "VS", "TI"}),
    "CA": frozenset({"10"}),
}
"""First-level regions, by GeoNames' code, whose signs are in another language than the land's table."""

_CYRILLIC: Final = {
    "Dž": "Џ", "Lj": "Љ", "Nj": "Њ", "dž": "џ", "lj": "љ", "nj": "њ",
    **dict(zip("ABVGDĐEŽZIJKLMNOPRSTĆUFHCČŠ", "АБВГДЂЕЖЗИЈКЛМНОПРСТЋУФХЦЧШ", strict=True)),
    **dict(zip("abvgdđežzijklmnoprstćufhcčš", "абвгдђежзијклмнопрстћуфхцчш", strict=True)),
}  # fmt: skip


def in_cyrillic(name: str) -> str:
    """A Serbian name in Serbia's other alphabet."""
    for latin, cyrillic in _CYRILLIC.items():
        name = name.replace(latin, cyrillic)
    return name


def _listed(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split("|"))


LISTED: Final[dict[str, tuple[str, ...]]] = {
    "el": _listed("Αθήνα | Βόλος | Ιωάννινα | Καβάλα | Σέρρες | Χανιά | Ρόδος | Καλαμάτα | Τρίκαλα | Λαμία | Κομοτηνή"),
}
"""Towns as their own signs name them, by language, where the atlas's main names are in another script."""
