// Debian's archive of HDF5 is compiled for executables: it reaches for libc's stdin, stdout and
// stderr as a shared library cannot. These are the library's own, hidden from everybody else.
#include <stdio.h>

#ifdef __GLIBC__
#undef stdin
#undef stdout
#undef stderr

extern struct _IO_FILE_plus _IO_2_1_stdin_, _IO_2_1_stdout_, _IO_2_1_stderr_;

#define OWN __attribute__((visibility("hidden"))) struct _IO_FILE_plus *

OWN dsconv_stdin __asm__("stdin") = &_IO_2_1_stdin_;
OWN dsconv_stdout __asm__("stdout") = &_IO_2_1_stdout_;
OWN dsconv_stderr __asm__("stderr") = &_IO_2_1_stderr_;
#endif
