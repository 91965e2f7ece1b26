# What libraries have, in terms of what layers express: the function keras.ops.hard_silu is keras_ops_hard_silu here.
import math
import numpy as np
import tensorflow as tf
from keras import activations, ops
from keras.layers import Layer

def np_outer(a, b):
    return np.reshape(a, (-1, 1)) * np.reshape(b, (1, -1))

def np_cumprod(x):
    products = [x[0]]
    for i in range(1, len(x)):
        products.append(products[-1] * x[i])
    return np.array(products)

def math_log(x, base=math.e):
    return np.log(x) / np.log(base)

def tf_nn_moments(x, axes, shift=None, keepdims=False):
    return np.mean(x, axis=tuple(axes), keepdims=keepdims), np.var(x, axis=tuple(axes), keepdims=keepdims)

def keras_ops_moments(x, axes, keepdims=False):
    return tf_nn_moments(x, axes, None, keepdims)

def keras_ops_hard_silu(x):
    return x * ops.hard_sigmoid(x)

def keras_ops_image_extract_patches(images, size, strides=None, dilation_rate=1, padding="valid", data_format=None):
    if data_format not in (None, "channels_last"):
        raise ValueError("channels first is not supported")
    size, strides, rates = [[1, x, x, 1] if isinstance(x, int) else [1, x[0], x[1], 1]
                            for x in (size, strides or size, dilation_rate)]
    return tf.image.extract_patches(images, size, strides, rates, padding.upper())

def parts(x, count):
    size = x.shape[-1] // count
    return [x[..., i * size:(i + 1) * size] for i in range(count)]

def made(kwargs):
    parts = ("initializer", "regularizer", "constraint", "dropout", "seed", "implementation")
    return {key: value for key, value in kwargs.items() if not any([part in key for part in parts])}

class keras_layers_SimpleRNNCell(Layer):
    gates = 1
    def __init__(self, units, activation="tanh", recurrent_activation="sigmoid", use_bias=True, reset_after=True,
                 **kwargs):
        super().__init__(**made(kwargs))
        self.units, self.state_size, self.output_size = units, units, units
        self.activation, self.recurrent_activation = activations.get(activation), activations.get(recurrent_activation)
        self.use_bias, self.reset_after = use_bias, reset_after

    def build(self, shape):
        count = self.gates * self.units
        self.kernel = self.add_weight(shape=(shape[-1], count), name="kernel")
        self.recurrent_kernel = self.add_weight(shape=(self.units, count), name="recurrent_kernel")
        self.bias = self.add_weight(shape=self.bias_shape(count), name="bias") if self.use_bias else None

    def bias_shape(self, count):
        return (count,)

    def call(self, x, states, training=False):
        is_list = isinstance(states, (list, tuple))
        h = self.step(x, states[0] if is_list else states)
        return h, [h] if is_list else h

    def step(self, x, h):
        x = ops.matmul(x, self.kernel) + (self.bias if self.use_bias else 0)
        return self.activation(x + ops.matmul(h, self.recurrent_kernel))

class keras_layers_GRUCell(keras_layers_SimpleRNNCell):
    gates = 3
    def bias_shape(self, count):
        return (2, count) if self.reset_after else (count,)

    def step(self, x, h):
        outer, inner = self.bias if self.use_bias else 0, 0
        if self.use_bias and self.reset_after:
            outer, inner = self.bias[0], self.bias[1]
        xz, xr, xh = parts(ops.matmul(x, self.kernel) + outer, 3)
        n = self.units
        if self.reset_after:
            hz, hr, hh = parts(ops.matmul(h, self.recurrent_kernel) + inner, 3)
            hh = self.recurrent_activation(xr + hr) * hh
        else:
            hz, hr = parts(ops.matmul(h, self.recurrent_kernel[:, :2 * n]), 2)
            hh = ops.matmul(self.recurrent_activation(xr + hr) * h, self.recurrent_kernel[:, 2 * n:])
        z = self.recurrent_activation(xz + hz)
        return z * h + (1 - z) * self.activation(xh + hh)

class keras_layers_LSTMCell(keras_layers_SimpleRNNCell):
    gates = 4
    def __init__(self, units, **kwargs):
        super().__init__(units, **{key: value for key, value in kwargs.items() if key != "unit_forget_bias"})
        self.state_size = [units, units]

    def call(self, x, states, training=False):
        h, c = states
        x = ops.matmul(x, self.kernel) + (self.bias if self.use_bias else 0)
        i, f, c_new, o = parts(x + ops.matmul(h, self.recurrent_kernel), 4)
        c = self.recurrent_activation(f) * c + self.recurrent_activation(i) * self.activation(c_new)
        h = self.recurrent_activation(o) * self.activation(c)
        return h, [h, c]

def as_list(states):
    return states if isinstance(states, (list, tuple)) else [states]

def first_states(cell):
    if hasattr(cell, "get_initial_state"):
        return as_list(cell.get_initial_state(batch_size=1))
    return [ops.zeros((1, n)) for n in as_list(cell.state_size)]

def unmasked(mask, new, old):
    if isinstance(old, (list, tuple)):
        return [unmasked(mask, n, o) for n, o in zip(as_list(new), old)]
    return mask * new + (1 - mask) * old

class keras_layers_StackedRNNCells(Layer):
    def __init__(self, cells, reverse_state_order=False, **kwargs):
        super().__init__(**kwargs)
        self.cells = cells
        self.state_size = [cell.state_size for cell in cells]

    def get_initial_state(self, batch_size=None):
        return [first_states(cell) for cell in self.cells]

    def call(self, x, states, training=False):
        after = []
        for cell, own in zip(self.cells, states):
            x, own = cell(x, own)
            after.append(as_list(own))
        return x, after

