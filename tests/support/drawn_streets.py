"""Scenes written by hand, to be drawn: every board in several streets, no atlas needed."""

import random
from datetime import UTC, datetime

from geosleuth.geo import LatLon
from geosleuth.lab.scenes.drawing.lettering import list_designs
from geosleuth.lab.scenes.scene import (
    Board,
    Camera,
    Scene,
    SceneClue,
    SceneKind,
    SceneLook,
    Sky,
    Sort,
    Split,
    Spot,
    Visibility,
)

_WORDS: dict[str, dict[Board, tuple[Sort, tuple[str, ...]]]] = {
    "pt": {
        "shop_front": ("business", ("Farmácia São João",)), "street_plate": ("street_name", ("Rua Augusta",)),
        "house_number": ("house_number", ("47",)), "bus_stop": ("bus_stop", ("Praça da Figueira",)),
        "notice": ("phone", ("Aberto 9-18", "tel. 21 555 0134")), "poster": ("language", ("Festa de Verão",)),
        "billboard": ("brand", ("Café Central",)), "bus": ("tour_bus", ("Viagens Oliveira",)),
        "number_plate": ("number_plate", ("AA 47 BX",)), "town_sign": ("town_name", ("Setúbal",)),
        "direction_sign": ("distance", ("Lisboa 48", "Évora 102")), "road_shield": ("road_number", ("N 10",)),
        "banner": ("language", ("Feira do Livro",)),
    },
    "de": {
        "shop_front": ("business", ("Bäckerei Huber",)), "street_plate": ("street_name", ("Lindenstraße",)),
        "house_number": ("house_number", ("12a",)), "bus_stop": ("bus_stop", ("Rathausplatz",)),
        "notice": ("web_address", ("www.huber-brot.de", "Montag Ruhetag")), "poster": ("language", ("Sommerfest",)),
        "billboard": ("brand", ("Möbel Krause", "Ausfahrt 4")), "bus": ("tour_bus", ("Alpenreisen",)),
        "number_plate": ("number_plate", ("M HB 482",)), "town_sign": ("town_name", ("Rosenheim",)),
        "direction_sign": ("distance", ("München 24", "Ulm 131")), "road_shield": ("road_number", ("B 15",)),
        "banner": ("language", ("Herzlich willkommen",)),
    },
    "ja": {
        "shop_front": ("business", ("さくら薬局",)), "street_plate": ("street_name", ("中央通り",)),
        "house_number": ("house_number", ("3-12",)), "bus_stop": ("bus_stop", ("市役所前",)),
        "notice": ("phone", ("営業中", "052-555-0134")), "poster": ("language", ("夏祭り",)),
        "billboard": ("brand", ("山田電機",)), "bus": ("tour_bus", ("富士観光",)),
        "number_plate": ("number_plate", ("名古屋 38-24",)), "town_sign": ("town_name", ("豊橋市",)),
        "direction_sign": ("distance", ("名古屋 24", "静岡 131")), "road_shield": ("road_number", ("23",)),
        "banner": ("language", ("大売出し",)),
    },
}  # fmt: skip
_LOOKS: dict[str, SceneLook] = {
    "pt": SceneLook("high_street", "right", "white", False, "none", ("plaster", "tiles"),
               ("#e9d8b4", "#d9a08a", "#bcd0d8"),
               "gable", "#b5603f", (2, 4), "concrete", True, "palm", "dry_grass", "hills", "#ffffff", "#111111",
               "#1f3f99", "cobbles"),
    "de": SceneLook("high_street", "right", "white", False, "white", ("plaster", "timber"), ("#efe6cf", "#dcc9a0"),
               "gable", "#8a4a38", (2, 3), "none", False, "broadleaf", "grass", "mountains", "#ffffff", "#111111",
               "#1f3f99"),
    "ja": SceneLook("market", "left", "white", False, "white", ("concrete", "tiles"), ("#dcdcd6", "#c8c2b4", "#b8c0c4"),
               "flat", "#5a6068", (2, 4), "concrete", True, "bamboo", "paved", "mountains", "#ffffff", "#14532d", None),
}  # fmt: skip


def clue(
    land: str,
    board: Board,
    *,
    number: int = 0,
    visibility: Visibility = "plain",
    split: Split = "train",
    design: str = "",
) -> SceneClue:
    """A clue with what would stand on such a board there."""
    sort, lines = _WORDS[land][board]
    name = design or random.Random(f"{land} {board} {number}").choice(list_designs(board, split))
    return SceneClue(f"{board}{number}", sort, "precise", f"It says {lines[0]}.", board, lines, visibility, design=name)


def street_scene(
    land: str = "de", boards: tuple[Board, ...] = ("shop_front", "street_plate"), *, seed: int = 1,
    size: tuple[int, int] = (1024, 768), kind: SceneKind = "street", split: Split = "train",
    visibility: dict[Board, Visibility] | None = None, look: SceneLook | None = None, sky: Sky | None = None,
    camera: Camera | None = None, clues: tuple[SceneClue, ...] = (),
) -> Scene:  # fmt: skip
    """A scene with these boards."""
    seen = visibility or {}
    spot = Spot(
        LatLon(47.85, 12.13), "DE", "Germany", "Bavaria", "Rosenheim", "Rosenheim", 61844, "Cfb", "47/12", split
    )
    written = tuple(
        clue(land, board, number=seed, visibility=seen.get(board, "plain"), split=split) for board in boards
    )
    noon = datetime(2025, 6, 14, 12, 0, tzinfo=UTC)
    return Scene(
        f"{land}-{seed}", seed, kind, split, size, spot, look or _LOOKS[land],
        sky or Sky(noon, 150.0, 48.0, "clear", "summer"), camera or Camera(40.0, 1.65, 68.0, 0.25, 1.0),
        (*written, *clues),
    )  # fmt: skip
