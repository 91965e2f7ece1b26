// The library is used by one import: it shows what is public of these, and to this package, whose
// command imports nothing else, all of them.
@_exported import ByteFormats
@_exported import CaffeImport
@_exported import CoreMLModel
@_exported import CustomLayers
@_exported import Detection
@_exported import Engine
@_exported import Files
@_exported import Imaging
@_exported import ImportSupport
@_exported import LayerTemplates
@_exported import ModelTransforms
@_exported import TensorCore
@_exported import Verification
