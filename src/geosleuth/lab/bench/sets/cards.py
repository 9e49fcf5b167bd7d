"""The cards of all data sets that can be opened.

Counts, licences and layouts are from the sets' own pages, repositories and papers; where none of them says,
it is "not stated".
"""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from .dataset import Card, Part

_CLASSIC_KM = (1.0, 25.0, 200.0, 750.0, 2500.0)
_TWM_KM = (0.5, 2.0, 10.0, 25.0, 200.0, 750.0)
_FLICKR_NAMES = "file names are Flickr ids: anyone who sees one can look the photo up, so runs never show it"
_SCENE_TABLE = (
    "IMG_ID, AUTHOR, LAT, LON, S3_Label, S16_Label, S365_Label, Prob_indoor, Prob_natural, Prob_urban; S3_Label "
    "becomes the field scene (indoor, natural, urban)"
)

_FLICKR = (
    Card(
        name="im2gps3k",
        part="test",
        title="Im2GPS3k (Vo, Jacobs and Hays 2017)",
        photos=3000,
        licence="not stated; the photos are their Flickr authors'",
        home="https://github.com/lugiavn/revisiting-im2gps",
        get="photos: im2gps3ktest.zip, linked there; table: meta/im2gps3k_places365.csv of "
        "https://github.com/TIBHannover/GeoEstimation, branch original_tf (GPL-3.0)",
        layout=f"im2gps3k_places365.csv ({_SCENE_TABLE}); photos in images/, im2gps3ktest/ or im2gps3ktest.zip",
        thresholds_km=_CLASSIC_KM,
        faults=(
            "the table as first published has the columns LAT and LON exchanged; this is recognised and set right",
            _FLICKR_NAMES,
            "papers disagree about others' rows: Translocator within 25 km 31.1 or 20.3, GeoDecoder 33.5 or 10.3",
        ),
        published_as="Im2GPS3k",
    ),
    Card(
        name="yfcc4k",
        part="test",
        title="YFCC4k (Vo, Jacobs and Hays 2017)",
        photos=4536,
        licence="Flickr photos under various Creative Commons licences (YFCC100M)",
        home="https://github.com/lugiavn/revisiting-im2gps",
        get="photos: yfcc4k.zip; list: 0aaaa.r.imagedata.txt, both linked there; table with scenes: "
        "yfcc4k_places365.csv of Jia-py/G3-checkpoint on the Hugging Face hub",
        layout=f"yfcc4k_places365.csv ({_SCENE_TABLE}) or 0aaaa.r.imagedata.txt (path, latitude, longitude); photos in "
        "images/, yfcc4k/ or yfcc4k.zip",
        thresholds_km=_CLASSIC_KM,
        faults=(
            "has 4,536 photos by its authors, though papers write 4,000",
            "several projects give YFCC26k's table as this set's",
            _FLICKR_NAMES,
        ),
        published_as="YFCC4k",
    ),
    Card(
        name="yfcc26k",
        part="test",
        title="YFCC26k, also called YFCC25600 (Theiner, Müller-Budack and Ewerth)",
        photos=25600,
        licence="Flickr photos under various Creative Commons licences (YFCC100M)",
        home="https://github.com/TIBHannover/GeoEstimation",
        get="table: yfcc25600_places365.csv; photos: download_images.py of that repository with yfcc25600_urls.csv",
        layout=f"yfcc25600_places365.csv ({_SCENE_TABLE}); photos by IMG_ID in images/yfcc25600/, yfcc25600/ or "
        "images/, as files or as the downloader's shard_N.msg",
        thresholds_km=_CLASSIC_KM,
        faults=(
            "photos vanish from Flickr: a download of today has fewer than the table",
            "the downloader makes photos small (shorter side 320 pixels) unless told otherwise",
            _FLICKR_NAMES,
        ),
    ),
)

