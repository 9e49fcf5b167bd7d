"""Errors, and optional parts that say how to get them."""

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from geosleuth.support.errors import (
    BadInput,
    DataFault,
    GeosleuthError,
    MissingExtra,
    UserError,
    install_command,
    require,
)


def test_an_installed_module_is_returned() -> None:
    import json.decoder

    assert require("json.decoder", extra="models") is json.decoder


@pytest.mark.parametrize("module", ["geosleuth_no_such_part", "geosleuth_no_such_part.inner", "json.no_such_part"])
def test_a_missing_module_names_the_exact_command(module: str) -> None:
    with pytest.raises(MissingExtra) as caught:
        require(module, extra="serve")
    assert str(caught.value).endswith(f"run: {install_command('serve')}")
    assert module in str(caught.value)
    assert (caught.value.module, caught.value.extra) == (module, "serve")


def test_the_command_belongs_to_the_python_that_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    words = shlex.split(install_command("serve"))
    assert words[:4] == [sys.executable, "-m", "pip", "install"]
    assert words[-1].endswith("[serve]")
    done = subprocess.run([*words[:3], "--version"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    monkeypatch.setattr(sys, "executable", "/a folder/python")
    assert shlex.split(install_command("serve"))[0] == "/a folder/python"


@pytest.mark.parametrize(
    ("record", "wanted"),
    [
        ('{{"url": "file://{there}", "dir_info": {{}}}}', ["{there}[serve]"]),
        ('{{"url": "file://{there}", "dir_info": {{"editable": true}}}}', ["-e", "{there}[serve]"]),
        ('{{"url": "file:///no/such/folder", "dir_info": {{}}}}', ["geosleuth[serve]"]),
        ('{{"url": "https://example.org/geosleuth.whl", "archive_info": {{}}}}', ["geosleuth[serve]"]),
        ("not JSON", ["geosleuth[serve]"]),
        ("[]", ["geosleuth[serve]"]),
        (None, ["geosleuth[serve]"]),
    ],
)
def test_an_extra_comes_from_where_geosleuth_came_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, record: str | None, wanted: list[str]
) -> None:
    clone = tmp_path / "a clone"
    clone.mkdir()
    info = tmp_path / "site" / "geosleuth-9.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: geosleuth\nVersion: 9\n")
    if record is not None:
        (info / "direct_url.json").write_text(record.format(there=str(clone).replace(" ", "%20")))
    monkeypatch.syspath_prepend(tmp_path / "site")
    words = shlex.split(install_command("serve"))
    assert words[4:] == [word.format(there=clone) for word in wanted]


def test_a_message_is_one_line_whatever_it_quotes() -> None:
    quoted = "a\nb\x1b[31m\u202e\0c" + "x" * 5000
    assert str(BadInput(f"no column {quoted}")).startswith("no column a b [31m  cx")
    assert len(str(BadInput(quoted))) == 2000
    assert str(BadInput("Zürich – 東京")) == "Zürich – 東京"


@pytest.mark.parametrize("broken_by", ["geosleuth_deeper_part", "broken_part_needs_this"])
def test_an_import_that_fails_deeper_down_comes_through(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken_by: str
) -> None:
    (tmp_path / "broken_part.py").write_text(f"import {broken_by}\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "broken_part", raising=False)
    with pytest.raises(ModuleNotFoundError, match=broken_by):
        require("broken_part", extra="models")


def test_any_other_failure_of_an_import_comes_through(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "failing_part.py").write_text("from json import no_such_name\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ImportError, match="no_such_name"):
        require("failing_part", extra="models")


def test_exit_codes_tell_who_can_mend_it() -> None:
    assert {kind.exit_code for kind in (UserError, BadInput, MissingExtra)} == {2}
    assert {kind.exit_code for kind in (GeosleuthError, DataFault)} == {1}
    assert issubclass(MissingExtra, UserError)
    assert not issubclass(DataFault, UserError)
