"""The only place that knows array libraries by name.

Everything else in warpkern is written against the Array API standard: it asks
`namespace` for ``xp`` and calls ``xp.cos``, ``xp.take``, ``xp.linalg.solve``. What
the standard lacks (checked Cholesky, triangular solve, sparse times dense, top-k,
a partial eigendecomposition, travel between host and device) is here, one function each,
served by one small adapter file per library. The adapters define the same
names in the same order, so that two of them can be read side by side.

Allowed: importing an array library, inside its own adapter.
Forbidden: an array moved to another device or library without being asked to.
"""

from ._backend import (
    Backend,
    backend_of,
    is_array,
    is_host,
    is_text,
    map_arrays,
    namespace,
    place,
)
from ._blocks import assemble_rows, cached_rows, row_blocks
from ._host import fixed_global_seed, host, host_generator, host_memory, seed_components
from ._memory import memory_text, parse_memory
from ._operations import (
    CSR,
    cholesky,
    cholesky_semidefinite,
    column_dots,
    cosines,
    csr_matmul,
    csr_residual,
    device_memory,
    eigh_smallest,
    keep_smallest,
    listed_distances,
    row_major,
    solve_triangular,
    synchronize,
    to_host,
    topk,
)
from ._points import check_points
from ._precision import accumulation_dtype, default_float, index_dtype
from ._sparse import (
    anchor,
    as_floats,
    as_rows,
    as_type,
    checked_rows,
    component_labels,
    is_sparse,
    join_columns,
    join_rows,
    like_rows,
    placed_csr,
    require_finite,
    row_products,
    take_rows,
    to_dense,
    with_entries,
)
from ._support import FUNCTIONS, LIBRARIES, Library, library, support_table
from ._threads import in_threads
from ._typing import Array, Namespace

__all__ = [
    "accumulation_dtype",
    "anchor",
    "as_floats",
    "as_rows",
    "as_type",
    "Array",
    "assemble_rows",
    "Backend",
    "backend_of",
    "cached_rows",
    "check_points",
    "checked_rows",
    "column_dots",
    "component_labels",
    "cholesky",
    "cholesky_semidefinite",
    "cosines",
    "CSR",
    "csr_matmul",
    "csr_residual",
    "default_float",
    "device_memory",
    "eigh_smallest",
    "fixed_global_seed",
    "FUNCTIONS",
    "host",
    "host_generator",
    "host_memory",
    "in_threads",
    "index_dtype",
    "is_array",
    "is_host",
    "is_sparse",
    "is_text",
    "join_columns",
    "join_rows",
    "keep_smallest",
    "LIBRARIES",
    "like_rows",
    "library",
    "Library",
    "listed_distances",
    "map_arrays",
    "memory_text",
    "Namespace",
    "namespace",
    "parse_memory",
    "place",
    "placed_csr",
    "require_finite",
    "row_blocks",
    "row_major",
    "row_products",
    "seed_components",
    "solve_triangular",
    "support_table",
    "synchronize",
    "take_rows",
    "to_dense",
    "to_host",
    "topk",
    "with_entries",
]
