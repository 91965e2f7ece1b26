#include "plugin_support.h"

// A language extension of the compilers that come with Swift 6.2 and later.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char file0[] = {
#embed "Support/Accelerate/module.modulemap"
};
static const unsigned char file1[] = {
#embed "Support/Accelerate/vDSP.h"
};
static const unsigned char file2[] = {
#embed "Support/Accelerate/vForce.h"
};
static const unsigned char file3[] = {
#embed "Support/AssayPlugin/Plugin.swift"
};
static const unsigned char file4[] = {
#embed "Support/AssayPlugin/Values.swift"
};
static const unsigned char file5[] = {
#embed "Support/CAssayPlugin/host.c"
};
static const unsigned char file6[] = {
#embed "Support/CAssayPlugin/include/assay_plugin.h"
};
static const unsigned char file7[] = {
#embed "Support/CAssayPlugin/include/assay_plugin_host.h"
};
static const unsigned char file8[] = {
#embed "Support/CAssayPlugin/include/module.modulemap"
};
static const unsigned char file9[] = {
#embed "Support/CoreML/MLCustomLayer.swift"
};
static const unsigned char file10[] = {
#embed "Support/CoreML/MLMultiArray.swift"
};
static const unsigned char file11[] = {
#embed "Support/CoreML/MLMultiArrayDataType.swift"
};

static const plugin_support_file files[] = {
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

size_t plugin_support_count(void) { return sizeof files / sizeof files[0]; }

const plugin_support_file *plugin_support_files(void) { return files; }
