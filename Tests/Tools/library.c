// Tests libassay: library FIXTURES. Silent, and 0, if all is as it should be.
#include <assay.h>

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures = 0;
static const char *fixtures;

#define CHECK(condition) check((condition) != 0, #condition, __LINE__)

static void check(int holds, const char *condition, int line) {
  if (holds) return;
  failures++;
  fprintf(stderr, "library.c:%d: %s is false\n", line, condition);
}

static assay_model *open_fixture(const char *name, const assay_options *options) {
  char path[4096], *error = NULL;
  snprintf(path, sizeof path, "%s/%s", fixtures, name);
  assay_model *model = assay_open(path, options, &error);
  if (!model) fprintf(stderr, "%s\n", error);
  CHECK(model && !error);
  if (!model) exit(1);
  return model;
}

static assay_value array(const char *name, int32_t type, const void *data, size_t rank,
                         const int64_t *shape) {
  return (assay_value){.size = sizeof(assay_value), .name = name, .kind = ASSAY_KIND_ARRAY,
                       .type = type, .data = data, .rank = rank, .shape = shape};
}

static assay_prediction *predict(const assay_model *model, assay_value input, assay_state *state) {
  char *error = NULL;
  assay_prediction *prediction = assay_predict(model, &input, 1, state, &error);
  if (!prediction) fprintf(stderr, "%s\n", error);
  CHECK(prediction && !error);
  if (!prediction) exit(1);
  return prediction;
}

// Whether the text of an error has the words; frees it.
static int says(char *error, const char *words) {
  int result = error && strstr(error, words);
  if (error && !result) fprintf(stderr, "%s\n", error);
  assay_free(error);
  return result;
}

static const int64_t two_by_three[] = {2, 3};
static const float numbers[] = {0, 1, -1, 0.5f, 100, -0.25f};

static int is_line(const assay_prediction *prediction) {
  size_t count = 0;
  const assay_value *y = assay_outputs(prediction, &count);
  int holds = count == 1 && y->size == sizeof *y && strcmp(y->name, "y") == 0 && y->kind == ASSAY_KIND_ARRAY &&
              y->type == ASSAY_TYPE_FLOAT32 && y->rank == 2 && y->shape[0] == 2 &&
              y->shape[1] == 3 && !y->strides;
  for (int i = 0; holds && i < 6; i++)
    holds = ((const float *)y->data)[i] == 2 * numbers[i] + 1;
  return holds;
}

static void test_description(const assay_model *line) {
  const assay_description *description = assay_describe(line);
  CHECK(strcmp(description->type, "neuralNetwork") == 0);
  CHECK(description->input_count == 1 && description->output_count == 1);
  CHECK(description->state_count == 0);
  const assay_feature *x = description->inputs;
  CHECK(strcmp(x->name, "x") == 0 && strcmp(x->description, "any numbers") == 0);
  CHECK(x->kind == ASSAY_KIND_ARRAY && x->type == ASSAY_TYPE_FLOAT32);
  CHECK(x->rank == 2 && x->shape[0] == 2 && x->shape[1] == 3);
  CHECK(description->size == sizeof *description && x->size == sizeof *x);
  CHECK(!x->is_optional && !x->is_flexible && !x->layout);
}

