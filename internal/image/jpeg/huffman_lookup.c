#include "huffman_lookup.h"

#include <string.h>

// fill_fast fills the entries of all LOOKAHEAD bits that begin with a code.
static void fill_fast(codes *t, int code, int length, int symbol) {
  int rest = LOOKAHEAD - length, size = symbol & 15;
  int32_t e = entry(length, symbol), *at = t->fast + (code << rest);
  if (size == 0 || size > rest) {
    for (int i = 0; i < 1 << rest; i++)
      at[i] = e;
    return;
  }
  e &= ~(1 << 15);
  for (int v = 0; v < 1 << size; v++) {
    int32_t with = (int32_t)((uint32_t)extend(v, size) << 16) | e;
    for (int i = 0; i < 1 << (rest - size); i++)
      *at++ = with;
  }
}

void dsconv_fill_skip(codes *t) {
  for (int i = 0; i < 1 << LOOKAHEAD; i++) {
    int used = 0, coefficients = 0, ends = 0;
    while (!ends) {
      int32_t e = t->fast[i << used & ((1 << LOOKAHEAD) - 1)];
      if (e == 0 || used + all_bits(e) > LOOKAHEAD)
        break;
      used += all_bits(e);
      ends = ends_block(e);
      coefficients += ends ? 0 : zeros(e) + 1;
    }
    t->skip[i] = skip_entry(used, coefficients, ends);
  }
  t->skips = 1;
}

int dsconv_make_codes(codes *t, const JHUFF_TBL *from, int max_size) {
  if (t->used && memcmp(t->counts, from->bits, sizeof t->counts) == 0 &&
      memcmp(t->symbols, from->huffval, sizeof t->symbols) == 0)
    return 1;
  if (t->skips)
    memset(t->skip, 0, sizeof t->skip);
  t->used = t->skips = 0;
  memset(t->fast, 0, sizeof t->fast);
  int code = 0, k = 0;
  for (int length = 1; length <= 16; length++, code <<= 1) {
    int n = from->bits[length];
    if (code + n > 1 << length || k + n > 256)
      return 0;
    t->offset[length] = k - code;
    for (int i = 0; i < n; i++, code++, k++) {
      if ((from->huffval[k] & 15) > max_size) {
        return 0;
      } else if (length <= LOOKAHEAD) {
        fill_fast(t, code, length, from->huffval[k]);
      }
    }
    t->limit[length] = (uint32_t)code << (16 - length);
  }
  t->limit[17] = UINT32_MAX;
  memcpy(t->counts, from->bits, sizeof t->counts);
  memcpy(t->symbols, from->huffval, sizeof t->symbols);
  return t->used = 1;
}
