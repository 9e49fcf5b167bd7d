"""Number plates of ordinary cars: their form and their colours, country by country.

Written down for made-up scenes alone, and not taken from the tables by which clues are read. The part of a plate that
names a district is one of the country's, not the town's: cars travel.
"""

import random
import re
from typing import NamedTuple

from .styles import codes

_CHOICE = re.compile(r"\{([^}]*)\}")
_LETTERS = "ABCDEFGHJKLMNPRSTUVWXYZ"
_SHARED_WITH_CYRILLIC = "ABEKMHOPCTX"
_ONLY: dict[str, str] = {
    "FR": "ABCDEFGHJKLMNPQRSTVWXYZ", "IT": "ABCDEFGHJKLMNPRSTVWXYZ", "ES": "BCDFGHJKLMNPRSTVWXYZ",
    "RU": _SHARED_WITH_CYRILLIC, "UA": _SHARED_WITH_CYRILLIC, "BG": _SHARED_WITH_CYRILLIC,
    "GR": "ABEHIKMNOPTXYZ", "CL": "BCDFGHJKLPRSTVWXYZ", "BR": "ABCDEFGHJ", "NL": "BDFGHJKLNPRSTVXZ",
}  # fmt: skip

_FORMS = {
    "AE": "{A|B|C|D|E} #####", "AM": "## @@ ###", "AR": "@@ ### @@", "AT": "{W|G|L|S|K|IB|B|ST}-#### @",
    "AU": "{@@@ ##@|@@@ ###|### @@@}", "BE": "{1|2}-@@@-###", "BG": "{CA|PB|B|CB|A|P|E} #### @@",
    "BR": "@@@#@##", "CA": "{@@@@ ###|@@@ ###|### @@@}", "CH": "{ZH|BE|LU|GR|SG|AG|VD|GE} ### ###", "CL": "@@@@-##",
    "CN": "{京|沪|粤|苏|浙|川|鲁|鄂|湘|陕}@·@####", "CO": "@@@ ###", "CZ": "{1|2|3|4}{A|B|C|E|H|L|M|P|S|T|U|Z}# ####",
    "DE": "{B|HH|M|K|F|S|L|DD|N|H|HB|KA|FR|MZ|KS}-@@ ###", "DK": "@@ ## ###", "EE": "### @@@", "ES": "#### @@@",
    "FI": "@@@-###", "FR": "@@-###-@@", "GB": "@{A|B|C|D|E|G|K|L|M|N|V|Y}{12|15|18|20|21|22|23|67|71} @@@",
    "GE": "@@-###-@@", "GR": "@@@-####", "HK": "@@ ####", "HR": "{ZG|ST|RI|OS|ZD|PU|VŽ} ###-@@",
    "HU": "{@@@-###|@@ @@-###}", "ID": "{B|D|L|H|N|AB|BK|DK} #### @@",
    "IE": "{131|142|161|172|181|191|202|212|221|231}-{D|C|G|L|KY|WX|MO|SO}-#####", "IL": "{##-###-##|###-##-###}",
    "IN": "{DL|MH|KA|TN|KL|GJ|UP|RJ|WB|PB} {01|02|05|07|09|12} @@ ####", "IS": "@@ @##", "IT": "@@ ### @@",
    "JP": "{品川|横浜|名古屋|大阪|神戸|札幌|福岡} {300|330|500|530} {さ|す|た|な|は|み} ##-##",
    "KE": "K{A|B|C|D}@ ###@",
    "KR": "{###|##}{가|나|다|라|마|거|너|더|버|서|허} ####", "KZ": "### @@@ {01|02|05|08|10|13|14}",
    "LK": "{WP|CP|SP|NW} C@@-####", "LT": "@@@ ###", "LV": "@@-####", "MX": "@@@-###-@", "MY": "{W|B|J|P|A|N}@@ ####",
    "NG": "{ABC|KJA|LSR|ENU|KAD|PHC}-### @@", "NL": "{@@-###-@|@-###-@@|##-@@@-#}", "NO": "@@ #####", "NZ": "@@@###",
    "PE": "{@#@-###|@@@-###}", "PH": "@@@ ####", "PK": "{LEA|ABC|BKA} ###", "PL": "{WA|KR|GD|PO|DW|LU|SK|WX} #####",
    "PT": "@@ ## @@", "RO": "{B ### @@@|CJ ## @@@|IS ## @@@|TM ## @@@|BV ## @@@}",
    "RS": "{BG|NS|NI|KG|SU} ####-@@", "RU": "@###@@ {77|78|50|23|66|54|74|63}", "SE": "{@@@ ###|@@@ ##@}",
    "SI": "{LJ|MB|KR|CE|KP} @@-###", "SK": "{BA|KE|ZA|NR|PO}-###@@", "TH": "{1กข|2ขค|กท|ขจ} ####",
    "TR": "{06|16|34|35|01|42|55|61} @@@ ###", "TW": "@@@-####", "TZ": "T ### {A|B|C|D}@@",
    "UA": "{AA|KA|BC|AX|BH|AE} #### @@", "US": "{@@@ ####|@@@-####|### @@@|#@@@###}",
    "VN": "{29|30|43|51|59|60|65|75|79|92}@-###.##", "ZA": "{CA ###-###|@@ ## @@ GP|ND ###-###|@@@ ### L}",
}  # fmt: skip
"""@ is a letter, # a figure, {x|y} one of several; all else stands as it is."""

_YELLOW = "#f5c518"
_BLUE = "#1f3f8f"
_EUROPEAN = codes("AT BE BG CZ DE DK EE ES FI FR GR HR HU IE IT LT LV NL PL PT RO SE SI SK NO IL TR UA RS AM GE")
_COLOURS = {
    "BE": ("#ffffff", "#8b1a2b"), "NL": (_YELLOW, "#111111"), "CO": (_YELLOW, "#111111"), "IL": (_YELLOW, "#111111"),
    "GB": (_YELLOW, "#111111"), "HK": (_YELLOW, "#111111"), "LK": (_YELLOW, "#111111"), "CN": ("#1c4fb5", "#ffffff"),
    "MY": ("#111111", "#ffffff"), "ID": ("#111111", "#ffffff"), "JP": ("#ffffff", "#0f5c3a"),
    "KE": (_YELLOW, "#111111"), "TZ": (_YELLOW, "#111111"),
}  # fmt: skip


class PlateLook(NamedTuple):
    """Ground, ink, and the band at the left, None where there is none."""

    ground: str
    ink: str
    band: str | None


def plate_look(country: str) -> PlateLook:
    """The colours of a country's ordinary plates, black on white where it is not known."""
    ground, ink = _COLOURS.get(country, ("#ffffff", "#111111"))
    return PlateLook(ground, ink, _BLUE if country in _EUROPEAN else None)


def number_plate(country: str, chance: random.Random) -> str | None:
    """A plate of the country's form, None where the form is not known here."""
    form = _FORMS.get(country)
    if form is None:
        return None
    letters = _ONLY.get(country, _LETTERS)
    chosen = _CHOICE.sub(lambda match: chance.choice(match[1].split("|")), form)
    return "".join(
        chance.choice(letters) if one == "@" else chance.choice("123456789") if one == "#" else one for one in chosen
    )
