// AVX-512 on any processor, to test what is written for it: SIMDe's, and, in two halves, what
// its version in Debian 12 lacks. See make test.
#define SIMDE_ENABLE_NATIVE_ALIASES
#include <simde/x86/avx2.h>
#include <simde/x86/avx512.h>
#include <simde/x86/f16c.h>
#include <simde/x86/fma.h>

static inline simde__m512i both(simde__m256i low, simde__m256i high) {
  simde__m512i_private r;
  r.m256i[0] = low, r.m256i[1] = high;
  return simde__m512i_from_private(r);
}

static inline simde__m256i half(simde__m512i v, int i) { return simde__m512i_to_private(v).m256i[i]; }

static inline simde__m512i shifted(simde__m512i v, int n) {
  return both(simde_mm256_srai_epi32(half(v, 0), n), simde_mm256_srai_epi32(half(v, 1), n));
}

static inline simde__m512i multiplied(simde__m512i a, simde__m512i b) {
  return both(simde_mm256_madd_epi16(half(a, 0), half(b, 0)), simde_mm256_madd_epi16(half(a, 1), half(b, 1)));
}

static inline simde__m512i widened(simde__m128i v) {
  return both(simde_mm256_cvtepu8_epi32(v), simde_mm256_cvtepu8_epi32(simde_mm_srli_si128(v, 8)));
}

static inline simde__m512 converted(simde__m512i v) {
  simde__m512_private r;
  for (int i = 0; i < 2; i++)
    r.m256[i] = simde_mm256_cvtepi32_ps(half(v, i));
  return simde__m512_from_private(r);
}

static inline simde__m256i joined(simde__m128i low, simde__m128i high) {
  return simde_mm256_inserti128_si256(simde_mm256_castsi128_si256(low), high, 1);
}

static inline simde__m256i halved(simde__m512 v) {
  simde__m512_private x = simde__m512_to_private(v);
  return joined(simde_mm256_cvtps_ph(x.m256[0], SIMDE_MM_FROUND_TO_NEAREST_INT),
                simde_mm256_cvtps_ph(x.m256[1], SIMDE_MM_FROUND_TO_NEAREST_INT));
}

static inline simde__m256i narrowed(simde__m512i v) {
  simde__m512i_private x = simde__m512i_to_private(v);
  int16_t r[16];
  for (int i = 0; i < 16; i++)
    r[i] = (int16_t)x.i32[i];
  return simde_mm256_loadu_si256((const simde__m256i *)r);
}

#undef _mm512_madd_epi16
#define _mm512_madd_epi16(a, b) multiplied(a, b)
#define _mm512_srai_epi32(v, n) shifted(v, n)
#define _mm512_cvtepu8_epi32(v) widened(v)
#define _mm512_cvtepi32_ps(v) converted(v)
#define _mm512_cvtps_ph(v, rounding) halved(v)
#define _mm512_cvtepi32_epi16(v) narrowed(v)
