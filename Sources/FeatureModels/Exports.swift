// Most files of this target use them.
@_exported import CoreMLModel
@_exported import TensorCore
