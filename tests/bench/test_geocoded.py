import json
import subprocess
import sys
from pathlib import Path

import numpy as np

from geosleuth.answer import Address, Answer
from geosleuth.bench.records import Record
from geosleuth.bench.scored import PLACED, Placed, score_records, with_geocoded
from geosleuth.geo import LatLon
from geosleuth.score import Truth

PARIS, LYON = LatLon(48.85, 2.35), LatLon(45.76, 4.84)


def test_only_unlocated_answers_that_name_a_place_are_put_on_the_map() -> None:
    records = [
        Record("pointed", Truth(PARIS), answer=Answer(LYON, Address.of("France", None, "Paris"))),
        Record("named", Truth(PARIS), answer=Answer(None, Address.of("France", None, "Paris"))),
        Record("unknown", Truth(PARIS), answer=Answer(None, Address.of(None, None, "Atlantis"))),
        Record("silent", Truth(PARIS), answer=Answer()),
    ]
    plain = score_records(records, label="model", parser="lenient", distance="geodesic")
    geocoded = with_geocoded(plain, {"Paris, France": Placed(PARIS, "town")}.get)
    assert geocoded.label == "model (geocoded)"
    assert geocoded.notes[0].startswith("1 of 3 unlocated answers")
    assert "(1 by town)" in geocoded.notes[0]
    column = geocoded.fields[PLACED]
    assert [column.values[code] for code in column.codes] == ["own point", "town", "(unknown)", "(unknown)"]
    assert geocoded.distance_km[0] == plain.distance_km[0] > 300
    assert geocoded.distance_km[1] == 0
    assert np.isnan(geocoded.distance_km[2:]).all()
    assert np.isnan(plain.distance_km[1:]).all()


def test_the_option_adds_a_marked_row(atlas_home: Path) -> None:
    file = atlas_home / "answers.jsonl"
    truth = {"lat": 48.85, "lon": 2.35}
    file.write_text(json.dumps({"id": "a", "truth": truth, "reply": "France; Île-de-France; Paris"}) + "\n")
    command = Path(sys.executable).parent / "geosleuth"
    done = subprocess.run(
        [command, "bench", "score", str(file), "--geocode", "--json"], capture_output=True, text=True, check=True
    )
    plain, geocoded = json.loads(done.stdout)["files"]
    assert (plain["unlocated"], geocoded["unlocated"]) == (1, 0)
    assert geocoded["accuracy"]["25"]["percent"] == 100
    assert geocoded["file"] == "answers (geocoded)"
