"""A head for warpkern: partial least squares with one component."""
