"""U by every way there is, and the choice between them."""

import os
import signal
import subprocess
import sys
import textwrap
import tracemalloc

import numpy as np
import pytest
from scipy.sparse import random_array

from warpkern import WarpClassifier
from warpkern.array import to_host
from warpkern.datasets import make_two_moons
from warpkern.exceptions import InvalidDataError, InvalidParameterError
from warpkern.features import RBF, Linear
from warpkern.graphs import ExactKNN, Graph
from warpkern.operators import HeatLaplacian, LaplacianPower
from warpkern.warp import (
    Features,
    Plan,
    Size,
    _checkpoint,
    _plan,
    fit_warp,
    locality_order,
    plan_accumulation,
    second_moment,
    warping_matrix,
)

N, D = 60, 24


@pytest.fixture
def points(rng):
    return rng.normal(size=(N, 3))


def plans(order, width, block):
    """Every way, by rows with sets of 1, 13 and all points in some order."""
    for way in ("whole", "columns", "scratch"):
        yield Plan(way, width, block, "")
    for size in (1, 13, N):
        sets = tuple(order[s : s + size] for s in range(0, N, size))
        yield Plan("rows", width, block, "", sets)


@pytest.mark.parametrize("power", [1, 2, 3, 4])
@pytest.mark.parametrize(("width", "block"), [(1, 7), (5, 1), (D, N)])
def test_every_way_gives_the_same_matrix(width, block, power, points, rng):
    phi = RBF(D, random_state=0).fit(points)
    M = LaplacianPower(alpha=3.0, power=power).fit(ExactKNN(5).build(points))
    Phi = phi.transform(points)
    expected = Phi.T @ M.matmul(Phi)
    for plan in plans(rng.permutation(N), width, block):
        U = warping_matrix(Features(phi, points, block), M, plan)
        np.testing.assert_allclose(U, expected, atol=1e-10)
        np.testing.assert_array_equal(U, U.T)


@pytest.mark.parametrize("power", [1, 2])
def test_every_way_on_every_array_library(backend, power, points, rng):
    X = backend.asarray(points)
    phi = RBF(D, random_state=0).fit(X)
    M = LaplacianPower(alpha=3.0, power=power).fit(ExactKNN(5).build(X))
    Phi = phi.transform(X)
    expected = to_host(Phi.T @ M.matmul(Phi))
    for plan in plans(rng.permutation(N), 10, 17):
        U = warping_matrix(Features(phi, X, 17), M, plan)
        np.testing.assert_allclose(to_host(U), expected, atol=1e-10)


@pytest.mark.parametrize("way", ["whole", "columns", "scratch"])
def test_operators_that_are_known_by_products_alone(way, points):
    phi = RBF(D, random_state=0).fit(points)
    graph = ExactKNN(5).build(points)
    Phi = phi.transform(points)
    for M in (HeatLaplacian().fit(graph), (LaplacianPower() + HeatLaplacian()).fit(graph)):
        U = warping_matrix(Features(phi, points, 9), M, Plan(way, 7, 9, ""))
        np.testing.assert_allclose(U, Phi.T @ M.matmul(Phi), rtol=1e-10)


def test_features_are_left_alone(points):
    """Halves of M are put in the place of features, which may be the user's own points."""
    before = points.copy()
    phi = Linear().fit(points)
    M = LaplacianPower(power=2).fit(ExactKNN(5).build(points))
    warping_matrix(Features(phi, points, N), M, Plan("whole", 3, N, ""))
    np.testing.assert_array_equal(points, before)


def test_float32_features_are_summed_in_float64(points):
    X = points.astype(np.float32)
    phi = RBF(D, random_state=0).fit(X)
    M = LaplacianPower(alpha=3.0).fit(ExactKNN(5).build(X))
    for plan in plans(np.arange(N), D, 8):
        assert warping_matrix(Features(phi, X, 8), M, plan).dtype == np.float64
    warp = fit_warp(phi, X, M)
    assert warp.R.dtype == warp.transform(phi.transform(X)).dtype == np.float32


