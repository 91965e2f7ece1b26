#!/usr/bin/env python3
"""Writes small networks of layers that collections define, with the collections' own predictions.

    make.py [NAME…]

Beside `NAME.h5` are the inputs `input1`… and the predictions `output1`…. Needs tensorflow 2.15,
keras-tcn 3.5, keras-unet-collection 0.1.13, vit-keras 0.1.2, mlp-mixer-keras 0.0.5,
keras-self-attention 0.51, keras-multi-head 0.29, keras-pos-embd 0.13,
keras-position-wise-feed-forward 0.8, keras-cv-attention-models 1.4.3,
keras-octave-conv 0.8, keras-retinanet 1.0 and keras-resnet 0.2.
"""
import os
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
import numpy as np
from keras_unet_collection import transformer_layers as patches
from tcn import TCN
import tensorflow as tf
from tensorflow import keras

HERE = os.path.dirname(os.path.abspath(__file__))


def save(name, inputs, output):
    if sys.argv[1:] and name not in sys.argv[1:]:
        return
    model = keras.Model(inputs, output)
    generator = np.random.default_rng(len(name))
    for weight in model.weights:
        # Biases and statistics differ from their initial zeros and ones.
        if weight.name.endswith("_bw:0"):
            weight.assign(generator.integers(2, 6, weight.shape))
        elif "kernel" not in weight.name and weight.dtype == tf.float32 and "attn_mask" not in weight.name:
            matrix = "_W" in weight.name
            weight.assign(generator.normal(0, 0.4, weight.shape) if matrix
                          else generator.uniform(0.5, 1.5, weight.shape))
    array = generator.standard_normal((1, *inputs.shape[1:])).round(3).astype(np.float32)
    path = os.path.join(HERE, name)
    model.save(path + ".h5", include_optimizer=False)
    np.savez(path + ".inputs.npz", input1=array)
    predictions = model.predict(array, verbose=0)
    if not isinstance(predictions, list):
        predictions = [predictions]
    np.savez(path + ".expected.npz", **{f"output{i + 1}": p for i, p in enumerate(predictions)})


def tcn(name, **settings):
    keras.backend.clear_session()
    inputs = keras.Input((12, 3))
    save(name, inputs, TCN(nb_filters=4, **settings)(inputs))


tcn("tcn", kernel_size=3, dilations=(1, 2, 4))
tcn("tcn_sequence", kernel_size=2, dilations=(1, 2), return_sequences=True, nb_stacks=2,
    use_skip_connections=False)
tcn("tcn_batch_normalization", kernel_size=2, dilations=(1, 2), use_batch_norm=True, padding="same")
tcn("tcn_layer_normalization", kernel_size=2, dilations=(1, 2), use_layer_norm=True, activation="elu")
tcn("tcn_backwards", kernel_size=2, dilations=(1, 2), go_backwards=True, return_sequences=True)
# keras-tcn 3.5.6 stores the normalizations of a block before its convolutions.
tcn("tcn_normalizations_first", kernel_size=2, dilations=(1, 2), use_batch_norm=True)

from keras_cv_attention_models.swin_transformer_v2.swin_transformer_v2 import ExpLogitScale

keras.backend.clear_session()
scores = keras.Input((3, 4, 4))
x = ExpLogitScale(axis=1, max_value=1.0)(scores)
save("scaled_scores", scores, ExpLogitScale(axis=-1)(x))

from keras_resnet.layers import BatchNormalization
from keras_unet_collection.activations import Snake

keras.backend.clear_session()
sequence = keras.Input((2, 3, 4, 5))
x = keras.layers.TimeDistributed(BatchNormalization(freeze=True, name="inner"))(sequence)
save("frozen", sequence, BatchNormalization(freeze=False, axis=-1, epsilon=1e-5)(x))

keras.backend.clear_session()
vector = keras.Input((5,))
save("snake", vector, Snake(beta=0.7, trainable=True)(Snake(beta=0.4)(vector)))

keras.backend.clear_session()
image = keras.Input((8, 8, 3))
x = patches.patch_extract((2, 2))(image)
x = patches.patch_embedding(16, 6)(x)
x = patches.patch_merging((4, 4), 6)(x)
x = patches.patch_expanding((2, 2), 12, 2, return_vector=True)(x)
x = patches.patch_expanding((4, 4), 6, 2, return_vector=False)(x)
save("patches", image, x)

from keras_unet_collection.transformer_layers import SwinTransformerBlock

keras.backend.clear_session()
image = keras.Input((8, 8, 3))
x = patches.patch_embedding(16, 6)(patches.patch_extract((2, 2))(image))
for shift in 0, 1:
    x = SwinTransformerBlock(
        dim=6, num_patch=(4, 4), num_heads=2, window_size=2, shift_size=shift, num_mlp=8,
        name=f"block{shift}")(x)
