#include "huffman_decode.h"

#include "libjpeg_layout.h"

#include <stdlib.h>
#include <string.h>

// libjpeg calls its entropy decoder through function pointers, which jpegint.h declares.
#if CAN_ATTACH
#include <jpegint.h>

#include "huffman_lookup.h"

enum { MAX_BLOCKS = 10 };

// bits is the read position: the upper n bits of acc were read but not used. The last pad of them are
// padding after the end of the data. Functions pass and return it by value, so that the compiler keeps
// it in registers.
typedef struct {
  uint64_t acc;
  int n, pad;
  const uint8_t *at;
} bits;

struct dsconv_scan {
  struct jpeg_entropy_decoder entropy; // must be first: libjpeg uses it
  jmp_buf *jump;
  int gave_up;

  bits in;
  const uint8_t *end;

  codes tables[8];
  int blocks; // of an MCU
  codes *dc[MAX_BLOCKS], *ac[MAX_BLOCKS];
  int dc_only; // whether the image is scaled down so far that only DC is used
  int component[MAX_BLOCKS];
  int last_dc[MAX_COMPS_IN_SCAN];

  JDIMENSION row, total, first, last; // MCUs of a row, of the scan; the first and last used column
  JDIMENSION asked, next;             // the MCU that libjpeg asks for next, and the one at in
  JDIMENSION interval;                // of restart markers, or 0
  int at_start;                       // whether next is the first MCU of the scan or after a marker
  const uint8_t **starts;             // of the intervals, as far as they were found
  JDIMENSION starts_found, starts_cap;
};

static void give_up(dsconv_scan *s) {
  s->gave_up = 1;
  longjmp(*s->jump, 1);
}

static const int natural[DCTSIZE2 + 16] = {
    0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5, 12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6, 7,
    14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39,
    46, 53, 60, 61, 54, 47, 55, 62, 63,
    // A run of zeros may lead past the end of the block; the check follows after the block.
    63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63};

// refill_slowly reads byte by byte: 0xFF 0x00 is a byte 0xFF of data, other markers end the data.
static bits refill_slowly(bits b, const uint8_t *end) {
  b.acc = b.n == 0 ? 0 : b.acc & ~(uint64_t)0 << (64 - b.n);
  while (b.n <= 56) {
    if (b.pad > 0 || end - b.at < 2 || (b.at[0] == 0xFF && b.at[1] != 0)) {
      b.pad += 8;
    } else {
      b.acc |= (uint64_t)b.at[0] << (56 - b.n);
      b.at += b.at[0] == 0xFF ? 2 : 1;
    }
    b.n += 8;
  }
  return b;
}

// refill fills acc up to at least 56 bits.
INLINE bits refill(bits b, const uint8_t *end) {
  if (end - b.at >= 8) {
    uint64_t x;
    memcpy(&x, b.at, 8);
    const uint64_t low = 0x0101010101010101u;
    if (((~x - low) & x & low << 7) == 0) { // no byte is 0xFF
      b.acc |= __builtin_bswap64(x) >> b.n;
      int bytes = (63 - b.n) >> 3;
      b.at += bytes;
      b.n += 8 * bytes;
      return b;
    }
  }
  return refill_slowly(b, end);
}

INLINE bits drop(bits b, int n) {
  b.acc <<= n;
  b.n -= n;
  return b;
}

// long_code returns the entry of a code of more than LOOKAHEAD bits at the start of acc.
static __attribute__((noinline)) int32_t long_code(dsconv_scan *s, const codes *t, uint64_t acc) {
  uint32_t next = (uint32_t)(acc >> 48);
  int length = LOOKAHEAD + 1;
  while (next >= t->limit[length])
    length++;
  if (length > 16)
    give_up(s);
  return entry(length, t->symbols[(int)(next >> (16 - length)) + t->offset[length]]);
}

