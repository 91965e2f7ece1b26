"""The keyword arguments of the commands: `image_scale=1 / 255` is the option `--image-scale`.

`assay convert --help` and the help of the other commands explain each. A table gives a value for each
name, as in `image_mean={"image": (123, 117, 104)}`; unknown sizes of shapes are None.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, TypedDict, Union

Path = Union[str, "os.PathLike[str]"]
Texts = Union[str, Sequence[str]]
Paths = Union[Path, Sequence[Path]]
Named = Union[str, Mapping[str, str]]
Number = Union[str, float]
Numbers = Union[Number, Sequence[float], Mapping[str, Union[Number, Sequence[float]]]]
Shapes = Union[str, Mapping[str, Union[str, Sequence[Union[int, None]]]]]


class ProcessOptions(TypedDict, total=False):
    """What a command may use."""

    plugin: Paths
    max_memory: str
    timeout: float
    require_sandbox: bool
    report: Path


class SourceOptions(ProcessOptions, total=False):
    """How a network becomes a Core ML model."""

    input_name: Texts
    output_name: Texts
    reference_names: bool
    input_shape: Shapes
    array_type: Named
    image_input: Texts
    image_output: Texts
    preset: str
    color: Named
    image_scale: Numbers
    image_mean: Numbers
    image_std: Numbers
    red_bias: Numbers
    green_bias: Numbers
    blue_bias: Numbers
    gray_bias: Numbers
    labels: Paths
    predicted_feature_name: str
    predicted_probabilities_output: str
    target: str
    custom_layers: Union[Path, Sequence[Any], Mapping[str, Any]]
    lambda_: str
    layer_source: Paths
    net_state: Texts
    respect_trainable: bool
    metadata: Named
    description: Named


class ConvertOptions(SourceOptions, total=False):
    """How `convert` converts."""

    precision: str
    recipe: str
    keep_float32: Texts
    fixed_sizes: bool
    states: bool
    forget_bias: str
    inputs: Any
    expected: Any
    prove: bool
    detect: str
    detector: Union[str, Mapping[str, Any]]
    vision_boxes: bool
    opset: int
    external_data: bool
    raw_images: bool


class RunOptions(SourceOptions, total=False):
    """How a model runs, and how images are prepared."""

    layout: str
    recipe: str
    resize: str
    interpolation: str
    exif: str
    threads: int
    seed: int
    function: str
    without: Texts


class DiffOptions(RunOptions, total=False):
    """How `diff` compares."""

    expected: Any
    rtol: Numbers
    atol: Numbers
    tolerance: str
    top: int
    layers: Any
    reference: bool
    diagnose: bool
    no_diagnose: bool
    budget: float
    output: Path
    structure: bool
    arithmetic: str
    keep_float32: Texts


class CompressOptions(RunOptions, total=False):
    """How `compress` stores weights."""

    precision: str
    bits: int
    mode: Any
    group_size: int
    sparsity: float
    layer: Texts
    skip_layer: Texts
    min_count: int
    scales: str
    keep_overflow: bool
    inputs: Any
    max_error: float
    min_agreement: float
    max_size: str
    no_fold: bool


class InspectOptions(SourceOptions, total=False):
    """What `inspect` shows or writes."""

    precision: str
    function: str
    without: Texts
    export_weights: Path
    weight_files: Named
    graph: Path
    swift_stubs: Path