def line(n, dtype=np.float32):
    """A path of n nodes: few neighbours outside of any stretch."""
    indptr = np.concatenate([[0], 2 * np.arange(n) + 1])
    indptr[-1] -= 1
    pairs = np.stack([np.arange(n) - 1, np.arange(n) + 1], axis=1).ravel()[1:-1]
    return Graph(indptr, pairs, np.ones(pairs.shape[0], dtype=dtype))


def cost(n, d, monkeypatch, p=3, disk=10**15, operator=None):
    monkeypatch.setattr(_plan.shutil, "disk_usage", lambda _: type("Usage", (), {"free": disk}))
    X = np.arange(n, dtype=np.float32)[:, None] * np.ones((1, p), dtype=np.float32)
    M = operator or LaplacianPower(alpha=1.0).fit(line(n))
    size = Size(n, p, d, 4)
    return lambda limit: plan_accumulation(size, X, M, limit)


class TestChoice:
    def test_all_features_are_held_if_they_fit(self, monkeypatch):
        choose = cost(20_000, 400, monkeypatch)
        assert choose(250_000_000).way == "whole"
        assert choose(None).way == "whole"

    def test_a_graph_of_few_neighbours_is_taken_by_rows(self, monkeypatch):
        plan = cost(20_000, 400, monkeypatch)(45_000_000)
        assert plan.way == "rows"
        np.testing.assert_array_equal(np.sort(np.concatenate(plan.sets)), np.arange(20_000))
        assert "32.0 MB of 45.0 MB" in plan.reason
        assert "1.0 times in all" in plan.reason

    def test_cheap_features_are_computed_again_and_dear_ones_filed(self, monkeypatch):
        M = HeatLaplacian(alpha=1.0).fit(line(20_000))
        assert cost(20_000, 400, monkeypatch, operator=M)(45_000_000).way == "columns"
        plan = cost(20_000, 400, monkeypatch, p=3000, operator=M)(45_000_000)
        assert plan.way == "scratch"
        assert "in a file" in plan.reason

    def test_the_least_limit_is_enough(self, monkeypatch):
        for n, d in ((20_000, 2), (3_000, 400)):
            size = Size(n, 3, d, 4)
            plan = cost(n, d, monkeypatch)(_plan.least_memory(size))
            assert plan.width >= 1
            assert plan.block >= 1

    def test_no_file_where_the_disk_is_full(self, monkeypatch):
        M = HeatLaplacian(alpha=1.0).fit(line(20_000))
        plan = cost(20_000, 400, monkeypatch, p=3000, disk=10**6, operator=M)(45_000_000)
        assert plan.way == "columns"

    def test_a_graph_of_many_neighbours_is_not_taken_by_rows(self, monkeypatch, rng):
        n = 20_000
        pairs = np.sort(rng.integers(0, n, (n, 60)), axis=1).ravel()
        graph = Graph(np.arange(0, 60 * n + 1, 60), pairs, np.ones(60 * n, dtype=np.float32))
        M = LaplacianPower(alpha=1.0).fit(graph)
        assert cost(n, 400, monkeypatch, operator=M)(45_000_000).way != "rows"


@pytest.mark.parametrize("way", ["rows", "columns", "scratch"])
def test_peak_memory_stays_within_the_limit(way, rng, monkeypatch):
    """Features of 64 MB and all that goes with them, within 62 MB."""
    n, limit = 40_000, 62_000_000
    X = np.sort(rng.normal(size=(n, 3)), axis=0).astype(np.float32)
    phi = RBF(400, random_state=0).fit(X)
    M = LaplacianPower(alpha=1.0).fit(line(n))
    if way != "rows":
        monkeypatch.setattr(_plan, "_plan_rows", lambda *_: None)
        monkeypatch.setattr(_plan, "_DISK", 0.0 if way == "scratch" else 1e9)
    tracemalloc.start()
    warp = fit_warp(phi, X, M, memory_limit=limit)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert {"rows": "sets of points", "columns": "computed", "scratch": "file"}[way] in (
        warp.describe()
    )
    assert peak < limit
    full = fit_warp(phi, X, M)
    np.testing.assert_allclose(warp.R, full.R, atol=1e-4)


