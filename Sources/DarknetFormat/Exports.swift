// Most files of this target use it.
@_exported import TensorCore
