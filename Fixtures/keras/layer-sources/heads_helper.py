from keras import ops


def normalized(x, order=2, axis=-1):
    if order == 1:
        length = ops.sum(ops.abs(x), axis=axis, keepdims=True)
    else:
        length = ops.sqrt(ops.sum(ops.square(x), axis=axis, keepdims=True))
    return x / ops.maximum(length, 1e-6)
