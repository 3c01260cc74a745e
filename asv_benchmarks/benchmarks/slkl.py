"""SLKL: errors beside those of Machart et al. (2011), and time against the number of columns.

By hand; `heads.py` is what asv runs. Prints tables measured in one run:

    WARPKERN_DATA=FOLDER python asv_benchmarks/benchmarks/slkl.py [TABLE ...]

TABLE is boston, abalone, sinc, usps, kernels, nu or speed; without one, all are printed, which
takes some minutes. FOLDER holds boston.npz, abalone.npz and usps.npz.
"""

import pathlib
import sys
import time
import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import KFold

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))

from benchmarks.common import standardized, timed
from warpkern.datasets import load
from warpkern.heads import SLKLRegressor
from warpkern.kernels import RBF

NUS = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1)
WIDTHS = (0.25, 0.5, 1.0, 2.0, 4.0)  # times the number of columns: sigma^2
PAPER = {
    "sinc": {256: "0.0106 +- 0.0004, m0 83", 512: "0.0103 +- 0.0002, m0 108",
             1000: "0.0104 +- 0.0001, m0 139"},
    "boston": {128: "20.17 +- 2.3, m0 108", 256: "13.1 +- 0.87, m0 161",
               350: "11.43 +- 0.06, m0 184"},
    "abalone": {512: "5.04 +- 0.08, m0 159", 1024: "4.94 +- 0.03, m0 191",
                3000: "4.95 +- 0.004, m0 253"},
    "usps": {64: "76.3 +- 9.9, m0 61", 256: "47.6 +- 3.1, m0 210", 1024: "41.5 +- 3.9, m0 515"},
}  # fmt: skip


def slkl(gamma, nu, M, seed, **options):
    return SLKLRegressor(RBF(gamma), nu, M, random_state=seed, **options)


def squared_error(model, X, y):
    return float(np.mean((model.predict(X) - y) ** 2))


def chosen(X, y, M, folds=3):
    """Return the width and nu of least squared error in cross-validation on the training part."""
    parts = list(KFold(folds, shuffle=True, random_state=0).split(X))
    errors = {}
    for times in WIDTHS:
        gamma = 1 / (2 * X.shape[1] * times)
        for nu in NUS:
            errors[gamma, nu] = np.mean(
                [
                    squared_error(slkl(gamma, nu, M, 0, tol=1e-3).fit(X[a], y[a]), X[b], y[b])
                    for a, b in parts
                ]
            )
    return min(errors, key=errors.get)


def show(name, M, errors, sizes, note):
    print(
        f"  {name} M {M:5,}  {np.mean(errors):8.4f} +- {np.std(errors):6.4f}, "
        f"m0 {np.mean(sizes):5.0f}  (paper {PAPER[name][M]}) {note}",
        flush=True,
    )


def ridge_error(train, test, gamma):
    """Return the least error of kernel ridge regression on all rows over a grid of ridges."""
    (X, y), (X_new, y_new) = train, test
    models = (KernelRidge(alpha=a, kernel="rbf", gamma=gamma) for a in 10.0 ** np.arange(-4, 2))
    return min(squared_error(m.fit(X, y - y.mean()), X_new, y_new - y.mean()) for m in models)


def regression_table(name, n_train, sizes, splits=10):
    """Print test errors over random splits; columns of unit variance by the training part."""
    data = load(name)
    X, y = data.X, data.y
    print(
        f"{name}: mean squared error, {splits} random splits of {n_train:,} / {len(X) - n_train:,}"
    )
    found = {M: ([], []) for M in sizes}
    for seed in range(splits):
        rows = np.random.default_rng(seed).permutation(len(X))
        a, b = rows[:n_train], rows[n_train:]
        Z = (X - X[a].mean(axis=0)) / X[a].std(axis=0)
        if seed == 0:
            gamma, nu = chosen(Z[a], y[a], max(sizes[0], 256))
            print(f"  by cross-validation in the first: sigma^2 {1 / (2 * gamma):.3g}, nu {nu:g}")
            least = ridge_error((Z[a], y[a]), (Z[b], y[b]), gamma)
            print(f"  kernel ridge regression, all rows, best ridge, first split: {least:.2f}")
        for M in sizes:
            model = slkl(gamma, nu, M, seed).fit(Z[a], y[a])
            found[M][0].append(squared_error(model, Z[b], y[b]))
            found[M][1].append(model.n_active_)
    for M, (errors, active) in found.items():
        show(name, M, errors, active, "")


