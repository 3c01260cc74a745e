"""What each array library supports: declared once, read by docs, tests and ``warpkern info``."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["FUNCTIONS", "LIBRARIES", "Library", "library", "support_table"]

FUNCTIONS: dict[str, str] = {
    "device_name": "name of the device an array is on",
    "as_device": "device object from its name",
    "use_device": "context to compute in",
    "to_host": "array to NumPy",
    "from_host": "NumPy to array",
    "device_memory": "memory of an array's device",
    "synchronize": "wait for an array",
    "cholesky": "Cholesky factor, failure reported",
    "solve_triangular": "triangular solve",
    "eigh_smallest": "smallest eigenpairs",
    "column_dots": "inner products of columns",
    "row_major": "rows one after the other in memory",
    "csr_matmul": "sparse times dense",
    "csr_residual": "sparse times dense, less dense",
    "cosines": "cosines and sines side by side",
    "topk": "k smallest of each row",
    "keep_smallest": "running k smallest of each row",
    "listed_distances": "distances to listed points",
}
"""Every adapter defines these, in this order."""


@dataclass(frozen=True)
class Library:
    """One array library, and how warpkern stands to it.

    Attributes
    ----------
    name : str
        What a user writes in ``backend=``, and the module to import.
    title : str
        Its name in prose.
    namespace, adapter : str
        Modules: the standard's functions, and what the standard lacks.
    devices : str
        Device names understood by ``device=``.
    float64 : str
        Whether double precision is to be had.
    status : str
        How it has been checked.
    native : frozenset of str
        Members of `FUNCTIONS` for which the library's own routine is called;
        the others are composed from the bare standard.
    """

    name: str
    title: str
    namespace: str
    adapter: str
    devices: str
    float64: str
    status: str
    native: frozenset[str]


_COMPOSED = ("column_dots", "csr_residual", "keep_smallest", "listed_distances")
_TESTED = "core tests run on every change"

LIBRARIES: tuple[Library, ...] = (
    Library(
        name="numpy",
        title="NumPy",
        namespace="array_api_compat.numpy",
        adapter="warpkern.array._numpy",
        devices="cpu",
        float64="yes",
        status=_TESTED,
        native=frozenset(FUNCTIONS) - {"use_device"},
    ),
    Library(
        name="cupy",
        title="CuPy",
        namespace="array_api_compat.cupy",
        adapter="warpkern.array._cupy",
        devices="cuda:N",
        float64="yes",
        status="checked against its API, not yet executed",
        native=frozenset(FUNCTIONS) - {"eigh_smallest", "row_major", "cosines", "topk", *_COMPOSED},
    ),
    Library(
        name="torch",
        title="PyTorch",
        namespace="array_api_compat.torch",
        adapter="warpkern.array._torch",
        devices="cpu, cuda:N, mps",
        float64="yes (not on mps)",
        status=_TESTED + ", on the CPU",
        native=frozenset(FUNCTIONS) - {"eigh_smallest", "cosines", *_COMPOSED},
    ),
    Library(
        name="jax",
        title="JAX",
        namespace="jax.numpy",
        adapter="warpkern.array._jax",
        devices="cpu:N, gpu:N, tpu:N",
        float64="with jax_enable_x64",
        status=_TESTED + ", on the CPU",
        native=frozenset(FUNCTIONS) - {"eigh_smallest", "row_major", "cosines", *_COMPOSED},
    ),
    Library(
        name="generic",
        title="any other, such as array-api-strict",
        namespace="",
        adapter="warpkern.array._generic",
        devices="as the library names them",
        float64="as the device has it",
        status=_TESTED + ", with array-api-strict",
        native=frozenset(),
    ),
)


def library(name: str) -> Library:
    """Return the entry of the library called `name`, or the generic one."""
    return next((entry for entry in LIBRARIES if entry.name == name), LIBRARIES[-1])


def support_table() -> str:
    """Return the table of libraries in Markdown.

    Examples
    --------
    >>> from warpkern.array import support_table
    >>> print(support_table().splitlines()[2])
    | NumPy | `numpy` | cpu | yes | core tests run on every change |
    """
    rows = ["| library | `backend=` | devices | float64 | status |", "|---|---|---|---|---|"]
    for entry in LIBRARIES:
        name = "its module's name" if entry.name == "generic" else f"`{entry.name}`"
        rows.append(
            f"| {entry.title} | {name} | {entry.devices} | {entry.float64} | {entry.status} |"
        )
    return "\n".join(rows)
