"""``geosleuth atlas``: query the offline atlas, and download or add regions."""

from dataclasses import field
from pathlib import Path
from typing import Annotated, Any

import typer

from geosleuth.cli.options import (
    Commands,
    JsonFlag,
    JsonOptions,
    WritingOptions,
    argument,
    declare_required,
    flag,
    option,
)

atlas = Commands()

# A latitude may begin with a minus sign and must not be parsed as an option.
_NUMBERS: dict[str, Any] = {"ignore_unknown_options": True}

Limit = Annotated[int, typer.Option(min=1, max=1000, help="How many results.")]
Via = Annotated[
    str | None,
    typer.Option(help="Ask an online service instead: nominatim, photon, overpass, google, amap, opencage, xyz."),
]
Allow = Annotated[
    list[str], typer.Option(metavar="HOST", help="A host that may be contacted; nothing is sent to any other.")
]
Point = Annotated[str, typer.Argument(metavar="LAT,LON", help="A point, such as 48.8584,2.2945 or '33.86 S, 151.2 E'.")]
Near = Annotated[str | None, typer.Option(metavar="LAT,LON", help="Prefer results near this point.")]
Within = Annotated[
    str | None,
    typer.Option(
        metavar="AREA",
        help="Only in this area: a country, a region, S,W,N,E or LAT,LON,KM in degrees, or a GeoJSON file.",
    ),
]
Category = Annotated[str | None, typer.Option(help="A category, such as cafe, pharmacy or shop=bakery.")]


@atlas.command()
def geocode(
    text: Annotated[str, typer.Argument(help="A place, street or address.")],
    *,
    country: Annotated[str | None, typer.Option(help="Only in this country (name or code).")] = None,
    within: Within = None,
    limit: Limit = 5,
    via: Via = None,
    allow: Allow = [],  # noqa: B006
    as_json: JsonFlag = False,
) -> None:
    """Find where a place or an address is.

    Examples:

      geosleuth atlas geocode "Springfield, Illinois"

      geosleuth atlas geocode "12 Rue Grimaldi, Monaco" --json

      geosleuth atlas geocode Paris --via nominatim --allow nominatim.openstreetmap.org
    """
    from geosleuth.cli.handlers import atlas as work

    name = work.require_text(text, "a place, a street or an address")
    area, code = work.search_area(within), work.country(country)
    hits = work.ask(
        via,
        allow,
        lambda backend: backend.geocode(name, limit=area.query_limit(limit), within=area.extent, country=code),
    )
    found = area.filter_results(hits, limit)
    work.show_hits(found, as_json=as_json)
    if within is None and country is None:
        work.explain_no_results(found, via)


@atlas.command(context_settings=_NUMBERS)
def reverse(point: Point, *, via: Via = None, allow: Allow = [], as_json: JsonFlag = False) -> None:  # noqa: B006
    """Show what is at a point: the country and region (by their borders), the nearest town, and features nearby.

    Example: geosleuth atlas reverse 48.8584,2.2945
    """
    from geosleuth.cli.handlers import atlas as work

    work.show_reverse(work.ask(via, allow, lambda backend: backend.reverse(work.point(point))), as_json=as_json)


@atlas.command()
def suggest(
    prefix: Annotated[str, typer.Argument(help="How the name begins.")],
    *,
    near: Near = None,
    limit: Limit = 10,
    via: Via = None,
    allow: Allow = [],  # noqa: B006
    as_json: JsonFlag = False,
) -> None:
    """Complete the beginning of a name.

    Example: geosleuth atlas suggest "San Fr"
    """
    from geosleuth.cli.handlers import atlas as work

    where, start = work.optional_point(near), work.require_text(prefix, "the first letters, such as San Fr")
    work.show_hits(
        work.ask(via, allow, lambda backend: backend.suggest(start, limit=limit, near=where)), as_json=as_json
    )


@atlas.command()
def search(
    text: Annotated[str, typer.Argument(help="A name as read from a sign; it may be misspelled.")],
    *,
    near: Near = None,
    within: Within = None,
    category: Category = None,
    limit: Limit = 10,
    via: Via = None,
    allow: Allow = [],  # noqa: B006
    as_json: JsonFlag = False,
) -> None:
    """Search features by name, tolerating misspellings and OCR errors.

    Example: geosleuth atlas search "BOULANGERlE C0STA" --near 43.7384,7.4246
    """
    from geosleuth.cli.handlers import atlas as work

    where, area = work.optional_point(near), work.search_area(within)
    name, kind = work.require_text(text, "a place or shop to search for"), work.category(category)
    found = work.ask(
        via,
        allow,
        lambda backend: backend.search_pois(
            name, near=where, within=area.extent, category=kind, limit=area.query_limit(limit)
        ),
    )
    hits = area.filter_results(work.drop_chance_matches(text, found), limit)
    work.show_hits(hits, as_json=as_json)
    work.explain_no_results(hits, via, category=kind)


