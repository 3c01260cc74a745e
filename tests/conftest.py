"""The array libraries that every core test runs on.

All of them are part of the ``test`` extra. One that is missing fails its tests: a suite
that skips them would prove nothing about them. ``pytest -m gpu`` runs the same tests on a GPU.
"""

import os

# Read once, when the library is imported. Tests compile much and run little.
if "PYTEST_XDIST_WORKER" in os.environ:  # a processor each: threads would be in each other's way
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("JAX_ENABLE_X64", "1")
os.environ.setdefault("SCIPY_ARRAY_API", "1")
os.environ.setdefault(
    "XLA_FLAGS", "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true"
)

import numpy as np
import pytest

from warpkern.array import Backend

BACKENDS = {
    "numpy": ("numpy", None),
    "torch": ("torch", "cpu"),
    "jax": ("jax", "cpu"),
    "strict": ("array_api_strict", "CPU_DEVICE"),
    # Refuses every implicit transfer to the host, as a GPU library does.
    "strict-device1": ("array_api_strict", "device1"),
}
GPU_BACKENDS = {"cupy": ("cupy", "cuda:0"), "torch-cuda": ("torch", "cuda:0")}


@pytest.fixture(
    params=[*BACKENDS, *(pytest.param(name, marks=pytest.mark.gpu) for name in GPU_BACKENDS)]
)
def backend(request):
    """Each array library in turn, JAX with float64 on; GPUs where they are asked for."""
    return Backend.named(*(BACKENDS | GPU_BACKENDS)[request.param])


@pytest.fixture
def rng():
    """A generator with a fixed seed, new for each test."""
    return np.random.default_rng(0)
