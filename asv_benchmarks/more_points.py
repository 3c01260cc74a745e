"""Errors on two moons with ten labels as unlabelled points are added: a table of docs/method.md.

python asv_benchmarks/more_points.py
"""

import numpy as np

from warpkern import WarpClassifier
from warpkern.datasets import hide_labels, make_two_moons
from warpkern.operators import LaplacianPower

OPERATORS = {
    "no warp": None,
    "default": LaplacianPower(),
    "`normalized=False`": LaplacianPower(normalized=False),
    "`alpha=60, normalized=False`": LaplacianPower(60.0, normalized=False),
}


def error(n, operator, seed):
    X, truth = make_two_moons(n + 1000, random_state=seed)
    y = hide_labels(truth[:n], 10, random_state=seed)
    model = WarpClassifier(operator=operator, random_state=seed).fit(X[:n], y)
    return 100 * np.mean(model.predict(X[n:]) != truth[n:])


def main():
    print(f"| points | {' | '.join(OPERATORS)} |")
    print("|---|" + "---|" * len(OPERATORS))
    for n in (500, 2000, 8000):
        means = [np.mean([error(n, op, seed) for seed in range(3)]) for op in OPERATORS.values()]
        print(f"| {n} | {' | '.join(f'{mean:.1f}' for mean in means)} |", flush=True)


if __name__ == "__main__":
    main()
