// Uses libassay in forked processes: library-fork FIXTURES. Silent, and 0, if each predicts.
#include <assay.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SIZE = 1 << 18 };

static float numbers[SIZE];
static const char *path;
static const assay_options options = {.size = sizeof options, .threads = 3};

// Whether the model, which several threads compute, gives 2 x + 1.
static int predicts(assay_model *wide) {
  const int64_t shape[] = {SIZE};
  const assay_value x = {.size = sizeof x, .name = "x", .kind = ASSAY_KIND_ARRAY,
                         .type = ASSAY_TYPE_FLOAT32,
                         .data = numbers, .rank = 1, .shape = shape};
  assay_prediction *prediction = assay_predict(wide, &x, 1, NULL, NULL);
  const assay_value *y = assay_outputs(prediction, NULL);
  int holds = y != NULL;
  for (int i = 0; holds && i < SIZE; i++) holds = ((const float *)y->data)[i] == 2 * numbers[i] + 1;
  assay_release(prediction);
  return holds;
}

// Whether a child, which has half a minute, predicts with the model and with one of its own.
static int child_predicts(assay_model *wide) {
  pid_t child = fork();
  if (child == 0) {
    alarm(30);
    int holds = predicts(wide) && predicts(wide);
    assay_model *own = assay_open(path, &options, NULL);
    holds = holds && predicts(own);
    assay_close(own);
    assay_close(wide);
    _exit(holds ? 0 : 1);
  }
  int status = 1;
  waitpid(child, &status, 0);
  if (status) fprintf(stderr, "library-fork.c: the child ended with %#x\n", status);
  return status == 0;
}

static assay_model *shared;
static atomic_int done, wrong;

static void *predict_often(void *unused) {
  while (!done)
    if (!predicts(shared)) wrong = 1;
  return unused;
}

int main(int count, char **arguments) {
  if (count < 2) return 64;
  char name[4096];
  snprintf(name, sizeof name, "%s/wide.mlmodel", arguments[1]);
  path = name;
  for (int i = 0; i < SIZE; i++) numbers[i] = (float)(i % 1000);
  shared = assay_open(path, &options, NULL);
  // Before the first prediction and after it, by a child and by its child.
  int holds = child_predicts(shared) && predicts(shared) && child_predicts(shared);
  pid_t child = fork();
  if (child == 0) {
    alarm(60);
    _exit(predicts(shared) && child_predicts(shared) ? 0 : 1);
  }
  int status = 1;
  waitpid(child, &status, 0);
  holds = holds && status == 0;
  // While other threads predict.
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, predict_often, NULL);
  for (int i = 0; holds && i < 20; i++) holds = child_predicts(shared);
  done = 1;
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  holds = holds && !wrong && predicts(shared);
  assay_close(shared);
  return holds ? 0 : 1;
}
