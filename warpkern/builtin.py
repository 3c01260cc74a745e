"""The components that come with warpkern, registered as any plugin's are."""

from __future__ import annotations

from collections.abc import Iterator

from .registry import (
    CommandSpec,
    FeatureMapSpec,
    GraphBuilderSpec,
    HeadSpec,
    OperatorSpec,
    hookimpl,
)


@hookimpl
def warpkern_feature_maps() -> Iterator[FeatureMapSpec]:
    """Yield the feature maps."""
    yield FeatureMapSpec(
        "rbf",
        "warpkern.features:RBF",
        summary="random Fourier features of exp(-gamma |x - y|^2)",
        reference="Rahimi and Recht (2007)",
    )


@hookimpl
def warpkern_graph_builders() -> Iterator[GraphBuilderSpec]:
    """Yield the graph builders."""
    yield GraphBuilderSpec(
        "exact",
        "warpkern.graphs:ExactKNN",
        summary="exact k nearest neighbours, all pairs in blocks",
    )
    yield GraphBuilderSpec(
        "auto",
        "warpkern.graphs:ExactKNN",
        summary="the builder that suits the data (exact, at any size)",
    )


@hookimpl
def warpkern_operators() -> Iterator[OperatorSpec]:
    """Yield the operators."""
    yield OperatorSpec(
        "laplacian",
        "warpkern.operators:LaplacianPower",
        summary="alpha L^c, powers of the graph Laplacian",
        reference="Ionescu, Popa and Sminchisescu (2017)",
    )


@hookimpl
def warpkern_heads() -> Iterator[HeadSpec]:
    """Yield the heads."""
    yield HeadSpec(
        "krr",
        "warpkern.heads:KRR",
        summary="kernel ridge regression",
        reference="Ionescu, Popa and Sminchisescu (2017), section 4",
    )


@hookimpl
def warpkern_commands() -> Iterator[CommandSpec]:
    """Yield the subcommands."""
    yield CommandSpec(
        "demo",
        "warpkern.demo:main",
        summary="few labels, with and without the warp: table, picture",
    )
    yield CommandSpec(
        "info", "warpkern.cli:info", summary="versions, array libraries, components, providers"
    )
