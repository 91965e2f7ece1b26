// Two custom layers in C.
//
// SumAndDifference: of inputs a and b of one shape the outputs a + b and a - b.
// Affine: tanh(scale * x + w[last axis]), the scale being a parameter and w the weights, 32-bit or
// 16-bit floats; it checks that it gets parameters of all five types.
//
// Built with -DMISTAKE=… it does one thing wrong.
#include "assay_plugin.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NO_ENTRY 1
#define CRASH_IN_CONSTRUCTOR 2
#define CRASH_IN_ENTRY 3
#define OTHER_VERSION 4
#define NO_MAGIC 5
#define WRONG_RANK 6
#define NEGATIVE_SIZE 7
#define TOO_MANY_SHAPES 8
#define FAILS 9
#define FAILS_SILENTLY 10
#define NO_CLASSES 11
#define EXITS 12
#define REFUSES 13
#ifndef MISTAKE
#define MISTAKE 0
#endif

enum { SUM_AND_DIFFERENCE, AFFINE };

typedef struct {
  uint32_t class_index;
  float scale;
  float *weights;
  size_t weight_count;
} layer;

static const assay_host *host;

static const assay_parameter *find(const assay_parameter *list, size_t count, const char *name) {
  for (size_t i = 0; i < count; i++)
    if (!strcmp(list[i].name, name)) return &list[i];
  return NULL;
}

static int fail(char *error, const char *text) {
  snprintf(error, ASSAY_ERROR_SIZE, "%s", text);
  return 1;
}

static void *create(uint32_t class_index, const assay_parameter *parameters, size_t count,
                    char *error) {
  layer *made = calloc(1, sizeof *made);
  made->class_index = class_index;
  made->scale = 1;
  const assay_parameter *name = find(parameters, count, "engineName");
  if (!name || name->type != ASSAY_STRING || strlen(name->string) != name->byte_count) {
    fail(error, "engineName is missing");
    free(made);
    return NULL;
  }
  if (class_index == AFFINE) {
    const assay_parameter *scale = find(parameters, count, "scale");
    if (!scale || scale->type != ASSAY_DOUBLE) {
      fail(error, "scale is missing or no double");
      free(made);
      return NULL;
    }
    made->scale = (float)scale->number;
    const assay_parameter *whole = find(parameters, count, "int");
    const assay_parameter *large = find(parameters, count, "long");
    const assay_parameter *truth = find(parameters, count, "bool");
    const assay_parameter *text = find(parameters, count, "string");
    if (whole && !(whole->type == ASSAY_INT && whole->integer == -7 && large &&
                   large->type == ASSAY_LONG && large->integer == INT64_C(1) << 40 && truth &&
                   truth->type == ASSAY_BOOL && truth->integer == 1 && text &&
                   text->type == ASSAY_STRING && !strcmp(text->string, "gr\xc3\xbc\xc3\x9f"))) {
      fail(error, "a parameter arrived changed");
      free(made);
      return NULL;
    }
  }
  return made;
}

static float half(uint16_t bits) {
  int exponent = bits >> 10 & 31, fraction = bits & 1023;
  float size = exponent ? ldexpf((float)(fraction + 1024), exponent - 25)
                        : ldexpf((float)fraction, -24);
  return bits & 0x8000 ? -size : size;
}

static int set_weights(void *handle, const assay_weight *weights, size_t count, char *error) {
  layer *self = handle;
  if (count == 0) return 0;
  if (count > 2) return fail(error, "more than two weights");
  // The second, if there is one, says by its length in bytes how many numbers the first has.
  size_t numbers = count == 2 ? weights[1].byte_count / 4 : weights[0].byte_count / 4;
  self->weight_count = numbers;
  self->weights = calloc(numbers + 1, sizeof(float));
  for (size_t i = 0; i < numbers; i++) {
    if (weights[0].byte_count == 2 * numbers) {
      uint16_t bits;
      memcpy(&bits, (const char *)weights[0].bytes + 2 * i, 2);
      self->weights[i] = half(bits);
    } else {
      memcpy(&self->weights[i], (const char *)weights[0].bytes + 4 * i, 4);
    }
  }
  return 0;
}

