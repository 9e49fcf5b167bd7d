"""Well-known places where a careless map errs: microstates, enclaves, border towns, islands, the antimeridian."""

import pytest

from geosleuth.atlas.borders import NOWHERE, Borders
from geosleuth.geo import LatLon
from geosleuth.support.errors import BadInput

PLACES = {
    "Eiffel Tower": (48.8584, 2.2945, "FR", "Île-de-France"),
    "Vatican": (41.9022, 12.4539, "VA", None),
    "Trastevere": (41.889, 12.469, "IT", "Lazio"),
    "Monaco": (43.7384, 7.4246, "MC", None),
    "Beausoleil": (43.7424, 7.4236, "FR", "Provence-Alpes-Côte d'Azur"),
    "Kinshasa": (-4.325, 15.322, "CD", "Kinshasa"),
    "Brazzaville": (-4.263, 15.243, "CG", "Brazzaville"),
    "El Paso": (31.76, -106.485, "US", "Texas"),
    "Ciudad Juárez": (31.69, -106.424, "MX", "Chihuahua"),
    "Point Roberts": (48.985, -123.06, "US", "Washington"),
    "Baarle-Hertog": (51.4405, 4.9291, "BE", "Flanders"),
    "San Marino": (43.9367, 12.4467, "SM", None),
    "Vaduz": (47.141, 9.5209, "LI", "Vaduz"),
    "Andorra la Vella": (42.5063, 1.5218, "AD", "Andorra la Vella"),
    "Maseru": (-29.31, 27.48, "LS", "Maseru District"),
    "Kaliningrad": (54.71, 20.51, "RU", "Kaliningrad Oblast"),
    "Hong Kong": (22.3027, 114.1772, "HK", None),
    "Macau": (22.1987, 113.5439, "MO", None),
    "Gibraltar": (36.1408, -5.3536, "GI", None),
    "La Línea": (36.168, -5.348, "ES", "Andalusia"),
    "Ceuta": (35.8894, -5.3213, "ES", "Ceuta"),
    "Melilla": (35.2923, -2.9381, "ES", "Melilla"),
    "Longyearbyen": (78.2232, 15.6267, "SJ", "Svalbard"),
    "Fairbanks": (64.84, -147.72, "US", "Alaska"),
    "Nome": (64.5011, -165.4064, "US", "Alaska"),
    "Attu, west of 180": (52.9, 172.9, "US", "Alaska"),
    "Uelen, east of 180": (66.159, -169.809, "RU", "Chukotka"),
    "Anadyr": (64.7337, 177.497, "RU", "Chukotka"),
    "Suva": (-18.1416, 178.4419, "FJ", "Central"),
    "Taveuni, east of 180": (-16.85, -179.97, "FJ", "Northern"),
    "Lusaka": (-15.4167, 28.2833, "ZM", "Lusaka Province"),
    "San Juan": (18.4655, -66.1057, "PR", None),
    "Cayenne": (4.9224, -52.3135, "GF", "Guyane"),
    "Pristina": (42.6629, 21.1655, "XK", None),
    "Taipei": (25.033, 121.5654, "TW", "Taipei"),
    "Laâyoune": (27.1536, -13.2033, "EH", None),
    "Simferopol": (44.948, 34.1, "UA", "Crimea"),
    "Hargeisa": (9.56, 44.065, "SO", None),
    "Kyrenia": (35.34, 33.32, "CY", None),
    "Ramallah": (31.9, 35.2, "PS", "West Bank"),
    "Singapore": (1.29, 103.85, "SG", None),
    "Johor Bahru": (1.4655, 103.7578, "MY", "Johor"),
    "Detroit": (42.3314, -83.0458, "US", "Michigan"),
    "Windsor": (42.3149, -83.0364, "CA", "Ontario"),
    "Konstanz": (47.6633, 9.1753, "DE", "Baden-Wurttemberg"),
    "Kreuzlingen": (47.645, 9.178, "CH", "Thurgau"),
    "Büsingen": (47.6969, 8.6903, "DE", "Baden-Wurttemberg"),
    "Campione d'Italia": (45.9689, 8.9708, "IT", "Lombardy"),
    "Llívia": (42.4639, 1.9811, "ES", "Catalonia"),
    "Narva": (59.3797, 28.1791, "EE", "Ida-Virumaa"),
    "Ivangorod": (59.3766, 28.2232, "RU", None),
    "Malé": (4.1755, 73.5093, "MV", None),
    "Fakaofo, Tokelau": (-9.38, -171.24, "TK", None),
    "Amundsen-Scott": (-89.99, 0.0, "AQ", None),
}


@pytest.mark.parametrize("place", PLACES)
def test_country_and_region(place: str) -> None:
    lat, lon, country, region = PLACES[place]
    found = Borders.load().find_region(LatLon(lat, lon))
    assert found is not None
    assert found.country == country
    if region is not None:
        assert found.name == region


def test_a_polygon_finer_than_the_region_is_its_district() -> None:
    paris = Borders.load().find_region(LatLon(48.8584, 2.2945))
    assert paris is not None
    assert (paris.code, paris.district, paris.district_code) == ("FR-IDF", "Paris", "FR-75")
    assert (paris.country_name, paris.geonames) == ("France", "FR.11")


def test_the_open_sea_is_nowhere() -> None:
    borders = Borders.load()
    assert borders.find_region(LatLon(0.0, -30.0)) is None
    assert borders.find_region(LatLon(-48.9, -123.4), snap_km=100) is None
    assert borders.regions[0] == NOWHERE
    assert borders.lookup([0.0, 85.0], [-30.0, 0.0]).tolist() == [0, 0]


def test_a_quay_is_in_its_country_and_said_to_be_in_the_water() -> None:
    spot = Borders.load().reverse(64.5011, -165.4064)  # Nome's shore lies outside the 1:10m coastline
    assert spot is not None
    assert (spot.region.code, spot.ground, spot.distance_km) == ("US-AK", "waters", 0.0)
    assert not Borders.load().is_land(64.5011, -165.4064)
    assert Borders.load().lookup(64.5011, -165.4064, waters=False) == 0


def test_snapping_says_how_far() -> None:
    borders = Borders.load()
    lat, lon = next((lat, -9.6) for lat in (38.7, 38.6) if borders.reverse(lat, -9.6, snap_km=0))
    west = lon
    while borders.reverse(lat, west, snap_km=0):
        west -= 0.001
    spot = borders.reverse(lat, west - 0.04, snap_km=5.0)
    assert spot is not None
    assert spot.ground == "near"
    assert 2.0 < spot.distance_km < 3.7
    assert spot.region.country == "PT"
    assert borders.reverse(lat, west - 0.04, snap_km=0.5) is None


@pytest.mark.parametrize("snap_km", [-1.0, 101.0, float("nan"), float("inf")])
def test_a_senseless_reach_is_refused(snap_km: float) -> None:
    with pytest.raises(BadInput, match="must be 0 to 100 km"):
        Borders.load().reverse(0.0, -30.0, snap_km=snap_km)


def test_land_and_water() -> None:
    borders = Borders.load()
    lats = [48.8584, -75.0, 43.6, 42.0, 0.0, 45.0]
    lons = [2.2945, 0.0, -87.0, 51.0, -30.0, -30.0]
    # Paris, Antarctica, Lake Michigan (lakes are land), the Caspian, the Atlantic twice
    assert borders.is_land(lats, lons).tolist() == [True, True, True, False, False, False]
