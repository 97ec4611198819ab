// Checks of the fake nvJPEG. The argument names one.
#include "check.h"

#include <jpeglib.h>

#include "declarations.h"

enum { WIDTH = 80, HEIGHT = 48, ROW = 3 * WIDTH, SIZE = ROW * HEIGHT, CANARY = 0xC3, MOST = 8 };

// A JPEG.
static struct file {
  unsigned char *data;
  size_t size;
} red, green, grey, progressive, truncated;

static struct file encode(const unsigned char colour[3], bool in_scans) {
  struct jpeg_compress_struct c;
  struct jpeg_error_mgr errors;
  unsigned char row[ROW];
  unsigned long size = 0;
  struct file out = {NULL, 0};
  c.err = jpeg_std_error(&errors);
  jpeg_create_compress(&c);
  jpeg_mem_dest(&c, &out.data, &size);
  c.image_width = WIDTH;
  c.image_height = HEIGHT;
  c.input_components = 3;
  c.in_color_space = JCS_RGB;
  jpeg_set_defaults(&c);
  jpeg_set_quality(&c, 95, TRUE);
  if (colour[0] == colour[1])
    jpeg_set_colorspace(&c, JCS_GRAYSCALE);
  if (in_scans)
    jpeg_simple_progression(&c);
  jpeg_start_compress(&c, TRUE);
  for (int i = 0; i < ROW; i++)
    row[i] = colour[i % 3];
  for (int y = 0; y < HEIGHT; y++)
    jpeg_write_scanlines(&c, &(JSAMPROW){row}, 1);
  jpeg_finish_compress(&c);
  jpeg_destroy_compress(&c);
  out.size = size;
  return out;
}

static void encode_all(void) {
  red = encode((unsigned char[]){254, 0, 0}, false);
  green = encode((unsigned char[]){0, 255, 1}, false);
  grey = encode((unsigned char[]){90, 90, 90}, false);
  progressive = encode((unsigned char[]){254, 0, 0}, true);
  truncated = (struct file){red.data, red.size - 12};
}

// What most checks need.
static nvjpegHandle_t handle;
static nvjpegJpegState_t state;
static nvjpegJpegStream_t parsed;
static nvjpegDecodeParams_t params;
static CUstream stream;
static CUdeviceptr outputs[MOST];

static void start(const char *modes, int backend) {
  begin(modes);
  SAME(nvjpegCreateEx(backend, NULL, NULL, NV_INTERPOLATE, &handle), 0);
  SAME(nvjpegJpegStreamCreate(handle, &parsed), 0);
  SAME(nvjpegDecodeParamsCreate(handle, &params), 0);
  SAME(nvjpegDecodeParamsSetOutputFormat(params, NV_OUT_RGBI), 0);
  SAME(cuStreamCreate(&stream, 1), 0);
  for (int i = 0; i < MOST; i++)
    SAME(cuMemAlloc_v2(&outputs[i], SIZE), 0);
}

static void finish(int violations) {
  fake_set("");
  for (int i = 0; i < MOST; i++)
    SAME(cuMemFree_v2(outputs[i]), 0);
  SAME(cuStreamDestroy_v2(stream), 0);
  SAME(nvjpegDecodeParamsDestroy(params), 0);
  SAME(nvjpegJpegStreamDestroy(parsed), 0);
  SAME(nvjpegDestroy(handle), 0);
  end(violations);
}

static void clear(int n) {
  for (int i = 0; i < n; i++)
    SAME(cuMemsetD8Async(outputs[i], CANARY, SIZE, stream), 0);
}

static const unsigned char *pixels(int i) {
  static unsigned char got[SIZE];
  SAME(cuMemcpyDtoH_v2(got, outputs[i], SIZE), 0);
  return got;
}

// The number of bytes that still have the canary.
static int untouched(int i) {
  const unsigned char *p = pixels(i);
  int n = 0;
  for (int k = 0; k < SIZE; k++)
    n += p[k] == CANARY;
  return n;
}

// Whether the image is of one colour, near enough: 0 red, 1 green.
static bool is(int i, int channel) {
  const unsigned char *p = pixels(i);
  for (int k = 0; k < SIZE; k += 3)
    for (int c = 0; c < 3; c++)
      if (c == channel ? p[k + c] < 240 : p[k + c] > 15)
        return false;
  return true;
}

