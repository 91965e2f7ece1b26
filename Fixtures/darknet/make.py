"""Writes layers/: for each case a .cfg, a .weights where it has any, inputs and what comes out.

    python3 make.py

The expected values are those of reference.py, in double precision. Seeds are fixed.
"""

import os
import zlib

import numpy as np

from reference import ACTIVATIONS, Made, Network

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "layers")


def net(c, h, w):
    return f"[net]\nheight={h}\nwidth={w}\nchannels={c}\n"


def section(name, **options):
    return f"\n[{name}]\n" + "".join(f"{key}={value}\n" for key, value in options.items())


def conv(filters, size=1, activation="linear", **options):
    return section(
        "convolutional", filters=filters, size=size, activation=activation, **options
    )


CASES = {}


def case(name, text, **how):
    assert name not in CASES
    CASES[name] = (text, how)


# Functions
for name in ACTIVATIONS:
    case(f"activation_{name}", net(3, 5, 6) + section("activation", activation=name), spread=3.0)
case("activation_default", net(2, 3, 3) + section("activation"))
case("convolutional_mish", net(3, 6, 5) + conv(4, 3, "mish", batch_normalize=1, pad=1))
case("convolutional_swish", net(3, 6, 5) + conv(4, 3, "swish", pad=1))
case("shortcut_activation", net(4, 4, 4) + conv(4) + conv(4) + section(
    "shortcut", **{"from": -2, "activation": "leaky"}))

# Convolutions
case("convolutional_default", net(3, 5, 5) + section("convolutional", filters=4))
case("convolutional_plain", net(3, 7, 8) + conv(5, 3, "leaky"))
case("convolutional_normalized", net(3, 7, 8) + conv(5, 3, "leaky", batch_normalize=1, pad=1),
     small_variance=True)
case("convolutional_stride", net(3, 9, 8) + conv(4, 3, stride=2, pad=1))
case("convolutional_stride_xy", net(3, 9, 8) + conv(4, 3, stride_x=3, stride_y=2, pad=1))
case("convolutional_stride_x", net(3, 9, 8) + conv(4, 3, stride=2, stride_x=1, pad=1))
case("convolutional_padding", net(2, 6, 7) + conv(3, 3, padding=2))
case("convolutional_even", net(2, 6, 7) + conv(3, 4, pad=1))
case("convolutional_binary", net(3, 6, 5) + conv(4, 3, "leaky", binary=1, pad=1))
case("convolutional_xnor", net(3, 6, 5) + conv(6, 3, "leaky", batch_normalize=1) + conv(
    4, 3, "leaky", xnor=1, bin_output=1, batch_normalize=1, pad=1, groups=2))
case("convolutional_groups", net(6, 5, 5) + conv(4, 3, groups=2, pad=1, batch_normalize=1))
case("convolutional_depthwise", net(6, 5, 5) + conv(6, 3, groups=6, pad=1))
case("convolutional_dilation", net(3, 9, 9) + conv(4, 3, dilation=2, pad=1))
case("convolutional_dilation_stride", net(3, 9, 8) + conv(4, 3, dilation=3, pad=1, stride=2))
case("convolutional_dilation_one", net(3, 5, 5) + conv(4, 1, dilation=3))
case("convolutional_flipped", net(3, 5, 5) + conv(4, 3, flipped=1, pad=1))
case("convolutional_shared", net(4, 6, 6) + conv(4, 3, pad=1, batch_normalize=1)
     + conv(4, 3, pad=1, batch_normalize=1, share_index=0, activation="leaky"))
case("convolutional_shared_back", net(4, 6, 6) + conv(4, 3, pad=1) + conv(2)
     + section("route", layers=-2) + conv(4, 3, pad=1, share_index=-3))
case("conv_name", net(3, 5, 5) + section("conv", filters=4, size=3, activation="linear"))
case("deconvolutional", net(3, 4, 5) + section(
    "deconvolutional", filters=4, size=4, stride=2, padding=1, activation="leaky"))
case("deconvolutional_normalized", net(3, 4, 5) + section(
    "deconvolutional", filters=2, size=3, stride=2, pad=1, batch_normalize=1,
    activation="linear"))
case("local", net(3, 5, 4) + section("local", filters=4, size=3, stride=1, pad=1,
                                     activation="leaky"))
case("local_stride", net(2, 7, 6) + section("local", filters=3, size=3, stride=2,
                                            activation="linear"))

# Connected
case("connected", net(3, 4, 5) + section("connected", output=6, activation="leaky"))
case("connected_default", net(3, 2, 2) + section("connected", output=5))
case("connected_normalized", net(3, 4, 5) + section(
    "connected", output=6, batch_normalize=1, activation="linear"))