class keras_layers_RNN(Layer):
    def __init__(self, cell, return_sequences=False, return_state=False, go_backwards=False, stateful=False, unroll=False,
                 time_major=False, zero_output_for_mask=False, **kwargs):
        super().__init__(**kwargs)
        self.cell = keras_layers_StackedRNNCells(cell) if isinstance(cell, (list, tuple)) else cell
        self.return_sequences, self.return_state = return_sequences, return_state
        self.go_backwards, self.zero_output_for_mask = go_backwards, zero_output_for_mask
        if stateful or time_major:
            raise ValueError("its layer RNN is stateful or has the steps first, which is not supported")

    def call(self, x, initial_state=None, mask=None, training=False):
        if isinstance(x, (list, tuple)):
            x, initial_state = x[0], x[1:]
        mask = as_list(mask)[0]
        states = first_states(self.cell) if initial_state is None else as_list(initial_state)
        outputs = []
        for t in range(x.shape[1]):
            t = -1 - t if self.go_backwards else t
            output, after = self.cell(x[:, t], states)
            after = as_list(after)
            if mask is not None:
                counts = mask[:, t, None]
                if len(output.shape) > 2:
                    raise ValueError("its layer RNN gets a mask and has outputs of several axes, which is not supported")
                after = unmasked(counts, after, states)
                hidden = (1 - counts) * outputs[-1] if outputs and not self.zero_output_for_mask else 0
                output = counts * output + hidden
            states = after
            outputs.append(output)
        result = ops.stack(outputs, axis=1) if self.return_sequences else output
        return [result] + list(states) if self.return_state else result

    def compute_mask(self, inputs, mask=None):
        return as_list(mask)[0] if self.return_sequences else None

class keras_layers_Bidirectional(Layer):
    def __init__(self, layer, merge_mode="concat", backward_layer=None, **kwargs):
        super().__init__(**kwargs)
        self.forward_layer, self.backward_layer, self.merge_mode = layer, backward_layer, merge_mode
        for one in (layer, backward_layer):
            one.zero_output_for_mask = one.return_sequences
            if one.return_state:
                raise ValueError("its layer Bidirectional returns states, which is not supported")

    def call(self, x, mask=None):
        y, z = self.forward_layer(x, mask=mask), self.backward_layer(x, mask=mask)
        if self.backward_layer.return_sequences:
            z = ops.stack([z[:, -1 - t] for t in range(x.shape[1])], axis=1)
        if self.merge_mode is None:
            return [y, z]
        if self.merge_mode == "concat":
            return ops.concatenate([y, z], axis=-1)
        if self.merge_mode == "mul":
            return y * z
        return (y + z) * {"sum": 1, "ave": 0.5}[self.merge_mode]

    def compute_mask(self, inputs, mask=None):
        mask = mask if self.forward_layer.return_sequences else None
        return mask if self.merge_mode is not None else [mask, mask]

class keras_layers_TimeDistributed(Layer):
    def __init__(self, layer, **kwargs):
        super().__init__(**kwargs)
        self.layer = layer

    def call(self, x, mask=None):
        masks = [None if mask is None else mask[:, t] for t in range(x.shape[1])]
        return ops.stack([self.layer(x[:, t], mask=masks[t]) for t in range(x.shape[1])], axis=1)

    def compute_mask(self, inputs, mask=None):
        return mask

def tf_linalg_band_part(input, num_lower, num_upper):
    if num_lower >= 0:
        input = ops.triu(input, -num_lower)
    return ops.tril(input, num_upper) if num_upper >= 0 else input

def np_vstack(tup):
    return np.concatenate([np.reshape(x, (1, -1)) if len(x.shape) < 2 else x for x in [np.array(x) for x in tup]], axis=0)

def np_hstack(tup):
    return np.concatenate(list(tup), axis=0 if len(tup[0].shape) < 2 else 1)

def np_roll(a, shift, axis=None):
    if axis is None:
        return np.reshape(np_roll(np.reshape(a, (-1,)), shift, 0), a.shape)
    n = a.shape[axis]
    return np.take(a, [(i - shift) % n for i in range(n)], axis=axis)

def np_cumsum(a, axis=None):
    if axis is None:
        return np_cumsum(np.reshape(a, (-1,)), 0)
    n = a.shape[axis]
    return np.stack([np.sum(np.take(a, list(range(i + 1)), axis=axis), axis=axis) for i in range(n)], axis=axis)

def np_diag(v):
    if len(v.shape) == 1:
        return np.eye(v.shape[0]) * v
    return np.sum(np.eye(min(v.shape)) * v[:min(v.shape), :min(v.shape)], axis=0)

def math_log2(x):
    exponent = round(math.log(x) / math.log(2))
    return float(exponent) if 2 ** exponent == x else math.log(x) / math.log(2)

def np_log2(x):
    return np.log(x) / math.log(2)

def np_log10(x):
    return np.log(x) / math.log(10)

def np_full_like(a, fill_value, dtype=None):
    return np.zeros_like(a) + fill_value

def tf_one_hot(indices, depth, on_value=1, off_value=0, axis=-1, dtype=None):
    if axis != -1:
        raise ValueError("its one_hot has an axis, which is not supported")
    return np.where(np.expand_dims(np.array(indices), -1) == np.arange(depth), on_value, off_value)

def keras_ops_one_hot(x, num_classes, axis=-1, dtype=None):
    return tf_one_hot(x, num_classes, axis=axis)
