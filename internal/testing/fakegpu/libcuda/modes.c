// Modes: what goes wrong, when. Counts and violations.
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../fake.h"

enum { MODES = 64, NAMES = 128, NAME = 64, TEXT = 4096 };

struct mode {
  char name[NAME]; // with * at its end: all names that begin so
  long value;
  char when; // '@': the nth time, '/': each nth, '+': from the nth on, 0: always
  long n, seen;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct mode modes[MODES];
static int mode_count;
static struct {
  char name[NAME];
  long count;
} counts[NAMES];
static int name_count;
static char violations[TEXT];
static int violation_count;
static bool observed; // a test set modes, and asks for violations
static uint64_t state = 1;

static void parse_mode(const char *text) {
  struct mode m = {.value = 1};
  size_t n = strcspn(text, ":@/+");
  if (n == 0 || n >= NAME || mode_count == MODES) {
    fprintf(stderr, "fakegpu: bad mode %s\n", text);
    abort();
  }
  memcpy(m.name, text, n);
  text += n;
  char *end = (char *)text;
  if (*text == ':')
    m.value = strtol(text + 1, &end, 0);
  if (*end == '@' || *end == '/' || *end == '+') {
    m.when = *end;
    m.n = strtol(end + 1, &end, 0);
  }
  if (*end != 0 || (m.when && m.n < 1)) {
    fprintf(stderr, "fakegpu: bad mode, at %s\n", end);
    abort();
  }
  modes[mode_count++] = m;
}

static void set(const char *text) {
  mode_count = name_count = 0;
  char *copy = strdup(text), *rest = copy;
  for (char *part; (part = strsep(&rest, ",")) != NULL;)
    if (*part)
      parse_mode(part);
  free(copy);
  state = 1;
  for (int i = 0; i < mode_count; i++)
    if (!strcmp(modes[i].name, "seed"))
      state = (uint64_t)modes[i].value * 2 + 1;
}

static void first(void) {
  const char *text = getenv("DSCONV_FAKEGPU");
  set(text ? text : "");
}

static void enter(void) {
  pthread_once(&once, first);
  pthread_mutex_lock(&lock);
}

void fake_set(const char *text) {
  enter();
  observed = true;
  set(text);
  pthread_mutex_unlock(&lock);
  fake_lose(0);
}

long fake_setting(const char *name, long otherwise) {
  enter();
  for (int i = 0; i < mode_count; i++)
    if (!strcmp(modes[i].name, name))
      otherwise = modes[i].value;
  pthread_mutex_unlock(&lock);
  return otherwise;
}

static bool named(const struct mode *m, const char *name) {
  size_t n = strlen(m->name);
  return n && m->name[n - 1] == '*' ? !strncmp(m->name, name, n - 1) : !strcmp(m->name, name);
}

static bool hit(struct mode *m) {
  m->seen++;
  switch (m->when) {
  case '@':
    return m->seen == m->n;
  case '/':
    return m->seen % m->n == 0;
  case '+':
    return m->seen >= m->n;
  }
  return true;
}

long fake_strike(const char *name) {
  enter();
  long value = 0;
  for (int i = 0; i < mode_count; i++)
    if (named(&modes[i], name) && hit(&modes[i]))
      value = modes[i].value;
  pthread_mutex_unlock(&lock);
  return value;
}

int fake_random(int n) {
  enter();
  state = state * 6364136223846793005u + 1442695040888963407u;
  int r = (int)((state >> 33) % (uint64_t)n);
  pthread_mutex_unlock(&lock);
  return r;
}

void fake_counted(const char *name) {
  enter();
  int i = 0;
  while (i < name_count && strcmp(counts[i].name, name))
    i++;
  if (i == name_count && name_count < NAMES) {
    snprintf(counts[i].name, NAME, "%s", name);
    counts[i].count = 0;
    name_count++;
  }
  if (i < name_count)
    counts[i].count++;
  pthread_mutex_unlock(&lock);
}

long fake_count(const char *name) {
  enter();
  long n = 0;
  for (int i = 0; i < name_count; i++)
    if (!strcmp(counts[i].name, name))
      n = counts[i].count;
  pthread_mutex_unlock(&lock);
  return n;
}

// A process whose violations nobody asks for leaves them in a file, or ends with the first one.
static void tell(const char *text) {
  const char *path = getenv("DSCONV_FAKEGPU_REPORT");
  if (!path || !*path) {
    fprintf(stderr, "fakegpu: %s\n", text);
    abort();
  }
  FILE *file = fopen(path, "a");
  if (!file)
    abort();
  fprintf(file, "%s\n", text);
  fclose(file);
}

void fake_violation(const char *format, ...) {
  char text[256];
  va_list list;
  va_start(list, format);
  vsnprintf(text, sizeof text, format, list);
  va_end(list);
  enter();
  violation_count++;
  size_t n = strlen(violations);
  snprintf(violations + n, TEXT - n, "%s\n", text);
  if (!observed)
    tell(text);
  pthread_mutex_unlock(&lock);
}

int fake_violations(char *text, size_t size) {
  enter();
  if (size)
    snprintf(text, size, "%s", violations);
  int n = violation_count;
  violation_count = 0;
  violations[0] = 0;
  pthread_mutex_unlock(&lock);
  return n;
}
