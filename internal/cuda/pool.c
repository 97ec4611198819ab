//go:build linux

#include <stdlib.h>

#include "calls.h"

// dsconv_cuda_pool gives out blocks of one size. It ends when it is closed and its last block was released,
// whichever comes later.
struct dsconv_cuda_pool {
  dsconv_cuda_device *device;
  size_t size;
  pthread_mutex_t lock;
  dsconv_cuda_block *first, *last; // released blocks, the oldest first
  int lent;                        // blocks that were not released yet
  int closed;
};

CUresult dsconv_cuda_pool_new(dsconv_cuda_device *d, size_t size, dsconv_cuda_pool **pool) {
  CUresult result = dsconv_cuda_retain(d);
  if (result != 0)
    return result;
  dsconv_cuda_pool *p = calloc(1, sizeof *p);
  if (p == NULL) {
    dsconv_cuda_release(d);
    return (CUresult)DSCONV_CUDA_OUT_OF_MEMORY;
  }
  p->device = d;
  p->size = size;
  pthread_mutex_init(&p->lock, NULL);
  *pool = p;
  return (CUresult)0;
}

// free_block frees a block in the context of its GPU. Its event is waited for, because cuMemFree promises
// nothing about work that still uses the memory.
static void free_block(const dsconv_cuda *api, dsconv_cuda_block *b) {
  if (b->pending)
    api->cuEventSynchronize(b->done);
  api->cuMemFree(b->address);
  api->cuEventDestroy(b->done);
  free(b);
}

// free_blocks frees a list of blocks.
static void free_blocks(dsconv_cuda_device *d, dsconv_cuda_block *b) {
  if (b == NULL || dsconv_cuda_enter(d) != 0)
    return;
  while (b != NULL) {
    dsconv_cuda_block *next = b->next;
    free_block(d->api, b);
    b = next;
  }
  dsconv_cuda_leave(d, 0);
}

// end_pool frees a closed pool without lent blocks.
static void end_pool(dsconv_cuda_pool *p) {
  free_blocks(p->device, p->first);
  dsconv_cuda_release(p->device);
  pthread_mutex_destroy(&p->lock);
  free(p);
}

void dsconv_cuda_pool_close(dsconv_cuda_pool *p) {
  if (getpid() != p->device->api->pid)
    return;
  pthread_mutex_lock(&p->lock);
  p->closed = 1;
  dsconv_cuda_block *blocks = p->first;
  p->first = p->last = NULL;
  int over = p->lent == 0;
  pthread_mutex_unlock(&p->lock);
  free_blocks(p->device, blocks);
  if (over)
    end_pool(p);
}

static void give_back(dsconv_cuda_block *b) {
  dsconv_cuda_pool *p = b->pool;
  b->next = NULL;
  pthread_mutex_lock(&p->lock);
  if (p->last != NULL)
    p->last->next = b;
  else
    p->first = b;
  p->last = b;
  int over = --p->lent == 0 && p->closed;
  dsconv_cuda_block *freed = NULL;
  if (p->closed) {
    freed = p->first;
    p->first = p->last = NULL;
  }
  pthread_mutex_unlock(&p->lock);
  free_blocks(p->device, freed);
  if (over)
    end_pool(p);
}

// After a fork the child shares neither the GPU nor, perhaps, an unlocked lock: it leaves everything alone.

static void release(dsconv_cuda_block *b) {
  if (getpid() != b->pool->device->api->pid)
    return;
  b->pending = 0;
  give_back(b);
}

static void release_after(dsconv_cuda_block *b, CUstream stream) {
  const dsconv_cuda_device *d = b->pool->device;
  if (getpid() != d->api->pid)
    return;
  b->pending = 0;
  if (dsconv_cuda_enter(d) == 0) {
    b->pending = d->api->cuEventRecord(b->done, stream) == 0;
    if (!b->pending) // the stream may have ended; what it started may still run
      d->api->cuCtxSynchronize();
    dsconv_cuda_leave(d, (CUresult)0);
  }
  give_back(b);
}

void dsconv_cuda_block_release(dsconv_cuda_block *b) { b->release(b); }

void dsconv_cuda_block_release_after(dsconv_cuda_block *b, uintptr_t stream) {
  b->release_after(b, (CUstream)stream);
}

// new_block allocates a block within the GPU's context.
static CUresult new_block(dsconv_cuda_pool *p, dsconv_cuda_block **block) {
  const dsconv_cuda *api = p->device->api;
  dsconv_cuda_block *b = calloc(1, sizeof *b);
  if (b == NULL)
    return (CUresult)DSCONV_CUDA_OUT_OF_MEMORY;
  CUresult result = api->cuEventCreate(&b->done, DSCONV_CUDA_BLOCKING_SYNC | DSCONV_CUDA_NO_TIMING);
  if (result == 0 && (result = api->cuMemAlloc(&b->address, p->size)) != 0)
    api->cuEventDestroy(b->done);
  if (result != 0) {
    free(b);
    return result;
  }
  b->pool = p;
  b->release = release;
  b->release_after = release_after;
  *block = b;
  return result;
}

CUresult dsconv_cuda_pool_take(dsconv_cuda_pool *p, uintptr_t stream, dsconv_cuda_block **block) {
  CUresult result = dsconv_cuda_enter(p->device);
  if (result != 0)
    return result;
  pthread_mutex_lock(&p->lock);
  dsconv_cuda_block *b = p->first;
  if (b != NULL && (p->first = b->next) == NULL)
    p->last = NULL;
  p->lent++;
  pthread_mutex_unlock(&p->lock);
  if (b == NULL)
    result = new_block(p, &b);
  else if (b->pending)
    result = p->device->api->cuStreamWaitEvent((CUstream)stream, b->done, 0);
  if (result == 0) {
    *block = b;
  } else if (b != NULL) {
    give_back(b); // with its event: the next user waits for it
  } else {
    pthread_mutex_lock(&p->lock);
    p->lent--;
    pthread_mutex_unlock(&p->lock);
  }
  return dsconv_cuda_leave(p->device, result);
}
