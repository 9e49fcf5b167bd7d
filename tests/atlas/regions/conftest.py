"""The bundled extract, imported once for all tests here."""

from pathlib import Path

import pytest

from geosleuth.atlas.regions import RegionInfo, Regions, import_osm

MONACO = Path(__file__).resolve().parents[3] / "examples" / "regions" / "monaco.osm.pbf"


@pytest.fixture(scope="session")
def monaco_pbf() -> Path:
    return MONACO


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("regions")


@pytest.fixture(scope="session")
def monaco(folder: Path, monaco_pbf: Path) -> RegionInfo:
    return import_osm(monaco_pbf, folder=folder)


@pytest.fixture(scope="session")
def regions(monaco: RegionInfo, folder: Path) -> Regions:
    assert monaco.name == "monaco"
    return Regions(folder)