// The same numbers in several types and orders.
static void test_arrays(const assay_model *line) {
  assay_prediction *prediction =
      predict(line, array("x", ASSAY_TYPE_FLOAT32, numbers, 2, two_by_three), NULL);
  CHECK(is_line(prediction));
  assay_release(prediction);

  double doubles[6];
  for (int i = 0; i < 6; i++) doubles[i] = numbers[i];
  prediction = predict(line, array("x", ASSAY_TYPE_FLOAT64, doubles, 2, two_by_three), NULL);
  CHECK(is_line(prediction));
  assay_release(prediction);

  // Column by column, and every second float.
  float columns[12] = {0};
  for (int i = 0; i < 6; i++) columns[2 * (i % 3 * 2 + i / 3)] = numbers[i];
  const int64_t strides[] = {2 * sizeof(float), 4 * sizeof(float)};
  assay_value input = array("x", ASSAY_TYPE_FLOAT32, columns, 2, two_by_three);
  input.strides = strides;
  prediction = predict(line, input, NULL);
  CHECK(is_line(prediction));
  assay_release(prediction);

  // From the last to the first.
  float backward[6];
  for (int i = 0; i < 6; i++) backward[5 - i] = numbers[i];
  const int64_t back[] = {-3 * (int64_t)sizeof(float), -(int64_t)sizeof(float)};
  input = array("x", ASSAY_TYPE_FLOAT32, backward + 5, 2, two_by_three);
  input.strides = back;
  prediction = predict(line, input, NULL);
  CHECK(is_line(prediction));
  assay_release(prediction);

  // 1.0, 2.0 and -0.5 as halves; the largest byte.
  const uint16_t halves[] = {0x3c00, 0x4000, 0xb800, 0, 0, 0};
  prediction = predict(line, array("x", ASSAY_TYPE_FLOAT16, halves, 2, two_by_three), NULL);
  const float *y = assay_outputs(prediction, NULL)->data;
  CHECK(y[0] == 3 && y[1] == 5 && y[2] == 0);
  assay_release(prediction);
  const uint8_t bytes[] = {255, 0, 0, 0, 0, 0};
  prediction = predict(line, array("x", ASSAY_TYPE_UINT8, bytes, 2, two_by_three), NULL);
  CHECK(*(const float *)assay_outputs(prediction, NULL)->data == 511);
  assay_release(prediction);
}

static void test_errors(const assay_model *line) {
  char *error = NULL;
  CHECK(!assay_open("missing.mlmodel", NULL, &error));
  CHECK(says(error, "missing.mlmodel: "));
  CHECK(!assay_open(NULL, NULL, &error));
  CHECK(says(error, "argument 'path' is NULL"));
  CHECK(!assay_open("missing.mlmodel", NULL, NULL));
  assay_options options = {.size = 1};
  CHECK(!assay_open("missing.mlmodel", &options, &error));
  CHECK(says(error, "assay_options: size is 1, not sizeof(assay_options)"));
  options = (assay_options){.size = sizeof options + 8};
  CHECK(!assay_open("missing.mlmodel", &options, &error));
  CHECK(says(error, "sizeof(assay_options)"));

  assay_value input = array("x", ASSAY_TYPE_FLOAT32, numbers, 2, two_by_three);
  CHECK(!assay_predict(NULL, &input, 1, NULL, &error));
  CHECK(says(error, "argument 'model' is NULL"));
  CHECK(!assay_predict(line, NULL, 1, NULL, &error));
  CHECK(says(error, "argument 'inputs' is NULL"));
  CHECK(!assay_predict(line, NULL, 0, NULL, &error));
  CHECK(says(error, "no value for input x"));
  input.size = 0;
  CHECK(!assay_predict(line, &input, 1, NULL, &error));
  CHECK(says(error, "assay_value: size is 0, not sizeof(assay_value)"));
  input.size = sizeof input;
  input.name = "z";
  CHECK(!assay_predict(line, &input, 1, NULL, &error));
  CHECK(says(error, "the model has no input 'z'\nhint: its inputs are x"));
  input.name = "x";
  input.rank = 9;
  CHECK(!assay_predict(line, &input, 1, NULL, &error));
  CHECK(says(error, "x: 9 axes"));
  const int64_t six[] = {6};
  input = array("x", ASSAY_TYPE_FLOAT32, numbers, 1, six);
  CHECK(!assay_predict(line, &input, 1, NULL, &error));
  CHECK(says(error, "an array of shape [6] does not match"));
  const int64_t huge[] = {INT64_MAX, INT64_MAX};
  input = array("x", ASSAY_TYPE_FLOAT32, numbers, 2, huge);
  CHECK(!assay_predict(line, &input, 1, NULL, &error));
  CHECK(says(error, "exceeds the limit"));
  input = array("x", 7, numbers, 2, two_by_three);
  CHECK(!assay_predict(line, &input, 1, NULL, &error));
  CHECK(says(error, "x: unknown type 7"));
  const uint64_t largest = UINT64_MAX;
  input = (assay_value){.size = sizeof input, .name = "x", .kind = ASSAY_KIND_NUMBER,
                        .type = ASSAY_TYPE_UINT64, .data = &largest};
  CHECK(!assay_predict(line, &input, 1, NULL, &error));
  CHECK(says(error, "x: an array of shape [1] does not match"));
  CHECK(!assay_state_create(line, &error));
  CHECK(says(error, "the model has no states"));

  assay_close(NULL);
  assay_release(NULL);
  assay_state_destroy(NULL);
  assay_free(NULL);
}

