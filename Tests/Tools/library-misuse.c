// Misuses the handles of libassay: library-misuse FIXTURES. Silent, and 0, if each is an error.
#include <assay.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures = 0;

#define CHECK(condition) check((condition) != 0, #condition, __LINE__)

static void check(int holds, const char *condition, int line) {
  if (holds) return;
  failures++;
  fprintf(stderr, "library-misuse.c:%d: %s is false\n", line, condition);
}

static int says(char *error, const char *words) {
  int result = error && strstr(error, words);
  if (error && !result) fprintf(stderr, "%s\n", error);
  assay_free(error);
  return result;
}

int main(int count, char **arguments) {
  if (count < 2) return 64;
  char path[4096], *error = NULL;
  snprintf(path, sizeof path, "%s/sum.mlmodel", arguments[1]);
  const int64_t one[] = {1};
  const float three = 3;
  const assay_value x = {.size = sizeof x, .name = "x", .kind = ASSAY_KIND_ARRAY,
                         .type = ASSAY_TYPE_FLOAT32,
                         .data = &three, .rank = 1, .shape = one};
  assay_model *model = assay_open(path, NULL, &error), *closed = assay_open(path, NULL, NULL);
  assay_state *state = assay_state_create(model, NULL);
  assay_prediction *prediction = assay_predict(model, &x, 1, NULL, NULL);
  CHECK(model && closed && state && prediction && !error);

  // NULL
  size_t outputs = 9;
  CHECK(!assay_predict(NULL, &x, 1, NULL, &error));
  CHECK(says(error, "argument 'model' is NULL"));
  CHECK(!assay_state_create(NULL, &error));
  CHECK(says(error, "argument 'model' is NULL"));
  CHECK(!assay_describe(NULL) && !assay_outputs(NULL, &outputs) && outputs == 0);
  assay_close(NULL);

  // Freed, and freed again.
  assay_close(closed);
  assay_close(closed);
  CHECK(!assay_predict(closed, &x, 1, NULL, &error));
  CHECK(says(error, "argument 'model' is not a model, or one that has been freed"));
  CHECK(!assay_describe(closed) && !assay_state_create(closed, NULL));

  // Of another kind.
  CHECK(!assay_predict((assay_model *)state, &x, 1, NULL, &error));
  CHECK(says(error, "argument 'model' is a state"));
  CHECK(!assay_predict(model, &x, 1, (assay_state *)prediction, &error));
  CHECK(says(error, "argument 'state' is a prediction"));
  CHECK(!assay_state_read((assay_state *)model, "sum_in", &error));
  CHECK(says(error, "argument 'state' is a model"));
  CHECK(!assay_outputs((assay_prediction *)model, &outputs) && outputs == 0);
  assay_close((assay_model *)prediction);
  assay_release((assay_prediction *)state);
  assay_state_destroy((assay_state *)model);

  // Of nothing.
  char *memory = calloc(1, 4096);
  CHECK(!assay_predict((assay_model *)memory, &x, 1, NULL, &error));
  CHECK(says(error, "argument 'model' is not a model"));
  assay_release((assay_prediction *)memory);
  free(memory);

  // All of that has changed nothing.
  CHECK(*(const float *)assay_outputs(prediction, &outputs)->data == 3 && outputs == 2);
  assay_release(prediction);
  assay_release(prediction);
  CHECK(!assay_outputs(prediction, NULL));
  for (int step = 1; step <= 2; step++) {
    prediction = assay_predict(model, &x, 1, state, NULL);
    CHECK(*(const float *)assay_outputs(prediction, NULL)->data == 3 * step);
    assay_release(prediction);
  }
  assay_state_destroy(state);
  assay_state_destroy(state);
  assay_close(model);
  return failures ? 1 : 0;
}
