/// libassay: Core ML models, and what Assay converts to them, predicted on the CPU.
///
/// A function that fails returns NULL, or 0 where it returns whether it has succeeded, and stores
/// the text that the command prints in `*error`, unless `error` is NULL; `assay_free` frees it.
/// All texts are UTF-8. The library does not print, does not end the process and leaves its
/// signals alone.
///
/// Any function may be called from any thread. Predictions of one model run one after the other,
/// each on all of the model's threads; those of different models run at the same time. A state
/// belongs to one call at a time.
///
/// Files over 64 MiB are mapped: do not change one while its model is open. Replacing it by
/// renaming another does no harm.
#ifndef ASSAY_H
#define ASSAY_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// What a value or a feature is.
enum {
  /// Numbers along any axes.
  ASSAY_KIND_ARRAY = 1,
  /// Samples 0 to 255 of type ASSAY_TYPE_UINT8: [height, width] or [height, width, 3], red first.
  /// An output with the color space of 16-bit gray has the type ASSAY_TYPE_FLOAT32.
  ASSAY_KIND_IMAGE = 2,
  /// One number without axes.
  ASSAY_KIND_NUMBER = 3,
  /// `data` is a C string.
  ASSAY_KIND_TEXT = 4,
  /// One number of type ASSAY_TYPE_FLOAT64 for each key; a classifier's probabilities, too.
  ASSAY_KIND_DICTIONARY = 5,
  /// A feature of a type that only Apple's systems know.
  ASSAY_KIND_OTHER = 6,
};

/// Types of elements, in native byte order: NumPy's kind and number of bytes.
enum {
  ASSAY_TYPE_BOOL = 'b' << 8 | 1,
  ASSAY_TYPE_INT8 = 'i' << 8 | 1,
  ASSAY_TYPE_INT16 = 'i' << 8 | 2,
  ASSAY_TYPE_INT32 = 'i' << 8 | 4,
  ASSAY_TYPE_INT64 = 'i' << 8 | 8,
  ASSAY_TYPE_UINT8 = 'u' << 8 | 1,
  ASSAY_TYPE_UINT16 = 'u' << 8 | 2,
  ASSAY_TYPE_UINT32 = 'u' << 8 | 4,
  ASSAY_TYPE_UINT64 = 'u' << 8 | 8,
  ASSAY_TYPE_FLOAT16 = 'f' << 8 | 2,
  ASSAY_TYPE_FLOAT32 = 'f' << 8 | 4,
  ASSAY_TYPE_FLOAT64 = 'f' << 8 | 8,
};

/// A named value. The caller keeps an input's memory valid and unchanged during the call. Rows of
/// 32-bit floats without gaps are read in place, everything else is converted first.
typedef struct {
  /// The input or output.
  const char *name;
  /// One of ASSAY_KIND_….
  int32_t kind;
  /// One of ASSAY_TYPE_…; 0 of a text.
  int32_t type;
  /// The first element; of a text, the text.
  const void *data;
  /// The number of axes, at most 8; 0 of a number.
  size_t rank;
  /// The size of each axis, outermost first.
  const int64_t *shape;
  /// The bytes between neighbors along each axis; NULL for rows without gaps.
  const int64_t *strides;
  /// The keys of a dictionary with `shape[0]` numbers, if they are texts.
  const char *const *text_keys;
  /// The same, if they are whole numbers.
  const int64_t *number_keys;
} assay_value;

/// An input, output or state of a model.
typedef struct {
  const char *name;
  /// What the model's author says of it; empty if nothing.
  const char *description;
  /// One of ASSAY_KIND_….
  int32_t kind;
  /// Of the elements; of a dictionary, ASSAY_TYPE_INT64 if its keys are whole numbers. Otherwise 0.
  int32_t type;
  /// Sizes as the model declares them; of an image, height, width, channels. No axes: any shape.
  size_t rank;
  const int64_t *shape;
  /// Whether other shapes are possible.
  int32_t is_flexible;
  /// Whether a prediction may lack it.
  int32_t is_optional;
  /// One letter for each axis of the framework that the model comes from, such as NHWC; NULL if the
  /// model does not record it, or Core ML's layout was chosen.
  const char *layout;
} assay_feature;

/// What a model takes and gives.
typedef struct {
  /// The model's type as the specification names it, such as neuralNetworkClassifier.
  const char *type;
  const assay_feature *inputs;
  size_t input_count;
  const assay_feature *outputs;
  size_t output_count;
  /// What predictions pass on to the next.
  const assay_feature *states;
  size_t state_count;
} assay_description;

/// The axis order of arrays.
enum {
  /// That of the framework that the model comes from, if the model records it; else Core ML's.
  ASSAY_LAYOUT_SOURCE = 0,
  ASSAY_LAYOUT_COREML = 1,
};

/// How a model is opened. Zeros are the defaults, but for `size`.
typedef struct {
  /// sizeof(assay_options): later versions may add fields at the end.
  size_t size;
  /// Of one prediction; 0 for one per core.
  int32_t threads;
  /// One of ASSAY_LAYOUT_….
  int32_t layout;
  /// The file with the weights of a source network, if it is another; or NULL.
  const char *weights;
  /// Libraries with custom layers: see assay_plugin.h. Each is tried in a child process first.
  const char *const *plugins;
  size_t plugin_count;
  /// Bytes that weights, arrays and working memory may take together; 0 for 80 % of the machine's.
  uint64_t max_memory;
  /// The function of an ML Program; or NULL for the default one.
  const char *function;
} assay_options;

typedef struct assay_model assay_model;
typedef struct assay_state assay_state;
typedef struct assay_prediction assay_prediction;

/// The version of the library, such as 1.0.0.
const char *assay_version(void);

/// Opens an `.mlmodel`, an `.mlpackage`, or a network of Keras, Caffe or Darknet, which is
/// converted in memory. `options` may be NULL.
assay_model *assay_open(const char *path, const assay_options *options, char **error);

/// Closes the model; a prediction that still runs ends first. Its predictions and states remain
/// valid.
void assay_close(assay_model *model);

/// The interface of the model, valid until the model is closed.
const assay_description *assay_describe(const assay_model *model);

/// Predicts.
///
/// `state` may be NULL: then states have their initial values, and are forgotten. Otherwise the
/// prediction reads and changes it.
assay_prediction *assay_predict(const assay_model *model, const assay_value *inputs, size_t count,
                                assay_state *state, char **error);

/// The outputs in the model's order, valid until the prediction is released. Arrays have the type
/// that the model declares and rows without gaps; those of 32-bit floats are the engine's own.
const assay_value *assay_outputs(const assay_prediction *prediction, size_t *count);

/// Frees a prediction and its outputs.
void assay_release(assay_prediction *prediction);

/// New states of the model with their initial values: those of an ML Program are zeros.
assay_state *assay_state_create(const assay_model *model, char **error);

/// The value of a state, valid until the state changes or is destroyed; NULL if there is none of
/// this name, or it has no value before the first prediction.
const assay_value *assay_state_read(const assay_state *state, const char *name, char **error);

/// Copies `value` to the state that it names. Returns whether it has succeeded.
int assay_state_write(assay_state *state, const assay_value *value, char **error);

/// Frees states.
void assay_state_destroy(assay_state *state);

/// Frees the text of an error.
void assay_free(char *error);

#ifdef __cplusplus
}
#endif

#endif
