/// libassay: predicts on the CPU with Core ML models, and with networks that Assay converts to
/// them.
///
/// A function that fails returns NULL, or 0 if it returns whether it succeeded. It stores the
/// message that the command would print in `*error`, unless `error` is NULL; free it with
/// `assay_free`. A model, a state or a prediction that is NULL, has been freed, or is of another kind
/// is such a failure. All strings are UTF-8. The library prints nothing, never ends the process and does
/// not change signal handlers.
///
/// Any function may be called from any thread. Predictions of different models run concurrently, and
/// so do those of one model that has one thread; otherwise they run one after the other, each on all
/// of the model's threads. Only one call at a time may use a state.
///
/// Models, states and predictions may be used in a forked process, too. A fork waits until calls on
/// other threads have returned.
///
/// Each structure starts with its size, which tells the versions of this header apart: later ones may add
/// fields at the end. A caller sets it to sizeof; what an earlier version lacks is zero. An element of
/// an array that the library returns starts `size` bytes after the one before.
///
/// Files over 64 MiB are mapped: do not modify one while its model is open. Replacing it by
/// renaming another file is safe.
#ifndef ASSAY_H
#define ASSAY_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The kind of a value or a feature.
enum {
  /// An array with any number of axes.
  ASSAY_KIND_ARRAY = 1,
  /// An image with samples from 0 to 255 of type ASSAY_TYPE_UINT8: [height, width] or [height,
  /// width, 3], in RGB order. An output with 16-bit gray as its color space has the type
  /// ASSAY_TYPE_FLOAT32.
  ASSAY_KIND_IMAGE = 2,
  /// A scalar.
  ASSAY_KIND_NUMBER = 3,
  /// A string: `data` is a C string.
  ASSAY_KIND_TEXT = 4,
  /// A dictionary: one number of type ASSAY_TYPE_FLOAT64 for each key, such as a classifier's
  /// probabilities.
  ASSAY_KIND_DICTIONARY = 5,
  /// A feature of a type that only Apple's systems support.
  ASSAY_KIND_OTHER = 6,
};

/// Element types, in native byte order: NumPy's kind and number of bytes.
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

/// A named value. The caller keeps the memory of an input valid and unchanged during the call.
/// Dense row-major 32-bit floats are read in place; everything else is converted first.
typedef struct {
  /// sizeof(assay_value); the same for all inputs of a call.
  size_t size;
  /// The name of the input or output.
  const char *name;
  /// One of ASSAY_KIND_….
  int32_t kind;
  /// One of ASSAY_TYPE_…; 0 for a string.
  int32_t type;
  /// The first element, or the string.
  const void *data;
  /// The number of axes, at most 8; 0 for a scalar.
  size_t rank;
  /// The size of each axis, outermost first.
  const int64_t *shape;
  /// The stride of each axis in bytes; NULL for dense rows.
  const int64_t *strides;
  /// The keys of a dictionary with `shape[0]` numbers, if they are strings.
  const char *const *text_keys;
  /// The keys, if they are integers.
  const int64_t *number_keys;
} assay_value;

/// An input, output or state of a model.
typedef struct {
  size_t size;
  const char *name;
  /// The author's description; may be empty.
  const char *description;
  /// One of ASSAY_KIND_….
  int32_t kind;
  /// The element type; for a dictionary, ASSAY_TYPE_INT64 if its keys are integers. Otherwise 0.
  int32_t type;
  /// The declared sizes, in the axis order of `layout`; for an image, height, width and channels. No
  /// axes mean any shape.
  size_t rank;
  const int64_t *shape;
  /// Whether other shapes are possible, besides those of batches.
  int32_t is_flexible;
  /// Whether the input is optional.
  int32_t is_optional;
  /// One letter for each axis in the source framework, such as NHWC; NULL if the model does not
  /// record it, or Core ML's layout was selected.
  const char *layout;
} assay_feature;

