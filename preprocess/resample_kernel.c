#include "resample_kernel.h"

#include <string.h>

enum { PRECISION = 32 - 8 - 2, HALF = 1 << (PRECISION - 1) };

static inline uint8_t clip8(int32_t sum) {
    sum >>= PRECISION;
    return (uint8_t)(sum < 0 ? 0 : sum > 255 ? 255 : sum);
}

static inline int32_t weight(int16_t low, int16_t high) { return (int32_t)high * 32768 + low; }

// scale_row_c scales one row of in_w pixels.
static void scale_row_c(uint8_t *out, const uint8_t *row, int channels, int in_w, int out_w, int taps,
                        const int32_t *start, const int16_t *low, const int16_t *high) {
    for (int x = 0; x < out_w; x++, low += taps, high += taps) {
        const uint8_t *in = row + (size_t)start[x] * (size_t)channels;
        int n = in_w - start[x] < taps ? in_w - start[x] : taps;
        for (int c = 0; c < channels; c++) {
            int32_t sum = HALF;
            for (int k = 0; k < n; k++) sum += in[k * channels + c] * weight(low[k], high[k]);
            *out++ = clip8(sum);
        }
    }
}

// sum_rows_c makes bytes [from, n) of out the weighted sum of taps rows.
static void sum_rows_c(uint8_t *out, const uint8_t *rows, size_t stride, size_t from, size_t n,
                       int taps, const int16_t *low, const int16_t *high) {
    for (size_t x = from; x < n; x++) {
        int32_t sum = HALF;
        for (int k = 0; k < taps; k++) sum += rows[x + (size_t)k * stride] * weight(low[k], high[k]);
        out[x] = clip8(sum);
    }
}

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define HAVE_AVX2 1
#define AVX2 __attribute__((target("avx2")))
#define AVX2_INLINE __attribute__((target("avx2"), always_inline)) static inline

// The sums are exact: a weight is high*2^15 + low, and a pair of 16-bit products fits into
// 32 bits; what may wrap around is the sum of the two parts, which comes out right modulo
// 2^32 because the true sum fits.

AVX2_INLINE __m256i pair(const int16_t *p) {
    int32_t v;
    memcpy(&v, p, sizeof v);
    return _mm256_set1_epi32(v);
}

AVX2_INLINE __m256i both(__m128i m) { return _mm256_broadcastsi128_si256(m); }

// unpack_mask picks two pixels, from the one at first on, out of four: each channel's pair as
// 16 bits, c0 c0' c1 c1' c2 c2' c3 c3'.
AVX2_INLINE __m256i unpack_mask(int channels, int first) {
    int8_t m[16];
    for (int i = 0; i < 16; i++) {
        int c = i / 4, p = first + (i / 2) % 2;
        m[i] = (int8_t)(i % 2 == 0 && c < channels ? p * channels + c : -1);
    }
    return both(_mm_loadu_si128((const __m128i *)m));
}

// pack_mask takes the channels of four pixels of four bytes together.
AVX2_INLINE __m256i pack_mask(int channels) {
    int8_t m[16];
    for (int i = 0; i < 16; i++) m[i] = (int8_t)(i < 4 * channels ? i / channels * 4 + i % channels : -1);
    return both(_mm_loadu_si128((const __m128i *)m));
}

