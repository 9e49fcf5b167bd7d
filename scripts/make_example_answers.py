"""Write the example answers under examples/answers: made-up replies of two made-up answerers to made-up photos.

The places are real, the photos and the answerers are not: "careful" is seldom far off, knows when it is unsure and
sometimes declines; "hasty" mixes up cities, is always sure and answers in every shape that models do. Nothing here
says anything about a real model; the files exist to show the ruler at work. Same seed, same files.
"""

import json
import random
from pathlib import Path

from geosleuth.geo import LatLon, destination

Place = tuple[str, str, str | None, str, float, float]
Spread = list[tuple[float | None, float]]

OUT = Path(__file__).resolve().parent.parent / "examples" / "answers"

# kind, country, region, city, lat, lon of a spot in it
PLACES = [
    ("landmark", "France", "Île-de-France", "Paris", 48.8584, 2.2945),
    ("street", "France", "Auvergne-Rhône-Alpes", "Lyon", 45.7622, 4.8270),
    ("shop", "Monaco", None, "Monaco", 43.7349, 7.4197),
    ("street", "Germany", "Bavaria", "Munich", 48.1379, 11.5714),
    ("shop", "Germany", "Berlin", "Berlin", 52.5074, 13.3326),
    ("landmark", "Italy", "Lazio", "Rome", 41.8902, 12.4922),
    ("street", "Italy", "Campania", "Naples", 40.8500, 14.2581),
    ("shop", "Spain", "Catalonia", "Barcelona", 41.3839, 2.1706),
    ("nature", "Norway", "Vestland", "Bergen", 60.3960, 5.3440),
    ("street", "Finland", "Uusimaa", "Helsinki", 60.1690, 24.9410),
    ("street", "Poland", "Lesser Poland", "Kraków", 50.0617, 19.9373),
    ("landmark", "Greece", "Attica", "Athens", 37.9715, 23.7267),
    ("street", "Turkey", "Istanbul", "Istanbul", 41.0340, 28.9780),
    ("landmark", "United Kingdom", "England", "London", 51.5007, -0.1246),
    ("street", "United Kingdom", "Scotland", "Edinburgh", 55.9486, -3.1999),
    ("nature", "Iceland", "Southern Region", "Vík", 63.4186, -19.0060),
    ("landmark", "Egypt", "Giza", "Giza", 29.9792, 31.1342),
    ("street", "Morocco", "Marrakesh-Safi", "Marrakesh", 31.6258, -7.9892),
    ("street", "Nigeria", "Lagos", "Lagos", 6.4541, 3.3947),
    ("shop", "Kenya", "Nairobi County", "Nairobi", -1.2841, 36.8233),
    ("nature", "South Africa", "Western Cape", "Cape Town", -33.9628, 18.4098),
    ("street", "Ghana", "Greater Accra", "Accra", 5.5480, -0.2017),
    ("landmark", "India", "Uttar Pradesh", "Agra", 27.1751, 78.0421),
    ("street", "India", "Maharashtra", "Mumbai", 18.9402, 72.8356),
    ("shop", "Thailand", "Bangkok", "Bangkok", 13.7466, 100.5347),
    ("street", "Vietnam", "Hanoi", "Hanoi", 21.0338, 105.8500),
    ("street", "Japan", "Tokyo", "Tokyo", 35.6595, 139.7005),
    ("landmark", "Japan", "Kyoto", "Kyoto", 34.9671, 135.7727),
    ("shop", "South Korea", "Seoul", "Seoul", 37.5636, 126.9850),
    ("landmark", "China", "Beijing", "Beijing", 39.9163, 116.3972),
    ("street", "China", "Shandong", "Qingdao", 36.0662, 120.3826),
    ("shop", "Singapore", None, "Singapore", 1.2931, 103.8320),
    ("street", "Indonesia", "Jakarta", "Jakarta", -6.1936, 106.8229),
    ("landmark", "Australia", "New South Wales", "Sydney", -33.8568, 151.2153),
    ("nature", "New Zealand", "Otago", "Queenstown", -45.0312, 168.6626),
    ("landmark", "United States", "New York", "New York City", 40.6892, -74.0445),
    ("street", "United States", "California", "San Francisco", 37.8021, -122.4187),
    ("street", "United States", "Texas", "El Paso", 31.7587, -106.4869),
    ("shop", "Canada", "Quebec", "Montreal", 45.5017, -73.5673),
    ("street", "Mexico", "Mexico City", "Mexico City", 19.4326, -99.1332),
    ("street", "Cuba", "La Habana", "Havana", 23.1367, -82.3589),
    ("nature", "Peru", "Cusco", "Machu Picchu Pueblo", -13.1631, -72.5450),
    ("street", "Brazil", "Rio de Janeiro", "Rio de Janeiro", -22.9711, -43.1822),
    ("street", "Argentina", "Buenos Aires", "Buenos Aires", -34.6037, -58.3816),
    ("street", "Chile", "Santiago Metropolitan", "Santiago", -33.4423, -70.6456),
    ("nature", "Fiji", "Northern", "Taveuni", -16.8300, 179.9700),
    ("street", "Russia", "Chukotka", "Anadyr", 64.7337, 177.4968),
    ("street", "Georgia", "Tbilisi", "Tbilisi", 41.6938, 44.8015),
]  # fmt: skip

