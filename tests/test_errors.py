"""Errors, and optional parts that say how to get them."""

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from geosleuth.errors import BadInput, DataFault, GeosleuthError, MissingExtra, UserError, install_command, require


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
    assert words == [sys.executable, "-m", "pip", "install", "geosleuth[serve]"]
    done = subprocess.run([*words[:3], "--version"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    monkeypatch.setattr(sys, "executable", "/a folder/python")
    assert shlex.split(install_command("serve"))[0] == "/a folder/python"


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
