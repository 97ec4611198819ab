// Tables of the Huffman codes of sequential JPEGs, for looking many bits up at once.
#ifndef DSCONV_JPEG_CODES_H
#define DSCONV_JPEG_CODES_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <jpeglib.h>

#define INLINE static inline __attribute__((always_inline))

enum { LOOK = 11, MAX_DC_SIZE = 11, MAX_AC_SIZE = 10 };

// A table of codes. The next LOOK bits of the data lead to an entry of fast that says all about
// the code that they begin with; 0 for codes of more bits, to which limit and offset lead (T.81,
// F.2.2.3). In skip, an entry is of as many codes with their values as lie in the bits; it is 0
// where not even one does.
typedef struct {
  int32_t fast[1 << LOOK];
  uint16_t skip[1 << LOOK];
  int skips;          // whether skip is filled; else it is 0, and codes are skipped one by one
  uint32_t limit[18]; // the first number past the codes of each length, in the upper of 16 bits
  int offset[17];     // from a code of that length to its symbol
  int used;           // whether the next fields say of what table this is
  uint8_t counts[17], symbols[256];
} codes;

// An entry of fast: the bits of code and value together in [0,6), the run of zeros before the
// value in [6,10), the bits of the value in [10,14), whether the block ends in bit 14, and either
// bit 15 or in [16,32) the value. Of codes that end a block and of long runs the value is 0.
static inline int32_t entry(int length, int symbol) {
  int size = symbol & 15, run = symbol >> 4;
  int32_t e = (length + size) | run << 6 | size << 10;
  return size > 0 ? e | 1 << 15 : run == 15 ? e : e | 1 << 14;
}
INLINE int all_bits(int32_t e) { return e & 63; }
INLINE int zeros(int32_t e) { return e >> 6 & 15; }
INLINE int value_bits(int32_t e) { return e >> 10 & 15; }
INLINE int ends_block(int32_t e) { return e >> 14 & 1; }
INLINE int value_follows(int32_t e) { return e >> 15 & 1; }

// An entry of skip: the bits in [0,4), the coefficients in [4,12), whether the block ends in bit 12.
// Each of LOOK codes of one bit may stand for 16 zeros.
enum { MOST_SKIPPED = 16 * LOOK };
_Static_assert(LOOK < 1 << 4 && MOST_SKIPPED < 1 << 8, "an entry of skip has no room");
static inline uint16_t skip_entry(int bits, int coefficients, int ends) {
  return (uint16_t)(bits | coefficients << 4 | ends << 12);
}
INLINE int skip_bits(int e) { return e & 15; }
INLINE int skip_coefficients(int e) { return e >> 4 & 255; }
INLINE int skip_ends(int e) { return e >> 12; }

// extend is the value that bits stand for (T.81, table F.1).
static inline int extend(int v, int size) { return v < 1 << (size - 1) ? v - (1 << size) + 1 : v; }

// dsconv_make_codes makes t of a table as DHT has it; 0 if that is none (T.81, annex C), or one with
// values of more than max_size bits.
int dsconv_make_codes(codes *t, const JHUFF_TBL *from, int max_size);

// dsconv_fill_skip fills t->skip.
void dsconv_fill_skip(codes *t);

#endif
