// Uses libassay for long: library-growth FIXTURES. Silent, and 0, if its memory does not grow.
#include <assay.h>

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static char path[4096];
static const assay_options options = {.size = sizeof options, .threads = 2};

static int predicts(assay_model *model) {
  const int64_t shape[] = {2, 3};
  const float numbers[6] = {0};
  const assay_value x = {.size = sizeof x, .name = "x", .kind = ASSAY_KIND_ARRAY,
                         .type = ASSAY_TYPE_FLOAT32, .data = numbers, .rank = 2, .shape = shape};
  assay_prediction *prediction = assay_predict(model, &x, 1, NULL, NULL);
  const assay_value *y = assay_outputs(prediction, NULL);
  int holds = y && *(const float *)y->data == 1;
  // Errors, too.
  char *error = NULL;
  holds = holds && !assay_predict(model, NULL, 0, NULL, &error) && error;
  assay_free(error);
  return assay_release(prediction) && holds;
}

static int loads(void) {
  assay_model *model = assay_open(path, &options, NULL);
  return predicts(model) & assay_close(model);
}

static int forks(assay_model *model) {
  pid_t child = fork();
  if (child == 0) {
    alarm(30);
    _exit(predicts(model) ? 0 : 1);
  }
  int status = 1;
  waitpid(child, &status, 0);
  return status == 0;
}

// In pages.
static long memory(void) {
  long pages = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (file && fscanf(file, "%*d %ld", &pages) != 1) pages = 0;
  if (file) fclose(file);
  return pages;
}

int main(int count, char **arguments) {
  if (count < 2) return 64;
  snprintf(path, sizeof path, "%s/line.mlmodel", arguments[1]);
  assay_model *model = assay_open(path, &options, NULL);
  long before = 0, failures = 0;
  // Whatever the first tenth allocates for good is there after it.
  for (int part = 0; part < 10; part++) {
    for (int i = 0; i < 1000; i++) failures += !predicts(model);
    for (int i = 0; i < 50; i++) failures += !loads();
    for (int i = 0; i < 10; i++) failures += !forks(model);
    if (part == 0) before = memory();
  }
  long growth = (memory() - before) * sysconf(_SC_PAGESIZE);
  assay_close(model);
  if (failures) fprintf(stderr, "library-growth.c: %ld failures\n", failures);
  // A page per load would be 1.8 MB.
  if (growth > 1 << 20) fprintf(stderr, "library-growth.c: memory grew by %ld bytes\n", growth);
  return failures || growth > 1 << 20;
}
