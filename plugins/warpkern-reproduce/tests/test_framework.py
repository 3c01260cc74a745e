"""What all experiments share: the command, the files, and what is done already."""

import json
import math

import pytest
from matplotlib.figure import Figure
from warpkern import cli
from warpkern.exceptions import DatasetNotFoundError

from warpkern_reproduce import Experiment, Result, Row, Settings, Table, _command, _runner

PNG = b"\x89PNG\r\n\x1a\n"


class Counted:
    """An experiment that counts how often it is run and drawn."""

    def __init__(self, name="toy", fails=None, bounds=None):
        self.runs = self.draws = 0
        self.fails = fails
        self.spec = Experiment(
            name,
            "a toy",
            "Nobody (2000), table 1",
            "As it says.",
            self.run,
            self.draw,
            bounds or {},
        )

    def run(self, settings):
        self.runs += 1
        if self.fails:
            raise self.fails
        n = settings.pick(quick=2, full=4)
        rows = (
            Row("error", [1.0 + i for i in range(n)], paper=1.5, paper_spread=0.25, note="Ours."),
            Row("time", (0.123456789,)),
        )
        return Result((Table("Errors", "%", rows, "All."),), {"line": [1, 2.5]}, range(n), {"C": 3})

    def draw(self, result):
        self.draws += 1
        figure = Figure(figsize=(2, 2))
        figure.subplots().plot(result.series["line"])
        return figure


@pytest.fixture
def known(monkeypatch):
    """Put experiments in the place of the real ones."""

    def use(*experiments):
        specs = {e.spec.name: e.spec for e in experiments}
        monkeypatch.setattr(_command, "NAMES", tuple(specs))
        monkeypatch.setattr(_command, "experiment", specs.__getitem__)

    return use


def reproduce(*arguments):
    return cli.main(["reproduce", *map(str, arguments)])


def test_a_run_writes_three_files(known, tmp_path):
    known(Counted())
    assert reproduce("toy", "--out", tmp_path) == 0
    assert sorted(f.name for f in tmp_path.iterdir()) == ["toy.json", "toy.md", "toy.png"]
    assert (tmp_path / "toy.png").read_bytes().startswith(PNG)
    whole = json.loads((tmp_path / "toy.json").read_text())
    assert whole["how"]["profile"] == "quick"
    assert whole["how"]["seconds"] >= 0
    assert whole["how"]["peak_memory_mb"] > 1
    assert {"Python", "warpkern", "numpy"} <= set(whole["how"]["versions"])
    error = whole["result"]["tables"][0]["rows"][0]
    assert (error["values"], error["mean"], error["spread"]) == ([1.0, 2.0], 1.5, 0.5)
    assert whole["result"]["seeds"] == [0, 1]


def test_the_page_has_our_numbers_beside_the_papers(known, tmp_path):
    known(Counted())
    reproduce("toy", "--out", tmp_path)
    page = (tmp_path / "toy.md").read_text()
    assert "| error | 1.5 ± 0.5 | 1.5 ± 0.25 | Ours. |" in page
    assert "| time | 0.1235 |  |  |" in page
    assert "All. Mean and standard deviation over 2 draws." in page
    assert "Nobody (2000), table 1." in page
    assert "![a toy](toy.png)" in page
    assert "C 3" in page


def test_a_finished_run_is_not_repeated_unless_asked(known, tmp_path, capsys):
    toy = Counted()
    known(toy)
    for _ in range(2):
        assert reproduce("toy", "--out", tmp_path) == 0
    assert (toy.runs, toy.draws) == (1, 1)
    assert "done already" in capsys.readouterr().out
    reproduce("toy", "--out", tmp_path, "--force")
    assert toy.runs == 2


@pytest.mark.parametrize("other", [["--profile", "full"], ["--backend", "torch"]])
def test_another_profile_or_backend_is_another_run(known, tmp_path, other):
    toy = Counted()
    known(toy)
    reproduce("toy", "--out", tmp_path)
    reproduce("toy", "--out", tmp_path, *other)
    assert toy.runs == 2


