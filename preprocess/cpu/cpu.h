// The vector instructions that kernels are chosen by.
#ifndef DSCONV_CPU_H
#define DSCONV_CPU_H

// What a processor can do; a level has all of those below it.
enum { DSCONV_PORTABLE = 0, DSCONV_AVX2 = 1, DSCONV_AVX512 = 2 };

// dsconv_level is the processor's.
int dsconv_level(void);

#endif
