"""Makes what other libraries do with the pictures of `random_picture` (see make.py).

  frameworks.py opencv   opencv.txt: cv2.resize with INTER_LINEAR of 8-bit samples; channels, size before
                         and after, CRC-32 (OpenCV 4.14)
  frameworks.py tf       tensorflow.bin: tf.image.resize of 8-bit samples (TensorFlow 2.21)
  frameworks.py caffe    caffe.bin: the crops that Caffe's classify.py gives to a network, times 255
                         (scikit-image 0.26 without anti-aliasing, as it was when classify.py was written)

A .bin file is a sequence of records of little-endian 32-bit numbers: channels, width and height before,
count, width and height of the result, then its samples as floats, [count, height, width, channels].
"""

import pathlib
import random
import struct
import sys
import zlib

import numpy

here = pathlib.Path(__file__).parent


def random_picture(width, height, channels):
    state, samples = width * 65536 + height, bytearray()
    for _ in range(width * height * channels):
        state = (state * 1664525 + 1013904223) % 2**32
        samples.append(state >> 24)
    return numpy.frombuffer(bytes(samples), numpy.uint8).reshape(height, width, channels)


def record(file, before, samples):
    samples = numpy.ascontiguousarray(samples, "<f4")
    count, height, width, channels = samples.shape
    assert channels == before.shape[2]
    file.write(struct.pack("<6I", channels, before.shape[1], before.shape[0], count, width, height))
    file.write(samples.tobytes())


def opencv():
    import cv2

    chance = random.Random(4)
    pairs = [(64, 48, 32, 24), (33, 17, 99, 51), (20, 20, 20, 7), (5, 90, 12, 90), (1, 1, 9, 4)]
    pairs += [(90, 70, 1, 1), (31, 31, 31, 31)]
    while len(pairs) < 40:
        pairs.append(tuple(chance.randint(1, 120) for _ in range(4)))
    with open(here / "opencv.txt", "w") as file:
        for channels in (1, 3):
            for before_x, before_y, after_x, after_y in pairs:
                picture = random_picture(before_x, before_y, channels)
                after = cv2.resize(picture, (after_x, after_y), interpolation=cv2.INTER_LINEAR)
                print(
                    channels, before_x, before_y, after_x, after_y,
                    f"{zlib.crc32(after.tobytes()):08x}", file=file)


def tf():
    import tensorflow

    sizes = [(32, 24, 16, 12), (17, 9, 31, 23), (40, 37, 11, 7), (5, 30, 12, 30), (1, 1, 5, 4)]
    sizes += [(29, 31, 29, 8), (3000, 3, 37, 2), (3, 2000, 5, 29)]
    with open(here / "tensorflow.bin", "wb") as file:
        for channels in (1, 3):
            for before_x, before_y, after_x, after_y in sizes:
                picture = random_picture(before_x, before_y, channels)
                after = tensorflow.image.resize(picture, (after_y, after_x)).numpy()
                record(file, picture, after[None])


def caffe():
    """After pycaffe's io.py and classifier.py: resize_image, then the crops of oversample, of which the
    fifth is that of --center_only."""
    from skimage.transform import resize

    with open(here / "caffe.bin", "wb") as file:
        for channels, before_x, before_y, width, height in [
            (3, 300, 280, 11, 12), (1, 257, 391, 13, 8), (3, 256, 256, 5, 6),
        ]:
            picture = random_picture(before_x, before_y, channels)
            image = picture.astype(numpy.float32) / 255
            low, high = image.min(), image.max()
            image = resize((image - low) / (high - low), (256, 256), order=1, anti_aliasing=False)
            image = image * (high - low) + low
            tops, lefts = (0, 256 - height), (0, 256 - width)
            places = [(top, left) for top in tops for left in lefts]
            places.append((int(128 - height / 2), int(128 - width / 2)))
            crops = [image[top : top + height, left : left + width] for top, left in places]
            crops += [crop[:, ::-1] for crop in crops]
            record(file, picture, numpy.stack(crops) * 255)


{"opencv": opencv, "tf": tf, "caffe": caffe}[sys.argv[1]]()
