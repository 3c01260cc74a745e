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
    yield FeatureMapSpec(
        "laplace",
        "warpkern.features:Laplace",
        summary="random Fourier features of exp(-gamma |x - y|_1)",
        reference="Rahimi and Recht (2007)",
    )
    yield FeatureMapSpec(
        "chi2",
        "warpkern.features:Chi2",
        summary="histograms: exp(-gamma sum (x - y)^2 / (x + y)), random features",
        reference="Sreekanth, Vedaldi, Zisserman and Jawahar (2010)",
    )
    yield FeatureMapSpec(
        "additive-chi2",
        "warpkern.features:AdditiveChi2",
        summary="histograms: sum 2 x y / (x + y), by a sampled spectrum",
        reference="Vedaldi and Zisserman (2012)",
    )
    yield FeatureMapSpec(
        "skewed-chi2",
        "warpkern.features:SkewedChi2",
        summary="histograms: skewed chi-square kernel, random features",
        reference="Li, Ionescu and Sminchisescu (2010)",
    )
    yield FeatureMapSpec(
        "skewed-intersection",
        "warpkern.features:SkewedIntersection",
        summary="histograms: skewed intersection kernel, random features",
        reference="Li, Ionescu and Sminchisescu (2010)",
    )
    yield FeatureMapSpec(
        "semigroup-laplace",
        "warpkern.features:SemigroupLaplace",
        summary="histograms: exp(-beta sum sqrt(x + y)), random Laplace features",
        reference="Yang, Sindhwani, Fan, Avron and Mahoney (2014)",
    )
    yield FeatureMapSpec(
        "nystroem",
        "warpkern.features:Nystroem",
        summary="any kernel, by its values at landmarks",
        reference="Williams and Seeger (2001)",
    )
    yield FeatureMapSpec(
        "linear", "warpkern.features:Linear", summary="the points themselves, k(x, y) = x . y"
    )
    yield FeatureMapSpec(
        "polynomial",
        "warpkern.features:Polynomial",
        summary="(gamma x . y + coef0)^degree: all monomials, or a tensor sketch",
        reference="Pham and Pagh (2013)",
    )


@hookimpl
def warpkern_graph_builders() -> Iterator[GraphBuilderSpec]:
    """Yield the graph builders."""
    yield GraphBuilderSpec(
        "auto",
        "warpkern.graphs:AutoKNN",
        summary="the builder that suits the size of the data and the array library",
    )
    yield GraphBuilderSpec(
        "exact",
        "warpkern.graphs:ExactKNN",
        summary="exact k nearest neighbours, all pairs in tiles",
    )
    yield GraphBuilderSpec(
        "nn-descent",
        "warpkern.graphs:NNDescent",
        summary="approximate k nearest neighbours by NN-descent (pynndescent)",
        backends=("numpy",),
        reference="Dong, Charikar and Li (2011)",
    )
    yield GraphBuilderSpec(
        "lsh",
        "warpkern.graphs:LSH",
        summary="approximate k nearest neighbours by hashing, tables added to a wanted recall",
        reference="Datar et al. (2004)",
    )
    yield GraphBuilderSpec(
        "precomputed",
        "warpkern.graphs:Precomputed",
        summary="affinities, a graph or lists of neighbours from outside",
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
    yield OperatorSpec(
        "heat",
        "warpkern.operators:HeatLaplacian",
        summary="alpha (exp(t L) - I), every power of the Laplacian at once",
        reference="Smola and Kondor (2003)",
    )
    yield OperatorSpec(
        "saturating",
        "warpkern.operators:SaturatingLaplacian",
        summary="alpha L^c (mu I + L^c)^-1, bounded however rough a function is",
        reference="Smola and Kondor (2003)",
    )
    yield OperatorSpec(
        "landmark",
        "warpkern.operators:LandmarkLaplacian",
        summary="powers of the graph Laplacian as a few landmarks see them, of low rank",
        reference="Lever, Diethe and Shawe-Taylor (2012)",
    )
    yield OperatorSpec(
        "amplified-resistance",
        "warpkern.operators:AmplifiedResistance",
        summary="amplified resistance distances between a few landmarks, of low rank",
        reference="von Luxburg, Radl and Hein (2010)",
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
    yield HeadSpec(
        "sgd",
        "warpkern.heads:SGD",
        summary="logistic, squared or hinge loss by stochastic gradients, in one of four ways",
        reference="Lacoste-Julien, Schmidt and Bach (2012)",
    )
    yield HeadSpec(
        "slkl",
        "warpkern.heads:SLKL",
        summary="low-rank kernel learning: few rows, chosen and weighed for the targets",
        reference="Machart, Peel, Anthoine, Ralaivola and Glotin (2011)",
    )
    yield HeadSpec(
        "svm",
        "warpkern.heads:SVM",
        summary="support vector machine, squared hinge, by Newton's method in the primal",
        reference="Chapelle (2007)",
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