// Of an image with this mean of red, as a share of 255; the others are 0.
static void check_red(assay_prediction *prediction, double mean) {
  size_t count = 0;
  const assay_value *outputs = assay_outputs(prediction, &count);
  CHECK(count == 2);
  for (size_t i = 0; i < count; i++) {
    if (strcmp(outputs[i].name, "best") == 0) {
      CHECK(outputs[i].kind == ASSAY_KIND_TEXT && strcmp(outputs[i].data, "red") == 0);
      continue;
    }
    CHECK(outputs[i].kind == ASSAY_KIND_DICTIONARY && outputs[i].shape[0] == 3);
    double red = exp(mean) / (exp(mean) + 2);
    for (int key = 0; key < 3; key++) {
      int is_red = strcmp(outputs[i].text_keys[key], "red") == 0;
      double expected = is_red ? red : (1 - red) / 2;
      CHECK(fabs(((const double *)outputs[i].data)[key] - expected) < 1e-6);
    }
  }
  assay_release(prediction);
}

// One red pixel of eight.
static void test_classifier(void) {
  assay_model *color = open_fixture("color.mlmodel", NULL);
  const assay_feature *image = assay_describe(color)->inputs;
  CHECK(image->kind == ASSAY_KIND_IMAGE && image->type == ASSAY_TYPE_UINT8);
  CHECK(image->rank == 3 && image->shape[0] == 2 && image->shape[1] == 4 && image->shape[2] == 3);
  uint8_t pixels[2][4][3] = {0};
  pixels[1][2][0] = 255;
  const int64_t shape[] = {2, 4, 3};
  assay_value input = array("image", ASSAY_TYPE_UINT8, pixels, 3, shape);
  input.kind = ASSAY_KIND_IMAGE;
  assay_prediction *prediction = predict(color, input, NULL);
  assay_close(color);
  check_red(prediction, 0.125);
}

// A red square for a model that takes images twice as wide as high: with bars, half of it is black.
static void test_resizing(void) {
  uint8_t pixels[4][4][3] = {0};
  for (int i = 0; i < 16; i++) pixels[i / 4][i % 4][0] = 255;
  const int64_t shape[] = {4, 4, 3};
  assay_value input = array("image", ASSAY_TYPE_UINT8, pixels, 3, shape);
  input.kind = ASSAY_KIND_IMAGE;
  const char *names[] = {"fit", "squash", "center-crop"};
  assay_options options = {.size = sizeof options};
  for (int i = 0; i < 3; i++) {
    options.resize = names[i];
    assay_model *color = open_fixture("color.mlmodel", &options);
    check_red(predict(color, input, NULL), i == 0 ? 0.5 : 1);
    assay_close(color);
  }
  char path[4096], *error = NULL;
  snprintf(path, sizeof path, "%s/color.mlmodel", fixtures);
  options.resize = "wide";
  CHECK(!assay_open(path, &options, &error));
  CHECK(says(error, "options: unknown resize 'wide'"));
  // As with a header of before images were resized.
  options.size = offsetof(assay_options, resize);
  assay_model *color = open_fixture("color.mlmodel", &options);
  CHECK(!assay_predict(color, &input, 1, NULL, &error));
  CHECK(says(error, "4×4, but the model takes 4×2\nhint: resize it with the option resize squash"));
  assay_close(color);
}

