from keras import ops

FACTOR = 0.5


def gate(a, b, *, slope=1.0):
    return a * ops.sigmoid(b * slope)