// scale_pixels_avx2 scales two rows at once, one in each half of the registers. It reads at
// most 28 bytes past a row's end and writes as many past out's: start and the weights go on
// to a multiple of 4 pixels.
AVX2_INLINE void scale_pixels_avx2(uint8_t *out0, uint8_t *out1, const uint8_t *row0, const uint8_t *row1,
                                   int channels, int out_w, int taps, const int32_t *start, const int16_t *low,
                                   const int16_t *high) {
    const __m256i first = unpack_mask(channels, 0), second = unpack_mask(channels, 2), packed = pack_mask(channels);
    const __m256i half = _mm256_set1_epi32(HALF);
    for (int x = 0; x < out_w; x += 4) {
        __m256i sums[4];
        for (int i = 0; i < 4; i++) {
            size_t at = (size_t)start[x + i] * (size_t)channels;
            __m256i lo = half, hi = _mm256_setzero_si256();
            for (int k = 0; k < taps; k += 4, at += 4 * (size_t)channels) {
                __m256i v = _mm256_inserti128_si256(
                    _mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)(row0 + at))),
                    _mm_loadu_si128((const __m128i *)(row1 + at)), 1);
                __m256i a = _mm256_shuffle_epi8(v, first), b = _mm256_shuffle_epi8(v, second);
                lo = _mm256_add_epi32(lo, _mm256_madd_epi16(a, pair(low + k)));
                hi = _mm256_add_epi32(hi, _mm256_madd_epi16(a, pair(high + k)));
                lo = _mm256_add_epi32(lo, _mm256_madd_epi16(b, pair(low + k + 2)));
                hi = _mm256_add_epi32(hi, _mm256_madd_epi16(b, pair(high + k + 2)));
            }
            sums[i] = _mm256_srai_epi32(_mm256_add_epi32(lo, _mm256_slli_epi32(hi, 15)), PRECISION);
            low += taps;
            high += taps;
        }
        __m256i r = _mm256_packus_epi16(_mm256_packs_epi32(sums[0], sums[1]), _mm256_packs_epi32(sums[2], sums[3]));
        r = _mm256_shuffle_epi8(r, packed);
        _mm_storeu_si128((__m128i *)(out0 + (size_t)x * (size_t)channels), _mm256_castsi256_si128(r));
        _mm_storeu_si128((__m128i *)(out1 + (size_t)x * (size_t)channels), _mm256_extracti128_si256(r, 1));
    }
}

// scale_two_rows_avx2 gives the compiler constants for the common cases.
AVX2 static void scale_two_rows_avx2(uint8_t *out0, uint8_t *out1, const uint8_t *row0, const uint8_t *row1,
                                     int channels, int out_w, int taps, const int32_t *start, const int16_t *low,
                                     const int16_t *high) {
    if (channels == 3 && taps == 4) {
        scale_pixels_avx2(out0, out1, row0, row1, 3, out_w, 4, start, low, high);
    } else if (channels == 3 && taps == 8) {
        scale_pixels_avx2(out0, out1, row0, row1, 3, out_w, 8, start, low, high);
    } else {
        scale_pixels_avx2(out0, out1, row0, row1, channels, out_w, taps, start, low, high);
    }
}

// sum_rows_avx2 does whole blocks of 32 bytes of sum_rows_c and says how far it came.
AVX2 static size_t sum_rows_avx2(uint8_t *out, const uint8_t *rows, size_t stride, size_t n, int taps,
                                 const int16_t *low, const int16_t *high) {
    const __m256i zero = _mm256_setzero_si256(), half = _mm256_set1_epi32(HALF);
    size_t x = 0;
    for (; x + 32 <= n; x += 32) {
        __m256i lo[4] = {half, half, half, half}, hi[4] = {zero, zero, zero, zero};
        for (int k = 0; k < taps; k += 2) {
            if ((low[k] | high[k] | low[k + 1] | high[k + 1]) == 0) continue;
            const uint8_t *in = rows + x + (size_t)k * stride;
            __m256i a = _mm256_loadu_si256((const __m256i *)in);
            __m256i b = k + 1 < taps ? _mm256_loadu_si256((const __m256i *)(in + stride)) : zero;
            __m256i w0 = pair(low + k), w1 = pair(high + k);
            __m256i ab[2] = {_mm256_unpacklo_epi8(a, b), _mm256_unpackhi_epi8(a, b)};
            for (int i = 0; i < 4; i++) {
                __m256i v = i & 1 ? _mm256_unpackhi_epi8(ab[i / 2], zero) : _mm256_unpacklo_epi8(ab[i / 2], zero);
                lo[i] = _mm256_add_epi32(lo[i], _mm256_madd_epi16(v, w0));
                hi[i] = _mm256_add_epi32(hi[i], _mm256_madd_epi16(v, w1));
            }
        }
        for (int i = 0; i < 4; i++) {
            lo[i] = _mm256_srai_epi32(_mm256_add_epi32(lo[i], _mm256_slli_epi32(hi[i], 15)), PRECISION);
        }
        __m256i r = _mm256_packus_epi16(_mm256_packs_epi32(lo[0], lo[1]), _mm256_packs_epi32(lo[2], lo[3]));
        _mm256_storeu_si256((__m256i *)(out + x), r);
    }
    return x;
}

