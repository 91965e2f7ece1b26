// Uses libassay from eight threads for SECONDS: library-threads FIXTURES SECONDS. Silent, and 0, if every
// result is right. Built with -DRACE, it changes an input during predictions, which ThreadSanitizer must
// report.
#include <assay.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static char path[4096], states_path[4096];
static assay_model *shared[2];
static atomic_int done, wrong;

static int is_line(const assay_model *model, const void *numbers, int32_t type, float first) {
  const int64_t shape[] = {2, 3};
  const assay_value x = {.size = sizeof x, .name = "x", .kind = ASSAY_KIND_ARRAY,
                         .type = type, .data = numbers, .rank = 2, .shape = shape};
  assay_prediction *prediction = assay_predict(model, &x, 1, NULL, NULL);
  const assay_value *y = assay_outputs(prediction, NULL);
  int holds = y && *(const float *)y->data == 2 * first + 1;
  return assay_release(prediction) & holds;
}

static int adds(assay_model *model) {
  const int64_t one[] = {1};
  const float three = 3;
  const assay_value x = {.size = sizeof x, .name = "x", .kind = ASSAY_KIND_ARRAY,
                         .type = ASSAY_TYPE_FLOAT32, .data = &three, .rank = 1, .shape = one};
  assay_state *state = assay_state_create(model, NULL);
  int holds = 1;
  for (int step = 1; step <= 3; step++) {
    assay_prediction *prediction = assay_predict(model, &x, 1, state, NULL);
    const assay_value *y = assay_outputs(prediction, NULL);
    holds &= y && *(const float *)y->data == 3 * step;
    assay_release(prediction);
  }
  return assay_state_destroy(state) & holds;
}

static void *use(void *argument) {
  int number = (int)(size_t)argument;
  const assay_options options = {.size = sizeof options, .threads = 1 + number % 3};
#ifdef RACE
  // Calls of the library order what comes before and after them, so this thread makes none.
  // The sanitizer does not see what vector code reads, but what converts doubles.
  static double raced[6];
  while (number == 0 && !done) raced[0] += 1;
#endif
  while (!done) {
    float numbers[6] = {(float)number};
    assay_model *own = assay_open(path, &options, NULL);
    int holds = is_line(own, numbers, ASSAY_TYPE_FLOAT32, numbers[0]) && assay_describe(own) && !assay_warnings(own);
    for (int i = 0; i < 20; i++)
      holds &= is_line(shared[i % 2], numbers, ASSAY_TYPE_FLOAT32, numbers[0]);
    assay_model *sums = assay_open(states_path, &options, NULL);
    holds = holds && adds(sums) && assay_close(own) && assay_close(sums);
    char *error = NULL;
    holds = holds && !assay_predict(own, NULL, 0, NULL, &error) && error;
    assay_free(error);
#ifdef RACE
    is_line(shared[0], raced, ASSAY_TYPE_FLOAT64, 0);
#endif
    if (!holds) wrong = 1;
  }
  return NULL;
}

int main(int count, char **arguments) {
  if (count < 3) return 64;
  snprintf(path, sizeof path, "%s/line.mlmodel", arguments[1]);
  snprintf(states_path, sizeof states_path, "%s/sum.mlmodel", arguments[1]);
  for (int i = 0; i < 2; i++) {
    const assay_options options = {.size = sizeof options, .threads = 1 + i};
    shared[i] = assay_open(path, &options, NULL);
  }
  pthread_t threads[8];
  for (size_t i = 0; i < 8; i++) pthread_create(&threads[i], NULL, use, (void *)i);
  const struct timespec wait = {.tv_sec = atoi(arguments[2])};
  nanosleep(&wait, NULL);
  done = 1;
  for (int i = 0; i < 8; i++) pthread_join(threads[i], NULL);
  if (wrong) fprintf(stderr, "library-threads.c: a result is wrong\n");
  return wrong;
}