static float sum(const assay_prediction *prediction) {
  return *(const float *)assay_outputs(prediction, NULL)->data;
}

static void test_states(void) {
  assay_model *model = open_fixture("sum.mlmodel", NULL);
  const assay_description *description = assay_describe(model);
  CHECK(description->state_count == 1 && strcmp(description->states->name, "sum_in") == 0);
  const int64_t one[] = {1};
  float x = 3;
  assay_value input = array("x", ASSAY_TYPE_FLOAT32, &x, 1, one);
  char *error = NULL;
  assay_state *state = assay_state_create(model, &error);
  CHECK(state && !error);
  for (int step = 1; step <= 3; step++) {
    assay_prediction *prediction = predict(model, input, state);
    CHECK(sum(prediction) == 3 * step);
    assay_release(prediction);
  }
  assay_prediction *prediction = predict(model, input, NULL);
  CHECK(sum(prediction) == 3);
  assay_release(prediction);
  const assay_value *value = assay_state_read(state, "sum_in", &error);
  CHECK(value && *(const float *)value->data == 9);
  CHECK(!assay_state_read(state, "x", &error));
  CHECK(says(error, "the model has no state 'x'\nhint: its states are sum_in"));
  float forty = 40;
  assay_value written = array("sum_in", ASSAY_TYPE_FLOAT32, &forty, 1, one);
  CHECK(assay_state_write(state, &written, &error) == 1);
  forty = 0;
  prediction = predict(model, input, state);
  CHECK(sum(prediction) == 43);
  assay_release(prediction);
  CHECK(assay_state_write(state, &input, &error) == 0);
  CHECK(says(error, "the model has no state 'x'"));
  written = array("sum_in", ASSAY_TYPE_FLOAT32, numbers, 2, two_by_three);
  CHECK(!assay_state_write(state, &written, &error));
  CHECK(says(error, "sum_in: an array of shape [2, 3] does not match"));
  CHECK(assay_close(model) == 1 && assay_close(model) == 0);
  CHECK(assay_state_destroy(state) == 1 && assay_state_destroy(state) == 0);
}

// s = s + x, y = 2 s, with s in half precision.
static void test_program_states(void) {
  assay_model *model = open_fixture("../programs/states.mlpackage", NULL);
  const assay_description *description = assay_describe(model);
  CHECK(description->input_count == 1 && description->output_count == 1);
  CHECK(description->state_count == 1 && strcmp(description->states->name, "s") == 0);
  CHECK(description->states->kind == ASSAY_KIND_ARRAY);
  CHECK(description->states->type == ASSAY_TYPE_FLOAT16);
  CHECK(description->states->rank == 1 && description->states->shape[0] == 3);
  const int64_t three[] = {3}, two[] = {2};
  const float x[] = {1, 2, -0.5f};
  assay_value input = array("x", ASSAY_TYPE_FLOAT32, x, 1, three);
  char *error = NULL;
  assay_state *state = assay_state_create(model, &error), *other = assay_state_create(model, NULL);
  CHECK(state && other && !error);
  const uint16_t *halves = assay_state_read(state, "s", &error)->data;
  CHECK(halves[0] == 0 && halves[1] == 0 && halves[2] == 0);
  for (int step = 1; step <= 3; step++) {
    assay_prediction *prediction = predict(model, input, state);
    CHECK(sum(prediction) == 2 * step);
    assay_release(prediction);
  }
  assay_prediction *prediction = predict(model, input, other);
  CHECK(sum(prediction) == 2);
  assay_release(prediction);
  prediction = predict(model, input, NULL);
  CHECK(sum(prediction) == 2);
  assay_release(prediction);
  const assay_value *value = assay_state_read(state, "s", &error);
  CHECK(value && value->type == ASSAY_TYPE_FLOAT16 && value->rank == 1 && value->shape[0] == 3);
  // 3, 6 and -1.5 as halves.
  halves = value->data;
  CHECK(halves[0] == 0x4200 && halves[1] == 0x4600 && halves[2] == 0xbe00);
  const float written[] = {10, 20, 30};
  assay_value content = array("s", ASSAY_TYPE_FLOAT32, written, 1, three);
  CHECK(assay_state_write(state, &content, &error) == 1);
  prediction = predict(model, input, state);
  const float *y = assay_outputs(prediction, NULL)->data;
  CHECK(y[0] == 22 && y[1] == 44 && y[2] == 59);
  assay_release(prediction);
  content = array("s", ASSAY_TYPE_FLOAT32, written, 1, two);
  CHECK(!assay_state_write(state, &content, &error));
  CHECK(says(error, "s: the value of the state does not have its shape [3]"));
  content = (assay_value){
      .size = sizeof content, .name = "s", .kind = ASSAY_KIND_TEXT, .data = "ten"};
  CHECK(!assay_state_write(state, &content, &error));
  CHECK(says(error, "s: the value of the state does not have its shape [3]"));
  assay_close(model);
  assay_state_destroy(state);
  assay_state_destroy(other);
}

