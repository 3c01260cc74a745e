"""What this distribution adds to warpkern."""

from __future__ import annotations

from collections.abc import Iterator

from warpkern.registry import GraphBuilderSpec, hookimpl


@hookimpl
def warpkern_graph_builders() -> Iterator[GraphBuilderSpec]:
    """Yield the graph builders."""
    yield GraphBuilderSpec(
        "faiss",
        "warpkern_faiss:FaissKNN",
        summary="exact k nearest neighbours by Faiss",
        backends=("numpy",),
        reference="Douze et al. (2024)",
    )
    yield GraphBuilderSpec(
        "faiss-hnsw",
        "warpkern_faiss._builder:hnsw",
        summary="approximate k nearest neighbours by a hierarchical navigable small world",
        backends=("numpy",),
        reference="Malkov and Yashunin (2018)",
    )