_STREETS = (
    Card(
        name="osv5m",
        part="test",
        title="OpenStreetView-5M, test part (Astruc and others 2024)",
        photos=210122,
        licence="CC BY-SA 4.0 on the hub",
        home="https://osv5m.github.io",
        get="hf download --repo-type dataset osv5m/osv5m --include test.csv 'images/test/*' --local-dir DIR",
        layout="test.csv (id, latitude, longitude, country, region, sub-region, city, land_cover, road_index, "
        "drive_side, climate, soil, dist_sea …); photos ID.jpg in images/test/00 to 04, or in images/test/00.zip to "
        "04.zip",
        thresholds_km=_CLASSIC_KM,
        faults=("its own papers report GeoScore, mean distance and accuracy by country, region, sub-region and city",),
    ),
    Card(
        name="geoseek-val",
        part="test",
        title="GeoSeek-Val of GeoAgent (Jin and others 2026)",
        photos=3000,
        licence="not stated for the data; the code is CC BY-NC 4.0; the photos come from OSV-5M (CC BY-SA 4.0)",
        home="https://github.com/HVision-NKU/GeoAgent",
        get="hf download --repo-type dataset ghost233lism/GeoSeek --local-dir DIR",
        layout="as the paper's figure 10 prints it: solution ('Country; Region; Place', also in answer tags), "
        "Locatability Score, cls (element tags), lat, lng; the files' names are not known. Also accepted: image "
        "(image_path, images, file_name …), latitude, longitude, country, region, city; in Parquet, JSON, JSONL or CSV "
        "with 'val' in the name or folder. Element tags become fields (manmade: yes), and so do locatability and "
        "surroundings (natural, man-made)",
        thresholds_km=(25.0, 200.0, 750.0, 2500.0),
        faults=(
            "which part of OSV-5M its photos come from is not stated",
            "GeoAgent's own figures differ between its tables: 15.69 or 15.36; Qwen2.5-VL-7B 3.57 or 1.39",
        ),
        published_as="GeoSeek-Val",
    ),
    Card(
        name="llmgeo",
        part="test",
        title="LLMGeo, test part (Wang and others 2024)",
        photos=1000,
        licence="for academic research; photos from Google Street View, commercial use is Google's to allow",
        home="https://github.com/yeyimilk/LLMGeo",
        get="git clone https://github.com/yeyimilk/LLMGeo",
        layout="dataset/test/h0, h90, h180, h270/COUNTRY/LON_LAT_h0_p0_f90.jpg; country as ISO 3166-1 alpha-3",
        thresholds_km=(),
        faults=("scored by country alone in its paper", "point and country are in the path: runs never show it"),
    ),
    Card(
        name="street-view-text",
        part="test",
        title="Street View Text (Wang, Babenko and Belongie 2011)",
        photos=349,
        licence="not stated; photos from Google Street View",
        home="https://vision.ucsd.edu/datasets/street-view-text",
        get="svt.zip, linked there",
        layout="test.xml and train.xml (imageName, address, lex, Resolution, taggedRectangles) and img/, also below "
        "svt1/; boxes around words become text boxes; optional points.csv of your own: image, lat, lon",
        thresholds_km=_CLASSIC_KM,
        faults=(
            "made for reading signs: it has addresses and no points. Without a points.csv the truth is the centre of "
            "the address's city, and nothing under 25 km means anything",
            "how SpotAgent placed the addresses is not stated; its rows can't be compared within 1 km",
            "boxes are around words of nearby businesses only, not around all text",
        ),
        published_as="Street View Text",
    ),
)