static int batch(int n, const struct file *files[]) {
  const unsigned char *data[MOST];
  size_t sizes[MOST];
  nvjpegImage_t images[MOST];
  nvjpegDecodeParams_t all[MOST];
  memset(images, 0, sizeof images);
  for (int i = 0; i < n; i++) {
    data[i] = files[i]->data;
    sizes[i] = files[i]->size;
    images[i].channel[0] = (unsigned char *)outputs[i];
    images[i].pitch[0] = ROW;
    all[i] = params;
  }
  return (int)nvjpegDecodeBatchedEx(handle, state, data, sizes, images, all, (cudaStream_t)stream);
}

static int supported(const struct file *f) {
  int no = -1;
  SAME(nvjpegJpegStreamParseHeader(handle, f->data, f->size, parsed), 0);
  SAME(nvjpegDecodeBatchedSupportedEx(handle, parsed, params, &no), 0);
  return no;
}

static const struct file *two[] = {&red, &green};

// The engine: what it takes, its contracts, and its pixels.
static void engine(void) {
  unsigned engines, cores, width, height;
  nvjpegChromaSubsampling_t css;
  start("", NV_HARDWARE);
  SAME(nvjpegGetHardwareDecoderInfo(handle, &engines, &cores), 0);
  SAME(engines * cores, 6);
  SAME(supported(&red), 0);
  SAME(nvjpegJpegStreamGetFrameDimensions(parsed, &width, &height), 0);
  SAME(width, WIDTH);
  SAME(height, HEIGHT);
  SAME(nvjpegJpegStreamGetChromaSubsampling(parsed, &css), 0);
  SAME(css, NV_CSS_420);
  SAME(supported(&grey), 0);
  SAME(supported(&progressive), 1);
  SAME(nvjpegJpegStreamParseHeader(handle, (const unsigned char *)"no JPEG", 7, parsed), NV_BAD_JPEG);
  SAME(nvjpegJpegStreamParseHeader(handle, red.data, 30, parsed), NV_INCOMPLETE_BITSTREAM);
  SAME(nvjpegJpegStateCreate(handle, &state), 0);
  SAME(nvjpegDecodeBatchedPreAllocate(handle, state, 6, WIDTH, HEIGHT, NV_CSS_420, NV_OUT_RGBI), 0);
  SAME(batch(2, two), NV_INVALID_PARAMETER); // not initialised
  for (int round = 0; round < 50; round++) {
    clear(2);
    SAME(cuStreamSynchronize(stream), 0);
    SAME(nvjpegDecodeBatchedInitialize(handle, state, 2, 1, NV_OUT_RGBI), 0);
    SAME(batch(2, two), 0);
    SAME(cuStreamSynchronize(stream), 0);
    CHECK(is(0, 0) && is(1, 1));
  }
  SAME(fake_count("engine images"), 100);
  const struct file *bad[] = {&red, &progressive};
  SAME(batch(2, bad), NV_JPEG_NOT_SUPPORTED);
  // a ROI: the rest of the output is not written
  clear(1);
  SAME(nvjpegDecodeParamsSetROI(params, 8, 8, 16, 4), 0);
  SAME(cuStreamSynchronize(stream), 0);
  SAME(nvjpegDecodeBatchedInitialize(handle, state, 1, 1, NV_OUT_RGBI), 0);
  SAME(batch(1, two), 0);
  SAME(cuStreamSynchronize(stream), 0);
  SAME(untouched(0), SIZE - 16 * 3 * 4);
  SAME(nvjpegDecodeParamsSetROI(params, 70, 8, 16, 4), 0);
  SAME(batch(1, two), NV_INVALID_PARAMETER);
  // a truncated image comes out without an error
  SAME(nvjpegDecodeParamsSetROI(params, 0, 0, -1, -1), 0);
  const struct file *cut[] = {&truncated};
  clear(1);
  SAME(cuStreamSynchronize(stream), 0);
  SAME(batch(1, cut), 0);
  SAME(cuStreamSynchronize(stream), 0);
  CHECK(!is(0, 0) && untouched(0) < SIZE / 10);
  SAME(nvjpegJpegStateDestroy(state), 0);
  finish(0);
}

