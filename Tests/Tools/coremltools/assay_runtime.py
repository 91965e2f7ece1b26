"""A pytest plug-in: coremltools predicts with Assay."""

import assay.coremltools  # noqa: F401
