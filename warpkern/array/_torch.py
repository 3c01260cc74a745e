"""PyTorch."""

from __future__ import annotations

import warnings
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
import torch

from ..exceptions import BackendError, NotPositiveDefiniteError
from . import _generic
from ._host import host_memory
from ._typing import Array, Namespace


def device_name(x: Array) -> str:
    return str(x.device)


def as_device(name: str, xp: Namespace) -> Any:  # noqa: ARG001 - one library
    try:
        return torch.device(name)
    except RuntimeError as error:
        raise BackendError(
            f"torch has no device {name!r}. Choose a name such as 'cpu', 'cuda:0' or 'mps'."
        ) from error


def use_device(device: Any) -> AbstractContextManager[Any]:  # noqa: ARG001
    return torch.no_grad()  # type: ignore[no-any-return] # a fitted model keeps no autograd graph


def to_host(x: Array) -> Array:
    return x.detach().cpu().numpy()


def from_host(x: Array, device: Any, xp: Namespace) -> Array:  # noqa: ARG001 - one library
    # A copy: a tensor that shares memory with a read-only NumPy array is undefined behaviour.
    return torch.tensor(np.asarray(x, order="C"), device=device)


def device_memory(x: Array) -> int | None:
    if x.device.type == "cuda":
        return int(torch.cuda.get_device_properties(x.device).total_memory)
    return host_memory()


def synchronize(x: Array) -> None:
    if x.device.type == "cuda":
        torch.cuda.synchronize(x.device)
    elif x.device.type == "mps":
        torch.mps.synchronize()


def cholesky(a: Array) -> Array:
    r, info = torch.linalg.cholesky_ex(a)
    if int(info):
        raise NotPositiveDefiniteError(f"Cholesky of a {tuple(a.shape)} matrix failed.")
    return r


def solve_triangular(r: Array, b: Array, transpose: bool) -> Array:
    return torch.linalg.solve_triangular(r.T if transpose else r, b, upper=transpose)


eigh_smallest = _generic.eigh_smallest
column_dots = _generic.column_dots


def row_major(a: Array) -> Array:
    return a.contiguous()


def csr_matmul(
    indptr: Array, indices: Array, data: Array, shape: tuple[int, int], v: Array
) -> Array:
    return torch.sparse_csr_tensor(indptr, indices, data, size=shape, check_invariants=False) @ v


csr_residual = _generic.csr_residual
cosines = _generic.cosines


def topk(a: Array, k: int) -> tuple[Array, Array]:
    values, columns = torch.topk(a, k, dim=1, largest=False, sorted=True)
    return values, columns


keep_smallest = _generic.keep_smallest
listed_distances = _generic.listed_distances


def _pass_over_beta_warning() -> None:
    """Let torch say unheard, as it does once in a process, that its CSR tensors are in beta."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        torch.sparse_csr_tensor([0, 0], [], [], size=(1, 1), check_invariants=False)


_pass_over_beta_warning()
