"""The command ``warpkern``."""

import os
import re
import subprocess
import sys
import sysconfig
from contextlib import redirect_stdout
from importlib.metadata import EntryPoint
from io import StringIO
from pathlib import Path

import pytest

import warpkern
from warpkern import cli, demo
from warpkern.array import LIBRARIES
from warpkern.exceptions import InvalidDataError
from warpkern.registry import KINDS, CommandSpec, Registry, default_registry, hookimpl

MODELS = ["labelled points only", "all points", "LabelSpreading"]


@pytest.fixture(scope="module")
def one_draw(tmp_path_factory):
    """Exit status, output and picture of the demo on one draw."""
    picture = tmp_path_factory.mktemp("demo") / "x.png"
    with redirect_stdout(StringIO()) as output:
        status = cli.main(["demo", "--draws", "1", "--out", str(picture)])
    return status, output.getvalue(), picture


class Plugin:
    """A plugin with a command that records its arguments."""

    def __init__(self, answer):
        self.answer = answer
        self.received = None

    def run(self, arguments):
        self.received = list(arguments)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    @hookimpl
    def warpkern_commands(self):
        yield CommandSpec("reproduce", self.run, summary="all tables again")


@pytest.fixture
def plugin(monkeypatch, request):
    """A plugin beside the built-in one, whose command answers with the test's parameter."""
    added = Plugin(request.param)
    registry = Registry()
    registry.load_entry_points([("warpkern", EntryPoint("b", "warpkern.builtin", "warpkern"))])
    registry.register(added, "their-dist")
    monkeypatch.setattr(cli, "default_registry", lambda: registry)
    return added


def table(output):
    """Title of a problem -> model -> errors in percent on unlabelled and on new points."""
    found, title = {}, ""
    for line in output.splitlines():
        errors = [float(error) for error in re.findall(r"([\d.]+) % \+/-", line)]
        if errors:
            model = re.split(r"\s{2,}", line.strip())[0]
            found.setdefault(title, {})[model] = errors
        else:
            title = line
    return found


def test_info_names_every_library_with_its_status(capsys):
    assert cli.main(["info"]) == 0
    lines = capsys.readouterr().out.splitlines()
    for entry in LIBRARIES:
        (line,) = [line for line in lines if line.startswith(f"  {entry.title}")]
        assert line.endswith(f": {entry.status}")


def test_info_names_versions(capsys):
    cli.main(["info"])
    output = capsys.readouterr().out
    assert output.startswith(f"warpkern {warpkern.__version__}, Python {sys.version.split()[0]}\n")
    for name in ("numpy", "scipy", "scikit-learn", "array-api-compat", "array-api-extra", "pluggy"):
        assert re.search(rf"\b{name} \d+\.\d+", output)


def test_info_lists_every_component_with_its_provider(capsys):
    cli.main(["info"])
    sections = capsys.readouterr().out.split("\n\n")
    for kind, description in KINDS.items():
        (section,) = [s for s in sections if s.startswith(f"{description.title.capitalize()}s\n")]
        listed = [(line.split()[0], line.split()[-1]) for line in section.splitlines()[1:]]
        entries = default_registry().entries(kind)
        assert listed == [(e.spec.name, f"({e.provider})") for e in entries]
        assert all(e.spec.summary in section for e in entries)
        assert len(entries) > 0


def test_info_takes_no_arguments():
    with pytest.raises(SystemExit) as stop:
        cli.main(["info", "more"])
    assert stop.value.code == 2


def test_demo_writes_a_picture(one_draw):
    status, output, picture = one_draw
    assert status == 0
    assert f"picture: {picture}" in output
    content = picture.read_bytes()
    assert content.startswith(b"\x89PNG\r\n\x1a\n")
    assert len(content) > 10_000


def test_demo_compares_three_models_on_two_problems(one_draw):
    results = table(one_draw[1])
    assert [title.partition(",")[0] for title in results] == ["two moons", "digits"]
    for rows in results.values():
        assert list(rows) == MODELS
        assert all(0 <= error <= 100 for errors in rows.values() for error in errors)


