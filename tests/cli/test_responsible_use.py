"""The page on responsible use: its code caps what it says it caps, and its settings are settings."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from geosleuth.server.http.schemas import NewSettings
from signs import sign_photo

PAGE = (Path(__file__).parents[2] / "docs" / "responsible-use.md").read_text(encoding="utf-8")


@pytest.mark.usefixtures("atlas_home")
def test_the_function_of_the_page_tells_no_street(tmp_path: Path) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    names: dict[str, Any] = {}
    photo = tmp_path / "sign.jpg"
    sign_photo(photo, "RUE GRIMALDI", "MONACO")
    exec(code, names)  # noqa: S102  (the page's own lines)
    finding = names["where"](photo)
    assert finding.granularity == "city"
    assert "Grimaldi" not in str(finding)
    assert "Grimaldi" not in json.dumps(finding.to_geojson())


def test_the_settings_of_the_page_are_understood() -> None:
    (body,) = re.findall(r"-d '(.*?)'", PAGE)
    assert NewSettings.model_validate_json(body).granularity == "city"