# How far off, in km, with which chance; the last entry of "careful" is a polite refusal.
CAREFUL: Spread = [(0.2, 0.35), (3.0, 0.25), (15.0, 0.15), (120.0, 0.10), (600.0, 0.05), (None, 0.10)]
HASTY: Spread = [(0.3, 0.20), (5.0, 0.20), (40.0, 0.10), (900.0, 0.30), (7000.0, 0.20)]


def main() -> None:
    """Write both files."""
    OUT.mkdir(parents=True, exist_ok=True)
    rng = random.Random(7)
    for name, spread in (("careful", CAREFUL), ("hasty", HASTY)):
        records = [_record(name, number, place, spread, rng) for number, place in enumerate(PLACES, 1)]
        lines = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
        (OUT / f"{name}.jsonl").write_text(lines, encoding="utf-8", newline="\n")


def _record(name: str, number: int, place: Place, spread: Spread, rng: random.Random) -> dict[str, object]:
    kind, country, region, city, lat, lon = place
    names = {"country": country, "region": region, "city": city}
    truth = {"lat": lat, "lon": lon, **{key: value for key, value in names.items() if value}}
    typical_km = rng.choices([km for km, _ in spread], [chance for _, chance in spread])[0]
    record: dict[str, object] = {"id": f"made-up-{number:02}.jpg", "kind": kind, "truth": truth}
    if typical_km is None:
        return {**record, "reply": "Nothing in this photo tells me where it was taken; I would rather not guess."}
    off_km = typical_km * rng.uniform(0.3, 1.2)
    point = destination(LatLon(lat, lon), rng.uniform(0, 360), off_km)
    said = LatLon(round(point.lat, 4), round(point.lon, 4))
    near = off_km < 60
    if name == "careful":
        return {**record, "answer": _careful(said, names if near else {"country": country}, typical_km, rng)}
    elsewhere = ("Springfield", "Atlantis") if off_km > 2000 else (city if near else "Springfield", country)
    return {**record, "reply": _hasty(said, *elsewhere, rng.randrange(6))}


def _careful(said: LatLon, names: dict[str, str | None], typical_km: float, rng: random.Random) -> dict[str, object]:
    sure = round(min(0.95, max(0.05, 0.95 - 0.06 * typical_km**0.3 + rng.uniform(-0.05, 0.05))), 2)
    finer = {
        key: {"conclusion": names[name]} for key, name in (("region", "region"), ("precise", "city")) if names.get(name)
    }
    return {
        "lat": said.lat,
        "lon": said.lon,
        "country": {"conclusion": names["country"], "clues": ["the writing on the signs"], "uncertainty": "low"},
        **finer,
        "probability": sure,
        "radius_km": max(0.5, round(typical_km, 1)),
        "explanation": "Made up for the demo.",
    }


def _hasty(said: LatLon, city: str, country: str, shape: int) -> str:
    """The same answer in one of six shapes that models really use."""
    ns, ew = "S" if said.lat < 0 else "N", "W" if said.lon < 0 else "E"
    shapes = [
        f'{{"lat": {said.lat}, "lon": {said.lon}, "city": "{city}", "country": "{country}"}}',
        f'Clearly:\n```json\n{{"lat": {said.lat}, "lon": {said.lon}, "city": "{city}", "country": "{country}",}}\n```',
        f"{{lat: {said.lat}, lng: {said.lon}, city: {city}, country: {country}}}",
        f"<answer>country: {country}, city: {city}, Latitude: {said.lat}, Longitude: {said.lon}</answer>",
        f"It must be {city} ({country}), about {abs(said.lat)}° {ns}, {abs(said.lon)}° {ew}. Confidence: 99%",
        f"**Country:** {country}\n**City:** {city}\n**Latitude:** {said.lat}\n**Longitude:** {said.lon}",
    ]
    return shapes[shape]


if __name__ == "__main__":
    main()
