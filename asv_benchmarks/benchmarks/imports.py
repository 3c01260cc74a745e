"""What ``import warpkern`` adds to ``import numpy, scipy``.

Run by asv, or by hand: ``python asv_benchmarks/benchmarks/imports.py``.
"""

import statistics
import subprocess
import sys

_SCRIPT = """
import time
start = time.perf_counter()
import numpy, scipy
middle = time.perf_counter()
import {module}
print(middle - start, time.perf_counter() - middle)
"""


def measure(module="warpkern", repeat=11):
    """Return median seconds in a fresh process: of numpy and scipy, and of `module` after them."""
    command = [sys.executable, "-c", _SCRIPT.format(module=module)]
    runs = [subprocess.run(command, capture_output=True, check=True) for _ in range(repeat)]
    times = [[float(t) for t in run.stdout.split()] for run in runs]
    return tuple(statistics.median(column) for column in zip(*times, strict=True))


def track_added_seconds():
    return measure()[1]


track_added_seconds.unit = "s"


def track_ratio_to_numpy_and_scipy():
    base, added = measure()
    return added / base


track_ratio_to_numpy_and_scipy.unit = "x"


if __name__ == "__main__":
    for name in ("warpkern", "warpkern.estimators"):
        base, added = measure(name)
        print(f"import numpy, scipy: {base:.3f} s; import {name} adds {added:.3f} s")
