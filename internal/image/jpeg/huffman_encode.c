#include "huffman_encode.h"

#include <stdlib.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

const uint8_t entropy_natural[64] = {
    0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,  12, 19, 26, 33, 40, 48,
    41, 34, 27, 20, 13, 6,  7,  14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23,
    30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63,
};

// A token has the table and symbol in the upper half, the bits that follow its code in the lower.
enum { EOB = 0, ZRL = 0xF0, BLOCK_TOKENS = 66 };
static const uint32_t RESTART = 0xFFFFFFFF;

void entropy_init(entropy_coder *e) {
  for (int k = 0; k < 64; k++)
    for (int flags = 0; flags < 256; flags++)
      if (flags >> (entropy_natural[k] & 7) & 1)
        e->zigzag[entropy_natural[k] >> 3][flags] |= (uint64_t)1 << k;
  for (int v = -2048; v < 2048; v++) { // T.81, F.1.2.1
    unsigned size = 0;
    while (abs(v) >> size > 0)
      size++;
    unsigned bits = (unsigned)(v < 0 ? v - 1 : v) & ((1u << size) - 1);
    e->values[v & 4095] = size << 16 | bits;
  }
}

void entropy_free(entropy_coder *e) { free(e->tokens); }

void entropy_begin(entropy_coder *e) {
  e->n = 0;
  e->restarts = 0;
  e->dc_range = e->ac_range = 0;
  memset(e->counts, 0, sizeof e->counts);
}

int entropy_reserve(entropy_coder *e, size_t blocks) {
  size_t need = e->n + blocks * BLOCK_TOKENS;
  if (need <= e->cap)
    return 1;
  need += need / 2;
  uint32_t *more = realloc(e->tokens, need * sizeof *more);
  if (more == NULL)
    return 0;
  e->tokens = more;
  e->cap = need;
  return 1;
}

// nonzero returns a mask with bit k set if the coefficient at k in zigzag order is not 0.
static inline uint64_t nonzero(const entropy_coder *e, const int16_t *b) {
  uint64_t mask = 0;
  for (int row = 0; row < 8; row += 2) {
#ifdef __SSE2__
    __m128i zero = _mm_setzero_si128();
    __m128i r0 = _mm_cmpeq_epi16(_mm_loadu_si128((const __m128i *)(b + 8 * row)), zero);
    __m128i r1 = _mm_cmpeq_epi16(_mm_loadu_si128((const __m128i *)(b + 8 * row + 8)), zero);
    unsigned flags = ~(unsigned)_mm_movemask_epi8(_mm_packs_epi16(r0, r1));
#else
    unsigned flags = 0;
    for (int i = 0; i < 16; i++)
      flags |= (unsigned)(b[8 * row + i] != 0) << i;
#endif
    mask |= e->zigzag[row][flags & 255] | e->zigzag[row + 1][flags >> 8 & 255];
  }
  return mask;
}

static inline unsigned magnitude(int v) { return (unsigned)((v ^ (v >> 31)) - (v >> 31)); }

void entropy_block(entropy_coder *restrict e, const int16_t *restrict b, int tables, int *dc) {
  uint32_t *restrict counts = e->counts;
  uint32_t *restrict t = e->tokens + e->n;
  const uint32_t table = (uint32_t)tables << 25, ac = table | 1 << 24;
  int diff = b[0] - *dc;
  uint32_t token = table | e->values[diff & 4095];
  counts[token >> 16]++;
  *t++ = token;
  *dc = b[0];
  e->dc_range |= magnitude(diff);
  unsigned range = 0, last = 0;
  for (uint64_t mask = nonzero(e, b) & ~(uint64_t)1; mask != 0; mask &= mask - 1) {
    unsigned k = (unsigned)__builtin_ctzll(mask), run = k - last - 1;
    for (; run > 15; run -= 16) {
      counts[ac >> 16 | ZRL]++;
      *t++ = ac | ZRL << 16;
    }
    int v = b[entropy_natural[k]];
    token = ac | run << 20 | e->values[v & 4095];
    counts[token >> 16]++;
    *t++ = token;
    range |= magnitude(v);
    last = k;
  }
  if (last < 63) {
    counts[ac >> 16 | EOB]++;
    *t++ = ac | EOB << 16;
  }
  e->ac_range |= range;
  e->n = (size_t)(t - e->tokens);
}

void entropy_restart(entropy_coder *e) {
  e->tokens[e->n++] = RESTART;
  e->restarts++;
}

// code_lengths counts the codes of each length in the Huffman code of T.81, figure K.1, before lengths
// are limited. sizes are the lengths of the symbols; the last one is the reserved code point.
static void code_lengths(const uint32_t *counts, uint8_t *sizes, int *lengths) {
  uint64_t weight[ENTROPY_SYMBOLS + 1];
  int next[ENTROPY_SYMBOLS + 1], live[ENTROPY_SYMBOLS + 1], n = 0;
  for (int i = 0; i <= ENTROPY_SYMBOLS; i++) {
    weight[i] = i == ENTROPY_SYMBOLS ? 1 : counts[i];
    sizes[i] = 0;
    next[i] = -1;
    if (weight[i] > 0)
      live[n++] = i;
  }
  while (n > 1) {
    int a = -1, b = -1; // positions of the two smallest weights, the later of equal ones
    for (int i = 0; i < n; i++) {
      if (a < 0 || weight[live[i]] <= weight[live[a]])
        b = a, a = i;
      else if (b < 0 || weight[live[i]] <= weight[live[b]])
        b = i;
    }
    int x = live[a], y = live[b];
    weight[x] += weight[y];
    memmove(live + b, live + b + 1, (size_t)(n - b - 1) * sizeof *live);
    n--;
    for (sizes[x]++; next[x] >= 0; sizes[x]++)
      x = next[x];
    next[x] = y;
    for (sizes[y]++; next[y] >= 0; sizes[y]++)
      y = next[y];
  }
  for (int i = 0; i <= ENTROPY_SYMBOLS; i++)
    lengths[sizes[i]]++;
  lengths[0] = 0;
}

