// Lookup tables for the Huffman codes of sequential JPEGs, indexed by many bits at once.
#ifndef DSCONV_JPEG_CODES_H
#define DSCONV_JPEG_CODES_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <jpeglib.h>

#define INLINE static inline __attribute__((always_inline))

enum { LOOKAHEAD = 11, MAX_DC_SIZE = 11, MAX_AC_SIZE = 10 };

// A table of codes. fast is indexed by the next LOOKAHEAD bits of the data; its entry describes the code
// that they begin with. It is 0 for longer codes, which limit and offset decode (T.81, F.2.2.3). An entry
// of skip describes all codes with their values that fit into the bits; it is 0 if not even one does.
typedef struct {
  int32_t fast[1 << LOOKAHEAD];
  uint16_t skip[1 << LOOKAHEAD];
  int skips;          // whether skip is filled; otherwise it is all 0, and codes are skipped one by one
  uint32_t limit[18]; // the first value past the codes of each length, left-aligned in 16 bits
  int offset[17];     // from a code of that length to its index in symbols
  int used;           // whether counts and symbols are those of the table
  uint8_t counts[17], symbols[256];
} codes;

// An entry of fast: the number of bits of code and value together in bits [0,6), the run of zeros before
// the value in [6,10), the number of bits of the value in [10,14), whether the block ends in bit 14. The
// value is in [16,32), or bit 15 is set and it must be read. It is 0 for codes that end a block or mean a
// run of 16 zeros.
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

// An entry of skip: the number of bits in [0,4), of coefficients in [4,12), whether the block ends in
// bit 12. Each of LOOKAHEAD codes of one bit may stand for 16 zeros.
enum { MAX_SKIPPED = 16 * LOOKAHEAD };
_Static_assert(LOOKAHEAD < 1 << 4 && MAX_SKIPPED < 1 << 8, "an entry of skip is too small");
static inline uint16_t skip_entry(int bits, int coefficients, int ends) {
  return (uint16_t)(bits | coefficients << 4 | ends << 12);
}
INLINE int skip_bits(int e) { return e & 15; }
INLINE int skip_coefficients(int e) { return e >> 4 & 255; }
INLINE int skip_ends(int e) { return e >> 12; }

// extend decodes a value of size bits (T.81, table F.1).
static inline int extend(int v, int size) { return v < 1 << (size - 1) ? v - (1 << size) + 1 : v; }

// dsconv_make_codes builds t from a table of DHT. It returns 0 if the table is invalid (T.81, annex C) or
// has values of more than max_size bits.
int dsconv_make_codes(codes *t, const JHUFF_TBL *from, int max_size);

// dsconv_fill_skip fills t->skip.
void dsconv_fill_skip(codes *t);

#endif
