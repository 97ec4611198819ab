// Detects what the processor supports. __builtin_cpu_supports always says no if the compiler's runtime
// library does not detect it, as with Zig.
#include "level.h"

#ifdef DSCONV_EMULATE_AVX512 // for tests
int dsconv_level(void) { return DSCONV_AVX512; }

#elif defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>

// The bits of XCR0 that say that the system saves the registers of each level.
enum { YMM = 0x06, ZMM = 0xe6 };

static unsigned saved_registers(void) {
  unsigned low, high;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

static int has(unsigned bits, unsigned wanted) { return (bits & wanted) == wanted; }

static int detect(void) {
  unsigned a, b, c, d, older;
  if (!__get_cpuid(1, &a, &b, &older, &d) || !has(older, bit_OSXSAVE | bit_FMA | bit_F16C) ||
      !has(saved_registers(), YMM))
    return DSCONV_PORTABLE;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || !has(b, bit_AVX2))
    return DSCONV_PORTABLE;
  return has(b, bit_AVX512F | bit_AVX512BW) && has(saved_registers(), ZMM) ? DSCONV_AVX512 : DSCONV_AVX2;
}

int dsconv_level(void) {
  static int cached = -1; // cpuid is slow in a virtual machine
  int level = __atomic_load_n(&cached, __ATOMIC_RELAXED);
  if (level < 0) {
    level = detect();
    __atomic_store_n(&cached, level, __ATOMIC_RELAXED);
  }
  return level;
}

#else
int dsconv_level(void) { return DSCONV_PORTABLE; }
#endif
