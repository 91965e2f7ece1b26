#include "plugin_template.h"

// A language extension of the compilers that come with Swift 6.2 and later.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char file0[] = {
#embed "Support/Accelerate/Loops.swift"
};
static const unsigned char file1[] = {
#embed "Support/Accelerate/vDSPBinary.swift"
};
static const unsigned char file2[] = {
#embed "Support/Accelerate/vDSPMatrices.swift"
};
static const unsigned char file3[] = {
#embed "Support/Accelerate/vDSPReductions.swift"
};
static const unsigned char file4[] = {
#embed "Support/Accelerate/vDSPScalars.swift"
};
static const unsigned char file5[] = {
#embed "Support/Accelerate/vDSPTernary.swift"
};
static const unsigned char file6[] = {
#embed "Support/Accelerate/vDSPUnary.swift"
};
static const unsigned char file7[] = {
#embed "Support/Accelerate/vForce.swift"
};
static const unsigned char file8[] = {
#embed "Support/AssayPlugin/Plugin.swift"
};
static const unsigned char file9[] = {
#embed "Support/AssayPlugin/Values.swift"
};
static const unsigned char file10[] = {
#embed "Support/CAssayPlugin/host.c"
};
static const unsigned char file11[] = {
#embed "Support/CAssayPlugin/include/assay_plugin.h"
};
static const unsigned char file12[] = {
#embed "Support/CAssayPlugin/include/assay_plugin_host.h"
};
static const unsigned char file13[] = {
#embed "Support/CAssayPlugin/include/module.modulemap"
};
static const unsigned char file14[] = {
#embed "Support/CoreML/MLCustomLayer.swift"
};
static const unsigned char file15[] = {
#embed "Support/CoreML/MLMultiArray.swift"
};
static const unsigned char file16[] = {
#embed "Support/CoreML/MLMultiArrayDataType.swift"
};

static const plugin_template_file files[] = {
    {"Support/Accelerate/Loops.swift", file0, sizeof file0},
    {"Support/Accelerate/vDSPBinary.swift", file1, sizeof file1},
    {"Support/Accelerate/vDSPMatrices.swift", file2, sizeof file2},
    {"Support/Accelerate/vDSPReductions.swift", file3, sizeof file3},
    {"Support/Accelerate/vDSPScalars.swift", file4, sizeof file4},
    {"Support/Accelerate/vDSPTernary.swift", file5, sizeof file5},
    {"Support/Accelerate/vDSPUnary.swift", file6, sizeof file6},
    {"Support/Accelerate/vForce.swift", file7, sizeof file7},
    {"Support/AssayPlugin/Plugin.swift", file8, sizeof file8},
    {"Support/AssayPlugin/Values.swift", file9, sizeof file9},
    {"Support/CAssayPlugin/host.c", file10, sizeof file10},
    {"Support/CAssayPlugin/include/assay_plugin.h", file11, sizeof file11},
    {"Support/CAssayPlugin/include/assay_plugin_host.h", file12, sizeof file12},
    {"Support/CAssayPlugin/include/module.modulemap", file13, sizeof file13},
    {"Support/CoreML/MLCustomLayer.swift", file14, sizeof file14},
    {"Support/CoreML/MLMultiArray.swift", file15, sizeof file15},
    {"Support/CoreML/MLMultiArrayDataType.swift", file16, sizeof file16},
};

size_t plugin_template_count(void) { return sizeof files / sizeof files[0]; }

const plugin_template_file *plugin_template_files(void) { return files; }
