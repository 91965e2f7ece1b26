// Most files of this target use them.
@_exported import ByteFormats
@_exported import TensorCore
