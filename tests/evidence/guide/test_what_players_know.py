"""One thing that a player of geography games knows about each attribute, in words or as attribute = value."""

import pytest

from geosleuth.evidence.guide import field_guide, look_alike, read_sightings, tell_apart, weigh_sightings

KNOWN = {
    "road": [
        ("driving_side", "cars keep to the left", "JP", "KR"),
        ("centre_line", "double yellow centre line", "US", "GB"),
        ("edge_line", "dashed yellow edge line", "IE", "GB"),
        ("road_marking_special", "row of white triangles across the road", "NL", "US"),
        ("road_surface", "street paved with bricks in herringbone", "NL", "US"),
        ("kerb", "kerb painted black and white", "AE", "US"),
        ("bollard", "tall orange stick for snow at the roadside", "NO", "IT"),
        ("guard_rail", "crash barrier on wooden posts", "NO", "DE"),
        ("kilometre_marker", "white kilometre stone with a yellow top", "FR", "US"),
        ("road_layout", "grass strip between kerb and footpath", "AU", "JP"),
    ],
    "signs": [
        ("sign_unit", "speeds in mph", "GB", "IE"),
        ("chevron", "white arrows on a red bend sign", "RU", "FR"),
        ("stop_sign_word", "stop_sign_word = alto", "MX", "BR"),
        ("warning_sign", "yellow diamond warning sign", "US", "FR"),
        ("direction_sign", "white direction signs with red border", "DK", "SE"),
        ("motorway_sign", "green motorway signs", "IT", "DE"),
        ("speed_limit_sign", "round yellow speed limit sign with red ring", "SE", "NO"),
        ("crossing_sign", "pedestrian sign with five stripes", "SI", "PL"),
        ("street_name_plate", "red street name plate on a house wall", "CZ", "GB"),
        ("road_number_shield", "blue hexagonal road number", "JP", "KR"),
        ("road_number", "road_number = e_number", "SE", "US"),
        ("sign_post", "black and white striped sign post", "IN", "DE"),
        ("sign_back", "the back of the road sign is black", "IT", "CO"),
    ],
    "vehicles": [
        ("plate_front", "blue front number plate", "CN", "DE"),
        ("plate_rear", "yellow rear number plate", "GB", "IE"),
        ("plate_required_front", "car without front licence plate", "US", "DE"),
        ("plate_shape", "long narrow plate", "DE", "US"),
        ("plate_characters", "red letters on the plate", "BE", "NL"),
        ("petrol_brand", "petrol_brand = ypf", "AR", "BR"),
        ("taxi_colour", "yellow taxis", "CO", "ES"),
        ("vehicle_kind", "tiny truck with a flat nose", "JP", "US"),
        ("rickshaw_colour", "black and yellow rickshaw", "IN", "LK"),
        ("school_bus", "yellow school bus with a long nose", "US", "GB"),
        ("police_car", "police car in blue and neon yellow squares", "GB", "US"),
        ("post_van", "orange post van", "CH", "GB"),
    ],
    "street": [
        ("utility_pole", "wooden telegraph poles", "GB", "NL"),
        ("pole_marks", "cylindrical transformer cans on poles", "US", "DE"),
        ("wires", "mess of tangled cables overhead", "TH", "DE"),
        ("street_lamp", "lamp arm bolted to a wooden utility pole", "FI", "PE"),
        ("house_number", "blue enamel house number", "FR", "US"),
        ("post_box", "red pillar box", "GB", "DE"),
        ("letter_box", "tunnel shaped mailbox on a post with red flag", "US", "GB"),
        ("bins", "wheelie bin with red lid", "AU", "DE"),
        ("phone_box", "red telephone box", "GB", "JP"),
        ("fire_hydrant", "small yellow plate with h and two numbers", "GB", "US"),
        ("pharmacy_sign", "glowing green cross over a shop", "FR", "DE"),
        ("bus_stop", "yellow round sign with a green h", "DE", "BE"),
        ("fence", "dry stone walls beside the road", "IE", "US"),
        ("traffic_light", "sideways traffic signals", "JP", "DE"),
        ("street_scene", "red lanterns along the street", "CN", "US"),
    ],
    "nature": [
        ("climate_look", "endless conifer forest", "FI", "KE"),
        ("relief", "open sea to the horizon", "GR", "CH"),
        ("soil_colour", "bright red earth at the roadside", "UG", "DE"),
        ("tree", "tall gum trees with peeling bark", "AU", "CA"),
        ("crop", "flooded rice paddies", "VN", "FI"),
        ("animal", "kangaroo warning sign", "AU", "ZA"),
    ],
    "buildings": [
        ("roof", "thin dark slate roofs", "GB", "BR"),
        ("wall", "wooden house painted dark red", "SE", "ES"),
        ("water_tank", "solar water heaters on the roofs", "IL", "GB"),
        ("window", "roller shutters outside the windows", "ES", "GB"),
        ("house_form", "high-rise flats", "HK", "IE"),
        ("worship", "golden onion domes", "RU", "TR"),
        ("wall_fittings", "many air-conditioner boxes on the walls", "CN", "NO"),
    ],
    "writing": [
        ("script", "banner with square block characters", "CN", "VN"),
        ("language", "language = welsh", "GB", "IE"),
        ("special_letters", "letter ø on signs", "DK", "SE"),
        ("web_domain", "web_domain = dot_br", "BR", "PT"),
        ("phone_prefix", "phone_prefix = plus_54", "AR", "CL"),
        ("phone_grouping", "phone_grouping = b_3_3_4", "BB", "FR"),
        ("postcode_form", "postcode_form = letter_digit_alternating", "CA", "US"),
        ("currency_sign", "currency_sign = lek", "AL", "GR"),
    ],
    "sky": [("sun_at_noon", "sun in the north at noon", "AU", "DE")],
    "camera": [("camera_trace", "black snorkel of the camera car", "KE", "US")],
}  # fmt: skip


