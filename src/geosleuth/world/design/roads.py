"""Numbers of roads as a country's shields carry them.

Written down for made-up scenes alone, and not taken from the tables by which clues are read. A number tells the
country's way of numbering; that just this road passes the town is not said.
"""

import random

_FORMS = {
    "AR": "RN {3|7|9|11|34|40}", "AT": "B {1|70|83|127|138|158}", "AU": "{A1|M1|A8|B100|C155|M31}",
    "BE": "N {4|9|43|50|60}", "BG": "I/{1|5|6|8}", "BR": "BR-{101|116|153|262|277|376}", "CA": "HWY {2|7|16|17}",
    "CL": "Ruta {5|68|78|152}", "CN": "G{104|107|205|312|318|324}", "CZ": "I/{3|7|35|43|50}",
    "DE": "B {3|6|27|31|96|105|184}", "EE": "T{1|2|4|6}", "ES": "{N-340|N-122|A-92|N-630|A-66}",
    "FI": "VT {3|4|5|9}", "FR": "D {17|96|437|610|906|974}", "GB": "{A38|A47|A61|A82|A64|B1108|A1074}",
    "GR": "EO{1|3|7|9}", "HR": "D{1|8|10|66}", "HU": "M{3|5|6|7}", "IE": "{N6|N17|N20|R336|R445}",
    "IN": "NH {44|48|66|19|27}", "IT": "{SS9|SS16|SS64|SS106|SP569}", "JP": "国道{1|2|4|8|16|171}号",
    "KR": "국도 {1|2|7|17|35}호", "KZ": "M{32|36|38|51}", "LT": "A{1|2|5|11}", "LV": "A{1|2|7|9}",
    "MA": "N{1|6|8|9}", "MX": "MEX {15|57|85|95|180|200}", "NL": "N {201|237|361|470}", "NO": "RV {4|7|13|15}",
    "NZ": "SH {1|2|6|8}", "PL": "{DK7|DK8|DK9|DW780|S7}", "PT": "{EN1|EN109|IP3|IC2|EN125}",
    "RO": "{DN1|DN6|DN15|DJ107A|DN79}", "RU": "{М-4|М-7|М-10|Р-22}", "SE": "RV {23|40|55|70}", "SK": "I/{18|64|66|68}",
    "TH": "ทางหลวงหมายเลข {1|2|4|11}", "TR": "D{100|200|400|650|750}", "TW": "台{1|3|9|11}線",
    "UA": "{М-06|М-05|Н-01|М-03}", "US": "{I-5|I-35|US 101|US 20|US 80|I-94}", "VN": "QL{1A|3|5|13|20}",
    "ZA": "{N1|N2|N3|R61|R102|R304}",
}  # fmt: skip


def road_number(country: str, chance: random.Random) -> str | None:
    """A road's number as the country writes it, None where it is not known here."""
    form = _FORMS.get(country)
    if form is None:
        return None
    before, _, rest = form.partition("{")
    choices, _, after = rest.partition("}")
    return f"{before}{chance.choice(choices.split('|'))}{after}"
