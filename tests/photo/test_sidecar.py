"""XMP sidecars: read as claims, whoever wrote them; hostile ones are refused and say so."""

import json
from pathlib import Path

import pytest
from PIL import Image

from geosleuth.answer import Address, Answer
from geosleuth.answer.formats import AnswerContext, LocatedAnswer, to_xmp
from geosleuth.geo import LatLon
from geosleuth.photo import open_photo
from geosleuth.photo.sidecar import MAX_BYTES, SidecarClaim, read_claim, read_sidecars
from in_process import whole_command

HEAD = (
    '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
    '<rdf:Description rdf:about="" xmlns:exif="http://ns.adobe.com/exif/1.0/" '
    'xmlns:photoshop="http://ns.adobe.com/photoshop/1.0/" '
    'xmlns:Iptc4xmpCore="http://iptc.org/std/Iptc4xmpCore/1.0/xmlns/"'
)
TAIL = "</rdf:Description></rdf:RDF></x:xmpmeta>"
# As darktable and Lightroom write them, and as digiKam does.
ATTRIBUTES = HEAD + ' exif:GPSLatitude="43,44.304N" exif:GPSLongitude="7,25.476E" photoshop:City="Monaco">' + TAIL
ELEMENTS = (
    HEAD + "><exif:GPSLatitude>33,51.5S</exif:GPSLatitude><exif:GPSLongitude>151,12.5E</exif:GPSLongitude>"
    "<photoshop:City>Sydney</photoshop:City><photoshop:State>New South Wales</photoshop:State>"
    "<photoshop:Country>Australia</photoshop:Country><Iptc4xmpCore:Location>Bennelong Point</Iptc4xmpCore:Location>"
    "<Iptc4xmpCore:CountryCode>AU</Iptc4xmpCore:CountryCode>" + TAIL
)
BOMB = (
    '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>'
    + HEAD + "><photoshop:City>&b;</photoshop:City>" + TAIL
)  # fmt: skip
OUTSIDE = (
    '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/hostname">]>'
    + HEAD + "><photoshop:City>&a;</photoshop:City>" + TAIL
)  # fmt: skip


def test_other_programs_sidecars_are_read() -> None:
    found = read_claim(ATTRIBUTES.encode())
    assert found == SidecarClaim(LatLon(43 + 44.304 / 60, 7 + 25.476 / 60), "Monaco")
    found = read_claim(ELEMENTS.encode("utf-16"))
    assert found is not None
    assert found.point == LatLon(-(33 + 51.5 / 60), 151 + 12.5 / 60)
    assert found.place == "Bennelong Point, Sydney, New South Wales, Australia"
    assert read_claim((HEAD + ' Iptc4xmpCore:CountryCode="MC">' + TAIL).encode()) == SidecarClaim(place="MC")
    # By what a prefix stands for, and not by its letters.
    other = ATTRIBUTES.replace("exif:", "e:").replace("xmlns:exif", "xmlns:e")
    assert read_claim(other.encode()) == SidecarClaim(LatLon(43 + 44.304 / 60, 7 + 25.476 / 60), "Monaco")
    assert read_claim(ATTRIBUTES.replace("http://ns.adobe.com/exif", "urn:x").encode()) == SidecarClaim(place="Monaco")


def test_a_sidecar_of_ours_is_an_estimate() -> None:
    ours = to_xmp([LocatedAnswer(Answer(LatLon(43.7384, 7.4246), radius_km=1.0), AnswerContext())])
    found = read_claim(ours.encode())
    assert found is not None
    assert found.estimated


def test_places_inside_structures_are_not_the_photos() -> None:
    item = "<rdf:Seq><rdf:li><rdf:Description photoshop:City='Lyon'/></rdf:li></rdf:Seq>"
    nested = f"<photoshop:History>{item}</photoshop:History>"
    assert read_claim((HEAD + ">" + nested + TAIL).encode()) is None
    twice = "<photoshop:City>Nice</photoshop:City><photoshop:City>Lyon</photoshop:City>"
    assert read_claim((HEAD + ">" + twice + TAIL).encode()) == SidecarClaim(place="Nice")