@pytest.mark.parametrize(
    "operator",
    [
        LaplacianPower(1.0, power=3),
        HeatLaplacian(1.0, alpha=1.0),
        LaplacianPower(1.0) + HeatLaplacian(1.0, alpha=1.0),
    ],
)
def test_operators_tell_what_memory_they_work_in(operator, rng, monkeypatch):
    n, limit = 40_000, 62_000_000
    X = np.sort(rng.normal(size=(n, 3)), axis=0).astype(np.float32)
    phi = RBF(400, random_state=0).fit(X)
    M = operator.fit(line(n))
    monkeypatch.setattr(_plan, "_plan_rows", lambda *_: None)
    monkeypatch.setattr(_plan, "_DISK", 1e9)
    tracemalloc.start()
    warp = fit_warp(phi, X, M, memory_limit=limit)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert "computed" in warp.describe()
    assert 0.5 * limit < peak < limit


def test_order_keeps_neighbours_together(backend, rng):
    X = rng.uniform(size=(20_000, 2)).astype(np.float32)
    order = locality_order(backend.asarray(X))
    np.testing.assert_array_equal(np.sort(order), np.arange(20_000))
    cells = [X[order[s : s + 2500]] for s in range(0, 20_000, 2500)]
    spread = np.mean([cell.var(axis=0).sum() for cell in cells])
    assert spread < 0.4 * X.var(axis=0).sum()


def test_order_is_found_without_a_copy_of_the_points(rng):
    X = rng.normal(size=(40_000, 50))
    tracemalloc.start()
    locality_order(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.5 * X.nbytes


def test_order_of_equal_points_and_of_sparse_rows():
    same = np.ones((10_000, 2))
    np.testing.assert_array_equal(np.sort(locality_order(same)), np.arange(10_000))
    sparse = random_array((10_000, 5), density=0.1, format="csr")
    np.testing.assert_array_equal(locality_order(sparse), np.arange(10_000))


class Interrupted(Exception):
    pass


def breaks_after(steps, monkeypatch):
    """Let the accumulation fail after a number of steps, each of which is saved."""
    monkeypatch.setattr(_checkpoint, "_INTERVAL", 0.0)
    save = _checkpoint.Checkpoint.save

    def failing(self, triangle, plan, done, *, last):
        save(self, triangle, plan, done, last=last)
        if done == steps:
            raise Interrupted

    monkeypatch.setattr(_checkpoint.Checkpoint, "save", failing)


@pytest.mark.parametrize("rank", [None, 5])
@pytest.mark.parametrize("limit", [None, 63_000])
def test_resumed_sum_is_the_same_to_the_last_bit(limit, rank, backend, points, tmp_path):
    X = backend.asarray(points)
    phi = RBF(D, random_state=0).fit(X)
    M = LaplacianPower(alpha=3.0).fit(ExactKNN(5).build(X))
    options = {"memory_limit": limit, "rank": rank}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_plan, "_MAX_WIDTH", 6)
        once = fit_warp(phi, X, M, **options)
        with pytest.MonkeyPatch.context() as broken:
            breaks_after(2, broken)
            with pytest.raises(Interrupted):
                fit_warp(phi, X, M, checkpoint=tmp_path, **options)
        calls = []
        add = _checkpoint.Triangle.add
        patch.setattr(
            _checkpoint.Triangle, "add", lambda *a, **k: calls.append(a[1]) or add(*a, **k)
        )
        resumed = fit_warp(phi, X, M, checkpoint=tmp_path, **options)
        assert len(calls) > 0
        if rank is None:
            assert 0 not in calls
        calls.clear()
        again = fit_warp(phi, X, M, checkpoint=tmp_path, **options)
        assert calls == []
    for warp in (resumed, again):
        matrix = "R" if rank is None else "B"
        np.testing.assert_array_equal(
            to_host(getattr(warp, matrix)), to_host(getattr(once, matrix))
        )


