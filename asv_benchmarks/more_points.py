"""Errors on two moons, by the number of points and of labels: tables of docs/method.md.

python asv_benchmarks/more_points.py
"""

import numpy as np

from warpkern import WarpClassifier
from warpkern.datasets import hide_labels, make_two_moons
from warpkern.demo import MODELS, Problem, compare
from warpkern.operators import LaplacianPower

FIXED = {"feature_map": "rbf", "targets": "labeled", "search": None}
OPERATORS = {
    "no warp": FIXED | {"operator": None},
    "warp": FIXED,
    "`normalized=False`": FIXED | {"operator": LaplacianPower(normalized=False)},
    "`alpha=60, normalized=False`": FIXED | {"operator": LaplacianPower(60.0, normalized=False)},
    "default": {},
}


def error(n, options, seed):
    X, truth = make_two_moons(n + 1000, random_state=seed)
    y = hide_labels(truth[:n], 10, random_state=seed)
    model = WarpClassifier(random_state=seed, **options).fit(X[:n], y)
    return 100 * np.mean(model.predict(X[n:]) != truth[n:])


def two_moons(n_labeled):
    def make(seed):
        X, truth = make_two_moons(1000, random_state=seed)
        y = hide_labels(truth[:500], n_labeled, random_state=seed)
        return Problem(X[:500], y, truth[:500], X[500:], truth[500:])

    return make


def main():
    print(f"| points | {' | '.join(OPERATORS)} |")
    print("|---|" + "---|" * len(OPERATORS))
    for n in (500, 2000, 8000):
        means = [np.mean([error(n, o, seed) for seed in range(3)]) for o in OPERATORS.values()]
        print(f"| {n} | {' | '.join(f'{mean:.1f}' for mean in means)} |", flush=True)

    print(f"\n| labels | {' | '.join(MODELS)} |")
    print("|---|" + "---|" * len(MODELS))
    for n_labeled in (2, 4, 6, 10):
        results = compare(two_moons(n_labeled), 10).values()
        print(f"| {n_labeled} | {' | '.join(f'{r.new.mean():.1f}' for r in results)} |", flush=True)


if __name__ == "__main__":
    main()
