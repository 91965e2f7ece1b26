// Types that a program needs in addition to the builder's.
@_exported import CustomLayers

@_exported import struct CoreMLModel.Model
@_exported import struct Imaging.Image
@_exported import enum Imaging.Interpolation
@_exported import struct TensorCore.Bytes
@_exported import struct TensorCore.ModelError