def boston_table():
    regression_table("boston", 350, (128, 256, 350))


def abalone_table():
    regression_table("abalone", 3000, (512, 1024, 3000))


def sinc(seed):
    """Return noisy training and clean test points of sin|x| / |x| on a square, and the noise."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-5, 5, size=(2000, 2))
    r = np.linalg.norm(X, axis=1)
    clean = np.sin(r) / r
    noise = np.sqrt(np.mean(clean[:1000] ** 2) / 10)  # 10 dB
    y = clean + noise * rng.normal(size=2000)
    return (X[:1000], y[:1000]), (X[1000:], clean[1000:], y[1000:]), noise


def sinc_table():
    """Print errors against test targets without noise, as described, and with it."""
    train, _, noise = sinc(0)
    gamma, nu = chosen(*train, 256)
    print(
        f"sinc: mean squared error, 10 draws; noise {noise:.3f}, its square {noise**2:.4f}; "
        f"by cross-validation in the first: sigma^2 {1 / (2 * gamma):.3g}, nu {nu:g}"
    )
    for M in (256, 512, 1000):
        errors, active, noisy = [], [], []
        for seed in range(10):
            train, (X, clean, y), _ = sinc(seed)
            model = slkl(gamma, nu, M, seed).fit(*train)
            errors.append(squared_error(model, X, clean))
            noisy.append(squared_error(model, X, y))
            active.append(model.n_active_)
        show("sinc", M, errors, active, f"with noise {np.mean(noisy):.4f} +- {np.std(noisy):.4f}")


def usps_table(repeats=5):
    """Print counts of errors: 4 against the other digits, as Williams and Seeger, and all ten."""
    data = load("usps")
    X, new = data.X.astype(np.float64), data.X_test.astype(np.float64)
    digits, new_digits = data.y, data.y_test
    gamma = 1 / (2 * 64.0)
    four, new_four = np.where(digits == 4, 1.0, -1.0), np.where(new_digits == 4, 1.0, -1.0)
    part = np.random.default_rng(0).permutation(len(X))
    a, b = part[:5000], part[5000:]

    def wrong(nu):
        model = slkl(gamma, nu, 256, 0, tol=1e-3).fit(X[a], four[a])
        return np.sum(np.sign(model.predict(X[b])) != four[b])

    nu = min((1e-5, 1e-4, 1e-3), key=wrong)
    print(f"usps: errors of 2,007, sigma^2 64, nu {nu:g} by validation, {repeats} draws of columns")
    print("  digit 4 against the others")
    for M in (64, 256, 1024):
        models = [slkl(gamma, nu, M, seed).fit(X, four) for seed in range(repeats)]
        errors = [np.sum(np.sign(model.predict(new)) != new_four) for model in models]
        show("usps", M, errors, [model.n_active_ for model in models], "")
    print("  ten classes, outputs sharing mu")
    classes = np.where(digits[:, None] == np.arange(10), 1.0, -1.0)
    for M in (64, 256, 1024):
        model = slkl(gamma, nu, M, 0).fit(X, classes)
        errors = np.sum(model.predict(new).argmax(axis=1) != new_digits)
        print(f"  usps M {M:5,}  {errors} errors, m0 {model.n_active_}", flush=True)


def kernels_table(splits=10):
    """Print errors on boston of one kernel, and of several widths whose columns compete."""
    data = load("boston")
    X, y = data.X, data.y
    wide = 1 / (2 * 3.25 * 13)
    kernels = {f"sigma^2 x {t:g}": RBF(wide / t) for t in (0.25, 1.0, 4.0)}
    kernels["all three"] = list(kernels.values())
    print(f"boston: mean squared error of several kernels, M 256 each, nu 1e-4, {splits} splits")
    for name, kernel in kernels.items():
        errors, active = [], []
        for seed in range(splits):
            rows = np.random.default_rng(seed).permutation(len(X))
            a, b = rows[:350], rows[350:]
            Z = (X - X[a].mean(axis=0)) / X[a].std(axis=0)
            model = SLKLRegressor(kernel, 1e-4, 256, random_state=seed).fit(Z[a], y[a])
            errors.append(squared_error(model, Z[b], y[b]))
            active.append(model.n_active_)
        print(
            f"  {name:16} {np.mean(errors):6.2f} +- {np.std(errors):.2f}, m0 {np.mean(active):.0f}"
        )


def nu_table():
    """Print test errors of the defaults, M = 500, for each nu."""
    sets = {}
    for name, n in (("boston", 350), ("abalone", 3000)):
        data = load(name)
        X, y = standardized(data.X), data.y
        rows = np.random.default_rng(0).permutation(len(X))
        sets[name] = (X[rows[:n]], y[rows[:n]], X[rows[n:]], y[rows[n:]])
    train, (X, clean, _), _ = sinc(0)
    sets["sinc"] = (*train, X, clean)
    data = load("usps")
    parts = (data.X, data.y), (data.X_test, data.y_test)
    fours = [(X.astype(np.float64), 2.0 * (y == 4) - 1) for X, y in parts]
    sets["usps, 4 or not"] = (*fours[0], *fours[1])
    print("mean squared error (m0) of SLKLRegressor(nu=nu, n_columns=500)")
    for name, (X, y, X_new, y_new) in sets.items():
        cells = []
        for nu in NUS:
            model = SLKLRegressor(nu=nu, n_columns=500, random_state=0).fit(X, y)
            cells.append(f"{nu:g}: {squared_error(model, X_new, y_new):.4g} ({model.n_active_})")
        print(f"  {name:15} {'  '.join(cells)}", flush=True)


def speed_table():
    """Print seconds against M on abalone, and of the ways to search."""
    data = load("abalone")
    X, y = standardized(data.X)[:4000], data.y[:4000]
    gamma = 1 / (2 * 25.0)
    print("abalone, 4,000 rows, nu 1e-4: seconds of a fit")
    for M in (250, 500, 1000, 2000, 4000):
        model, spent = timed(lambda M=M: slkl(gamma, 1e-4, M, 0).fit(X, y))
        print(
            f"  M {M:5,} {spent:6.2f} s, {model.n_iter_} epochs, m0 {model.n_active_}", flush=True
        )
    for options in (
        {},
        {"step": "newton"},
        {"selection": "greedy"},
        {"shrinking": False},
        {"memory_limit": "24MB"},
    ):
        start = time.perf_counter()
        model = slkl(gamma, 1e-4, 2000, 0, **options).fit(X, y)
        spent = time.perf_counter() - start
        print(
            f"  M 2,000 {options or 'default'!s:32} {spent:6.2f} s, {model.n_iter_} epochs, "
            f"m0 {model.n_active_}, F {model.objective_:.1f}, {model.solved_}",
            flush=True,
        )


TABLES = {
    "boston": boston_table,
    "abalone": abalone_table,
    "sinc": sinc_table,
    "usps": usps_table,
    "kernels": kernels_table,
    "nu": nu_table,
    "speed": speed_table,
}

if __name__ == "__main__":
    warnings.simplefilter("ignore", ConvergenceWarning)
    for table in sys.argv[1:] or TABLES:
        start = time.perf_counter()
        TABLES[table]()
        print(f"  ({time.perf_counter() - start:.0f} s)", flush=True)
