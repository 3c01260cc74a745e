"""The array libraries that every core test runs on.

All of them are part of the ``test`` extra. One that is missing fails its tests: a suite
that skips them would prove nothing about them.
"""

import os

# Both are read once, when the library is imported.
os.environ.setdefault("JAX_ENABLE_X64", "1")
os.environ.setdefault("SCIPY_ARRAY_API", "1")

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


@pytest.fixture(params=list(BACKENDS))
def backend(request):
    """Each array library in turn, JAX with float64 on."""
    return Backend.named(*BACKENDS[request.param])