save("swin", image, x)

from vit_keras import vit

keras.backend.clear_session()
model = vit.build_model(
    image_size=8, patch_size=4, num_layers=2, hidden_size=8, num_heads=2, name="vit", mlp_dim=12,
    classes=3)
save("vision_transformer", model.inputs[0], model.outputs[0])

from mlp_mixer_keras import MlpMixerModel

keras.backend.clear_session()
model = MlpMixerModel(
    input_shape=(8, 8, 3), num_classes=3, num_blocks=2, patch_size=4, hidden_dim=6, tokens_mlp_dim=5,
    channels_mlp_dim=7)
save("mixer", model.inputs[0], model.outputs[0])

from keras_multi_head import MultiHeadAttention
from keras_pos_embd import PositionEmbedding, TrigPosEmbedding
from keras_position_wise_feed_forward import FeedForward
from keras_self_attention import ScaledDotProductAttention, SeqSelfAttention, SeqWeightedAttention

keras.backend.clear_session()
sequence = keras.Input((6, 4))
x = TrigPosEmbedding(mode="concat", output_dim=4)(sequence)
x = PositionEmbedding(input_dim=9, output_dim=8, mode="add")(x)
x = MultiHeadAttention(head_num=2, history_only=True)(x)
x = FeedForward(units=5)(x)
x = SeqSelfAttention(units=3, attention_width=4, attention_activation="sigmoid")(x)
x = SeqSelfAttention(attention_type=SeqSelfAttention.ATTENTION_TYPE_MUL)(x)
x = ScaledDotProductAttention(history_only=True)(x)
save("sequence_attention", sequence, x)
save("sequence_weighted", sequence, SeqWeightedAttention()(x))

from keras_cv_attention_models.beit.beit import MultiHeadRelativePositionalEmbedding
from keras_cv_attention_models.edgenext.edgenext import PositionalEncodingFourier
from keras_cv_attention_models.efficientdet.efficientdet import ReluWeightedSum
from keras_cv_attention_models.levit.levit import MultiHeadPositionalEmbedding
from keras_cv_attention_models.mlp_family.res_mlp import ChannelAffine
from keras_cv_attention_models.nfnets.nfnets import ScaledStandardizedConv2D, ZeroInitGain
from keras_cv_attention_models.volo.volo import BiasLayer, ClassToken, PositionalEmbedding

keras.backend.clear_session()
image = keras.Input((4, 3, 5))
x = PositionalEncodingFourier(filters=4)(image)
x = PositionalEmbedding()(x)
x = ScaledStandardizedConv2D(filters=6, kernel_size=3, padding="same", gamma=1.5)(x)
y = ZeroInitGain(use_bias=True)(x)
x = ReluWeightedSum()([ChannelAffine(axis=-1)(x), y, ChannelAffine(axis=1, use_bias=False)(y)])
x = BiasLayer()(x)
x = keras.layers.Reshape((12, 6))(x)
x = ClassToken(num_tokens=2, is_at_end=True)(ClassToken()(x))
save("attention_models", image, PositionalEmbedding()(x))

for name, shape, layer in (
        ("distances", (2, 7, 7), MultiHeadRelativePositionalEmbedding(attn_height=2)),
        ("distances_of_fewer_queries", (2, 4, 16), MultiHeadPositionalEmbedding()),
        ("distances_of_fewer_keys", (2, 9, 4), MultiHeadRelativePositionalEmbedding(with_cls_token=False))):
    keras.backend.clear_session()
    scores = keras.Input(shape)
    save(name, scores, layer(scores))

from keras_cv_attention_models.botnet.botnet import mhsa_with_relative_position_embedding
from keras_cv_attention_models.coatnet.coatnet import mhsa_with_multi_head_relative_position_embedding
from keras_cv_attention_models.cotnet.cotnet import cot_attention
from keras_cv_attention_models.davit.davit import multi_head_self_attention_channel, window_attention
from keras_cv_attention_models.halonet.halonet import halo_attention
from keras_cv_attention_models.levit.levit import mhsa_with_multi_head_position
from keras_cv_attention_models.mobilevit.mobilevit import transformer_post_process, transformer_pre_process
from keras_cv_attention_models.swin_transformer_v2.swin_transformer_v2 import patch_merging, shifted_window_attention


def windows(name, size, build):
    keras.backend.clear_session()
    image = keras.Input(size)
    save("windows_" + name, image, build(image))


def by_convolution(x, num_heads, name):
    return mhsa_with_multi_head_relative_position_embedding(x, num_heads=num_heads, qkv_bias=True, name=name)