// The default function is x * x of four numbers; triple is 3 x of six.
static void test_functions(void) {
  const int64_t four[] = {4};
  const float x[] = {1, 2, 3, -0.5f, 4, 5};
  // As with a header of before there were functions.
  assay_options options = {.size = offsetof(assay_options, function),
                           .function = "not to be read"};
  assay_model *model = open_fixture("../programs/functions.mlpackage", &options);
  assay_prediction *prediction = predict(model, array("x", ASSAY_TYPE_FLOAT32, x, 1, four), NULL);
  const float *y = assay_outputs(prediction, NULL)->data;
  CHECK(y[0] == 1 && y[1] == 4 && y[2] == 9 && y[3] == 0.25f);
  assay_release(prediction);
  assay_close(model);
  options = (assay_options){.size = sizeof options, .function = "triple"};
  model = open_fixture("../programs/functions.mlpackage", &options);
  CHECK(assay_describe(model)->inputs->rank == 2);
  prediction = predict(model, array("x", ASSAY_TYPE_FLOAT32, x, 2, two_by_three), NULL);
  y = assay_outputs(prediction, NULL)->data;
  CHECK(y[0] == 3 && y[3] == -1.5f && y[5] == 15);
  assay_release(prediction);
  assay_close(model);
  char path[4096], *error = NULL;
  snprintf(path, sizeof path, "%s/line.mlmodel", fixtures);
  CHECK(!assay_open(path, &options, &error));
  CHECK(says(error, "the model has no functions"));
}

// What the command warns of: a state that is not given, values that are not numbers.
static void test_warnings(const assay_model *line) {
  CHECK(!assay_warnings(line) && !assay_warnings(NULL));
  float x[6] = {1, NAN, 2, NAN, 3, 4};
  assay_prediction *prediction =
      predict(line, array("x", ASSAY_TYPE_FLOAT32, x, 2, two_by_three), NULL);
  const char *text = assay_warnings(prediction);
  CHECK(text && strstr(text, "line.mlmodel: output 'y': 2 values of 6 are NaN"));
  CHECK(text && !strchr(text, '\n'));
  CHECK(assay_release(prediction) == 1 && assay_release(prediction) == 0);
  double large[6] = {1e300};
  prediction = predict(line, array("x", ASSAY_TYPE_FLOAT64, large, 2, two_by_three), NULL);
  text = assay_warnings(prediction);
  CHECK(text && strstr(text, "input 'x': 1 value of 6 is beyond single precision"));
  CHECK(text && strstr(text, "\n"));
  assay_release(prediction);

  const int64_t three[] = {3};
  assay_model *model = open_fixture("../programs/states.mlpackage", NULL);
  assay_state *state = assay_state_create(model, NULL);
  assay_value input = array("x", ASSAY_TYPE_FLOAT32, numbers, 1, three);
  prediction = predict(model, input, state);
  CHECK(!assay_warnings(prediction));
  assay_release(prediction);
  prediction = predict(model, input, NULL);
  CHECK(assay_warnings(prediction) && strstr(assay_warnings(prediction), "no state was given"));
  assay_release(prediction);
  assay_state_destroy(state);
  assay_close(model);
}