// readable gives a row that may be read DSCONV_SLACK bytes past its end: row itself or, near
// the end of the buffer, a copy.
static const uint8_t *readable(const uint8_t *row, size_t n, const uint8_t *end, uint8_t *copy) {
    if ((size_t)(end - row) >= n + DSCONV_SLACK) return row;
    memcpy(copy, row, n);
    return copy;
}

static void scale_rows_avx2(uint8_t *tmp, size_t tmp_stride, const uint8_t *src, const uint8_t *end, size_t stride,
                            int channels, int in_w, int rows, int out_w, int taps, const int32_t *start,
                            const int16_t *low, const int16_t *high, uint8_t *pad) {
    size_t in = (size_t)in_w * (size_t)channels;
    for (int y = 0; y < rows; y += 2) {
        size_t row = (size_t)y, next = y + 1 < rows ? row + 1 : row;
        scale_two_rows_avx2(tmp + row * tmp_stride, tmp + next * tmp_stride,
                            readable(src + row * stride, in, end, pad),
                            readable(src + next * stride, in, end, pad + in + DSCONV_SLACK),
                            channels, out_w, taps, start, low, high);
    }
}

static int have_avx2(void) { return __builtin_cpu_supports("avx2"); }
#else
#define HAVE_AVX2 0
static int have_avx2(void) { return 0; }
#endif

// scale_rows scales rows of src to rows of tmp.
static void scale_rows(uint8_t *tmp, size_t tmp_stride, const uint8_t *src, const uint8_t *end, size_t stride,
                       int channels, int in_w, int rows, int out_w, int taps, const int32_t *start,
                       const int16_t *low, const int16_t *high, uint8_t *pad, int simd) {
#if HAVE_AVX2
    if (simd) {
        scale_rows_avx2(tmp, tmp_stride, src, end, stride, channels, in_w, rows, out_w, taps, start, low, high, pad);
        return;
    }
#endif
    (void)end, (void)pad, (void)simd;
    for (int y = 0; y < rows; y++) {
        scale_row_c(tmp + (size_t)y * tmp_stride, src + (size_t)y * stride, channels, in_w, out_w, taps, start, low,
                    high);
    }
}

void dsconv_resample8(uint8_t *dst, const uint8_t *src, size_t src_len, size_t src_stride,
                      int channels, int in_w, int top, int bottom, int out_w, int out_h,
                      int hor_taps, const int32_t *hor_start, const int16_t *hor_low, const int16_t *hor_high,
                      int ver_taps, const int32_t *ver_start, const int16_t *ver_low, const int16_t *ver_high,
                      uint8_t *tmp, uint8_t *pad, int simd) {
    size_t out = (size_t)out_w * (size_t)channels, stride = src_stride;
    const uint8_t *rows = src + (size_t)top * src_stride;
    simd = simd && have_avx2();
    if (hor_taps != 0) {
        stride = out + DSCONV_SLACK;
        scale_rows(tmp, stride, rows, src + src_len, src_stride, channels, in_w, bottom - top, out_w, hor_taps,
                   hor_start, hor_low, hor_high, pad, simd);
        rows = tmp;
    }
    for (int y = 0; y < out_h; y++, dst += out) {
        if (ver_taps == 0) {
            memcpy(dst, rows + (size_t)y * stride, out);
            continue;
        }
        const uint8_t *from = rows + (size_t)(ver_start[y] - top) * stride;
        int n = bottom - ver_start[y] < ver_taps ? bottom - ver_start[y] : ver_taps;
        size_t done = 0;
#if HAVE_AVX2
        if (simd) done = sum_rows_avx2(dst, from, stride, out, n, ver_low, ver_high);
#endif
        sum_rows_c(dst, from, stride, done, out, n, ver_low, ver_high);
        ver_low += ver_taps;
        ver_high += ver_taps;
    }
}