def gained(seen: str, code: str) -> float:
    return weigh_sightings(seen).countries[code] / weigh_sightings([]).countries[code]


@pytest.mark.parametrize("group", KNOWN)
def test_a_player_would_agree(group: str) -> None:
    guide, wrong = field_guide(), []
    for attribute, seen, likely, unlikely in KNOWN[group]:
        assert guide.attributes[attribute].group == group, attribute
        read = [one.attribute for one in read_sightings(seen)[0]]
        if attribute not in read or gained(seen, likely) < 1.2 * gained(seen, unlikely):
            wrong.append((attribute, seen, read, gained(seen, likely), gained(seen, unlikely)))
    assert wrong == []


@pytest.mark.parametrize(
    ("said", "attribute", "value"),
    [
        ("pale wooden power poles", "utility_pole", "round_wood"),
        ("curb with black and white stripes", "kerb", "black_white"),
        ("blocks of flats, six storeys high", "house_form", "mid_apartments"),
        ("number plate in yellow", "plate_rear", "yellow"),
        ("no road markings", "road_surface", "unmarked"),
        ("leafless trees", "climate_look", "continental"),
        ("palm trees", "climate_look", "rainforest"),
        ("arid land", "climate_look", "hot_desert"),
        ("dense high-rise skyline", "house_form", "apartment_towers"),
        ("terraced fields on the slopes", "relief", "terraced_slopes"),
    ],
)
def test_words_that_mean_the_same(said: str, attribute: str, value: str) -> None:
    found = {one.attribute: one.values for one in read_sightings(said)[0]}
    assert value in found.get(attribute, ()), found


@pytest.mark.parametrize(
    ("said", "attribute"),
    [
        ("no utility poles", "fence"),
        ("red brick house with slate roof", "post_box"),
        ("black number plate on a house door", "plate_front"),
        ("metro entrance", "petrol_brand"),
        ("low forested hill on the left", "driving_side"),
    ],
)
def test_words_that_mean_something_else(said: str, attribute: str) -> None:
    assert attribute not in [one.attribute for one in read_sightings(said)[0]]


def test_what_is_not_there_is_no_sighting_of_it() -> None:
    assert "wires" in [one.attribute for one in read_sightings("no overhead wires")[0]]
    assert gained("no overhead wires", "NL") > gained("many overhead wires", "NL")
    assert gained("no trees", "FO") > gained("trees", "FO") * 1.2


def test_the_same_thing_twice_counts_little_more_than_once() -> None:
    once, twice = gained("tall eucalyptus", "AU"), gained("tall eucalyptus, gum trees, baobab", "AU")
    assert gained("red soil, bright red earth", "UG") == pytest.approx(gained("red soil", "UG"))
    assert twice < once**1.5


def test_a_country_is_as_its_regions_are_together() -> None:
    seen = "wooden house raised on stilts with front stairs up to a veranda, palms, corrugated metal roof"
    weighed = weigh_sightings(["cars drive on the left", seen])
    assert next(iter(weighed.regions["AU"])) == "AU-QLD"


@pytest.mark.parametrize(
    ("one", "other"), [("JP", "FR"), ("BR", "IN"), ("US", "GB"), ("ZA", "SE"), ("TH", "DE"), ("MX", "RU")]
)
def test_unlike_countries_are_told_apart_at_once(one: str, other: str) -> None:
    assert tell_apart([one, other])[0].bits > 0.4


@pytest.mark.parametrize("pair", [("AT", "DE"), ("AR", "UY"), ("CZ", "SK")])
def test_alike_countries_are_said_to_be(pair: tuple[str, str]) -> None:
    assert look_alike(tell_apart(pair))
