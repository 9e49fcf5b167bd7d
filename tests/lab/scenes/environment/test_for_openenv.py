"""The OpenEnv server, played with that library's own client over loopback in an environment of its own."""

import base64
import io
import json

import pytest
from PIL import Image

from geosleuth.lab.scenes.environment import offline_setting
from geosleuth.lab.scenes.environment.for_openenv import openenv_app
from geosleuth.support.errors import BadInput, UserError
from own_venv import ROOT, output_of, python_with

OPENENV = "openenv==0.10.0"


def test_without_openenv_one_line_says_how_to_get_it() -> None:
    setting = offline_setting(answer_by="reply")
    with pytest.raises(UserError, match="pip install openenv"):
        openenv_app(setting, [{"photo": b"", "lat": 0, "lon": 0}])
    with pytest.raises(BadInput, match="nothing to serve"):
        openenv_app(setting, [])
    with pytest.raises(BadInput, match="answer_by"):
        openenv_app(offline_setting(), [{}])


@pytest.mark.slow
@pytest.mark.usefixtures("atlas_home")
def test_openenv_s_own_client_plays_an_episode() -> None:
    told = json.loads(output_of(python_with(OPENENV), ROOT / "tests" / "support" / "openenv_child.py"))
    assert told["version"] == "0.10.0"

    assert told["posted"] == 200
    begun = told["begun"]
    assert begun["messages"][0].startswith("Where was this photo taken?")
    assert begun["system"].startswith("Find out where a photo was taken")
    assert "maps_geocode" in {one["function"]["name"] for one in begun["tools"]}
    assert begun["images"][0]["caption"] == "image-1 (900 x 500 pixels):"
    assert begun["images"][0]["jpeg"] != told["beside"]["images"][0]["jpeg"]

    cut, found = told["zoomed"]["messages"]
    assert cut.startswith("A cut of image-1")
    assert "Monaco" in found
    picture = Image.open(io.BytesIO(base64.b64decode(told["zoomed"]["images"][0]["jpeg"])))
    assert picture.format == "JPEG"
    assert all(text.startswith("Error: there is no tool") for text in told["nonsense"]["messages"])
    assert "held no answer" in told["reminded"]["messages"][0]
    assert [told[name]["done"] for name in ("zoomed", "nonsense", "reminded", "answered")] == [False] * 3 + [True]
    assert told["reminded"]["reward"] is None
    assert told["answered"]["reward"] == pytest.approx(1.0)
    assert "is over" in told["late"]["messages"][0]
    assert told["state"]["step_count"] == 5
    assert not any(word in json.dumps(told) for word in ("43.73841", "7.42461", "Truth"))
