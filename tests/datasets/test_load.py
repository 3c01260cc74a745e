"""Named sets: where they are looked for, what is made of them, and what is said if that fails."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import sklearn.datasets
from scipy.sparse import csr_array, issparse

from warpkern.datasets import Dataset, available, load
from warpkern.exceptions import DatasetNotFoundError, InvalidDataError, InvalidParameterError

# Images of each digit that are to train on, as published.
DIGITS = {
    "mnist": [5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949],
    "usps": [1194, 1005, 731, 658, 652, 556, 664, 645, 542, 644],
}


def tiny(name):
    """The arrays of a small file of that name: six points, three to test on where it has such."""
    rng = np.random.default_rng(0)
    sparse = csr_array(np.eye(6, dtype=np.float64))
    rows = {"indices": sparse.indices, "indptr": sparse.indptr, "shape": np.asarray([6, 6])}
    whole = rng.integers(0, 9, (6, 4), dtype=np.uint8)
    digits = np.asarray([0, 1, 2, 0, 1, 2], dtype=np.uint8)
    signs = {"y": np.asarray([-1, 1, -1, 1, 1, 1], dtype=np.int8)}
    draws = {f"idx_labeled_{n}": rng.permuted(np.tile(np.arange(6), (3, 1)), axis=1)[:, :n]
             for n in (2, 4)}  # fmt: skip
    parts = {"x_train": whole, "y_train": digits, "x_test": whole[:3], "y_test": digits[:3]}
    one_draw = {"idx_labeled": draws["idx_labeled_2"]}
    return {
        "20newsgroups": rows
        | {"counts": np.asarray([1, 2, 3, 1, 1, 1], dtype=np.uint16), "y": digits}
        | {"idf": np.ones(6, dtype=np.float32), "is_train": np.arange(6) < 3},
        "abalone": {"x": rng.normal(size=(6, 10)), "y": np.arange(6, dtype=np.int16)},
        "boston": {"x": rng.normal(size=(6, 13)), "y": rng.normal(size=6)},
        "cifar10_gist384": parts | {"scale": np.full(4, 0.5, dtype=np.float32)},
        "cmu_mocap17": {"pose": rng.integers(-9, 9, (6, 17, 3), dtype=np.int16), "subject": digits},
        "coil20": {"x": whole / np.float32(9), "y": digits + 1},
        "covtype": {"x": whole.astype(np.int16), "y": digits + 1},
        "g50c": {"x": rng.normal(size=(6, 5))} | signs | one_draw,
        "letter": {"x": whole, "y": digits},
        "mnist": parts,
        "sslbook_g241c": {"x": whole.astype(np.float32)} | signs | draws,
        "sslbook_text": rows | {"data": sparse.data} | signs | draws,
        "sslbook_usps_binary": {"x": whole.astype(np.float32)} | signs | draws,
        "text_mac_windows": rows | {"data": sparse.data} | signs | one_draw,
        "usps": parts | {"x_train": whole.astype(np.float32), "x_test": np.float32(whole[:3])},
        "uspst": {"x": whole.astype(np.float32), "y": digits} | one_draw,
    }[name]


@pytest.fixture(autouse=True)
def nowhere(monkeypatch, tmp_path):
    """No folder of the user is looked into, and nothing is fetched."""
    monkeypatch.delenv("WARPKERN_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def refuse(**_):
        raise ConnectionError("no network")

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", refuse)


def write(folder, name, **changes):
    folder.mkdir(exist_ok=True, parents=True)
    np.savez(folder / f"{name}.npz", **(tiny(name) | changes))
    return folder


@pytest.mark.parametrize("name", available())
def test_every_set_is_points_as_floats_and_classes_from_zero(name, tmp_path):
    found = load(name, write(tmp_path, name))
    assert found.name == name
    assert found.source
    parts = [(found.X, found.y)] + ([] if found.X_test is None else [(found.X_test, found.y_test)])
    for X, y in parts:
        assert X.dtype.kind == "f"
        assert X.shape[0] == y.shape[0]
        assert y.dtype == np.float64 or set(np.unique(y)) == set(range(y.max() + 1))
    for n, rows in found.labeled.items():
        assert rows.shape[1] == n
        assert rows.max() < found.X.shape[0]


@pytest.mark.parametrize("name", ["abalone", "boston"])
def test_targets_of_regressions_are_floats(name, tmp_path):
    found = load(name, write(tmp_path, name))
    assert found.y.dtype == np.float64
    np.testing.assert_array_equal(found.y, tiny(name)["y"])
    assert found.describe().endswith("a number for each")


def test_units(tmp_path):
    for name in ("mnist", "cifar10_gist384", "cmu_mocap17"):
        write(tmp_path, name)
    pixels = load("mnist", tmp_path)
    assert pixels.X.dtype == np.float32
    np.testing.assert_array_equal(pixels.X, tiny("mnist")["x_train"].astype(np.float32) / 255)
    gist = load("cifar10_gist384", tmp_path)
    np.testing.assert_array_equal(gist.X_test, 0.5 * tiny("mnist")["x_test"].astype(np.float32))
    np.testing.assert_array_equal(load("cmu_mocap17", tmp_path).X, tiny("cmu_mocap17")["pose"])


def test_images_may_be_kept_as_squares(tmp_path):
    parts = tiny("mnist")
    squares = {key: parts[key].reshape(-1, 2, 2) for key in ("x_train", "x_test")}
    found = load("mnist", write(tmp_path, "mnist", **squares))
    assert found.X.shape == (6, 4)
    assert found.X_test.shape == (3, 4)


def test_words_are_sparse_rows_of_length_one(tmp_path):
    found = load("20newsgroups", write(tmp_path, "20newsgroups"))
    assert issparse(found.X)
    assert (found.X.shape, found.X_test.shape) == ((3, 6), (3, 6))
    np.testing.assert_allclose((found.X**2).sum(axis=1), 1.0, rtol=1e-6)
    assert issparse(load("text_mac_windows", write(tmp_path, "text_mac_windows")).X)


def test_draws_are_told_apart_by_their_size(tmp_path):
    assert set(load("sslbook_text", write(tmp_path, "sslbook_text")).labeled) == {2, 4}
    assert set(load("uspst", write(tmp_path, "uspst")).labeled) == {2}
    assert load("letter", write(tmp_path, "letter")).labeled == {}


def test_folders_are_looked_into_in_their_order(tmp_path, monkeypatch):
    monkeypatch.setenv("WARPKERN_DATA", str(tmp_path / "named"))
    places = [tmp_path / "cache" / "warpkern", tmp_path / "named", tmp_path / "given"]
    for value, folder in enumerate(places):
        write(folder, "boston", y=np.full(6, float(value)))
        assert load("boston", tmp_path / "given").y[0] == value
    assert load("boston").y[0] == 1.0


def test_a_set_that_is_nowhere_is_told_with_folders_and_reason(tmp_path, monkeypatch):
    monkeypatch.setenv("WARPKERN_DATA", str(tmp_path / "named"))
    with pytest.raises(DatasetNotFoundError, match="OpenML does not have") as told:
        load("uspst", tmp_path / "given")
    for folder in ("given", "named", "cache/warpkern"):
        assert str(tmp_path / folder) in str(told.value)
    with pytest.raises(FileNotFoundError, match=r"boston\.npz.*ConnectionError: no network"):
        load("boston")


def test_unknown_names_list_the_choices():
    with pytest.raises(InvalidParameterError, match=r"abalone.*mnist.*uspst.*Got 'mnsit'"):
        load("mnsit")


@pytest.mark.parametrize("content", [b"", b"no archive", b"PK\x03\x04 cut off", b"\x93NUMPY"])
def test_a_file_that_cannot_be_read_is_named(content, tmp_path):
    (tmp_path / "boston.npz").write_bytes(content)
    with pytest.raises(InvalidDataError, match=r"boston\.npz cannot be read"):
        load("boston", tmp_path)


def test_a_file_cut_off_is_named(tmp_path):
    file = write(tmp_path, "boston") / "boston.npz"
    content = file.read_bytes()
    file.write_bytes(content[:200] + b"\0" * 50 + content[250:])
    with pytest.raises(InvalidDataError, match=r"boston\.npz"):
        load("boston", tmp_path)


def test_pickles_are_refused(tmp_path):
    write(tmp_path, "boston", y=np.asarray([None] * 6, dtype=object))
    with pytest.raises(InvalidDataError, match=r"boston\.npz cannot be read"):
        load("boston", tmp_path)


def test_a_file_of_another_set_is_named_with_what_it_lacks(tmp_path):
    write(tmp_path, "boston")
    (tmp_path / "boston.npz").rename(tmp_path / "mnist.npz")
    with pytest.raises(InvalidDataError, match=r"mnist\.npz does not hold.*'x_train'.*holds x, y"):
        load("mnist", tmp_path)


def test_parts_of_different_length_are_refused(tmp_path):
    write(tmp_path, "boston", y=np.zeros(5))
    with pytest.raises(InvalidDataError, match=r"boston\.npz.*differ in length"):
        load("boston", tmp_path)
    with pytest.raises(InvalidDataError, match="X_test"):
        Dataset("odd", np.zeros((2, 1)), np.zeros(2), y_test=np.zeros(1))


def test_columns_of_a_fetched_set_are_numbers_and_it_is_kept(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    calls = []

    def fetch(data_id, **_):
        calls.append(data_id)
        columns = pd.DataFrame(rng.normal(size=(4177, 7)))
        columns.insert(0, "Sex", pd.Series(list("MFI") * 1392 + ["M"], dtype="category"))
        rings = pd.Series(np.arange(4177) % 29 + 1).astype(str).astype("category")
        return SimpleNamespace(data=columns, target=rings)

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch)
    first, again = load("abalone"), load("abalone")
    assert calls == [183]
    np.testing.assert_array_equal(first.X[:4, :3], np.eye(3)[[0, 1, 2, 0]])
    np.testing.assert_array_equal(first.y[:3], [1.0, 2.0, 3.0])
    np.testing.assert_array_equal(again.X, first.X)
    assert [file.name for file in (tmp_path / "cache" / "warpkern").iterdir()] == ["abalone.npz"]


def test_digits_and_letters_are_fetched_as_they_are_kept(monkeypatch):
    rows = {554: (70_000, 784), 41082: (9298, 256), 6: (20_000, 16), 531: (506, 13)}
    first = {
        554: np.repeat(np.arange(10), DIGITS["mnist"]),
        41082: np.repeat(np.arange(1, 11), DIGITS["usps"]),
        6: list("ABCZ"),
        531: ["1.5"],
    }

    def fetch(data_id, **_):
        n, p = rows[data_id]
        columns = pd.DataFrame(np.broadcast_to(np.uint8(51), (n, p)))
        targets = pd.Series(np.resize(first[data_id], n)).astype(str)
        return SimpleNamespace(data=columns, target=targets.astype("category"))

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch)
    digits = load("mnist")
    assert digits.describe() == "mnist: 60,000 x 784 points, 10,000 to test, 10 classes"
    assert digits.X[0, 0] == np.float32(51) / 255
    assert load("usps").describe() == "usps: 7,291 x 256 points, 2,007 to test, 10 classes"
    assert load("usps").y[[0, 1193, 1194]].tolist() == [0, 0, 1]
    assert load("letter").y[:4].tolist() == [0, 1, 2, 3]
    assert load("boston").y[0] == 1.5


def test_a_set_that_changed_at_openml_is_not_kept(tmp_path, monkeypatch):
    other = SimpleNamespace(data=pd.DataFrame(np.zeros((5, 13))), target=pd.Series(np.zeros(5)))
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", lambda **_: other)
    with pytest.raises(DatasetNotFoundError, match="5 x 13, and not 506 x 13"):
        load("boston")
    assert not (tmp_path / "cache").exists()


def test_images_in_another_order_are_not_kept(tmp_path, monkeypatch):
    digits = pd.Series(np.arange(9298) % 10 + 1)
    other = SimpleNamespace(data=pd.DataFrame(np.zeros((9298, 256))), target=digits)
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", lambda **_: other)
    with pytest.raises(DatasetNotFoundError, match=r"first 7,291 rows .* \(1194, 1005"):
        load("usps")
    assert not (tmp_path / "cache").exists()


def test_a_cache_that_cannot_be_written_is_told(tmp_path, monkeypatch):
    (tmp_path / "cache").write_text("a file where a folder should be")
    other = SimpleNamespace(data=pd.DataFrame(np.zeros((506, 13))), target=pd.Series(np.zeros(506)))
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", lambda **_: other)
    with pytest.warns(UserWarning, match=r"boston\.npz could not be written"):
        assert load("boston").X.shape == (506, 13)
