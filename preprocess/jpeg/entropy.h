// Huffman coding of the coefficients of a sequential JPEG with restart markers (ITU-T T.81).
#ifndef DSCONV_JPEG_ENTROPY_H
#define DSCONV_JPEG_ENTROPY_H

#include <stddef.h>
#include <stdint.h>

// The four tables: DC and AC of two classes of components.
enum { ENTROPY_TABLES = 4, ENTROPY_SYMBOLS = 256 };

// entropy_table is a Huffman table as DHT has it: counts of codes of 1 to 16 bits, symbols.
typedef struct {
  uint8_t counts[17];
  uint8_t symbols[ENTROPY_SYMBOLS];
  int n;
} entropy_table;

// entropy_coder keeps the symbols of an image until its tables are made. Zero it, then call
// entropy_init; it is for many images.
typedef struct {
  uint32_t *tokens;
  size_t n, cap;
  uint32_t counts[ENTROPY_TABLES * ENTROPY_SYMBOLS];
  unsigned restarts;
  unsigned dc_range, ac_range; // the bits of all magnitudes together
  entropy_table tables[ENTROPY_TABLES];
  uint64_t zigzag[8][256]; // the 8 flags of a row of a block to their places in zigzag order
  uint32_t values[4096];   // of 12 bits: how many follow the symbol << 16, and which
} entropy_coder;

extern const uint8_t entropy_natural[64]; // zigzag to row by row

void entropy_init(entropy_coder *e);
void entropy_free(entropy_coder *e);
void entropy_begin(entropy_coder *e);

// entropy_reserve makes room for the tokens of so many blocks, each with a restart marker.
// 0 if there is no memory.
int entropy_reserve(entropy_coder *e, size_t blocks);

// entropy_block takes 64 coefficients, row by row. tables is 0, or 1 for the second tables; *dc is
// the DC coefficient before it.
void entropy_block(entropy_coder *e, const int16_t *block, int tables, int *dc);
void entropy_restart(entropy_coder *e);

// entropy_tables makes the best tables of at most 16 bits. The bytes that entropy_write will
// write at most are returned, 0 for coefficients that a sequential JPEG of 8 bits cannot have.
size_t entropy_tables(entropy_coder *e);

// entropy_write writes all that was taken and returns the end, or NULL once *stop is not 0; stop may be
// NULL.
uint8_t *entropy_write(entropy_coder *e, uint8_t *out, const uint32_t *stop);

#endif
