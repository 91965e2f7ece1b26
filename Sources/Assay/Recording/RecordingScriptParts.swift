/// The file handling of recording scripts, and the whole script for Caffe.
enum RecordingScriptParts {
  /// The function that the user completes; images have channels last.
  static let prepare = #"""
    def prepare(image):
        """What is done to an image (height x width x RGB, 0...255) before prediction. Complete it."""
        return image  # @EXAMPLE@
    """#

  /// Reads the arrays of a file, for Keras; `@LOAD@` reads an image as `array`.
  static let read = #"""
    def read(path, shape):
        if path.endswith(".npy"):
            return [np.load(path)]
        if path.endswith(".npz"):
            return list(np.load(path).values())
        # Channels last or first, in the size that the model takes.
        first = shape[-1] not in (1, 3)
        size = tuple(shape[2:4] if first else shape[1:3])
        @LOAD@
        array = prepare(array)
        return [np.moveaxis(array, -1, 0)[None] if first else array[None]]
    """#

  /// Reads the arrays of a file, for Caffe.
  static let readForCaffe = #"""
    def read(path, shape):
        if path.endswith(".npy"):
            return [np.load(path)]
        if path.endswith(".npz"):
            return list(np.load(path).values())
        image = 255 * caffe.io.load_image(path, color=shape[1] != 1)
        return [np.moveaxis(prepare(caffe.io.resize_image(image, shape[2:4])), -1, 0)[None]]
    """#

  /// Reads the arrays of all files.
  static let readAll = #"""
    def read_all(shapes):
        """Returns the arrays of the files, one per input, or a batch for a single input; random arrays without files."""
        if not INPUTS:
            random = np.random.RandomState(0)
            return [random.uniform(0, 1, [1 if i == 0 else n or 8 for i, n in enumerate(s)]) for s in shapes]
        arrays = sum([read(path, shapes[min(i, len(shapes) - 1)]) for i, path in enumerate(INPUTS)], [])
        return [np.concatenate(arrays)] if len(shapes) == 1 else arrays
    """#

  /// Writes an `.npz` whose bytes depend only on the arrays; `np.savez` refuses the name `file`.
  static let save = #"""
    def save(path, arrays):
        """Writes pairs of a name and an array as an .npz file."""
        with zipfile.ZipFile(path, "w") as archive:
            for name, array in arrays:
                entry = io.BytesIO()
                np.save(entry, np.asarray(array))
                archive.writestr(zipfile.ZipInfo(name.replace("/", "__SLASH__") + ".npy"), entry.getvalue())
    """#

  /// Runs the network with pycaffe, and writes the three files.
  static let caffe = #"""
    net = caffe.Net(MODEL, WEIGHTS, caffe.TEST)
    inputs = read_all([tuple(net.blobs[name].data.shape) for name in net.inputs])
    for name, value in zip(net.inputs, inputs):
        net.blobs[name].reshape(*value.shape)
        net.blobs[name].data[...] = value
    net.forward()
    # Blobs that only pass a value to several layers have "_split_" in their names.
    blobs = {name: blob.data for name, blob in net.blobs.items() if "_split_" not in name}
    save("inputs.npz", zip(net.inputs, inputs))
    save("expected.npz", [(name, net.blobs[name].data) for name in net.outputs])
    save("layers.npz", blobs.items())
    print("inputs.npz, expected.npz and layers.npz: %d outputs, %d blobs" % (len(net.outputs), len(blobs)))
    """#
}