/// The interface of a model.
typedef struct {
  size_t size;
  /// The model type in the specification, such as neuralNetworkClassifier.
  const char *type;
  const assay_feature *inputs;
  size_t input_count;
  const assay_feature *outputs;
  size_t output_count;
  /// The states that one prediction passes to the next.
  const assay_feature *states;
  size_t state_count;
} assay_description;

/// The axis order of arrays.
enum {
  /// The axis order of the source framework, if the model records it; otherwise Core ML's.
  ASSAY_LAYOUT_SOURCE = 0,
  ASSAY_LAYOUT_COREML = 1,
};

/// Options for opening a model. Zeros are the defaults, except for `size`.
typedef struct {
  /// sizeof(assay_options)
  size_t size;
  /// The number of threads per prediction; 0 for one per core.
  int32_t threads;
  /// One of ASSAY_LAYOUT_….
  int32_t layout;
  /// The weights file of a source network, if it is separate; or NULL.
  const char *weights;
  /// Libraries with custom layers: see assay_plugin.h. Each is first loaded in a child process.
  const char *const *plugins;
  size_t plugin_count;
  /// The limit in bytes for weights, arrays and working memory together; 0 for 80 % of the
  /// machine's memory.
  uint64_t max_memory;
  /// The function of an ML Program; or NULL for the default one.
  const char *function;
  /// What to do with an image of another size than the model's: exact, which refuses it, squash,
  /// center-crop or fit; or NULL for what the model records, otherwise exact.
  const char *resize;
} assay_options;

typedef struct assay_model assay_model;
typedef struct assay_state assay_state;
typedef struct assay_prediction assay_prediction;

/// The version of the library, such as 1.0.0.
const char *assay_version(void);

/// The newest version of Core ML's specification that runs. Unless `systems` is NULL, `*systems` is
/// the first systems that load it, such as iOS 26, macOS 26.
int32_t assay_specification_version(const char **systems);

/// Opens an `.mlmodel`, an `.mlpackage`, or a Keras, Caffe or Darknet network, which is converted
/// in memory. `options` may be NULL.
assay_model *assay_open(const char *path, const assay_options *options, char **error);

/// Closes the model after any running prediction has ended. Its predictions and states remain
/// valid. Returns whether it was open.
int assay_close(assay_model *model);

/// The interface of the model, valid until the model is closed.
const assay_description *assay_describe(const assay_model *model);

/// What the command would warn of when it opens the model or makes the prediction: a line for each
/// part or value that is legal, but probably a mistake. NULL if there is none. Valid as long as the
/// model or the prediction.
const char *assay_warnings(const void *model_or_prediction);

/// Predicts.
///
/// `state` may be NULL: states then start with their initial values and are discarded, of which there
/// is a warning for an ML Program. Otherwise, the prediction reads and updates the state.
assay_prediction *assay_predict(const assay_model *model, const assay_value *inputs, size_t count,
                                assay_state *state, char **error);

/// The outputs in the model's order, valid until the prediction is released. Arrays are dense and
/// have the declared type; 32-bit floats are the engine's own memory.
const assay_value *assay_outputs(const assay_prediction *prediction, size_t *count);

/// Frees a prediction and its outputs. Returns whether there was one.
int assay_release(assay_prediction *prediction);

/// Creates states of the model with their initial values, which are zeros for an ML Program.
assay_state *assay_state_create(const assay_model *model, char **error);

/// The value of a state, valid until the state changes or is destroyed; NULL if no state has this
/// name, or if it has no value before the first prediction.
const assay_value *assay_state_read(const assay_state *state, const char *name, char **error);

/// Copies `value` to the state with its name, whose shape it must have. Returns whether it succeeded.
int assay_state_write(assay_state *state, const assay_value *value, char **error);

/// Frees states. Returns whether there were any.
int assay_state_destroy(assay_state *state);

/// Frees an error message.
void assay_free(char *error);

#ifdef __cplusplus
}
#endif

#endif
