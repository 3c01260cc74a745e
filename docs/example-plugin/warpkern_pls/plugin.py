"""What this distribution adds to warpkern."""

from warpkern.registry import HeadSpec, hookimpl


@hookimpl
def warpkern_heads():
    """Yield the heads."""
    yield HeadSpec(
        "pls",
        "warpkern_pls.head:PLS",
        summary="partial least squares with one component",
        reference="Wold, Sjöström and Eriksson (2001)",
    )