// Who does not wait for the last batch finds that one spoiled; and what the stream still has to do before a
// batch is not waited for, so that a fill may come after the pixels.
static void engine_order(void) {
  int unwaited = 0, filled = 0;
  start("", NV_HARDWARE);
  SAME(nvjpegJpegStateCreate(handle, &state), 0);
  SAME(nvjpegDecodeBatchedInitialize(handle, state, 1, 1, NV_OUT_RGBI), 0);
  for (int round = 0; round < 40; round++) {
    SAME(batch(1, &two[0]), 0);
    CUdeviceptr first = outputs[0];
    outputs[0] = outputs[1];
    SAME(batch(1, &two[1]), 0);
    outputs[0] = first;
    SAME(cuStreamSynchronize(stream), 0);
    unwaited += !is(0, 0);
    CHECK(is(1, 1));
    clear(1);
    SAME(batch(1, &two[0]), 0);
    SAME(cuStreamSynchronize(stream), 0);
    filled += untouched(0) == SIZE;
  }
  SAME(unwaited, 40);
  CHECK(filled > 20);
  SAME(nvjpegJpegStateDestroy(state), 0);
  finish(40);
}

// A state that ends while it works is noticed, and so is an output that is no memory of the GPU.
static void engine_misuse(void) {
  start("slow", NV_HARDWARE);
  SAME(nvjpegJpegStateCreate(handle, &state), 0);
  SAME(nvjpegDecodeBatchedInitialize(handle, state, 1, 1, NV_OUT_RGBI), 0);
  int ended = 0;
  for (int round = 0; round < 20; round++) {
    SAME(batch(1, two), 0);
    SAME(nvjpegJpegStateDestroy(state), 0);
    ended += fake_violations(NULL, 0);
    SAME(cuStreamSynchronize(stream), 0);
    SAME(nvjpegJpegStateCreate(handle, &state), 0);
    SAME(nvjpegDecodeBatchedInitialize(handle, state, 1, 1, NV_OUT_RGBI), 0);
  }
  CHECK(ended > 5);
  CUdeviceptr first = outputs[0];
  outputs[0] += 1;
  SAME(batch(1, two), NV_INVALID_PARAMETER);
  outputs[0] = first;
  CUcontext context;
  SAME(cuCtxPopCurrent_v2(&context), 0);
  SAME(batch(1, two), NV_EXECUTION_FAILED);
  SAME(cuCtxPushCurrent_v2(context), 0);
  SAME(nvjpegJpegStateDestroy(state), 0);
  finish(2);
}

// The modes of nvJPEG.
static void modes(void) {
  int version;
  nvjpegHandle_t none;
  start("nvjpeg:120400,image:3@2", NV_HARDWARE);
  SAME(nvjpegGetProperty(0, &version), 0);
  SAME(version, 12);
  SAME(nvjpegJpegStateCreate(handle, &state), 0);
  SAME(nvjpegDecodeBatchedInitialize(handle, state, 2, 1, NV_OUT_RGBI), 0);
  SAME(batch(2, two), NV_BAD_JPEG);
  static const struct {
    const char *modes;
    int skipped;
  } all[] = {{"skip@2", 1}, {"skip/2", 1}, {"skip@1", 0}, {"partial@1", -1}};
  for (int i = 0; i < 4; i++) {
    fake_set(all[i].modes);
    clear(2);
    SAME(cuStreamSynchronize(stream), 0);
    SAME(batch(2, two), 0);
    SAME(cuStreamSynchronize(stream), 0);
    SAME(untouched(0) == SIZE, all[i].skipped == 0);
    SAME(untouched(1) == SIZE, all[i].skipped == 1);
    SAME(untouched(0) >= 16 && untouched(0) < SIZE, all[i].skipped < 0);
  }
  SAME(nvjpegJpegStateDestroy(state), 0);
  fake_set("engines:0,cuInit:100@2");
  SAME(nvjpegCreateEx(NV_HARDWARE, NULL, NULL, 0, &none), NV_ARCH_MISMATCH);
  SAME(nvjpegCreateEx(NV_HARDWARE, NULL, NULL, 0, &none), NV_EXECUTION_FAILED);
  fake_set("memory:1000,unsupported@1");
  SAME(supported(&red), 1);
  SAME(supported(&red), 0);
  SAME(nvjpegJpegStateCreate(handle, &state), 0);
  SAME(nvjpegDecodeBatchedPreAllocate(handle, state, 6, WIDTH, HEIGHT, NV_CSS_420, NV_OUT_RGBI),
       NV_ALLOCATOR_FAILURE);
  SAME(nvjpegJpegStateDestroy(state), 0);
  finish(0);
}

static nvjpegJpegDecoder_t decoder;
static nvjpegBufferPinned_t pinned[2];
static nvjpegBufferDevice_t device[2];

