"""Makes Fixtures/kraken: small networks as kraken saves them, and what kraken answers.

    pip install torch coremltools; pip install --no-deps kraken==5.2.9
    python3 Tests/Tools/kraken_networks.py            # writes the fixtures
    python3 Tests/Tools/kraken_networks.py NAME SEED MODEL WIDTH   # of a real file

kraken builds the networks from their VGSL specification, fills them with random weights, and
saves them; the expected values are those of kraken's PyTorch modules in evaluation.
"""

import pathlib
import sys

import numpy as np
import torch
from kraken.lib.vgsl import TorchVGSLModel

# The blocks of kraken's recognition models; then those of its segmentation models, with a
# dilation, an even kernel and a leaky ReLU; summarizing LSTMs; the other plumbing.
NETWORKS = {
    "recognition": (
        "[1,12,0,1 Cr4,4,6,2,2 Do0.1,2 Mp2,2 Ct3,3,8 S1(1x0)1,3 Lbx7 Do Lfx5 O1c9]", [31, 17]),
    "segmentation": (
        "[1,20,0,3 Cr5,5,8,2,2 Gn4 Clr3,3,8,1,1,2,2 Lbx6 Lby5 Cs1,1,6 Gn2 Lfy4 I O2l3]", [23]),
    "summary": ("[1,0,0,2 Cl3,2,4 Lbys3 Cm1,1,6 S3(2x3)2,3 A3,2 Lbx4 O1s5]", [16]),
}


def answer(network, height, width, seed):
    """The input [1, C, H, W] and kraken's output for it."""
    values = np.random.default_rng(seed).uniform(
        0, 1, (1, network.input[1], height, width)).astype(np.float32)
    network.nn.eval()
    with torch.no_grad():
        output, _ = network.nn(torch.from_numpy(values), None)
    return values, output.numpy()


def fixtures(folder):
    folder.mkdir(parents=True, exist_ok=True)
    for name, (specification, widths) in NETWORKS.items():
        torch.manual_seed(len(name))
        network = TorchVGSLModel(specification)
        for parameter in network.nn.parameters():
            torch.nn.init.uniform_(parameter, -0.6, 0.6)
        network.model_type = "recognition"
        network.save_model(str(folder / f"{name}.mlmodel"))
        for width in widths:
            values, output = answer(network, network.input[2] or 9, width, width)
            np.savez(folder / f"{name}-{width}.inputs.npz", input=values)
            np.savez(folder / f"{name}-{width}.expected.npz", output=output)
            print(name, width, output.shape, output.std())


if len(sys.argv) > 1:
    network = TorchVGSLModel.load_model(sys.argv[3])
    values, output = answer(network, network.input[2], int(sys.argv[4]), int(sys.argv[2]))
    np.savez(f"{sys.argv[1]}.inputs.npz", input=values)
    np.savez(f"{sys.argv[1]}.expected.npz", output=output)
    print(output.shape, output.min(), output.max(), output.std())
else:
    fixtures(pathlib.Path(__file__).resolve().parents[2] / "Fixtures" / "kraken")
