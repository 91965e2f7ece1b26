#include "plugin_support.h"

// A language extension of the compilers that come with Swift 6.2 and later.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char file0[] = {
#embed "../Support/Accelerate/module.modulemap"
};
static const unsigned char file1[] = {
#embed "../Support/Accelerate/vDSP.h"
};
static const unsigned char file2[] = {
#embed "../Support/Accelerate/vForce.h"
};
static const unsigned char file3[] = {
#embed "../Support/AssayPlugin/Plugin.swift"
};
static const unsigned char file4[] = {
#embed "../Support/AssayPlugin/Values.swift"
};
static const unsigned char file5[] = {
#embed "../Support/CAssayPlugin/host.c"
};
static const unsigned char file6[] = {
#embed "../Support/CAssayPlugin/include/assay_plugin.h"
};
static const unsigned char file7[] = {
#embed "../Support/CAssayPlugin/include/assay_plugin_host.h"
};
static const unsigned char file8[] = {
#embed "../Support/CAssayPlugin/include/module.modulemap"
};
static const unsigned char file9[] = {
#embed "../Support/CoreML/MLCustomLayer.swift"
};
static const unsigned char file10[] = {
#embed "../Support/CoreML/MLMultiArray.swift"
};
static const unsigned char file11[] = {
#embed "../Support/CoreML/MLMultiArrayDataType.swift"
};

static const plugin_support_file support[] = {
    {"Support/Accelerate/module.modulemap", file0, sizeof file0},
    {"Support/Accelerate/vDSP.h", file1, sizeof file1},
    {"Support/Accelerate/vForce.h", file2, sizeof file2},
    {"Support/AssayPlugin/Plugin.swift", file3, sizeof file3},
    {"Support/AssayPlugin/Values.swift", file4, sizeof file4},
    {"Support/CAssayPlugin/host.c", file5, sizeof file5},
    {"Support/CAssayPlugin/include/assay_plugin.h", file6, sizeof file6},
    {"Support/CAssayPlugin/include/assay_plugin_host.h", file7, sizeof file7},
    {"Support/CAssayPlugin/include/module.modulemap", file8, sizeof file8},
    {"Support/CoreML/MLCustomLayer.swift", file9, sizeof file9},
    {"Support/CoreML/MLMultiArray.swift", file10, sizeof file10},
    {"Support/CoreML/MLMultiArrayDataType.swift", file11, sizeof file11},
};

static const unsigned char file12[] = {
#embed "../../CustomLayers/Shared/AxisSampling.swift"
};
static const unsigned char file13[] = {
#embed "../../CustomLayers/Shared/AxisSplit.swift"
};
static const unsigned char file14[] = {
#embed "../../CustomLayers/Shared/BilinearSample.swift"
};
static const unsigned char file15[] = {
#embed "../../CustomLayers/Shared/BlockArrangement.swift"
};
static const unsigned char file16[] = {
#embed "../../CustomLayers/Shared/BroadcastWeight.swift"
};
static const unsigned char file17[] = {
#embed "../../CustomLayers/Shared/CubicSampling.swift"
};
static const unsigned char file18[] = {
#embed "../../CustomLayers/Shared/DeformedWindow.swift"
};
static const unsigned char file19[] = {
#embed "../../CustomLayers/Shared/GridSampling.swift"
};
static const unsigned char file20[] = {
#embed "../../CustomLayers/Shared/LeastSquaresSolver.swift"
};
static const unsigned char file21[] = {
#embed "../../CustomLayers/Shared/PlaneShape.swift"
};
static const unsigned char file22[] = {
#embed "../../CustomLayers/Shared/RegionProposals.swift"
};
static const unsigned char file23[] = {
#embed "../../CustomLayers/Shared/RegionWindows.swift"
};
static const unsigned char file24[] = {
#embed "../Layers/ChannelNormalization.swift"
};
static const unsigned char file25[] = {
#embed "../Layers/DeformableConvolution.swift"
};
static const unsigned char file26[] = {
#embed "../Layers/DeformedColumns.swift"
};
static const unsigned char file27[] = {
#embed "../Layers/DepthToSpace.metal"
};
static const unsigned char file28[] = {
#embed "../Layers/DepthToSpace.swift"
};
static const unsigned char file29[] = {
#embed "../Layers/FormulaArray.swift"
};
static const unsigned char file30[] = {
#embed "../Layers/GELU.swift"
};
static const unsigned char file31[] = {
#embed "../Layers/GridSample.metal"
};
static const unsigned char file32[] = {
#embed "../Layers/GridSample.swift"
};
static const unsigned char file33[] = {
#embed "../Layers/GroupNormalization.metal"
};
static const unsigned char file34[] = {
#embed "../Layers/GroupNormalization.swift"
};
static const unsigned char file35[] = {
#embed "../Layers/HardSwish.swift"
};
static const unsigned char file36[] = {
#embed "../Layers/Identity.swift"
};
static const unsigned char file37[] = {
#embed "../Layers/ImResize.swift"
};
static const unsigned char file38[] = {
#embed "../Layers/InstanceNormalization.swift"
};
static const unsigned char file39[] = {
#embed "../Layers/KrakenAddition.swift"
};
static const unsigned char file40[] = {
#embed "../Layers/KrakenReshape.swift"
};
static const unsigned char file41[] = {
#embed "../Layers/L2Normalization.metal"
};
static const unsigned char file42[] = {
#embed "../Layers/L2Normalization.swift"
};
static const unsigned char file43[] = {
#embed "../Layers/LayerKernel.swift"
};
static const unsigned char file44[] = {
#embed "../Layers/LayerSupport.swift"
};
static const unsigned char file45[] = {
#embed "../Layers/LeastSquares.swift"
};
static const unsigned char file46[] = {
#embed "../Layers/Mish.swift"
};
static const unsigned char file47[] = {
#embed "../Layers/PositionSensitivePooling.swift"
};
static const unsigned char file48[] = {
#embed "../Layers/Proposal.swift"
};
static const unsigned char file49[] = {
#embed "../Layers/RegionAlign.swift"
};
static const unsigned char file50[] = {
#embed "../Layers/RegionMaxima.swift"
};
static const unsigned char file51[] = {
#embed "../Layers/ResCropBlockLambda.metal"
};
static const unsigned char file52[] = {
#embed "../Layers/ResCropBlockLambda.swift"
};
static const unsigned char file53[] = {
#embed "../Layers/Resampling.metal"
};
static const unsigned char file54[] = {
#embed "../Layers/RescaleOutputLambda.swift"
};
static const unsigned char file55[] = {
#embed "../Layers/Resize.swift"
};
static const unsigned char file56[] = {
#embed "../Layers/RowProduct.metal"
};
static const unsigned char file57[] = {
#embed "../Layers/RowProduct.swift"
};
static const unsigned char file58[] = {
#embed "../Layers/Softmax.metal"
};
static const unsigned char file59[] = {
#embed "../Layers/Softmax.swift"
};
static const unsigned char file60[] = {
#embed "../Layers/SpaceToDepth.metal"
};
static const unsigned char file61[] = {
#embed "../Layers/SpaceToDepth.swift"
};
static const unsigned char file62[] = {
#embed "../Layers/Swish.swift"
};
static const unsigned char file63[] = {
#embed "../Layers/TextureAxis.swift"
};

