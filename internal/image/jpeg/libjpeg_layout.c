#include "libjpeg_layout.h"

#if CAN_ATTACH
#include <setjmp.h>
#include <string.h>

#include <jerror.h>
#include <jpegint.h>

// The probe is a grey image of 64x8 pixels: 8 blocks, of which the data contain two.
enum { BLOCKS = 8, SOF = 72, PROGRESSIVE = 0xC2 };

typedef struct {
  struct jpeg_decompress_struct c;
  struct jpeg_error_mgr err;
  jmp_buf jump;
  uint8_t data[160], row[BLOCKS * 8];
} probe;

static void on_error(j_common_ptr c) { longjmp(((probe *)c->client_data)->jump, 1); }
static void ignore_message(j_common_ptr c, int level) { (void)c, (void)level; }

static size_t build_probe(uint8_t *p, int frame) {
  static const uint8_t
      after[] = {0xFF, 0xC0, 0, 11, 8,    0,    8, 0, 8 * BLOCKS, 1, 1, 0x11, 0, // the frame
                 0xFF, 0xC4, 0, 20, 0x00, 1,    0, 0, 0,          0, 0, 0,    0,  0, 0,    0,    0,   0,
                 0,    0,    0, 0, // one code each
                 0xFF, 0xC4, 0, 20, 0x10, 1,    0, 0, 0,          0, 0, 0,    0,  0, 0,    0,    0,   0,
                 0,    0,    0, 0,  0xFF, 0xDA, 0, 8, 1,          1, 0, 0,    63, 0, 0x0F, 0xFF, 0xD9};
  static const uint8_t before[] = {0xFF, 0xD8, 0xFF, 0xDB, 0, 67, 0};
  memcpy(p, before, sizeof before);
  memset(p + sizeof before, 1, DCTSIZE2);
  memcpy(p + sizeof before + DCTSIZE2, after, sizeof after);
  p[SOF] = (uint8_t)frame;
  return sizeof before + DCTSIZE2 + sizeof after;
}

static void start(probe *p, int frame) {
  size_t n = build_probe(p->data, frame);
  jpeg_create_decompress(&p->c);
  jpeg_mem_src(&p->c, p->data, (unsigned long)n);
  jpeg_read_header(&p->c, TRUE);
}

static void read_row(probe *p) {
  JSAMPROW row = p->row;
  jpeg_read_scanlines(&p->c, &row, 1);
}

// flags_work checks the fields in which libjpeg says that an image has several scans, and that the data
// ended too early.
static int flags_work(probe *p) {
  start(p, PROGRESSIVE);
  int progressive = p->c.inputctl->has_multiple_scans;
  jpeg_destroy_decompress(&p->c);
  start(p, 0xC0);
  if (!progressive || p->c.inputctl->has_multiple_scans || !jpeg_start_decompress(&p->c))
    return 0;
  boolean before = p->c.entropy->insufficient_data;
  read_row(p);
  return before == FALSE && p->c.entropy->insufficient_data == TRUE;
}

typedef struct {
  struct jpeg_entropy_decoder decoder;
  uint64_t padding[8]; // in case the library has a larger struct
  int calls;
} counter;

static boolean count(j_decompress_ptr c, JBLOCKROW *blocks) {
  (void)blocks;
  ((counter *)c->entropy)->calls++;
  return TRUE;
}

// hook_works checks that a function that replaces libjpeg's Huffman decoder is called once a block.
static int hook_works(probe *p) {
  counter n = {0};
  start(p, 0xC0);
  if (!jpeg_start_decompress(&p->c))
    return 0;
  n.decoder = *p->c.entropy;
  n.decoder.decode_mcu = count;
  p->c.entropy = &n.decoder;
  read_row(p);
  return n.calls == BLOCKS;
}

static int is_as_compiled(int (*test)(probe *)) {
  probe p;
  memset(&p, 0, sizeof p);
  p.c.err = jpeg_std_error(&p.err);
  p.err.error_exit = on_error;
  p.err.emit_message = ignore_message;
  p.c.client_data = &p;
  int ok = 0;
  // Most versions with another layout also have another number of messages.
  if (p.err.last_jpeg_message == JMSG_LASTMSGCODE - 1 && setjmp(p.jump) == 0)
    ok = test(&p);
  jpeg_destroy_decompress(&p.c);
  return ok;
}

const char *dsconv_jpeg_layout_differs(void) {
  static int cached = -1;
  int same = __atomic_load_n(&cached, __ATOMIC_RELAXED);
  if (same < 0) {
    same = is_as_compiled(flags_work) && is_as_compiled(hook_works);
    __atomic_store_n(&cached, same, __ATOMIC_RELAXED);
  }
  return same ? NULL : "the loaded libjpeg has another internal layout than the one dsconv was built for";
}

#else

const char *dsconv_jpeg_layout_differs(void) {
  return "dsconv was built without libjpeg-turbo's private header";
}

#endif
