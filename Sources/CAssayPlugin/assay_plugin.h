/// A plug-in of Assay: a library with custom layers that `--plugin FILE` loads.
///
/// The library exports one function, `assay_plugin_entry`. Only C values cross the boundary, so a
/// plug-in may be written in any language and built by any compiler. Layers follow Core ML's
/// contract: they are created with their parameters, receive their weights once, compute the shapes
/// of their outputs at every compilation, are evaluated for each prediction, and are finally
/// destroyed. Calls of one layer are sequential; calls of different layers may come from several
/// threads.
///
/// A function that fails writes the reason to `error`, `ASSAY_ERROR_SIZE` bytes, as a C string in
/// UTF-8, and returns a value other than 0 (`create`: NULL).
#ifndef ASSAY_PLUGIN_H
#define ASSAY_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// "ASSAYPLG" in the byte order of a little-endian machine.
#define ASSAY_PLUGIN_MAGIC UINT64_C(0x474c505941535341)
/// Changes whenever plug-ins of the previous version can no longer be used.
#define ASSAY_PLUGIN_VERSION 1
#define ASSAY_MAX_RANK 8
#define ASSAY_ERROR_SIZE 4096

/// The member of a parameter that contains its value, as the model declares it.
enum {
  ASSAY_DOUBLE = 1,
  ASSAY_STRING = 2,
  /// 32 bits.
  ASSAY_INT = 3,
  /// 64 bits.
  ASSAY_LONG = 4,
  ASSAY_BOOL = 5,
};

/// A parameter of a layer. The string `engineName` is always among them.
typedef struct {
  const char *name;
  int32_t type;
  /// The value of a double.
  double number;
  /// The value of an int, a long, or a bool (0 or 1).
  int64_t integer;
  /// The value of a string, with `byte_count` bytes before its terminating zero.
  const char *string;
  size_t byte_count;
} assay_parameter;

/// A weight of a layer as stored in the model: little-endian floats of 32 or 16 bits.
typedef struct {
  const void *bytes;
  size_t byte_count;
} assay_weight;

/// `rank` sizes, outermost first: `[Seq, Batch, C, H, W]`, or the exact sizes in a model of
/// specification 4 and later.
typedef struct {
  size_t rank;
  int64_t sizes[ASSAY_MAX_RANK];
} assay_shape;

/// Core ML's numbers for element types.
enum {
  ASSAY_FLOAT16 = 0x10000 | 16,
  ASSAY_FLOAT32 = 0x10000 | 32,
  ASSAY_DOUBLE64 = 0x10000 | 64,
  ASSAY_INT32 = 0x20000 | 32,
};

/// An array, valid during the call. This version of Assay passes dense arrays of 32-bit floats.
typedef struct {
  int32_t element_type;
  assay_shape shape;
  /// The stride of each axis, in elements.
  int64_t strides[ASSAY_MAX_RANK];
  void *elements;
} assay_array;

/// Functions of the program, vectorized for the current processor: those that its own layers use.
/// Each processes `count` contiguous floats; input and output may be the same. The table is valid
/// while the program runs.
typedef struct {
  /// The size of this structure in bytes: functions may be added at its end.
  size_t size;
  void (*exponential)(const float *x, float *y, size_t count);
  /// The natural logarithm.
  void (*logarithm)(const float *x, float *y, size_t count);
  void (*tangent_hyperbolic)(const float *x, float *y, size_t count);
  /// 1 / (1 + exp(-x))
  void (*sigmoid)(const float *x, float *y, size_t count);
  void (*square_root)(const float *x, float *y, size_t count);
  void (*add)(const float *a, const float *b, float *y, size_t count);
  /// a - b
  void (*subtract)(const float *a, const float *b, float *y, size_t count);
  void (*multiply)(const float *a, const float *b, float *y, size_t count);
  /// a / b
  void (*divide)(const float *a, const float *b, float *y, size_t count);
  /// a · x + b
  void (*scale_add)(const float *x, float a, float b, float *y, size_t count);
  double (*sum)(const float *x, size_t count);
  double (*sum_of_squares)(const float *x, size_t count);
  void (*exponential_minus_one)(const float *x, float *y, size_t count);
  /// The natural logarithm of 1 + x.
  void (*logarithm_one_plus)(const float *x, float *y, size_t count);
  void (*sine)(const float *x, float *y, size_t count);
  void (*cosine)(const float *x, float *y, size_t count);
  void (*tangent)(const float *x, float *y, size_t count);
  void (*arc_sine)(const float *x, float *y, size_t count);
  void (*arc_cosine)(const float *x, float *y, size_t count);
  void (*arc_tangent)(const float *x, float *y, size_t count);
  void (*hyperbolic_sine)(const float *x, float *y, size_t count);
  void (*hyperbolic_cosine)(const float *x, float *y, size_t count);
  void (*power)(const float *x, const float *exponents, float *y, size_t count);
  void (*power_of_one)(const float *x, float exponent, float *y, size_t count);
} assay_host;

/// Whether the program, which may be older than the plug-in, provides the function.
#define ASSAY_HOST_HAS(host, function)                                                             \
  ((host) && (host)->size > offsetof(assay_host, function))

typedef struct {
  uint64_t magic;
  uint32_t version;
  uint32_t class_count;
  /// The class names that models use.
  const char *const *class_names;
  /// Creates a layer of class `class_names[class_index]`; NULL on failure.
  void *(*create)(uint32_t class_index, const assay_parameter *parameters, size_t count,
                  char *error);
  /// Called once, without weights if the layer has none. NULL if no class has weights.
  int (*set_weights)(void *layer, const assay_weight *weights, size_t count, char *error);
  /// Sets `*output_count`, which initially contains the length of `outputs`, to the number of
  /// outputs, and writes as many shapes as fit.
  int (*output_shapes)(void *layer, const assay_shape *inputs, size_t input_count,
                       assay_shape *outputs, size_t *output_count, char *error);
  /// Writes every element of the outputs; must not change the inputs.
  int (*evaluate)(void *layer, const assay_array *inputs, size_t input_count,
                  const assay_array *outputs, size_t output_count, char *error);
  void (*destroy)(void *layer);
} assay_plugin;

/// The plug-in's table, valid while the library is loaded; NULL if it does not support a program of
/// this version.
const assay_plugin *assay_plugin_entry(uint32_t host_version, const assay_host *host);

#ifdef __cplusplus
}
#endif

#endif