case("connected_chain", net(2, 3, 3) + section("connected", output=7, activation="relu")
     + section("connected", output=4, activation="linear"))
case("connected_transposed", net(3, 4, 5) + section(
    "connected", output=6, activation="linear"), version=(1001, 2, 0), bits=32, transposed=True)
case("connected_transposed_long", net(3, 4, 5) + section(
    "connected", output=6, activation="linear"), version=(0, 1002, 0), bits=64, transposed=True)
case("connected_inputs", "[net]\ninputs=9\n" + section(
    "connected", output=4, activation="linear"))
case("version_1", net(2, 3, 3) + conv(3), version=(0, 1, 0), bits=32)

# Pooling
for size, stride in [(2, 2), (2, 1), (3, 1), (3, 2), (5, 1), (9, 1), (4, 3)]:
    case(f"maxpool_{size}_{stride}", net(3, 9, 10) + section("maxpool", size=size, stride=stride))
    if size < 5:
        case(f"maxpool_{size}_{stride}_odd", net(2, 7, 5) + section(
            "maxpool", size=size, stride=stride))
case("maxpool_default", net(3, 6, 6) + section("maxpool", stride=2))
case("maxpool_padding", net(3, 7, 7) + section("maxpool", size=3, stride=2, padding=0))
case("maxpool_padding_1", net(3, 7, 8) + section("maxpool", size=3, stride=2, padding=1))
case("maxpool_padding_4", net(3, 7, 8) + section("maxpool", size=3, stride=1, padding=4))
case("maxpool_stride_xy", net(3, 8, 9) + section("maxpool", size=2, stride_x=2, stride_y=1))
case("maxpool_depth", net(6, 4, 5) + section("maxpool", maxpool_depth=1))
case("maxpool_depth_2", net(6, 4, 5) + section("maxpool", maxpool_depth=1, out_channels=2))
case("local_avgpool", net(3, 7, 8) + section("local_avgpool", size=3, stride=2))
case("local_avgpool_stride", net(3, 6, 6) + section("local_avgpool", stride=2))
case("avgpool", net(5, 4, 3) + section("avgpool"))

# Routes and sums
TWO = net(4, 4, 6) + conv(6, 3, "leaky", pad=1) + conv(4, 3, pad=1)
case("route_one", TWO + section("route", layers=-2) + conv(2))
case("route_two", TWO + section("route", layers="-1, 0"))
case("route_thrice", TWO + section("route", layers="-1,-2,-1"))
case("route_group", TWO + section("route", layers=-2, groups=2, group_id=1) + conv(2))
case("route_group_first", TWO + section("route", layers=-1, groups=4, group_id=0))
case("route_groups", TWO + section("route", layers="-1,-2", groups=2, group_id=1))
case("route_halves", TWO + section("route_lhalf", layers="-1,-2") + section("route2", layers="-1,-2"))
case("route_half", TWO + section("route_lhalf", layers=-2) + conv(2))
case("route_unlike", TWO + section("maxpool", size=2, stride=2) + section("route", layers="-1,-2")
     + section("connected", output=3, activation="linear"))
case("shortcut", net(4, 4, 4) + conv(4) + conv(4) + section("shortcut", **{"from": -2}))
case("shortcut_fewer", net(3, 4, 4) + conv(2) + conv(5) + section("shortcut", **{"from": -2}))
case("shortcut_more", net(3, 4, 4) + conv(5) + conv(2) + section("shortcut", **{"from": 0}))
case("shortcut_alpha", net(3, 4, 4) + conv(4) + conv(4) + section(
    "shortcut", **{"from": -2, "alpha": 0.5, "beta": -2}))
case("shortcut_fewer_alpha", net(3, 4, 4) + conv(2) + conv(5) + section(
    "shortcut", **{"from": -2, "alpha": 0.5, "beta": 2, "activation": "relu"}))
case("shortcut_larger", net(3, 8, 6) + conv(4) + conv(4, 3, stride=2, pad=1) + section(
    "shortcut", **{"from": -2}))
case("shortcut_several", net(3, 4, 4) + conv(4) + conv(2) + conv(4) + section(
    "shortcut", **{"from": "-3,-2"}))
case("shortcut_weights", net(3, 4, 4) + conv(4) + conv(4) + conv(4) + section(
    "shortcut", **{"from": "-2,-3", "weights_type": "per_feature",
                   "weights_normalization": "relu"}))
case("shortcut_channels", net(3, 4, 4) + conv(4) + conv(4) + section(
    "shortcut", **{"from": "-2", "weights_type": "per_channel",
                   "weights_normalization": "softmax"}))