def test_other_fits_have_files_of_their_own(points, tmp_path):
    phi = RBF(D, random_state=0).fit(points)
    graph = ExactKNN(5).build(points)
    M = LaplacianPower(alpha=3.0).fit(graph)
    others = [
        (phi, points, M),
        (RBF(D, random_state=1).fit(points), points, M),
        (phi, points + 1e-9, M),
        (phi, points, LaplacianPower(alpha=2.0).fit(graph)),
    ]
    for count, other in enumerate(others, start=1):
        saved = fit_warp(*other, checkpoint=tmp_path)
        np.testing.assert_array_equal(saved.R, fit_warp(*other).R)
        assert len(list(tmp_path.iterdir())) == count


def test_resumed_plan_is_the_one_that_was_begun(points, tmp_path):
    """Whatever memory or disk there is by then."""
    phi = RBF(D, random_state=0).fit(points)
    M = LaplacianPower(alpha=3.0).fit(ExactKNN(5).build(points))
    first = fit_warp(phi, points, M, checkpoint=tmp_path, memory_limit=63_000)
    again = fit_warp(phi, points, M, checkpoint=tmp_path)
    assert again.describe() == first.describe()
    np.testing.assert_array_equal(again.R, first.R)


def test_a_checkpoint_begun_with_more_memory_is_not_gone_on_with(points, tmp_path, monkeypatch):
    phi = RBF(D, random_state=0).fit(points)
    M = LaplacianPower(alpha=3.0).fit(ExactKNN(5).build(points))
    monkeypatch.setattr(_plan, "_MAX_WIDTH", 6)
    with pytest.MonkeyPatch.context() as broken:
        breaks_after(2, broken)
        with pytest.raises(Interrupted):
            fit_warp(phi, points, M, checkpoint=tmp_path, memory_limit="1MB")
    (file,) = tmp_path.iterdir()
    with pytest.raises(InvalidParameterError, match=r"'memory_limit' .* Delete") as error:
        fit_warp(phi, points, M, checkpoint=tmp_path, memory_limit=63_000)
    assert str(file) in str(error.value)
    needed = int(str(error.value).split("at least ")[1].split(" bytes")[0].replace(",", ""))
    fit_warp(phi, points, M, checkpoint=tmp_path, memory_limit=needed)
    # A finished sum takes no features any more.
    fit_warp(phi, points, M, checkpoint=tmp_path, memory_limit=63_000)
    with pytest.raises(InvalidParameterError, match=file.name):
        fit_warp(phi, points, M, checkpoint=tmp_path, memory_limit=1000)


@pytest.mark.parametrize("options", [{}, {"symmetric": True}, {"rank": 300}])
def test_least_memory_is_enough_for_the_factor(options, points):
    """Here most of it is for matrices of order d, of which the factors hold different numbers."""
    phi = RBF(400, random_state=0).fit(points)
    M = LaplacianPower(alpha=3.0).fit(ExactKNN(5).build(points))
    with pytest.raises(InvalidParameterError, match="at least") as error:
        fit_warp(phi, points, M, memory_limit=1000, **options)
    needed = int(str(error.value).split("at least ")[1].split(" bytes")[0].replace(",", ""))
    fit_warp(phi, points, M, memory_limit=needed, **options)
    tracemalloc.start()
    fit_warp(phi, points, M, memory_limit=needed, **options)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < needed < 2 * peak


