// The rate at which memory is copied: memcpy MEGABYTES THREADS PASSES.
//
// Each thread copies its part of a block into another block by one memcpy. Both are to be
// larger than the caches, and were written before. For each line of its input it makes so
// many passes, and answers with a line of JSON: the bytes copied and the seconds.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_THREADS = 64 };

static pthread_barrier_t barrier;
static int passes;

struct part {
  char *to;
  const char *from;
  size_t size;
};

static void *copy(void *arg) {
  struct part *p = arg;
  for (;;) {
    pthread_barrier_wait(&barrier); // the start
    for (int i = 0; i < passes; i++) {
      memcpy(p->to, p->from, p->size);
      __asm__ volatile("" : : "r"(p->to) : "memory"); // no pass is left out
    }
    pthread_barrier_wait(&barrier); // the end
  }
  return NULL;
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void answer(double bytes, double seconds) {
  printf("{\"bytes\": %.0f, \"seconds\": %.9f}\n", bytes, seconds);
  fflush(stdout);
}

int main(int argc, char **argv) {
  if (argc != 4) {
    fprintf(stderr, "usage: memcpy MEGABYTES THREADS PASSES\n");
    return 2;
  }
  size_t part = 0, size = (size_t)atol(argv[1]) << 20;
  int threads = atoi(argv[2]);
  passes = atoi(argv[3]);
  if (threads < 1 || threads > MOST_THREADS || size == 0 || passes < 1) {
    fprintf(stderr, "memcpy: numbers out of range\n");
    return 2;
  }
  part = size / (size_t)threads;
  char *from = malloc(size), *to = malloc(size);
  if (from == NULL || to == NULL) {
    fprintf(stderr, "memcpy: no memory\n");
    return 1;
  }
  memset(from, 1, size);
  memset(to, 2, size);
  pthread_barrier_init(&barrier, NULL, (unsigned)threads + 1);
  struct part parts[MOST_THREADS];
  for (int i = 0; i < threads; i++) {
    parts[i] = (struct part){to + (size_t)i * part, from + (size_t)i * part, part};
    pthread_t thread;
    if (pthread_create(&thread, NULL, copy, &parts[i]) != 0) {
      fprintf(stderr, "memcpy: no thread\n");
      return 1;
    }
  }
  answer(0, 0);
  while (getchar() != EOF) {
    double start = now();
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    answer((double)part * threads * passes, now() - start);
  }
  return 0;
}