// next_code returns the entry of the next code.
INLINE int32_t next_code(dsconv_scan *s, bits b, const codes *t) {
  int32_t e = t->fast[b.acc >> (64 - LOOKAHEAD)];
  return __builtin_expect(e == 0, 0) ? long_code(s, t, b.acc) : e;
}

INLINE int value(bits b, int32_t e) {
  if (__builtin_expect(!value_follows(e), 1))
    return e >> 16;
  int size = value_bits(e);
  return extend((int)(b.acc << (all_bits(e) - size) >> (64 - size)), size);
}

// ac decodes the AC coefficients of a block. A refill is enough for two codes with their values;
// refilling always is cheaper than a mispredicted branch.
INLINE bits ac(dsconv_scan *s, bits b, const codes *t, JCOEF *out) {
  const uint8_t *end = s->end;
  int k = 1;
  for (;;) {
    b = refill(b, end);
    for (int i = 0; i < 2; i++) {
      int32_t e = next_code(s, b, t);
      if (ends_block(e))
        return drop(b, all_bits(e));
      k += zeros(e);
      out[natural[k]] = (JCOEF)value(b, e);
      b = drop(b, all_bits(e));
      if (++k < DCTSIZE2)
        continue;
      if (k > DCTSIZE2)
        give_up(s);
      return b;
    }
  }
}

// skip_ac skips the AC coefficients of a block.
INLINE bits skip_ac(dsconv_scan *s, bits b, const codes *t) {
  const uint8_t *end = s->end;
  int k = 1;
  while (k < DCTSIZE2) {
    if (b.n < 32)
      b = refill(b, end);
    int e = t->skip[b.acc >> (64 - LOOKAHEAD)], ends = skip_ends(e), next = k + skip_coefficients(e);
    if (e != 0 && next + ends <= DCTSIZE2) {
      b = drop(b, skip_bits(e));
      k = next;
    } else { // one by one to the end of the block
      int32_t one = next_code(s, b, t);
      b = drop(b, all_bits(one));
      ends = ends_block(one);
      k += ends ? 0 : zeros(one) + 1;
    }
    if (ends)
      return b;
  }
  if (k > DCTSIZE2)
    give_up(s);
  return b;
}

// dc decodes the DC coefficient of the i-th block of an MCU.
INLINE bits dc(dsconv_scan *s, bits b, int i, int *v) {
  if (b.n < 32)
    b = refill(b, s->end);
  int32_t e = next_code(s, b, s->dc[i]);
  int *last = &s->last_dc[s->component[i]];
  *v = *last = (int)((unsigned)*last + (unsigned)value(b, e)); // wraps on overflow, as in libjpeg
  return drop(b, all_bits(e));
}

// mcu decodes an MCU to out, blocks of zeros. If out is NULL, it skips the MCU; if only DC is used, it
// skips the other coefficients.
static void mcu(dsconv_scan *s, JBLOCKROW *out) {
  bits b = s->in;
  for (int i = 0; i < s->blocks; i++) {
    int v;
    b = dc(s, b, i, &v);
    if (out != NULL)
      out[i][0][0] = (JCOEF)v;
    b = out != NULL && !s->dc_only ? ac(s, b, s->ac[i], out[i][0]) : skip_ac(s, b, s->ac[i]);
  }
  if (b.pad > b.n)
    give_up(s); // the data ended in the MCU
  s->in = b;
}

// at_marker reports whether all data up to the marker were used; marker 0 stands for any.
static int at_marker(dsconv_scan *s, int marker) {
  const uint8_t *at = s->in.at;
  if (s->in.n - s->in.pad >= 8 || s->end - at < 2 || at[0] != 0xFF)
    return 0;
  return marker == 0 ? at[1] != 0 && at[1] != 0xFF : at[1] == marker;
}

static void go_to(dsconv_scan *s, const uint8_t *at) {
  s->in = (bits){.at = at};
  memset(s->last_dc, 0, sizeof s->last_dc);
}