enum { LONGEST = 64 }; // counts of 32 bits make no longer code

// best_table builds the table of T.81, K.2, with lengths limited to 16 bits by figure K.3.
static void best_table(const uint32_t *counts, entropy_table *t) {
  uint8_t sizes[ENTROPY_SYMBOLS + 1];
  int lengths[LONGEST + 1] = {0};
  memset(t, 0, sizeof *t);
  code_lengths(counts, sizes, lengths);
  for (int i = LONGEST; i > 16; i--)
    while (lengths[i] > 0) {
      int j = i - 2;
      while (lengths[j] == 0)
        j--;
      lengths[i] -= 2;
      lengths[i - 1]++;
      lengths[j + 1] += 2;
      lengths[j]--;
    }
  int longest = 16;
  while (longest > 0 && lengths[longest] == 0)
    longest--;
  lengths[longest]--; // the reserved code point: no code is all ones
  for (int i = 1; i <= 16; i++)
    t->counts[i] = (uint8_t)lengths[i];
  for (int size = 1; size <= LONGEST; size++)
    for (int i = 0; i < ENTROPY_SYMBOLS; i++)
      if (sizes[i] == size)
        t->symbols[t->n++] = (uint8_t)i;
}

size_t entropy_tables(entropy_coder *e) {
  if (e->dc_range > 2047 || e->ac_range > 1023)
    return 0;
  uint64_t bits = 0;
  for (int i = 0; i < ENTROPY_TABLES; i++) {
    const uint32_t *counts = e->counts + i * ENTROPY_SYMBOLS;
    entropy_table *t = &e->tables[i];
    best_table(counts, t);
    for (int size = 1, n = 0; size <= 16; size++)
      for (int j = 0; j < t->counts[size]; j++, n++)
        bits += (uint64_t)counts[t->symbols[n]] * (unsigned)(size + (t->symbols[n] & 15));
  }
  // Every byte may need a stuffed zero byte; a restart marker takes 2 bytes and pads one.
  return bits / 4 + 4 * (size_t)e->restarts + 64;
}

// writer collects bits before they are written as bytes.
typedef struct {
  uint8_t *out;
  uint64_t bits;
  unsigned n;
} writer;

static inline void put_bytes(writer *w) {
  w->n -= 32;
  uint32_t v = (uint32_t)(w->bits >> w->n);
  if ((v & 0x80808080u & ~(v + 0x01010101u)) == 0) { // no byte is 0xFF
    v = __builtin_bswap32(v);
    memcpy(w->out, &v, 4);
    w->out += 4;
    return;
  }
  for (int shift = 24; shift >= 0; shift -= 8) {
    *w->out++ = (uint8_t)(v >> shift);
    if ((uint8_t)(v >> shift) == 0xFF)
      *w->out++ = 0;
  }
}

// finish pads the last byte with ones.
static void finish(writer *w) {
  unsigned fill = -w->n & 7;
  w->bits = w->bits << fill | ((1u << fill) - 1);
  for (w->n += fill; w->n > 0;) {
    w->n -= 8;
    uint8_t b = (uint8_t)(w->bits >> w->n);
    *w->out++ = b;
    if (b == 0xFF)
      *w->out++ = 0;
  }
}

uint8_t *entropy_write(entropy_coder *e, uint8_t *out, const uint32_t *stop) {
  struct {
    uint32_t code, size; // of a symbol and the bits that follow it
  } codes[ENTROPY_TABLES * ENTROPY_SYMBOLS];
  for (int i = 0; i < ENTROPY_TABLES; i++) {
    const entropy_table *t = &e->tables[i];
    uint32_t code = 0;
    for (int size = 1, n = 0; size <= 16; size++, code <<= 1)
      for (int j = 0; j < t->counts[size]; j++, n++, code++) {
        unsigned more = t->symbols[n] & 15;
        codes[i * ENTROPY_SYMBOLS + t->symbols[n]].code = code << more;
        codes[i * ENTROPY_SYMBOLS + t->symbols[n]].size = (uint32_t)size + more;
      }
  }
  writer w = {out, 0, 0};
  unsigned restarts = 0;
  for (const uint32_t *t = e->tokens, *end = t + e->n; t < end; t++) {
    if (*t == RESTART) {
      if (stop != NULL && __atomic_load_n(stop, __ATOMIC_RELAXED) != 0)
        return NULL;
      finish(&w);
      *w.out++ = 0xFF;
      *w.out++ = (uint8_t)(0xD0 + (restarts++ & 7));
      continue;
    }
    uint32_t size = codes[*t >> 16].size;
    w.bits = w.bits << size | codes[*t >> 16].code | (*t & 0xFFFF);
    w.n += size;
    if (w.n >= 32)
      put_bytes(&w);
  }
  finish(&w);
  return w.out;
}