@pytest.mark.parametrize(
    "content",
    [
        BOMB.encode(), OUTSIDE.encode(), b"", b"\xff\xd8\xff", b"<a>" * 65 + b"</a>" * 65, b"<a>" * 100_000,
        ATTRIBUTES.encode()[:-9], b"<?xml version='1.0' encoding='no-such'?>" + ATTRIBUTES.encode(),
    ],
)  # fmt: skip
def test_hostile_ones_are_named_and_not_read(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "a.jpg.xmp").write_bytes(content)
    assert read_sidecars(tmp_path / "a.jpg") == (SidecarClaim(trouble="it is no plain XMP and was not read"),)


def test_too_large_a_folder_and_a_loop(tmp_path: Path) -> None:
    (tmp_path / "a.jpg.xmp").write_bytes(ATTRIBUTES.encode() + b" " * MAX_BYTES)
    (tmp_path / "a.xmp").mkdir()
    (tmp_path / "b.xmp").symlink_to(tmp_path / "b.xmp")
    (large,) = read_sidecars(tmp_path / "a.jpg")
    assert large.trouble == "it is larger than 4 MiB and was not read"
    assert read_sidecars(tmp_path / "b.jpg") == ()


def test_both_names_are_found_and_texts_are_made_plain(tmp_path: Path) -> None:
    photo = tmp_path / "a.jpg"
    Image.new("RGB", (40, 30)).save(photo)
    (tmp_path / "a.jpg.xmp").write_text(ATTRIBUTES)
    (tmp_path / "a.xmp").write_text(HEAD + ">" + f"<photoshop:City>Ly&#x202e;on{'n' * 500}</photoshop:City>" + TAIL)
    first, second = open_photo(photo).claims.sidecars
    assert first.place == "Monaco"
    assert second.place is not None
    assert (second.place[:4], len(second.place) <= 120, second.place.isprintable()) == ("Lyon", True, True)
    # From bytes there is nothing beside it.
    assert open_photo(photo.read_bytes()).claims.sidecars == ()


def test_it_is_told_as_a_claim_and_never_used(atlas_home: Path, tmp_path: Path) -> None:
    assert atlas_home.is_dir()
    photo = tmp_path / "a.jpg"
    Image.new("RGB", (320, 240), (200, 220, 240)).save(photo)
    (tmp_path / "a.jpg.xmp").write_text(ATTRIBUTES.replace("Monaco", "Zzyzxville"))
    told = whole_command("photo", "claims", photo)
    assert "43.73840, 7.42460; Zzyzxville (a claim, not evidence)" in " ".join(told.stdout.split())
    trajectory = tmp_path / "run.jsonl"
    found = whole_command("locate", photo, "--offline", "--json", "--trajectory", trajectory)
    document = json.loads(found.stdout)
    (claim,) = document["photos"][0]["sidecar_claims"]
    assert (claim["place"], claim["estimated"], round(claim["point"]["lat"], 4)) == ("Zzyzxville", False, 43.7384)
    assert document["answer"].get("lat") is None, "nothing but the sidecar names a place"
    assert "Zzyzxville" not in trajectory.read_text()
    card = " ".join(whole_command("locate", photo, "--offline").stdout.split())
    assert "Zzyzxville" in card
    assert "A claim from the sidecar, not evidence." in card
    capped = whole_command("locate", photo, "--offline", "--granularity", "country", "--json")
    assert "Zzyzxville" not in capped.stdout


def test_a_country_in_a_sidecar_of_ours_is_an_estimate() -> None:
    china = Answer(LatLon(31.2, 121.5), Address.create("China"), 0.83, 1908.0)
    stated, corrected = AnswerContext(extent="country"), AnswerContext(extent="country", reviewed="corrected")
    for context, estimated in ((stated, True), (corrected, False)):
        claim = read_claim(to_xmp([LocatedAnswer(china, context)]).encode())
        assert claim is not None
        assert (claim.point, claim.place, claim.estimated) == (None, "China", estimated)