_AGENTS = (
    Card(
        name="geobench",
        part="test",
        title="GeoBench of GeoVista (Wang and others 2025)",
        photos=1142,
        licence="not stated; its repository is meant for research alone",
        home="https://github.com/ekonwang/GeoVista",
        get="hf download --repo-type dataset LibraTree/GeoBench --local-dir DIR (or LibraTree/GeoVistaBench)",
        layout="GeoBench: data/train-*.parquet with image and metadata (JSON text: uid, lat, lng, city and levels); "
        "GeoVistaBench: *.parquet with id, raw_image_path, preview, metadata, data_type, and raw_image/. How the names "
        "inside metadata are spelt is known in part: lat/latitude, lng/lon/longitude, country, province_or_state/state "
        "and city are accepted at any depth",
        thresholds_km=(3.0, *_TWM_KM),
        faults=(
            "the paper counts 512 photos, 512 panoramas and 108 satellite pictures; the 1,142 rows imply 118",
            "Thinking with Map tests on the 934 outside China; its parallel rows fit n = 428",
        ),
        published_as="GeoBench",
    ),
    *(
        Card(
            name=f"imageo{number}",
            part="test",
            title=f"IMAGEO-Bench {number}, {title} (Li and others 2025)",
            photos=photos,
            licence="CC BY on Zenodo, version not stated",
            home="https://github.com/Lingyao1219/benchmark-reverse-geocoding",
            get="https://doi.org/10.5281/zenodo.16670471",
            layout=f"dataset{number}_info.csv ({columns}), at the top or in data/ or analysis/; photos IMAGE_ID.jpg, "
            f".jpeg or .png in dataset{number}/, data/dataset{number}/ or IMAGEO-Bench-datasets/dataset{number}/. How "
            "the archive's folders are called could not be checked",
            thresholds_km=_TWM_KM,
            faults=faults,
            published_as=published_as,
        )
        for number, title, photos, columns, faults, published_as in (
            (
                1, "global streetscapes", 6152,
                "image_id, source, city, country, continent, latitude, longitude, lighting_condition, weather …",
                ("a spreadsheet has spoilt the sources' ids: orig_id is rounded, some sequence_id read #NAME?",), None,
            ),
            (
                2, "points of interest in the USA", 2929,
                "image_id, name, address, latitude, longitude, category, street, city, state …",
                (
                    "photos are often of rooms and poor in context, by its own page",
                    "Thinking with Map trains on 2,027 and tests on the other 902; the set itself has no such split",
                ), "IMAGEO-2",
            ),
            (
                3, "private photos", 272,
                "image_id, address, latitude, longitude, street, city, state, country",
                (
                    "has 272 photos by its own page, 220 by Thinking with Map's table 2",
                    "two places in Arizona are filed under AL",
                    "groups of photos share one point",
                ), None,
            ),
        )
    ),
    Card(
        name="mapbench",
        part="test",
        title="MAPBench of Thinking with Map, test part (Ji and others 2026)",
        photos=2500,
        licence="Apache-2.0 on the hub",
        home="https://github.com/AMAP-ML/Thinking-with-Map",
        get="hf download --repo-type dataset GD-ML/MAPBench-V1 --local-dir DIR (the paper's; V2 has larger photos)",
        layout="a JSONL file with test in its name (such as test_metadata_v1.jsonl): image, latitude, longitude, city, "
        "country; photos in images/. Or the Parquet that its preprocessing writes (images, reward_model.ground_truth)",
        thresholds_km=_TWM_KM,
        faults=(
            "2,500 records of 2,498 photos, one of them with two conflicting truths",
            "the paper's rows of four tries fit 598 easy and 1,891 hard photos, not 599 and 1,901",
            "whether its points are WGS-84 or China's shifted GCJ-02, some hundred metres off, is not stated; they are "
            "read as WGS-84, and mapbench@gcj02:PATH reads them as GCJ-02",
            "V1, which the paper used, is marked as deprecated",
        ),
        published_as="MAPBench",
        datum=None,
    ),
    Card(
        name="geoglobe",
        title="GeoGlobe of smileGeo (Han and others 2024)",
        photos=293205,
        licence="not stated; the paper calls the photos free of copyright",
        home="https://github.com/Applied-Machine-Learning-Lab/smileGeo",
        get="https://www.kaggle.com/datasets/o0o0oo/geoglobe",
        layout="location.csv, separated by semicolons (index; city; country; hierarchical_label; category; "
        "natural_or_human_made; images, several parted by blanks), and pic/NAME.jpg",
        thresholds_km=(50.0,),
        faults=(
            "has cities and no points: the truth's point is that of the place that the city names, or else the "
            "attraction, by the base atlas; the field truth_level says how fine that is, and what names no known place "
            "smaller than a large country is left out",
            "which photos the paper tested on is not stated",
            "the paper's overall figure of claude-3-opus lies under both of its parts",
        ),
        published_as="GeoGlobe",
    ),
)  # fmt: skip

_GENERAL = (
    Card(
        name="table",
        title="Any table of photos and points",
        photos=None,
        licence="your own files",
        home="docs/how-to/add-a-dataset.md",
        get="write one: CSV, TSV, JSONL or a JSON list",
        layout="columns image (or path, file_name …), lat, lon; optional id, country, region, city, boxes; every other "
        "short column is a field to slice by; photos beside the table or in images/",
        thresholds_km=_CLASSIC_KM,
    ),
    Card(
        name="exif",
        title="Any folder of photos with GPS tags",
        photos=None,
        licence="your own files",
        home="docs/how-to/add-a-dataset.md",
        get="point at the folder",
        layout="JPEG, PNG, WebP, TIFF or HEIC in folders of any depth; photos without GPS tags are left out",
        thresholds_km=_CLASSIC_KM,
        faults=("cameras and phones sometimes write wrong positions; yours are unchecked",),
    ),
    Card(
        name="hf",
        title="Any Hugging Face image folder or Parquet files",
        photos=None,
        licence="see the set's own page",
        home="docs/how-to/add-a-dataset.md",
        get="hf download --repo-type dataset OWNER/NAME --local-dir DIR",
        layout="metadata.csv or metadata.jsonl with file_name, or *.parquet with an image column; other columns as for "
        "a table",
        thresholds_km=_CLASSIC_KM,
    ),
)

