// The vector instructions by which kernels are chosen.
#ifndef DSCONV_CPU_H
#define DSCONV_CPU_H

// The levels of instruction sets; each includes those below it.
enum { DSCONV_PORTABLE = 0, DSCONV_AVX2 = 1, DSCONV_AVX512 = 2 };

// dsconv_level is the highest level that the processor supports.
int dsconv_level(void);

#endif
