// One import is enough for the library: these modules' public declarations are visible to its
// users, and their package declarations to this package's command.
@_exported import ByteFormats
@_exported import CaffeImport
@_exported import CustomLayers
@_exported import Detection
@_exported import Engine
@_exported import Files
@_exported import Imaging
@_exported import ImportSupport
@_exported import LayerTemplates
@_exported import MILExport
@_exported import ModelPrediction
@_exported import ModelTransforms
@_exported import ONNXExport
@_exported import Reports
@_exported import TensorCore
@_exported import Verification

// The layers of the document are excluded, since `NetworkBuilder` has layers of the same names.
@_exported import struct CoreMLModel.ArrayFeatureType
@_exported import struct CoreMLModel.FeatureDescription
@_exported import struct CoreMLModel.FeatureType
@_exported import struct CoreMLModel.ImageFeatureType
@_exported import struct CoreMLModel.Metadata
@_exported import enum CoreMLModel.MissingWeights
@_exported import struct CoreMLModel.Model
@_exported import struct CoreMLModel.ModelDescription
@_exported import struct CoreMLModel.NamePattern
@_exported import struct CoreMLModel.NeuralNetworkClassifier
@_exported import struct CoreMLModel.NeuralNetworkPreprocessing
@_exported import struct CoreMLModel.RandomWeights
@_exported import enum CoreMLModel.SpecificationVersion
@_exported import enum HDF5Reader.HDF5Sandbox