static const plugin_support_file layers[] = {
    {"AxisSampling.swift", file12, sizeof file12},
    {"AxisSplit.swift", file13, sizeof file13},
    {"BilinearSample.swift", file14, sizeof file14},
    {"BlockArrangement.swift", file15, sizeof file15},
    {"BroadcastWeight.swift", file16, sizeof file16},
    {"CubicSampling.swift", file17, sizeof file17},
    {"DeformedWindow.swift", file18, sizeof file18},
    {"GridSampling.swift", file19, sizeof file19},
    {"LeastSquaresSolver.swift", file20, sizeof file20},
    {"PlaneShape.swift", file21, sizeof file21},
    {"RegionProposals.swift", file22, sizeof file22},
    {"RegionWindows.swift", file23, sizeof file23},
    {"ChannelNormalization.swift", file24, sizeof file24},
    {"DeformableConvolution.swift", file25, sizeof file25},
    {"DeformedColumns.swift", file26, sizeof file26},
    {"DepthToSpace.metal", file27, sizeof file27},
    {"DepthToSpace.swift", file28, sizeof file28},
    {"FormulaArray.swift", file29, sizeof file29},
    {"GELU.swift", file30, sizeof file30},
    {"GridSample.metal", file31, sizeof file31},
    {"GridSample.swift", file32, sizeof file32},
    {"GroupNormalization.metal", file33, sizeof file33},
    {"GroupNormalization.swift", file34, sizeof file34},
    {"HardSwish.swift", file35, sizeof file35},
    {"Identity.swift", file36, sizeof file36},
    {"ImResize.swift", file37, sizeof file37},
    {"InstanceNormalization.swift", file38, sizeof file38},
    {"KrakenAddition.swift", file39, sizeof file39},
    {"KrakenReshape.swift", file40, sizeof file40},
    {"L2Normalization.metal", file41, sizeof file41},
    {"L2Normalization.swift", file42, sizeof file42},
    {"LayerKernel.swift", file43, sizeof file43},
    {"LayerSupport.swift", file44, sizeof file44},
    {"LeastSquares.swift", file45, sizeof file45},
    {"Mish.swift", file46, sizeof file46},
    {"PositionSensitivePooling.swift", file47, sizeof file47},
    {"Proposal.swift", file48, sizeof file48},
    {"RegionAlign.swift", file49, sizeof file49},
    {"RegionMaxima.swift", file50, sizeof file50},
    {"ResCropBlockLambda.metal", file51, sizeof file51},
    {"ResCropBlockLambda.swift", file52, sizeof file52},
    {"Resampling.metal", file53, sizeof file53},
    {"RescaleOutputLambda.swift", file54, sizeof file54},
    {"Resize.swift", file55, sizeof file55},
    {"RowProduct.metal", file56, sizeof file56},
    {"RowProduct.swift", file57, sizeof file57},
    {"Softmax.metal", file58, sizeof file58},
    {"Softmax.swift", file59, sizeof file59},
    {"SpaceToDepth.metal", file60, sizeof file60},
    {"SpaceToDepth.swift", file61, sizeof file61},
    {"Swish.swift", file62, sizeof file62},
    {"TextureAxis.swift", file63, sizeof file63},
};

size_t plugin_support_count(void) { return sizeof support / sizeof support[0]; }

const plugin_support_file *plugin_support_files(void) { return support; }

size_t plugin_layer_count(void) { return sizeof layers / sizeof layers[0]; }

const plugin_support_file *plugin_layer_files(void) { return layers; }
