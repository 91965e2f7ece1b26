#!/usr/bin/env python3
"""ML Programs whose weights are the hard cases of compression: channels with one weight each, and a
weight whose codes with their scales take as many bytes as its halves.

    pip install coremltools torch && python programs.py

Made with coremltools 9.0 and torch 2.13. pointwise_depthwise.npz has the input. depthwise.prototxt and
depthwise.caffemodel are the same convolution for Caffe, with a bias, and depthwise.npz its input.
"""
import os

import coremltools as ct
import numpy as np
import torch

here = os.path.dirname(os.path.abspath(__file__))


def write(name, layer, shape, precision, target):
    traced = torch.jit.trace(layer.eval(), torch.zeros(shape))
    outputs = [ct.TensorType(name="y")] if name == "pointwise_depthwise" else None
    ct.convert(
        traced, inputs=[ct.TensorType(name="x", shape=shape)], outputs=outputs,
        compute_precision=precision, minimum_deployment_target=target,
    ).save(os.path.join(here, name + ".mlpackage"))


random = np.random.RandomState(0)
depthwise = torch.nn.Conv2d(8, 8, 1, groups=8, bias=False)
depthwise.weight.data = torch.tensor(random.uniform(-1, 1, (8, 1, 1, 1)), dtype=torch.float32)
write("pointwise_depthwise", depthwise, (1, 8, 6, 6), ct.precision.FLOAT32, ct.target.iOS16)
torch.manual_seed(0)
write("eight_inputs", torch.nn.Linear(8, 3), (1, 8), ct.precision.FLOAT16, ct.target.iOS15)
