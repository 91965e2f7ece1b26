@_exported import CustomLayers
@_exported import Detection
@_exported import Verification

// The types that converting, loading, predicting and comparing take and give; with them the library
// is used by one import. The document's layers are not among them: `import CoreMLModel` has them.
@_exported import struct ByteFormats.ArraySet
@_exported import struct ByteFormats.NamedArray
@_exported import struct CoreMLModel.ArrayFeatureType
@_exported import struct CoreMLModel.FeatureDescription
@_exported import struct CoreMLModel.FeatureType
@_exported import struct CoreMLModel.ImageFeatureType
@_exported import struct CoreMLModel.Metadata
@_exported import enum CoreMLModel.MissingWeights
@_exported import struct CoreMLModel.Model
@_exported import struct CoreMLModel.ModelDescription
@_exported import struct CoreMLModel.RandomWeights
@_exported import struct Engine.CompileOptions
@_exported import struct Engine.EngineHooks
@_exported import enum Imaging.Fitting
@_exported import struct Imaging.Image
@_exported import enum Imaging.Interpolation
@_exported import enum Imaging.LabelFile
@_exported import struct Imaging.PictureOptions
@_exported import enum Imaging.PictureRecipe
@_exported import struct ImportSupport.ClassifierOptions
@_exported import struct ImportSupport.ConversionOptions
@_exported import struct ImportSupport.ConversionResult
@_exported import struct ImportSupport.CustomLayerRules
@_exported import struct ImportSupport.ImagePreprocessing
@_exported import struct ImportSupport.MetadataOptions
@_exported import struct ImportSupport.NetworkState
@_exported import struct ImportSupport.PerFeature
@_exported import enum ImportSupport.PreprocessingPreset
@_exported import enum ModelTransforms.ForgetBias
@_exported import struct TensorCore.Bytes
@_exported import struct TensorCore.ModelError
@_exported import struct TensorCore.Tensor