_TRAINING = (
    Card(
        name="geoseek-loc",
        part="train",
        title="GeoSeek-Loc of GeoAgent (Jin and others 2026)",
        photos=20000,
        licence="not stated for the data; the photos come from OSV-5M (CC BY-SA 4.0) and GeoComp",
        home="https://github.com/HVision-NKU/GeoAgent",
        get="hf download --repo-type dataset ghost233lism/GeoSeek --local-dir DIR",
        layout="as geoseek-val, with 'loc' in the name or folder; the labels are 'Country; Region; Place'",
        thresholds_km=_CLASSIC_KM,
        faults=("the files' names are not known; name the file itself if it is called otherwise",),
    ),
    Card(
        name="mp16-pro",
        part="train",
        title="MP16-Pro of G3 (Jia and others 2024)",
        photos=4120000,
        licence="Flickr photos under various Creative Commons licences (MediaEval Placing 2016)",
        home="https://github.com/Applied-Machine-Learning-Lab/G3",
        get="hf download --repo-type dataset Jia-py/MP16-Pro --local-dir DIR",
        layout="MP16_Pro_filtered.csv or MP16_Pro_places365.csv (IMG_ID, LAT, LON, city, county, state, country …); "
        "photos by IMG_ID in images/, mp16/ or an unpacked tar file, with slashes or with underscores in their names",
        thresholds_km=_CLASSIC_KM,
        faults=(_FLICKR_NAMES, "the layout of the photos could not be checked"),
    ),
    Card(
        name="geocomp",
        part="train",
        title="GeoComp (Song and others 2025)",
        photos=None,
        licence="not stated",
        home="https://huggingface.co/datasets/ShirohAO/tuxun",
        get="see its page; the photos are panoramas and have to be fetched by their ids",
        layout="as far as known: a table with panoId (or image), lat, lng and country; photos PANOID.jpg in images/",
        thresholds_km=_CLASSIC_KM,
        faults=("a record of games: rows of one place repeat; which part the papers took is not stated",),
    ),
)
_BY_NAME = {card.name: card for card in (*_FLICKR, *_STREETS, *_AGENTS, *_TRAINING, *_GENERAL)}

_OWN_SPLIT = "without a column split (train, test), 902 photos chosen by a hash of their ids are the test part: ours"


def _build_part_card(
    whole: str, part: Part, *, photos: int | None, title: str, layout: str, faults: tuple[str, ...] = ()
) -> Card:
    card = _BY_NAME[whole]
    return replace(
        card,
        name=f"{whole}-{part}",
        part=part,
        photos=photos,
        title=title,
        layout=layout,
        faults=(*card.faults, *faults),
        published_as=card.published_as if part == "test" else None,
    )


_PARTS = (
    replace(_BY_NAME["mapbench"], name="mapbench-test"),
    _build_part_card(
        "mapbench",
        "train",
        photos=2500,
        title="MAPBench of Thinking with Map, training part (Ji and others 2026)",
        layout="a JSONL file with train in its name: image, latitude, longitude, city, country; photos in images/",
    ),
    replace(_BY_NAME["osv5m"], name="osv5m-test"),
    _build_part_card(
        "osv5m",
        "train",
        photos=4894685,
        title="OpenStreetView-5M, training part (Astruc and others 2024)",
        layout="train.csv, with the columns of test.csv; photos ID.jpg in images/train/00 to 97, or in their zip files",
    ),
    _build_part_card(
        "imageo2",
        "train",
        photos=2027,
        title="IMAGEO-Bench 2, what Thinking with Map trains on (Li and others 2025)",
        layout=_BY_NAME["imageo2"].layout,
        faults=(_OWN_SPLIT,),
    ),
    _build_part_card(
        "imageo2",
        "test",
        photos=902,
        title="IMAGEO-Bench 2, what Thinking with Map tests on (Li and others 2025)",
        layout=_BY_NAME["imageo2"].layout,
        faults=(_OWN_SPLIT,),
    ),
)

_ALL = (*_BY_NAME.values(), *_PARTS)
# Data set cards by name.
CARDS: Mapping[str, Card] = MappingProxyType({card.name: card for card in _ALL})