@pytest.mark.parametrize("content", [b"", b"PK damaged"])
def test_damaged_checkpoint_is_named(content, points, tmp_path):
    phi = RBF(D, random_state=0).fit(points)
    M = LaplacianPower(alpha=3.0).fit(ExactKNN(5).build(points))
    fit_warp(phi, points, M, checkpoint=tmp_path)
    (file,) = tmp_path.iterdir()
    file.write_bytes(content)
    with pytest.raises(InvalidDataError, match=rf"{file.name} cannot be read"):
        fit_warp(phi, points, M, checkpoint=tmp_path)


@pytest.mark.parametrize("alpha", [0.0, 3.0])
def test_checkpoint_that_is_no_folder_is_named(alpha, points, tmp_path):
    phi = RBF(D, random_state=0).fit(points)
    M = LaplacianPower(alpha=alpha).fit(ExactKNN(5).build(points))
    file = tmp_path / "file"
    file.write_text("")
    for checkpoint in (3, file, str(file), file / "within"):
        with pytest.raises(InvalidParameterError, match="'checkpoint'"):
            fit_warp(phi, points, M, checkpoint=checkpoint)
    with pytest.raises(InvalidParameterError, match="'checkpoint'"):
        second_moment(phi, points, checkpoint=file)


def test_model_goes_on_after_being_killed(tmp_path):
    """A process is killed in the midst of its work; another one ends with the same model."""
    program = textwrap.dedent(
        """
        import os, signal, sys
        import numpy as np
        import warpkern as wk
        from warpkern.warp import _checkpoint, _plan
        _checkpoint._INTERVAL = 0.0
        _plan._MAX_WIDTH = 16
        folder, target, kill = sys.argv[1:]
        if kill == "yes":
            save = _checkpoint.Checkpoint.save
            def saved(self, triangle, plan, done, *, last):
                save(self, triangle, plan, done, last=last)
                if done == 3:
                    os.kill(os.getpid(), signal.SIGKILL)
            _checkpoint.Checkpoint.save = saved
        X, y = wk.datasets.make_two_moons(300, n_labeled=10, random_state=0)
        model = wk.WarpClassifier(
            wk.features.RBF(100), checkpoint=folder or None, random_state=0
        ).fit(X, y)
        np.save(target, model.coef_)
        """
    )

    def run(folder, target, kill):
        command = [sys.executable, "-c", program, str(folder), str(tmp_path / target), kill]
        return subprocess.run(command, check=False, env=os.environ).returncode

    assert run("", "once.npy", "no") == 0
    assert run(tmp_path / "saved", "killed.npy", "yes") == -signal.SIGKILL
    assert not (tmp_path / "killed.npy").exists()
    assert run(tmp_path / "saved", "resumed.npy", "no") == 0
    once, resumed = np.load(tmp_path / "once.npy"), np.load(tmp_path / "resumed.npy")
    np.testing.assert_array_equal(once, resumed)


def test_progress_is_shown_when_asked_for(capsys, monkeypatch):
    monkeypatch.setattr("warpkern.progress._DELAY", 0.0)
    X, y = make_two_moons(200, n_labeled=10, random_state=0)
    WarpClassifier(random_state=0, verbose=True).fit(X, y)
    assert "warp, by strips of columns" in capsys.readouterr().err
    WarpClassifier(random_state=0).fit(X, y)
    assert capsys.readouterr().err == ""


def test_sparse_points(rng):
    X = random_array((N, 30), density=0.3, format="csr", random_state=0)
    phi = RBF(D, random_state=0).fit(X)
    M = LaplacianPower(alpha=3.0).fit(ExactKNN(5).build(X))
    Phi = phi.transform(X)
    for plan in plans(rng.permutation(N), 10, 17):
        U = warping_matrix(Features(phi, X, 17), M, plan)
        np.testing.assert_allclose(U, Phi.T @ M.matmul(Phi), atol=1e-10)
