"""A pytest plug-in: coremltools predicts with Assay."""

import assay.coremltools  # noqa: F401
import coremltools._deps

# The helpers of the tests predict only where this says so; they read it when they are imported.
coremltools._deps._IS_MACOS = True
