//go:build cgo

// Where Go's runtime gets no memory or no thread it ends with a dump of registers, before main is called or
// later. What is known before it starts is said in a line.

#include <pthread.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

enum { LEAST_MEMORY_MIB = 2048, LEAST_THREADS = 24 };

static void *wait_for(void *lock) {
  pthread_mutex_lock(lock);
  pthread_mutex_unlock(lock);
  return NULL;
}

// can_start starts so many threads at once, and ends them.
static int can_start(int threads) {
  pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  pthread_t started[LEAST_THREADS];
  int n = 0;
  pthread_mutex_lock(&lock);
  while (n < threads && pthread_create(&started[n], NULL, wait_for, &lock) == 0)
    n++;
  pthread_mutex_unlock(&lock);
  for (int i = 0; i < n; i++)
    pthread_join(started[i], NULL);
  return n == threads;
}

__attribute__((constructor)) static void check_limits(void) {
  struct rlimit memory, processes;
  if (getrlimit(RLIMIT_AS, &memory) == 0 && memory.rlim_cur >> 20 < LEAST_MEMORY_MIB) {
    fprintf(stderr,
            "dsconv: the limit of memory is %llu MiB of addresses: dsconv needs %d MiB and the size of the "
            "dataset's files, "
            "which it maps; raise it with ulimit -v\n",
            (unsigned long long)memory.rlim_cur >> 20, LEAST_MEMORY_MIB);
    _exit(1);
  }
  if (getrlimit(RLIMIT_NPROC, &processes) == 0 && processes.rlim_cur < 4096 && !can_start(LEAST_THREADS)) {
    fprintf(stderr,
            "dsconv: no more threads can be started: this user may have %llu; raise that with ulimit -u, or "
            "end other programs\n",
            (unsigned long long)processes.rlim_cur);
    _exit(1);
  }
}