def of_all(image):
    """Every window attends with the same query, as in GCViT."""
    query = keras.layers.MaxPool2D(2)(image)
    query = tf.transpose(tf.reshape(query, [-1, 6, 2, 2]), [0, 2, 1, 3])
    query = tf.repeat(query, 4, axis=0)
    attention = lambda x, num_heads, name: mhsa_with_multi_head_relative_position_embedding(
        x, num_heads=num_heads, global_query=query, name=name)
    return window_attention(image, (3, 2), num_heads=2, attention_block=attention, name="a_")


windows("of_images", (6, 4, 4), lambda x: window_attention(x, (3, 2), num_heads=2, name="a_"))
windows("padded", (5, 7, 4), lambda x: window_attention(
    x, 3, num_heads=2, attention_block=by_convolution, name="a_"))
windows("in_grids", (6, 4, 4), lambda x: window_attention(
    x, (3, 2), num_heads=2, is_grid=True, attention_block=by_convolution, name="a_"))
windows("with_distances", (4, 4, 4), lambda x: window_attention(
    x, 2, num_heads=2, attention_block=mhsa_with_multi_head_position, name="a_"))
windows("with_one_query", (6, 4, 4), of_all)
windows("of_channels", (4, 3, 6), lambda x: multi_head_self_attention_channel(x, num_heads=2, name="a_"))
windows("of_patches", (6, 4, 4), lambda x: transformer_post_process(
    transformer_pre_process(x, 4, patch_size=2, name="a_"), x, 4, patch_size=2, name="b_"))
windows("shifted", (6, 4, 4), lambda x: patch_merging(shifted_window_attention(
    shifted_window_attention(x, (3, 2), num_heads=2, name="a_"),
    (3, 2), num_heads=2, shift_size=0.5, name="b_"), name="c_"))
windows("with_halos", (8, 4, 4), lambda x: halo_attention(
    x, num_heads=2, key_dim=3, block_size=4, halo_size=1, strides=2, out_shape=6, name="a_"))
windows("with_context", (4, 5, 8), lambda x: cot_attention(x, kernel_size=3, name="a_"))
windows("with_positions", (4, 3, 6), lambda x: mhsa_with_relative_position_embedding(
    x, num_heads=2, relative=True, name="a_"))

from keras_octave_conv import OctaveConv2D

keras.backend.clear_session()
image = keras.Input((8, 8, 3))
x = OctaveConv2D(filters=4, kernel_size=3, activation="relu")(image)
x = OctaveConv2D(filters=6, kernel_size=3, ratio_out=0.4)(x)
save("octaves", image, OctaveConv2D(filters=3, kernel_size=3, ratio_out=0, use_bias=False)(x))

from keras_retinanet import layers as retinanet

keras.backend.clear_session()
image = keras.Input((12, 16, 3))
x = keras.layers.Conv2D(8, 3, 4)(image)
anchors = retinanet.Anchors(size=6, stride=4, ratios=[0.5, 2], scales=[1])(x)
offsets = keras.layers.Reshape((-1, 4))(x)
boxes = retinanet.RegressBoxes(mean=[0.1, 0, 0, -0.1])([anchors, offsets])
save("boxes", image, [boxes, retinanet.ClipBoxes()([image, boxes])])

# Windows whose number is computed from the size of the batch: by operations, and in a Lambda.
keras.backend.clear_session()
image = keras.Input((4, 6, 2))
count = tf.shape(image)[0]
x = tf.transpose(tf.reshape(image, [count, 2, 2, 3, 4]), [0, 1, 3, 2, 4])
x = tf.nn.softmax(tf.reshape(x, [count * 6, 2, 4]), axis=1)
x = tf.reshape(x, [tf.shape(x)[0] // 6, -1, 4])
save("windows_by_batch", image, keras.layers.Conv1D(3, 2)(x))


def windowed(x):
    import tensorflow as tf
    count = tf.shape(x)[0]
    x = tf.transpose(tf.reshape(x, (count, 2, 2, 3, 4)), (0, 1, 3, 2, 4))
    x = tf.reshape(x, (6 * count, 2, 4))
    x = tf.transpose(x * tf.sigmoid(x), (0, 2, 1))
    return tf.reshape(x, (tf.shape(x)[0] // 6, -1, 4))


keras.backend.clear_session()
image = keras.Input((4, 6, 2))
save("windows_by_lambda", image, keras.layers.Conv1D(3, 2)(keras.layers.Lambda(windowed)(image)))

# As in keras-unet-collection, `image` is a module of TensorFlow 1, and the size is in the closure.
keras.backend.clear_session()
module = {"image": tf.compat.v1.image}
exec("def resizing(size):\n"
     "    return lambda X: image.resize(X, size[1:3], method='bilinear', align_corners=True)", module)
image = keras.Input((3, 4, 2))
x = keras.layers.Lambda(module["resizing"]([None, 5, 9, 2]))(image)
save("resized_to_corners", image, keras.layers.Conv2D(3, 2)(x))
