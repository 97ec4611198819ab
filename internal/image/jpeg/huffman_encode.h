// Huffman coding of the coefficients of a sequential JPEG with restart markers (ITU-T T.81).
#ifndef DSCONV_JPEG_ENTROPY_H
#define DSCONV_JPEG_ENTROPY_H

#include <stddef.h>
#include <stdint.h>

// The four tables: DC and AC for luma and for chroma.
enum { ENTROPY_TABLES = 4, ENTROPY_SYMBOLS = 256 };

// entropy_table is a Huffman table as in DHT: counts of codes of 1 to 16 bits, symbols.
typedef struct {
  uint8_t counts[17];
  uint8_t symbols[ENTROPY_SYMBOLS];
  int n;
} entropy_table;

// entropy_coder keeps the symbols of an image until its tables are built. Zero it, then call
// entropy_init. It is for many images.
typedef struct {
  uint32_t *tokens;
  size_t n, cap;
  uint32_t counts[ENTROPY_TABLES * ENTROPY_SYMBOLS];
  unsigned restarts;
  unsigned dc_range, ac_range; // all magnitudes, combined by or
  entropy_table tables[ENTROPY_TABLES];
  uint64_t zigzag[8][256]; // from 8 flags of a block's row to their positions in zigzag order
  uint32_t values[4096];   // by the lower 12 bits of a value: the number of bits after its symbol << 16, and
                           // the bits
} entropy_coder;

extern const uint8_t entropy_natural[64]; // from zigzag order to row by row

void entropy_init(entropy_coder *e);
void entropy_free(entropy_coder *e);
void entropy_begin(entropy_coder *e);

// entropy_reserve allocates memory for the tokens of so many blocks, each with a restart marker. It
// returns 0 if there is none.
int entropy_reserve(entropy_coder *e, size_t blocks);

// entropy_block adds a block of 64 coefficients, row by row. tables is 0, or 1 for the second tables;
// *dc is the DC coefficient of the block before.
void entropy_block(entropy_coder *e, const int16_t *block, int tables, int *dc);
void entropy_restart(entropy_coder *e);

// entropy_tables builds the best tables of codes of at most 16 bits. It returns the most bytes that
// entropy_write can write, 0 if a sequential JPEG of 8 bits cannot have such coefficients.
size_t entropy_tables(entropy_coder *e);

// entropy_write writes all blocks and returns the end of the output, or NULL once *stop is not 0. stop
// may be NULL.
uint8_t *entropy_write(entropy_coder *e, uint8_t *out, const uint32_t *stop);

#endif