def test_another_folder_of_data_is_another_run(known, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    toy = Counted()
    known(toy)
    for home in ("a", "a", tmp_path / "a", "b"):
        reproduce("toy", "--out", tmp_path, "--data-home", home)
    assert toy.runs == 2


def test_another_version_is_another_run(known, tmp_path, monkeypatch):
    toy = Counted()
    known(toy)
    reproduce("toy", "--out", tmp_path)
    monkeypatch.setattr(_runner, "_version", lambda _: "99")
    reproduce("toy", "--out", tmp_path)
    assert toy.runs == 2


def test_other_code_is_another_run(known, tmp_path, monkeypatch):
    toy = Counted()
    known(toy)
    reproduce("toy", "--out", tmp_path)
    monkeypatch.setattr(_runner, "_source", lambda: "changed")
    reproduce("toy", "--out", tmp_path)
    assert toy.runs == 2


def test_the_code_is_known_by_what_is_in_its_files(tmp_path, monkeypatch):
    def told(text):
        (tmp_path / "module.py").write_text(text)
        return _runner._source.__wrapped__()

    monkeypatch.setattr(_runner, "files", lambda _: tmp_path)
    assert told("a = 1") == told("a = 1") != told("a = 2")


def test_profiles_have_folders_of_their_own_by_default(known, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    known(Counted())
    reproduce("toy")
    reproduce("toy", "--profile", "full")
    for folder in ("quick-numpy", "full-numpy"):
        assert (tmp_path / "reproduced" / folder / "toy.md").is_file()


def test_page_and_picture_are_made_again_from_the_numbers(known, tmp_path):
    toy = Counted()
    known(toy)
    reproduce("toy", "--out", tmp_path)
    page, picture = (tmp_path / f"toy.{ending}" for ending in ("md", "png"))
    before = page.read_text(), picture.read_bytes()
    page.unlink()
    picture.unlink()
    reproduce("toy", "--out", tmp_path)
    assert toy.runs == 1
    assert (page.read_text(), picture.read_bytes()) == before


def test_no_old_page_or_picture_stays_beside_new_numbers(known, tmp_path, monkeypatch):
    toy = Counted()
    known(toy)
    reproduce("toy", "--out", tmp_path)
    for ending in ("md", "png"):
        (tmp_path / f"toy.{ending}").write_text("of the old numbers")
    with monkeypatch.context() as broken:
        broken.setattr(_runner, "_picture", lambda *_: 1 / 0)
        assert reproduce("toy", "--out", tmp_path, "--force") == 1
    assert [f.name for f in tmp_path.iterdir()] == ["toy.json"]
    assert reproduce("toy", "--out", tmp_path) == 0
    assert toy.runs == 2
    assert (tmp_path / "toy.png").read_bytes().startswith(PNG)
    assert (tmp_path / "toy.md").read_text().startswith("# ")


def test_a_broken_file_of_numbers_is_measured_again(known, tmp_path):
    toy = Counted()
    known(toy)
    (tmp_path / "toy.json").write_text('{"how": {')
    assert reproduce("toy", "--out", tmp_path) == 0
    assert toy.runs == 1


def test_all_goes_on_after_a_failure_and_tells_it_at_the_end(known, tmp_path, capsys):
    first = Counted("first", fails=ZeroDivisionError("by nothing"))
    second = Counted("second", fails=DatasetNotFoundError("There is no second.npz."))
    third = Counted("third")
    known(first, second, third)
    assert reproduce("all", "--out", tmp_path) == 1
    assert third.runs == 1
    told = capsys.readouterr()
    assert "1 of 3 as expected" in told.out
    assert "first: ZeroDivisionError: by nothing" in told.err
    assert "second: There is no second.npz." in told.err
    assert sorted(f.stem for f in tmp_path.glob("*.json")) == ["third"]


def test_an_interruption_keeps_what_is_done(known, tmp_path, capsys):
    last = Counted("last")
    known(Counted("first"), Counted("second", fails=KeyboardInterrupt()), last)
    assert reproduce("all", "--out", tmp_path) == 130
    assert last.runs == 0
    assert "1 of 3 are done" in capsys.readouterr().err
    assert sorted(f.name for f in tmp_path.iterdir()) == ["first.json", "first.md", "first.png"]


def test_numbers_out_of_bounds_are_told(known, tmp_path, capsys):
    known(Counted(bounds={"error": (2.0, 3.0), "nothing": (0.0, 1.0), "time": (0.0, 1.0)}))
    assert reproduce("toy", "--out", tmp_path) == 1
    told = capsys.readouterr().err
    assert "'error' is 1.5, and not 2 to 3" in told
    assert "'nothing' was not measured" in told
    assert "'time'" not in told


def test_names_are_checked_before_anything_is_run(known, tmp_path, capsys):
    toy = Counted()
    known(toy)
    with pytest.raises(SystemExit, match="2"):
        reproduce("toy", "tyo", "--out", tmp_path)
    assert "there is no tyo; there are toy" in capsys.readouterr().err
    with pytest.raises(SystemExit, match="2"):
        reproduce("--out", tmp_path)
    assert toy.runs == 0


def test_a_folder_that_cannot_be_written_is_told_before_anything_is_run(known, tmp_path, capsys):
    toy = Counted()
    known(toy)
    (tmp_path / "file").write_text("in the way")
    for folder in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(SystemExit, match="2"):
            reproduce("toy", "--out", folder)
        assert f"--out {folder} cannot be written: " in capsys.readouterr().err
    assert toy.runs == 0


def test_a_folder_without_space_for_a_file_is_told_as_well(known, tmp_path, monkeypatch, capsys):
    def full(**_):
        raise OSError(28, "No space left on device")

    toy = Counted()
    known(toy)
    monkeypatch.setattr(_runner.tempfile, "TemporaryFile", full)
    with pytest.raises(SystemExit, match="2"):
        reproduce("toy", "--out", tmp_path)
    assert "cannot be written: No space left on device" in capsys.readouterr().err
    assert toy.runs == 0


def test_an_unknown_backend_is_told(known, tmp_path, capsys):
    known(Counted())
    assert reproduce("toy", "--out", tmp_path, "--backend", "nopy") == 1
    assert "nopy" in capsys.readouterr().err


def test_the_list_shows_every_experiment(known, capsys):
    known(Counted("first"), Counted("second"))
    assert reproduce("--list") == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["first", "second"]
    assert all("Nobody (2000), table 1" in line for line in lines)


def test_a_file_that_cannot_be_written_whole_is_not_there(tmp_path, monkeypatch):
    def fail(*_):
        raise OSError("no space left")

    monkeypatch.setattr(_runner.Path, "replace", fail)
    with pytest.raises(OSError, match="no space"):
        _runner.write(tmp_path / "x.json", b"{}")
    assert list(tmp_path.iterdir()) == []


def test_a_result_survives_its_file():
    result = Counted().run(Settings())
    again = Result.from_dict(json.loads(json.dumps(result.as_dict())))
    assert again == result
    assert again.rows()["time"].mean == 0.123457


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_what_is_no_number_is_told_and_what_was_measured_is_kept(known, tmp_path, capsys, bad):
    toy = Counted()
    rows = Row("x", (1.0, bad)), Row("y", (2.0,))
    spec = Experiment(
        "toy",
        "t",
        "r",
        "p",
        lambda _: Result((Table("t", "", rows),), {"line": [1.0, bad]}),
        toy.draw,
        {"x": (0, 1)},
    )
    known(type("E", (), {"spec": spec}))
    assert reproduce("toy", "--out", tmp_path) == 1
    assert capsys.readouterr().err.count("'x' is") == 1
    text = (tmp_path / "toy.json").read_text()
    whole = json.loads(text, parse_constant=pytest.fail)  # NaN is no JSON
    values = [row["values"] for row in whole["result"]["tables"][0]["rows"]]
    assert values == [[1.0, None], [2.0]]
    again = Result.from_dict(whole["result"])
    assert again.rows()["y"].mean == 2.0
    assert math.isnan(again.rows()["x"].mean)
    assert math.isnan(again.series["line"][1])
    (tmp_path / "toy.png").unlink()
    assert reproduce("toy", "--out", tmp_path) == 1  # read again, drawn again, and told again
    assert toy.draws == 2
