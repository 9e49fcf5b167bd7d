"""Area codes of towns, and how postcodes are written in each country."""

import gzip
from functools import cache
from importlib.resources import files
from typing import Final


@cache
def areas() -> dict[str, str]:
    """First figures behind the country's code, by GeoNames number ("2950159") and by region ("BR.27")."""
    data = gzip.decompress((files("geosleuth.world.locales") / "data" / "areas.tsv.gz").read_bytes())
    return dict(line.split("\t") for line in data.decode("ascii").splitlines())


FIGURES: Final = "0123456789"
FIRST_LETTERS: Final = "ABCDEFGHJKLMNPQRSTUVWXYZ"
_LETTERS: Final = "ABCEGHJKLMNPRTVXY"  # none that any of the countries leaves out

POSTCODES: Final = {
    "DE": "#####", "AT": "####", "CH": "####", "FR": "#####", "BE": "####", "NL": "#### @@", "IT": "#####",
    "ES": "#####", "PT": "####-###", "BR": "#####-###", "MX": "#####", "CL": "#######",
    "CA": "@#@ #@#", "AR": "@####",
    "CO": "######", "US": "#####", "AU": "####", "NZ": "####", "ZA": "####", "PL": "##-###", "CZ": "### ##",
    "SK": "### ##", "HU": "####", "RO": "######", "BG": "####", "GR": "### ##", "RU": "######", "UA": "#####",
    "RS": "#####", "HR": "#####", "SI": "####", "TR": "#####", "SE": "### ##", "NO": "####", "DK": "####",
    "IS": "###", "FI": "#####", "EE": "#####", "LV": "LV-####", "LT": "#####", "JP": "###-####", "KR": "#####",
    "CN": "######", "TW": "###", "TH": "#####", "VN": "######", "ID": "#####", "MY": "#####", "PH": "####",
    "IN": "######", "LK": "#####", "BD": "####", "NP": "#####", "PK": "#####", "IR": "##########",
    "IL": "#######", "EG": "#####", "SA": "#####", "MA": "#####", "GE": "####", "AM": "####", "ET": "####",
    "KE": "#####", "TZ": "#####", "NG": "######", "MM": "#####", "KZ": "######",
}  # fmt: skip
"""``#`` is a figure, ``@`` a letter.

Countries whose codes need a table of places (the United Kingdom, Ireland, Peru) are left out, and those that have none.
"""


def options_for(sign: str) -> str:
    """What may stand at a place of a mask."""
    return FIGURES if sign == "#" else _LETTERS if sign == "@" else sign


@cache
def beginnings() -> dict[str, tuple[str, ...]]:
    """With what codes begin, by region ("FR.11") or by GeoNames number; a country's code where its codes tell regions.

    ``scripts/build_postcode_beginnings.py`` makes the table from what the atlas knows; the rest is written here.
    """
    data = gzip.decompress((files("geosleuth.world.locales") / "data" / "postcodes.tsv.gz").read_bytes())
    rows = dict(line.split("\t") for line in data.decode("ascii").splitlines())
    return {code: tuple(found.split()) for code, found in (rows | _BEGINNINGS).items()}


_BEGINNINGS: Final = {
    "DE.01": "70 71 72 73 74 75 76 77 78 79 88", "DE.02": "80 81 82 83 84 85 86 87 90 91 92 93 94 95 96 97",
    "DE.04": "20 21 22", "DE.05": "34 35 36 60 61 63 64 65", "DE.06": "26 27 29 30 31 38 49",
    "DE.07": "32 33 40 41 42 44 45 46 47 48 50 51 52 53 57 58 59", "DE.08": "54 55 56 67 76",
    "DE.10": "23 24 25", "DE.11": "14 15 16 03", "DE.12": "17 18 19", "DE.13": "01 02 04 08 09", "DE.14": "06 38 39",
    "DE.15": "07 98 99", "DE.16": "10 12 13", "DE.03": "28", "DE.09": "66",
    "AT.01": "7", "AT.02": "9", "AT.03": "2 3", "AT.04": "4", "AT.05": "5", "AT.06": "8", "AT.07": "6", "AT.08": "6",
    "AT.09": "1",
    "FR.11": "75 77 78 91 92 93 94 95", "FR.24": "18 28 36 37 41 45", "FR.27": "21 25 39 58 70 71 89 90",
    "FR.28": "14 27 50 61 76", "FR.32": "02 59 60 62 80", "FR.44": "08 10 51 52 54 55 57 67 68 88",
    "FR.52": "44 49 53 72 85", "FR.53": "22 29 35 56", "FR.75": "16 17 19 23 24 33 40 47 64 79 86 87",
    "FR.76": "09 11 12 30 31 32 34 46 48 65 66 81 82", "FR.84": "01 03 07 15 26 38 42 43 63 69 73 74",
    "FR.93": "04 05 06 13 83 84",
    "NL.01": "78 79 94", "NL.02": "84 85 86 87 88 89 91 92", "NL.03": "38 39 65 66 67 68 69 70 71 73",
    "NL.04": "95 96 97 99", "NL.05": "58 59 60 61 62 63 64", "NL.06": "46 47 48 49 50 51 52 53 54 55 56 57",
    "NL.07": "10 11 12 13 14 15 16 17 18 19 20 21", "NL.09": "34 35 36 37 38", "NL.15": "74 75 76 77 80 81",
    "NL.11": "22 23 24 25 26 27 28 29 30 31 32 33", "NL.10": "43 44 45", "NL.16": "82 83",
    "PL.72": "5", "PL.73": "85 86 87 88 89", "PL.74": "9", "PL.75": "20 21 22 23 24", "PL.76": "65 66 67 68",
    "PL.77": "30 31 32 33 34", "PL.78": "00 01 02 03 04 05 06 07 08 09 26", "PL.79": "45 46 47 48 49",
    "PL.80": "35 36 37 38 39", "PL.81": "15 16 17 18 19", "PL.82": "80 81 82 83 84", "PL.83": "40 41 42 43 44",
    "PL.84": "25 26 27 28 29", "PL.85": "10 11 12 13 14", "PL.86": "60 61 62 63 64", "PL.87": "70 71 72 73 74 75 76 78",
    "CH.AG": "50 52 53 54 55 56", "CH.BE": "30 31 34 35 36 37 38", "CH.BS": "40", "CH.GR": "70 71 72 74 75",
    "CH.LU": "60 61 62", "CH.SG": "90 94 95 96", "CH.SO": "45 46", "CH.SZ": "64 88", "CH.TG": "85 93", "CH.ZG": "63",
    "CH.ZH": "80 81 83 84 86 87 89", "CH.BL": "41 42 43 44", "CH.SH": "82",
}  # fmt: skip
"""First figures of a region's codes, by GeoNames' code, for some countries whose regions the atlas does not know so."""