case("shortcut_layers", net(3, 4, 4) + conv(4) + conv(4) + section(
    "shortcut", **{"from": "-2", "weights_type": "per_layer",
                   "weights_normalization": "softmax"}))
case("scale_channels", net(4, 5, 6) + conv(4) + section("avgpool") + conv(4, activation="logistic")
     + section("scale_channels", **{"from": -3}) + conv(2))
case("scale_channels_places", net(4, 5, 6) + conv(4) + conv(1, activation="logistic")
     + section("scale_channels", **{"from": -2, "scale_wh": 1, "activation": "leaky"}))
case("sam", net(4, 5, 6) + conv(4) + conv(4, activation="logistic")
     + section("sam", **{"from": -2}))
case("implicit", net(4, 5, 6) + conv(4) + section("implicit", filters=4)
     + section("scale_channels", **{"from": -2}))

# Places
case("reorg", net(8, 6, 4) + section("reorg", stride=2))
case("reorg_wide", net(12, 4, 6) + section("reorg", stride=2) + conv(3))
case("reorg_3", net(9, 6, 3) + section("reorg", stride=3))
case("reorg_reverse", net(8, 3, 4) + section("reorg", stride=2, reverse=1))
case("reorg_flatten", net(3, 4, 5) + section("reorg", flatten=1))
case("reorg_flatten_stride", net(3, 4, 6) + section("reorg", stride=2, flatten=1))
case("reorg_flatten_reverse", net(4, 3, 5) + section("reorg", flatten=1, reverse=1, stride=2))
case("reorg3d", net(3, 6, 4) + section("reorg3d", stride=2))
case("reorg3d_reverse", net(32, 3, 2) + section("reorg3d", stride=2, reverse=1))
case("upsample", net(3, 4, 5) + section("upsample"))
case("upsample_3", net(3, 4, 5) + section("upsample", stride=3, scale=0.25))
case("upsample_down", net(3, 4, 6) + section("upsample", stride=-2))
case("crop", net(3, 8, 9) + section("crop", crop_height=5, crop_width=4, flip=1) + conv(2))
case("crop_noadjust", net(3, 8, 9) + section("crop", crop_height=8, crop_width=6, noadjust=1))

# Normalisation and shares
case("batchnorm", net(5, 4, 4) + section("batchnorm"), small_variance=True)
case("batchnorm_no_bias", net(5, 4, 4) + conv(4) + section("batchnorm"), batchnorm_biases=False)
case("normalization", net(9, 4, 4) + section("normalization", alpha=0.3, beta=0.75, kappa=2))
case("normalization_even", net(9, 4, 4) + section("normalization", size=4, alpha=0.05, kappa=3))
case("normalization_default", net(7, 3, 3) + section("normalization"))
case("l2norm", net(5, 4, 3) + section("l2norm"))
case("logistic", net(5, 4, 3) + section("logistic"))
case("softmax", net(6, 1, 1) + section("softmax"))
case("softmax_image", net(3, 4, 2) + section("softmax", temperature=2))
case("softmax_groups", net(3, 4, 2) + section("softmax", groups=6))
case("softmax_spatial", net(5, 3, 2) + section("softmax", spatial=1))
case("classifier", net(3, 8, 8) + conv(4, 3, "leaky", pad=1, batch_normalize=1)
     + section("maxpool", size=2, stride=2) + conv(6) + section("avgpool") + section("dropout")
     + section("softmax", groups=1) + section("cost", type="sse"))
case("dropout_only", net(3, 2, 2) + section("dropout", probability=0.5))

# Detection heads
case("region", net(3, 6, 6) + conv(14, 3, pad=1) + section(
    "region", anchors="1.08,1.19, 3.42,4.41", classes=2, coords=4, num=2, softmax=1, thresh=0.6))
case("yolo", net(3, 8, 8) + conv(8, 3, "leaky", pad=1, stride=2) + conv(21)
     + section("yolo", mask="1,2,3", anchors="10,14, 23,27, 37,58, 81,82", classes=2, num=4,
               scale_x_y=1.05)
     + section("route", layers=-3) + section("upsample") + section("route", layers=-1)
     + conv(7) + section("yolo", mask=0, anchors="10,14, 23,27, 37,58, 81,82", classes=2, num=4))
case("yolo4", net(3, 4, 4) + conv(7) + section("yolo4", mask=0, classes=2, num=1, anchors="4,5"))
case("gaussian_yolo", net(3, 4, 4) + conv(11) + section(
    "gaussian_yolo", mask=0, classes=2, num=1, anchors="4,5"))
case("detection", net(3, 4, 4) + section("connected", output=48, activation="linear")
     + section("detection", classes=2, coords=4, num=2, side=2, sqrt=1))