def test_unlabelled_points_help_on_the_digits(one_draw):
    (digits,) = [rows for title, rows in table(one_draw[1]).items() if "digits" in title]
    supervised, warped = digits["labelled points only"], digits["all points"]
    assert warped[0] < supervised[0]
    assert warped[1] < supervised[1]


def test_demo_refuses_no_draws(capsys, tmp_path):
    with pytest.raises(SystemExit) as stop:
        cli.main(["demo", "--draws", "0", "--out", str(tmp_path / "x.png")])
    assert stop.value.code == 2
    assert "--draws must be at least 1, got 0" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_demo_refuses_a_folder_that_is_not_there_before_it_starts(capsys, tmp_path):
    with pytest.raises(SystemExit, match="2"):
        cli.main(["demo", "--out", str(tmp_path / "no" / "x.png")])
    output = capsys.readouterr()
    assert "no such folder" in output.err
    assert not output.out


def test_demo_without_matplotlib_still_prints_the_table(capsys, tmp_path, monkeypatch):
    for name in list(sys.modules):
        if name.startswith(("matplotlib.", "warpkern.plotting")):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setattr(demo, "PROBLEMS", {"two moons, small": demo.two_moons})
    assert cli.main(["demo", "--draws", "1", "--out", str(tmp_path / "x.png")]) == 1
    output = capsys.readouterr()
    assert list(table(output.out)["two moons, small"]) == MODELS
    assert "Install matplotlib, or the extra 'plot'" in output.err
    assert "matplotlib" in output.err
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_command_lists_the_choices(capsys):
    assert cli.main(["dmeo"]) == 2
    output = capsys.readouterr()
    assert output.out == ""
    choices = ", ".join(default_registry().names("command"))
    assert output.err == f"warpkern: Unknown command 'dmeo'. Choose one of: {choices}.\n"
    assert {"demo", "info"} <= set(choices.split(", "))


def test_a_command_of_a_plugin_that_is_missing_says_how_to_install_it(capsys, monkeypatch):
    monkeypatch.setattr(cli, "default_registry", Registry)
    assert cli.main(["reproduce", "all"]) == 2
    assert "pip install ./plugins/warpkern-reproduce" in capsys.readouterr().err
    cli.main(["dmeo"])
    assert "plugins" not in capsys.readouterr().err


def test_no_command_prints_the_help(capsys):
    assert cli.main([]) == 2
    assert "commands:" in capsys.readouterr().out


@pytest.mark.parametrize(("plugin", "status"), [(7, 7), (0, 0), (None, 0)], indirect=["plugin"])
def test_a_command_of_a_plugin_is_run(plugin, status):
    assert cli.main(["reproduce", "table-2", "--seed", "3", "--version"]) == status
    assert plugin.received == ["table-2", "--seed", "3", "--version"]


@pytest.mark.parametrize("plugin", [InvalidDataError("X has a NaN.")], indirect=True)
def test_a_refusal_in_a_command_is_told_without_a_traceback(plugin, capsys):
    assert cli.main(["reproduce"]) == 2
    assert capsys.readouterr().err == "warpkern: X has a NaN.\n"


@pytest.mark.parametrize("plugin", [0], indirect=True)
def test_help_lists_commands_of_plugins_too(plugin, capsys):
    with pytest.raises(SystemExit) as stop:
        cli.main(["--help"])
    assert stop.value.code == 0
    output = capsys.readouterr().out
    assert re.search(r"^  reproduce +all tables again$", output, re.MULTILINE)
    assert re.search(r"^  demo +\w+", output, re.MULTILINE)


def test_version(capsys):
    with pytest.raises(SystemExit) as stop:
        cli.main(["--version"])
    assert stop.value.code == 0
    assert capsys.readouterr().out == f"warpkern {warpkern.__version__}\n"


def test_the_console_script_is_installed(tmp_path):
    script = Path(sysconfig.get_path("scripts")) / "warpkern"
    options = {
        "capture_output": True,
        "encoding": "utf-8",
        "cwd": tmp_path,
        "env": os.environ | {"PYTHONIOENCODING": "utf-8"},
    }
    done = subprocess.run([script, "info"], **options)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"warpkern {warpkern.__version__}, Python")
    assert subprocess.run([script, "dmeo"], **options).returncode == 2
