#!/usr/bin/env python3
"""Converts larger networks of torchvision with coremltools, with random weights and lively statistics of batch
normalizations, runs each with Assay and prints the largest error beside PyTorch's answer.

    pip install "numpy<2" coremltools==9.0 torch torchvision
    PYTHONPATH=Sources/Python ASSAY_LIBRARY=.build/debug/libAssayLibrary.so python Tests/Tools/large_programs.py [NAME…]

The error is relative to the largest value of PyTorch's answer, in double precision. The second column of errors is
that of PyTorch in single precision.
"""

import os
import shutil
import sys
import tempfile
import time
import types

# The wheel of torchvision may be for another build of PyTorch; its compiled operators are not needed.
sys.modules.setdefault("torchvision._meta_registrations", types.ModuleType("torchvision._meta_registrations"))

import assay
import coremltools as ct
import numpy as np
import torch
import torchvision
from torch import nn


# coremltools does not know the operation of the fast path.
torch.backends.mha.set_fastpath_enabled(False)


class LanguageModel(nn.Module):
    """Two layers of LSTM between an embedding and a linear layer."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(5000, 256)
        self.lstm = nn.LSTM(256, 512, 2, batch_first=True)
        self.linear = nn.Linear(512, 5000)

    def forward(self, words):
        return self.linear(self.lstm(self.embedding(words))[0])


class Decoder(nn.Module):
    """Queries that attend to one another and to an image, as in DETR: its heads give classes and boxes."""

    def __init__(self):
        super().__init__()
        self.queries = nn.Parameter(torch.randn(1, 100, 256))
        layer = nn.TransformerDecoderLayer(256, 8, 1024, batch_first=True)
        self.decoder = nn.TransformerDecoder(layer, 3)
        self.classes, self.boxes = nn.Linear(256, 92), nn.Linear(256, 4)

    def forward(self, image):
        found = self.decoder(self.queries, image)
        return torch.cat([self.classes(found), self.boxes(found).sigmoid()], -1)


class DiffusionBlock(nn.Module):
    """A block of a diffusion model's U-Net: group norms, convolutions, an embedded time, attention over the pixels."""

    def __init__(self, channels=128):
        super().__init__()
        self.first = nn.Sequential(nn.GroupNorm(32, channels), nn.SiLU(), nn.Conv2d(channels, channels, 3, padding=1))
        self.time = nn.Linear(64, channels)
        self.second = nn.Sequential(nn.GroupNorm(32, channels), nn.SiLU(), nn.Conv2d(channels, channels, 3, padding=1))
        self.norm, self.qkv, self.out = nn.GroupNorm(32, channels), nn.Linear(channels, 3 * channels), nn.Linear(channels, channels)

    def forward(self, x, time):
        x = x + self.second(self.first(x) + self.time(time)[:, :, None, None])
        pixels = self.norm(x).flatten(2).transpose(1, 2)
        q, k, v = self.qkv(pixels).chunk(3, -1)
        return x + self.out(nn.functional.scaled_dot_product_attention(q, k, v)).transpose(1, 2).reshape(x.shape)


IMAGE = lambda: (torch.rand(1, 3, 224, 224) * 2 - 1,)
classifier = lambda name: (lambda: getattr(torchvision.models, name)(weights=None), IMAGE)
NETWORKS = {
    "MobileNetV3": classifier("mobilenet_v3_large"),
    "EfficientNet-B0": classifier("efficientnet_b0"),
    "ResNet-50": classifier("resnet50"),
    "ConvNeXt-Tiny": classifier("convnext_tiny"),
    "Swin-T": classifier("swin_t"),
    "ViT-B/16": classifier("vit_b_16"),
    "decoder like DETR's": (Decoder, lambda: (torch.randn(1, 196, 256),)),
    "language model of LSTMs": (LanguageModel, lambda: (torch.randint(0, 5000, (1, 32), dtype=torch.int32),)),
    "block of a diffusion U-Net": (DiffusionBlock, lambda: (torch.randn(1, 128, 32, 32), torch.randn(1, 64))),
}


def enliven(model, inputs):
    """Gives batch normalizations the statistics of what reaches them, with other scales and offsets, and classifiers
    that start as zeros, such as that of ViT, weights."""
    for module in model.modules():
        if isinstance(module, nn.Linear) and not module.weight.any():
            module.reset_parameters()
    norms = [module for module in model.modules() if isinstance(module, nn.BatchNorm2d)]
    for module in norms:
        module.momentum = None
        nn.init.uniform_(module.weight, 0.5, 1.5)
        nn.init.uniform_(module.bias, -0.5, 0.5)
    model.train(bool(norms))
    with torch.no_grad():
        for _ in range(2 if norms else 0):
            model(*(torch.cat([x, torch.flip(x, [-1])]) for x in inputs))
    model.eval()


def compared(name):
    torch.manual_seed(1)
    make, sample = NETWORKS[name]
    model, inputs = make(), sample()
    enliven(model, inputs)
    with torch.no_grad():
        single = model(*inputs).numpy()
        exact = model.double()(*(x.double() if x.is_floating_point() else x for x in inputs)).numpy()
        model.float()
        traced = torch.jit.trace(model, inputs, check_trace=False)
    kinds = [np.int32 if x.dtype == torch.int32 else np.float32 for x in inputs]
    program = ct.convert(
        traced, inputs=[ct.TensorType(name=f"x{i}", shape=x.shape, dtype=kind) for i, (x, kind) in enumerate(zip(inputs, kinds))],
        minimum_deployment_target=ct.target.iOS17, compute_precision=ct.precision.FLOAT32, skip_model_load=True)
    folder = tempfile.mkdtemp()
    try:
        program.save(os.path.join(folder, "model.mlpackage"))
        del program
        loaded = assay.load(os.path.join(folder, "model.mlpackage"))
        values = {f"x{i}": x.numpy() for i, x in enumerate(inputs)}
        loaded.predict(values)
        start = time.perf_counter()
        answer = next(iter(loaded.predict(values).values()))
        seconds = time.perf_counter() - start
    finally:
        shutil.rmtree(folder)
    largest = np.abs(exact).max()
    error = lambda given: np.abs(given - exact).max() / largest
    return sum(p.numel() for p in model.parameters()) / 1e6, error(answer), error(single), seconds


if __name__ == "__main__":
    print("| network | weights (million) | largest error | PyTorch's in single precision | seconds |\n|---|---|---|---|---|")
    for name in sys.argv[1:] or NETWORKS:
        try:
            count, error, single, seconds = compared(name)
        except Exception as problem:
            print(f"| {name} | {type(problem).__name__}: {' '.join(str(problem).split())[:120]} | | | |", flush=True)
            continue
        print(f"| {name} | {count:.1f} | {error:.1e} | {single:.1e} | {seconds:.2f} |", flush=True)