case("same_grid_twice", net(3, 4, 4) + conv(7) + section("yolo", mask=0, classes=2, num=1)
     + section("route", layers=-2) + section("yolo", mask=0, classes=2, num=1))


# Recurrent sections
INPUTS = "[net]\ninputs=9\n"
case("rnn", INPUTS + section("rnn", output=5, hidden=7, activation="leaky", batch_normalize=1))
case("rnn_shortcut", INPUTS + section("rnn", output=6, activation="tanh", shortcut=1, logistic=1))
case("rnn_image", net(3, 4, 2) + conv(2) + section("rnn", output=4, logistic=2)
     + section("connected", output=3, activation="linear") + section("softmax"))
case("gru", INPUTS + section("gru", output=6, batch_normalize=1))
case("gru_tanh", INPUTS + section("gru", output=4, tanh=1) + section("gru", output=5))
case("gru_revision_5", INPUTS + section("gru", output=6), version=(0, 2, 5))
case("lstm", INPUTS + section("lstm", output=6, batch_normalize=1))
case("lstm_revision_5", INPUTS + section("lstm", output=6)
     + section("connected", output=3, activation="linear"), version=(0, 2, 5))
case("crnn", net(3, 5, 4) + section("crnn", output=4, hidden=6, activation="leaky",
                                   batch_normalize=1, shortcut=1) + conv(2))
case("crnn_pad", net(2, 4, 5) + section("crnn", output=3, hidden=2, size=3, pad=1,
                                       activation="tanh"))
case("crnn_groups", net(4, 5, 4) + section("crnn", output=2, hidden=6, groups=2, dilation=2,
                                          activation="leaky"))
case("crnn_bits", net(3, 5, 4) + section("crnn", output=2, hidden=4, xnor=1, groups=2,
                                        activation="leaky", batch_normalize=1))
case("conv_lstm", net(3, 5, 4) + section("conv_lstm", output=4, pad=1, batch_normalize=1))
case("conv_lstm_peephole", net(4, 4, 5) + section(
    "conv_lstm", output=6, pad=1, groups=2, peephole=1, activation="leaky",
    lstm_activation="leaky", state_constrain=1) + conv(2))
case("conv_lstm_bottleneck", net(4, 4, 5) + section(
    "conv_lstm", output=4, size=1, bottleneck=1, shortcut=1, activation="leaky"))
case("reorg_extra", net(3, 4, 5) + section("reorg", stride=1, extra=2)
     + section("connected", output=4, activation="linear"))
case("softmax_tree", net(9, 1, 1) + section("softmax", tree="classes.tree", temperature=2))


def write(name):
    text, how = CASES[name]
    seed = zlib.crc32(name.encode())
    path = os.path.join(FOLDER, name)
    made = Made(seed, transposed=how.get("transposed", False))
    if how.get("small_variance"):
        take = made.take

        def shrunk(kind, *shape):
            part = take(kind, *shape)
            if kind in ("variances", "scales"):
                # One channel where the ways to guard against 0 differ by five per cent.
                made.parts[-1][1] = part[1] = np.float32(1e-4 if kind == "variances" else 0.01)
            return part

        made.take = shrunk
    network = Network(text, made, how.get("batchnorm_biases", True), FOLDER,
                      how.get("version", (0, 2, 0))[2] == 5)
    random = np.random.default_rng(seed + 1)
    x = random.normal(0, how.get("spread", 1.0), network.shape).astype(np.float32)
    results = network.run(x)
    if "inputs=" in text:
        x = x.ravel()
    with open(path + ".cfg", "w") as file:
        file.write(text)
    if made.parts:
        with open(path + ".weights", "wb") as file:
            file.write(made.data(how.get("version", (0, 2, 0)), how.get("bits", 64)))
    states = {f"{key}_in": (y.ravel() if y[0].size == 1 else y)[None].astype("f4")
              for key, y in network.states.items()}
    np.savez(path + ".inputs.npz", data=x[None], **states)
    results |= {f"{key}_out": y for key, y in network.next.items()}
    np.savez(path + ".expected.npz", **{key: y[None] for key, y in results.items()})


if __name__ == "__main__":
    os.makedirs(FOLDER, exist_ok=True)
    for name in os.listdir(FOLDER):
        os.remove(os.path.join(FOLDER, name))
    with open(os.path.join(FOLDER, "classes.tree"), "w") as file:
        # A root group of three, one child of class 0, two of class 1, and three of class 4.
        for number, parent in enumerate([-1, -1, -1, 0, 1, 1, 4, 4, 4]):
            file.write(f"n{number:08d} {parent}\n")
    for name in CASES:
        write(name)
    print(len(CASES), "networks")