// Decodes in stages as far as asked.
static int stages(const struct file *f, int output, int buffer, int last) {
  nvjpegImage_t image = {{(unsigned char *)outputs[output]}, {ROW}};
  SAME(nvjpegStateAttachPinnedBuffer(state, pinned[buffer]), 0);
  SAME(nvjpegStateAttachDeviceBuffer(state, device[buffer]), 0);
  int status = (int)nvjpegJpegStreamParse(handle, f->data, f->size, 0, 0, parsed);
  if (!status)
    status = (int)nvjpegDecodeJpegHost(handle, decoder, state, params, parsed);
  if (!status && last > 1)
    status = (int)nvjpegDecodeJpegTransferToDevice(handle, decoder, state, parsed, (cudaStream_t)stream);
  if (!status && last > 2)
    status = (int)nvjpegDecodeJpegDevice(handle, decoder, state, &image, (cudaStream_t)stream);
  return status;
}

// Decoding in stages: two pairs of buffers take turns; with one, the pixels of the next image come out.
static void decoupled(void) {
  int no, wrong = 0;
  start("", NV_DEFAULT);
  SAME(nvjpegDecoderCreate(handle, NV_HARDWARE, &decoder), NV_IMPLEMENTATION_NOT_SUPPORTED);
  SAME(nvjpegDecoderCreate(handle, NV_HYBRID, &decoder), 0);
  SAME(nvjpegDecoderStateCreate(handle, decoder, &state), 0);
  for (int i = 0; i < 2; i++) {
    SAME(nvjpegBufferPinnedCreate(handle, NULL, &pinned[i]), 0);
    SAME(nvjpegBufferDeviceCreate(handle, NULL, &device[i]), 0);
  }
  SAME(nvjpegJpegStreamParseHeader(handle, progressive.data, progressive.size, parsed), 0);
  SAME(nvjpegDecoderJpegSupported(decoder, parsed, params, &no), 0);
  SAME(no, 1); // the header alone
  SAME(nvjpegDecodeJpegHost(handle, decoder, state, params, parsed), NV_INVALID_PARAMETER);
  SAME(nvjpegJpegStreamParse(handle, progressive.data, progressive.size, 0, 0, parsed), 0);
  SAME(nvjpegDecoderJpegSupported(decoder, parsed, params, &no), 0);
  SAME(no, 0);
  for (int round = 0; round < 40; round++) {
    clear(2);
    SAME(stages(&progressive, 0, 0, 3), 0);
    SAME(stages(&green, 1, 1, 3), 0);
    SAME(cuStreamSynchronize(stream), 0);
    CHECK(is(0, 0) && is(1, 1));
  }
  SAME(fake_violations(NULL, 0), 0);
  for (int round = 0; round < 40; round++) {
    SAME(stages(&red, 0, 0, 3), 0);
    SAME(stages(&green, 1, 0, 3), 0);
    SAME(cuStreamSynchronize(stream), 0);
    wrong += !is(0, 0);
  }
  CHECK(wrong > 5);
  CHECK(fake_violations(NULL, 0) >= wrong);
  SAME(stages(&truncated, 0, 0, 1) == 0 || stages(&truncated, 0, 0, 1) == NV_INCOMPLETE_BITSTREAM, 1);
  fake_set("image:6@1,partial@1");
  SAME(stages(&red, 0, 0, 3), NV_EXECUTION_FAILED);
  clear(1);
  SAME(stages(&red, 0, 0, 3), 0);
  SAME(cuStreamSynchronize(stream), 0);
  CHECK(untouched(0) >= 16 && untouched(0) < SIZE);
  for (int i = 0; i < 2; i++) {
    SAME(nvjpegBufferPinnedDestroy(pinned[i]), 0);
    SAME(nvjpegBufferDeviceDestroy(device[i]), 0);
  }
  SAME(nvjpegJpegStateDestroy(state), 0);
  SAME(nvjpegDecoderDestroy(decoder), 0);
  finish(0);
}

int main(int n, char **arguments) {
  static const struct {
    const char *name;
    void (*check)(void);
  } checks[] = {{"engine", engine},
                {"order", engine_order},
                {"misuse", engine_misuse},
                {"modes", modes},
                {"stages", decoupled}};
  CHECK(n == 2);
  encode_all();
  for (size_t i = 0; i < sizeof checks / sizeof *checks; i++)
    if (!strcmp(checks[i].name, arguments[1])) {
      checks[i].check();
      return 0;
    }
  fprintf(stderr, "no such check\n");
  return 2;
}