@atlas.command()
def poi(
    place_id: Annotated[str, typer.Argument(metavar="ID", help="An id from the output of another command.")],
    *,
    via: Via = None,
    allow: Allow = [],  # noqa: B006
    as_json: JsonFlag = False,
) -> None:
    """Show all facts about one place.

    Example: geosleuth atlas poi geonames:2993458
    """
    from geosleuth.cli.handlers import atlas as work

    work.show_place(place_id, work.ask(via, allow, lambda backend: backend.poi(place_id)), as_json=as_json)


@atlas.command(context_settings=_NUMBERS)
def nearby(
    point: Point,
    *,
    radius: Annotated[float, typer.Option(min=1, max=50_000, help="Search radius in metres.")] = 250,
    category: Category = None,
    limit: Limit = 20,
    via: Via = None,
    allow: Allow = [],  # noqa: B006
    as_json: JsonFlag = False,
) -> None:
    """List features around a point; "away" is the distance to a place's nearest part, "where" its middle.

    Example: geosleuth atlas nearby 43.7384,7.4246 --radius 100 --category cafe
    """
    from geosleuth.cli.handlers import atlas as work

    where, kind = work.point(point), work.category(category)
    hits = work.ask(via, allow, lambda backend: backend.nearby(where, radius, category=kind, limit=limit))
    work.show_hits(hits, as_json=as_json)
    work.show_search_radius(hits, radius, where)
    work.explain_no_results(hits, via, where, category=kind)


@atlas.command()
def crossing(
    first: Annotated[str, typer.Argument(help="One street.")],
    second: Annotated[str, typer.Argument(help="The other.")],
    *,
    within: Within = None,
    limit: Limit = 5,
    via: Via = None,
    allow: Allow = [],  # noqa: B006
    as_json: JsonFlag = False,
) -> None:
    """Find where two streets meet.

    Example: geosleuth atlas crossing "Rue Grimaldi" "Rue Suffren Reymond"
    """
    from geosleuth.cli.handlers import atlas as work

    area, streets = work.search_area(within), [work.require_text(street, "two streets") for street in (first, second)]
    hits = work.ask(
        via, allow, lambda backend: backend.crossing(*streets, within=area.extent, limit=area.query_limit(limit))
    )
    work.show_hits(area.filter_results(hits, limit), as_json=as_json)


class ColocatedOptions(JsonOptions):
    """The options of ``colocated``."""

    features: list[str] = argument("Two to five names or categories.")
    metres: float = option(150, "The greatest distance between them.", min=1, max=20_000)
    within: Within = None
    bearings: str | None = option(
        None,
        "Direction from the first feature to each other one, so one fewer than features; x for any.",
        metavar="DEG,DEG,…",
    )
    in_order: bool = flag("Only where they lie along a line in this order.")
    limit: Limit = 10
    via: Via = None
    allow: Allow = field(default_factory=list)


@atlas.command()
def colocated(options: ColocatedOptions) -> None:
    """Find every place where all these features stand near each other.

    Example: geosleuth atlas colocated Carrefour pharmacy --metres 200
    """
    from geosleuth.cli.handlers import atlas as work

    area, directions = work.search_area(options.within), work.bearings(options.bearings, len(options.features))
    found = work.ask(
        options.via,
        options.allow,
        lambda backend: backend.colocated(
            options.features,
            options.metres,
            within=area.extent,
            bearings_deg=directions,
            in_order=options.in_order,
            limit=area.query_limit(options.limit),
        ),
    )
    work.show_colocations(area.filter_results(found, options.limit), as_json=options.as_json)


@atlas.command()
def documents(
    text: Annotated[str, typer.Argument(help="What to look for.")],
    *,
    zim: Annotated[list[Path], typer.Option(help="Also search this Kiwix file (Wikipedia, Wikivoyage).")] = [],  # noqa: B006
    limit: Limit = 5,
    as_json: JsonFlag = False,
) -> None:
    """Search texts about countries and places.

    Example: geosleuth atlas documents "landlocked country cotton Aral Sea"
    """
    from geosleuth.cli.handlers import atlas as work

    work.show_documents(work.find_documents(work.require_text(text, "what to look for"), zim, limit), as_json=as_json)