static int output_shapes(void *handle, const assay_shape *inputs, size_t input_count,
                         assay_shape *outputs, size_t *output_count, char *error) {
  layer *self = handle;
  size_t wanted = self->class_index == SUM_AND_DIFFERENCE ? 2 : 1;
  if (input_count != wanted) return fail(error, "wrong number of inputs");
  size_t capacity = *output_count;
  *output_count = wanted;
  if (MISTAKE == TOO_MANY_SHAPES) *output_count = 40;
  for (size_t i = 0; i < *output_count && i < capacity; i++) outputs[i] = inputs[0];
  if (MISTAKE == WRONG_RANK) outputs[0].rank = 99;
  if (MISTAKE == NEGATIVE_SIZE) outputs[0].sizes[0] = -3;
  return 0;
}

static size_t element_count(const assay_array *array) {
  size_t count = 1;
  for (size_t axis = 0; axis < array->shape.rank; axis++)
    count *= (size_t)array->shape.sizes[axis];
  return count;
}

static int evaluate(void *handle, const assay_array *inputs, size_t input_count,
                    const assay_array *outputs, size_t output_count, char *error) {
  layer *self = handle;
  (void)input_count;
  if (MISTAKE == FAILS) return fail(error, "the moon is not in the right phase");
  if (MISTAKE == FAILS_SILENTLY) return 1;
  if (inputs[0].element_type != ASSAY_FLOAT32) return fail(error, "not 32-bit floats");
  size_t count = element_count(&inputs[0]);
  for (size_t o = 0; o < output_count; o++)
    if (element_count(&outputs[o]) != count) return fail(error, "another shape");
  if (self->class_index == SUM_AND_DIFFERENCE) {
    host->add(inputs[0].elements, inputs[1].elements, outputs[0].elements, count);
    host->subtract(inputs[0].elements, inputs[1].elements, outputs[1].elements, count);
    return 0;
  }
  const float *x = inputs[0].elements;
  float *y = outputs[0].elements;
  size_t last = (size_t)inputs[0].shape.sizes[inputs[0].shape.rank - 1];
  if (inputs[0].strides[inputs[0].shape.rank - 1] != 1) return fail(error, "not dense");
  for (size_t i = 0; i < count; i++)
    y[i] = self->scale * x[i] + (self->weight_count ? self->weights[i % last] : 0);
  host->tangent_hyperbolic(y, y, count);
  return 0;
}

static void destroy(void *handle) {
  free(((layer *)handle)->weights);
  free(handle);
}

static const char *const class_names[] = {"SumAndDifference", "Affine"};

static const assay_plugin plugin = {
    .magic = MISTAKE == NO_MAGIC ? 1 : ASSAY_PLUGIN_MAGIC,
    .version = MISTAKE == OTHER_VERSION ? 77 : ASSAY_PLUGIN_VERSION,
    .class_count = MISTAKE == NO_CLASSES ? 0 : 2,
    .class_names = class_names,
    .create = create,
    .set_weights = set_weights,
    .output_shapes = output_shapes,
    .evaluate = evaluate,
    .destroy = destroy,
};

#if MISTAKE == CRASH_IN_CONSTRUCTOR
__attribute__((constructor)) static void crash(void) {
  fprintf(stderr, "about to fall\nreally\n");
  abort();
}
#endif
#if MISTAKE == EXITS
__attribute__((constructor)) static void leave(void) { _Exit(0); }
#endif

#if MISTAKE != NO_ENTRY
const assay_plugin *assay_plugin_entry(uint32_t host_version, const assay_host *functions) {
  if (MISTAKE == CRASH_IN_ENTRY) *(volatile int *)8 = 1;
  if (MISTAKE == REFUSES) return NULL;
  if (host_version != ASSAY_PLUGIN_VERSION || functions->size < sizeof *functions) return NULL;
  host = functions;
  return &plugin;
}
#endif