// advance reads one MCU, with the restart marker before it.
static void advance(dsconv_scan *s, JBLOCKROW *out) {
  if (s->interval > 0 && s->next % s->interval == 0 && !s->at_start) {
    if (!at_marker(s, 0xD0 + (int)((s->next / s->interval - 1) & 7)))
      give_up(s);
    go_to(s, s->in.at + 2);
  }
  s->at_start = 0;
  mcu(s, out);
  s->next++;
}

// find returns the start of interval number run. It searches from the last start that was found.
static const uint8_t *find(dsconv_scan *s, JDIMENSION run) {
  while (s->starts_found <= run) {
    const uint8_t *p = s->starts[s->starts_found - 1];
    for (;; p += 2) {
      p = memchr(p, 0xFF, (size_t)(s->end - p));
      if (p == NULL || s->end - p < 2)
        give_up(s);
      if (p[1] == 0xD0 + ((s->starts_found - 1) & 7))
        break;
      if (p[1] != 0)
        give_up(s);
    }
    s->starts[s->starts_found++] = p + 2;
  }
  return s->starts[run];
}

// prepare_skip fills the tables for skipping if that pays for n MCUs.
static void prepare_skip(dsconv_scan *s, JDIMENSION n) {
  enum { MIN_SKIPPED = 32 };
  if (n < MIN_SKIPPED)
    return;
  for (int i = 0; i < s->blocks; i++)
    if (!s->ac[i]->skips)
      dsconv_fill_skip(s->ac[i]);
}

// seek moves to MCU m: to the last restart marker before it, if there is one on the way, and from there
// past the other MCUs.
static void seek(dsconv_scan *s, JDIMENSION m, j_common_ptr c) {
  enum { PAUSE_AFTER = 1 << 12 }; // MCUs, then check whether the caller wants to stop
  if (s->interval > 0 && m / s->interval != s->next / s->interval && m != s->next) {
    JDIMENSION run = m / s->interval;
    go_to(s, find(s, run));
    s->next = run * s->interval;
    s->at_start = 1;
  }
  prepare_skip(s, m - s->next);
  while (s->next < m) {
    const JDIMENSION pause = m - s->next > PAUSE_AFTER ? s->next + PAUSE_AFTER : m;
    while (s->next < pause)
      advance(s, NULL);
    if (pause < m && c->progress != NULL)
      c->progress->progress_monitor(c);
  }
}

// end_of_scan finds the marker after the scan. The last used MCU may be far before it.
static const uint8_t *end_of_scan(dsconv_scan *s) {
  if (s->next == s->total) {
    if (!at_marker(s, 0))
      give_up(s);
    return s->in.at;
  }
  for (const uint8_t *p = s->in.at;; p++) {
    p = memchr(p, 0xFF, (size_t)(s->end - p));
    if (p == NULL || s->end - p < 2)
      give_up(s);
    if (p[1] != 0 && p[1] != 0xFF && (p[1] & 0xF8) != 0xD0)
      return p;
  }
}

// decode_mcu is called by libjpeg for one MCU after the other. Unused MCUs are skipped when a later one is
// needed, and never read if a restart marker comes between. After the last MCU libjpeg continues after
// the scan.
static boolean decode_mcu(j_decompress_ptr c, JBLOCKROW *out) {
  dsconv_scan *s = (dsconv_scan *)c->entropy;
  JDIMENSION m = s->asked++, column = m % s->row;
  if (out != NULL && column >= s->first && column <= s->last) {
    seek(s, m, (j_common_ptr)c);
    advance(s, out);
  }
  if (s->asked == s->total) {
    c->src->next_input_byte = end_of_scan(s);
    c->src->bytes_in_buffer = (size_t)(s->end - c->src->next_input_byte);
  }
  return TRUE;
}

int dsconv_scan_can_attach(void) { return dsconv_jpeg_layout_differs() == NULL; }

dsconv_scan *dsconv_scan_new(void) { return calloc(1, sizeof(dsconv_scan)); }