@atlas.command()
def country(
    name: Annotated[str, typer.Argument(help="A country's name in any language, or its code.")],
    *,
    as_json: JsonFlag = False,
) -> None:
    """Show the facts of a country: plates, phone, postcode, side of the road, languages, currency.

    Example: geosleuth atlas country Japan
    """
    from geosleuth.cli.handlers import atlas as work

    work.show_country(name, as_json=as_json)


@atlas.command()
def brand(
    name: Annotated[str, typer.Argument(help="A brand as written on a sign.")],
    *,
    limit: Limit = 10,
    as_json: JsonFlag = False,
) -> None:
    """Show the countries where a brand is found.

    Example: geosleuth atlas brand Monoprix
    """
    from geosleuth.cli.handlers import atlas as work

    work.show_brands(work.require_text(name, "a brand"), limit, as_json=as_json)


@atlas.command(context_settings=_NUMBERS)
def phone(
    number: Annotated[str, typer.Argument(help="A phone number as written on a sign.")],
    *,
    region: Annotated[str | None, typer.Option(help="The country it is dialled in, if known.")] = None,
    as_json: JsonFlag = False,
) -> None:
    """Show which country and place a phone number belongs to.

    Example: geosleuth atlas phone "+377 93 15 00 00"
    """
    from geosleuth.cli.handlers import atlas as work

    work.show_phone(work.require_text(number, "a phone number"), work.country(region), as_json=as_json)


class DrawOptions(WritingOptions):
    """The options of ``draw``."""

    point: Point
    out: Path = declare_required("The PNG file to write.", "--out", "-o", metavar="FILE")
    zoom: float = option(15, "15 shows a neighbourhood, 5 a country.", min=0, max=20)
    width: int = option(640, "", min=64, max=2048)
    height: int = option(640, "", min=64, max=2048)
    marker: list[str] = option([], "Put a pin here; repeatable.", metavar="LAT,LON")
    via: Via = None
    allow: Allow = field(default_factory=list)


@atlas.command(name="map", context_settings=_NUMBERS)
def draw(options: DrawOptions) -> None:
    """Draw a map.

    Example: geosleuth atlas map 43.7384,7.4246 --zoom 16 --out monaco.png
    """
    from geosleuth.cli.handlers import atlas as work

    centre, pins = work.point(options.point), work.markers(options.marker)
    work.check_png(options.out, overwrite=options.overwrite)
    picture = work.ask(
        options.via,
        options.allow,
        lambda backend: backend.map(centre, zoom=options.zoom, size=(options.width, options.height), markers=pins),
    )
    work.write_picture(options.out, picture, as_json=options.as_json)


class SatelliteOptions(WritingOptions):
    """The options of ``satellite``."""

    point: Point
    out: Path = declare_required("The PNG file to write.", "--out", "-o", metavar="FILE")
    tiles: Path | None = option(None, "Your MBTiles or PMTiles file.")
    zoom: float = option(16, "", min=0, max=20)
    width: int = option(640, "", min=64, max=2048)
    height: int = option(640, "", min=64, max=2048)
    via: Via = None
    allow: Allow = field(default_factory=list)


@atlas.command(context_settings=_NUMBERS)
def satellite(options: SatelliteOptions) -> None:
    """Write a satellite picture, cut from your own tiles.

    Example: geosleuth atlas satellite 43.7384,7.4246 --tiles riviera.mbtiles --out monaco.png
    """
    from geosleuth.cli.handlers import atlas as work

    centre = work.point(options.point)
    work.check_png(options.out, overwrite=options.overwrite)
    picture = work.ask(
        options.via,
        options.allow,
        lambda backend: backend.satellite(centre, zoom=options.zoom, size=(options.width, options.height)),
        tiles=options.tiles,
    )
    work.write_picture(options.out, picture, as_json=options.as_json)