// The shape and the layout belong together; those of the arrays are Keras's.
static void test_layouts(void) {
  const struct {
    const char *file, *layout;
    int64_t input[5], output[5];
  } networks[] = {
      {"locally_connected_2d_1", "NHWC", {1, 5, 7, 2}, {1, 4, 3, 3}},
      {"up_sampling_bilinear", "NHWC", {1, 4, 5, 2}, {1, 8, 15, 2}},
      {"network_3d", "NTHWC", {1, 6, 7, 8, 2}, {1, 4}},
      {"time_distributed_dense", "NTC", {1, 4, 5}, {1, 1, 3}},
  };
  for (int n = 0; n < 4; n++) {
    char file[4096];
    snprintf(file, sizeof file, "../keras/layers/tf2/%s.h5", networks[n].file);
    assay_model *model = open_fixture(file, NULL);
    const assay_feature *x = assay_describe(model)->inputs, *y = assay_describe(model)->outputs;
    CHECK(x->layout && strcmp(x->layout, networks[n].layout) == 0);
    CHECK(x->layout && y->layout && x->rank == strlen(x->layout) && y->rank == strlen(y->layout));
    for (size_t axis = 0; axis < x->rank; axis++) CHECK(x->shape[axis] == networks[n].input[axis]);
    for (size_t axis = 0; axis < y->rank; axis++) CHECK(y->shape[axis] == networks[n].output[axis]);
    float *zeros = calloc(4096, sizeof(float));
    assay_prediction *prediction =
        predict(model, array(x->name, ASSAY_TYPE_FLOAT32, zeros, x->rank, x->shape), NULL);
    const assay_value *value = assay_outputs(prediction, NULL);
    CHECK(value->rank == y->rank);
    for (size_t axis = 0; axis < y->rank && !y->is_flexible; axis++)
      CHECK(value->shape[axis] == y->shape[axis]);
    assay_release(prediction);
    // Hints name options of the library.
    const int64_t ones[] = {1, 1, 1, 1, 1, 1, 1};
    const assay_value wrong = array(x->name, ASSAY_TYPE_FLOAT32, zeros, 7, ones);
    char *error = NULL;
    CHECK(!assay_predict(model, &wrong, 1, NULL, &error) && error && !strstr(error, "--"));
    CHECK(says(error, "use the option layout coreml"));
    CHECK(!assay_predict(model, NULL, 0, NULL, &error) && error && !strstr(error, "NAME=FILE"));
    assay_free(error);
    free(zeros);
    assay_close(model);
  }
}

static void *predict_often(void *line) {
  for (int i = 0; i < 20; i++) {
    assay_prediction *prediction =
        predict(line, array("x", ASSAY_TYPE_FLOAT32, numbers, 2, two_by_three), NULL);
    CHECK(is_line(prediction));
    assay_release(prediction);
  }
  return NULL;
}

static void test_threads(assay_model *line) {
  pthread_t threads[4];
  for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, predict_often, line);
  for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
}

int main(int count, char **arguments) {
  if (count < 2) return 64;
  fixtures = arguments[1];
  CHECK(assay_version()[0] != 0);
  assay_options options = {.size = sizeof options, .threads = 2, .layout = ASSAY_LAYOUT_COREML};
  assay_model *line = open_fixture("line.mlmodel", &options);
  test_description(line);
  test_arrays(line);
  test_errors(line);
  test_warnings(line);
  test_threads(line);
  assay_close(line);
  test_classifier();
  test_resizing();
  test_states();
  test_program_states();
  test_functions();
  if (getenv("ASSAY_HDF5_WORKER")) test_layouts();
  const char *systems = NULL;
  CHECK(assay_specification_version(&systems) == 10 && strcmp(systems, "iOS 26, macOS 26") == 0);
  return failures ? 1 : 0;
}
