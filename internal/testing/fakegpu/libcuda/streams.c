// Streams. Each is a thread that works late: it runs its ops only as far as it was released, by a wait of the
// host or of another stream, by a long queue, or by chance. So whoever does not wait reads what was there
// before.
#include "streams.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

enum { LONG = 64 };

struct op {
  struct op *next;
  uint64_t ticket;
  fake_op run; // NULL: wait for other
  void *argument;
  struct fake_stream *other;
  uint64_t other_ticket;
};

// A wait for another stream that the host has not waited for: once it does, it has waited for the other too.
//
struct link {
  struct link *next;
  uint64_t ticket;
  struct fake_stream *other;
  uint64_t other_ticket;
};

struct fake_stream {
  struct fake_stream *next;
  pthread_t thread;
  uintptr_t context;
  bool blocking, ended;
  struct op *first, **last;
  uint64_t given, released, done, observed; // tickets
  struct link *links;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct fake_stream *streams; // all that ever were
static struct fake_stream *default_stream;

static void release(struct fake_stream *s, uint64_t ticket) {
  if (s->released < ticket) {
    s->released = ticket;
    pthread_cond_broadcast(&changed);
  }
}

// With the lock held, which it gives up while it waits.
static void await(struct fake_stream *s, uint64_t ticket) {
  release(s, ticket);
  while (s->done < ticket)
    pthread_cond_wait(&changed, &lock);
}

static void run_one(struct fake_stream *s) {
  struct op *o = s->first;
  s->first = o->next;
  if (!s->first)
    s->last = &s->first;
  if (!o->run) {
    await(o->other, o->other_ticket);
  } else {
    pthread_mutex_unlock(&lock);
    for (int i = fake_random(4); i > 0; i--)
      sched_yield();
    o->run(o->argument, !fake_lost());
    pthread_mutex_lock(&lock);
  }
  s->done = o->ticket;
  free(o);
  pthread_cond_broadcast(&changed);
}

static void *work(void *argument) {
  struct fake_stream *s = argument;
  pthread_mutex_lock(&lock);
  while (s->first || !s->ended) {
    if (s->first && s->first->ticket <= s->released)
      run_one(s);
    else
      pthread_cond_wait(&changed, &lock);
  }
  pthread_mutex_unlock(&lock);
  return NULL;
}

static struct fake_stream *create(uintptr_t context, bool blocking) {
  struct fake_stream *s = calloc(1, sizeof *s);
  if (!s)
    abort();
  s->context = context;
  s->blocking = blocking;
  s->last = &s->first;
  pthread_mutex_lock(&lock);
  s->next = streams;
  streams = s;
  if (pthread_create(&s->thread, NULL, work, s))
    abort();
  pthread_mutex_unlock(&lock);
  return s;
}

void *fake_stream_create(uintptr_t context, bool blocking) {
  return fake_handle(FAKE_STREAM, create(context, blocking));
}

// What a destroyed stream was given is still done, and may be waited for by events.
void fake_stream_end(struct fake_stream *s) {
  pthread_mutex_lock(&lock);
  s->ended = true;
  s->released = s->given;
  bool idle = s->done == s->given;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
  if (idle) // a thread that ends while the process does so breaks LeakSanitizer
    pthread_join(s->thread, NULL);
  else
    pthread_detach(s->thread);
}

// The handles 0 and 1 are CUDA's default stream, 2 is that of the thread, which is the same one here.
struct fake_stream *fake_stream_of(const void *handle) {
  if ((uintptr_t)handle > 2)
    return fake_body(FAKE_STREAM, handle);
  static pthread_mutex_t once = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&once);
  if (!default_stream)
    default_stream = create(0, true);
  pthread_mutex_unlock(&once);
  return default_stream;
}

static uint64_t put(struct fake_stream *s, struct op o) {
  struct op *p = malloc(sizeof *p);
  if (!p)
    abort();
  *p = o;
  p->next = NULL;
  p->ticket = ++s->given;
  *s->last = p;
  s->last = &p->next;
  return p->ticket;
}