@atlas.command()
def add(
    file: Annotated[
        str,
        typer.Argument(
            help="An OpenStreetMap extract (.osm.pbf), Overture places (.parquet), a GeoNames dump (.txt, .zip), "
            "Natural Earth features (.geojson, or a folder of such files), or a region of another machine "
            "(.region.sqlite)."
        ),
    ],
    *,
    name: Annotated[str | None, typer.Option(help="Its name in the atlas; by default the file's name.")] = None,
    country: Annotated[list[str], typer.Option(help="Of a GeoNames dump, only this country; repeatable.")] = [],  # noqa: B006
    names: Annotated[
        Path | None, typer.Option(metavar="FILE", help="More names for a GeoNames dump: alternateNamesV2 (.txt, .zip).")
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Add a region or a gazetteer to the atlas. Safe to interrupt; running it again replaces what it added.

    Examples:

      geosleuth atlas add monaco.osm.pbf

      geosleuth atlas add allCountries.zip --country Norway --country Sweden

      geosleuth atlas add /media/usb/andorra.region.sqlite
    """
    from geosleuth.cli.handlers import atlas as work

    work.add_region(file, name, country, names, as_json=as_json)


class GetOptions(JsonOptions):
    """The options of ``get``."""

    place: str | None = argument(
        "A country, region or city in any language, a code such as DE-BY, or LAT,LON for the smallest "
        "map that covers that point; for --overture also a box S,W,N,E or a disc LAT,LON,RADIUS_KM; for "
        "--wikipedia the code of a language.",
        default=None,
        metavar="PLACE",
        show_default=False,
    )
    name: str | None = option(None, "Its name in the atlas; by default the extract's name.")
    update: bool = flag("Download newer data; without PLACE, for everything downloaded before.")
    geonames: bool = flag("The country's places from GeoNames, instead of a map.")
    overture: bool = flag("Shops and other places from Overture Maps, instead of a map.")
    wikipedia: bool = flag("Wikipedia in a language, for atlas documents, instead of a map.")
    edition: str | None = option(
        None, "With --wikipedia: mini (first paragraphs; the default), nopic (all text) or maxi (with pictures)."
    )
    mirror: str | None = option(
        None,
        "Ask this server instead of the usual one; also GEOSLEUTH_EXTRACTS_URL, GEOSLEUTH_GEONAMES_URL, "
        "GEOSLEUTH_OVERTURE_URL, GEOSLEUTH_KIWIX_URL.",
        metavar="URL",
    )
    yes: bool = flag("Allow the download without asking.", "--yes", "-y")
    offline: bool = flag("Use no network; the command then refuses to run.")


@atlas.command(context_settings=_NUMBERS)
def get(options: GetOptions) -> None:
    """Download a map by place name. Shows its size and asks first, then verifies the file and adds it to the atlas.

    Examples:

      geosleuth atlas get andorra

      geosleuth atlas get Bayern --yes

      geosleuth atlas get 42.5,1.5

      geosleuth atlas get 43.72,7.40,43.76,7.45 --overture --name monaco-places

      geosleuth atlas get de --wikipedia

      geosleuth atlas get --update
    """
    from geosleuth.cli.handlers import atlas_get as work

    work.get_maps(options)


@atlas.command(context_settings=_NUMBERS)
def facts(
    point: Point,
    *,
    date: Annotated[str | None, typer.Option(metavar="YYYY-MM-DD", help="Daylight on this date.")] = None,
    as_json: JsonFlag = False,
) -> None:
    """Describe the land at a point: altitude, climate, coast, ranges, waters, towns, driving side, languages.

    Example: geosleuth atlas facts 27.99,86.93 --date 2026-06-21
    """
    from geosleuth.cli.handlers import atlas as work

    work.show_place_facts(work.point(point), date, as_json=as_json)


@atlas.command(name="list")
def list_regions(*, as_json: JsonFlag = False) -> None:
    """List the regions and gazetteers that were added.

    Example: geosleuth atlas list
    """
    from geosleuth.cli.handlers import atlas as work

    work.show_regions(as_json=as_json)


@atlas.command()
def remove(
    name: Annotated[str, typer.Argument(help="Its name, as shown by atlas list.")], *, as_json: JsonFlag = False
) -> None:
    """Remove a region or a gazetteer from the atlas.

    Example: geosleuth atlas remove monaco
    """
    from geosleuth.cli.handlers import atlas as work

    work.remove_region(name, as_json=as_json)


@atlas.command()
def info(
    name: Annotated[str | None, typer.Argument(help="A region or gazetteer; without it, the whole atlas.")] = None,
    *,
    as_json: JsonFlag = False,
) -> None:
    """Show the contents, folder and attribution of a region or of the whole atlas.

    Example: geosleuth atlas info monaco
    """
    from geosleuth.cli.handlers import atlas as work

    work.show_info(name, as_json=as_json)