void dsconv_scan_free(dsconv_scan *s) {
  if (s == NULL)
    return;
  free(s->starts);
  free(s);
}

int dsconv_scan_gave_up(const dsconv_scan *s) { return s != NULL && s->gave_up; }

void dsconv_scan_columns(dsconv_scan *s, JDIMENSION first, JDIMENSION last) {
  if (s == NULL)
    return;
  s->first = first;
  s->last = last;
}

// prepare builds the tables of the scan. It returns 0 for an unsupported kind of scan.
static int prepare(dsconv_scan *s, struct jpeg_decompress_struct *c) {
  if (c->progressive_mode || c->arith_code || c->inputctl->has_multiple_scans ||
      c->blocks_in_MCU > MAX_BLOCKS || c->data_precision != 8 || c->Ss != 0 || c->Se != DCTSIZE2 - 1 ||
      c->Ah != 0 || c->Al != 0)
    return 0;
  s->blocks = c->blocks_in_MCU;
  for (int i = 0; i < s->blocks; i++) {
    int component = c->MCU_membership[i];
    const jpeg_component_info *p = c->cur_comp_info[component];
    const JHUFF_TBL *dc = c->dc_huff_tbl_ptrs[p->dc_tbl_no], *ac = c->ac_huff_tbl_ptrs[p->ac_tbl_no];
    codes *to_dc = &s->tables[p->dc_tbl_no], *to_ac = &s->tables[4 + p->ac_tbl_no];
    if (dc == NULL || ac == NULL || !dsconv_make_codes(to_dc, dc, MAX_DC_SIZE) ||
        !dsconv_make_codes(to_ac, ac, MAX_AC_SIZE))
      return 0;
    s->dc[i] = to_dc;
    s->ac[i] = to_ac;
    s->component[i] = component;
  }
  s->dc_only = c->min_DCT_scaled_size == 1;
  s->row = c->MCUs_per_row;
  s->total = c->MCUs_per_row * c->MCU_rows_in_scan;
  s->interval = c->restart_interval;
  return 1;
}

static int reserve(dsconv_scan *s) {
  JDIMENSION runs = s->interval == 0 ? 1 : s->total / s->interval + 1;
  if (runs > s->starts_cap) {
    const uint8_t **p = realloc(s->starts, runs * sizeof *p);
    if (p == NULL)
      return 0;
    s->starts = p;
    s->starts_cap = runs;
  }
  return 1;
}

int dsconv_scan_attach(dsconv_scan *s, struct jpeg_decompress_struct *c, jmp_buf *jump) {
  s->gave_up = 0;
  if (!prepare(s, c))
    return 1;
  if (!reserve(s))
    return 0;
  s->jump = jump;
  s->entropy = *c->entropy;
  s->entropy.decode_mcu = decode_mcu;
  s->end = c->src->next_input_byte + c->src->bytes_in_buffer;
  s->starts[0] = c->src->next_input_byte;
  s->starts_found = 1;
  s->asked = s->next = 0;
  s->at_start = 1;
  prepare_skip(s, s->dc_only ? s->total : 0);
  s->first = 0;
  s->last = s->row - 1;
  go_to(s, s->starts[0]);
  c->entropy = &s->entropy;
  return 1;
}

#else

struct dsconv_scan {
  int none;
};

int dsconv_scan_can_attach(void) { return 0; }
dsconv_scan *dsconv_scan_new(void) { return NULL; }
void dsconv_scan_free(dsconv_scan *s) { (void)s; }
int dsconv_scan_attach(dsconv_scan *s, struct jpeg_decompress_struct *c, jmp_buf *jump) {
  (void)s, (void)c, (void)jump;
  return 1;
}
int dsconv_scan_gave_up(const dsconv_scan *s) {
  (void)s;
  return 0;
}
void dsconv_scan_columns(dsconv_scan *s, JDIMENSION first, JDIMENSION last) {
  (void)s, (void)first, (void)last;
}

#endif