static void put_wait(struct fake_stream *s, struct fake_stream *other, uint64_t ticket) {
  if (s == other || other->observed >= ticket)
    return;
  struct link *l = malloc(sizeof *l);
  if (!l)
    abort();
  uint64_t own = put(s, (struct op){.other = other, .other_ticket = ticket});
  *l = (struct link){s->links, own, other, ticket};
  s->links = l;
}

// The default stream and the blocking ones wait for each other.
static void order_with_default(struct fake_stream *s) {
  if (s == default_stream) {
    for (struct fake_stream *other = streams; other; other = other->next)
      if (other->blocking)
        put_wait(s, other, other->given);
  } else if (s->blocking && default_stream) {
    put_wait(s, default_stream, default_stream->given);
  }
}

uint64_t fake_enqueue(struct fake_stream *s, fake_op run, void *argument) {
  bool early = fake_setting("eager", 0) || fake_random(8) == 0;
  pthread_mutex_lock(&lock);
  order_with_default(s);
  uint64_t ticket = put(s, (struct op){.run = run, .argument = argument});
  if (early || s->given - s->done > LONG)
    release(s, ticket);
  pthread_mutex_unlock(&lock);
  return ticket;
}

void fake_stream_wait(struct fake_stream *s, struct fake_stream *other, uint64_t ticket) {
  pthread_mutex_lock(&lock);
  put_wait(s, other, ticket);
  pthread_mutex_unlock(&lock);
}

static void observe(struct fake_stream *s, uint64_t ticket) {
  if (s->observed < ticket)
    s->observed = ticket;
  for (struct link **at = &s->links; *at;) {
    struct link *l = *at;
    if (l->ticket > ticket) {
      at = &l->next;
      continue;
    }
    *at = l->next;
    observe(l->other, l->other_ticket);
    free(l);
    at = &s->links; // a ring of streams may have changed the list
  }
}

int fake_synchronize(struct fake_stream *s, uint64_t ticket) {
  pthread_mutex_lock(&lock);
  await(s, ticket);
  observe(s, ticket);
  pthread_mutex_unlock(&lock);
  return fake_lost();
}

// A stream that is asked begins to work, so that whoever asks again and again comes to an end.
int fake_query(struct fake_stream *s, uint64_t ticket) {
  pthread_mutex_lock(&lock);
  release(s, ticket);
  bool done = s->done >= ticket;
  if (done)
    observe(s, ticket);
  pthread_mutex_unlock(&lock);
  return fake_lost() ? fake_lost() : done ? CU_OK : CU_NOT_READY;
}

int fake_synchronize_all(void) {
  pthread_mutex_lock(&lock);
  for (struct fake_stream *s = streams; s; s = s->next) {
    await(s, s->given);
    observe(s, s->given);
  }
  pthread_mutex_unlock(&lock);
  return fake_lost();
}

uint64_t fake_stream_tail(struct fake_stream *s) {
  pthread_mutex_lock(&lock);
  uint64_t ticket = s->given;
  pthread_mutex_unlock(&lock);
  return ticket;
}

uintptr_t fake_stream_context(struct fake_stream *s) { return s->context; }

bool fake_done(struct fake_stream *s, uint64_t ticket) {
  pthread_mutex_lock(&lock);
  bool done = s->done >= ticket;
  pthread_mutex_unlock(&lock);
  return done;
}

bool fake_observed(struct fake_stream *s, uint64_t ticket) {
  pthread_mutex_lock(&lock);
  bool observed = s->observed >= ticket;
  pthread_mutex_unlock(&lock);
  return observed;
}

bool fake_idle(struct fake_stream *s) {
  pthread_mutex_lock(&lock);
  bool idle = s->done >= s->given;
  pthread_mutex_unlock(&lock);
  return idle;
}
