// A Huffman decoder for sequential scans of intact JPEGs that replaces libjpeg's: it is faster and can
// start at any restart marker.
#ifndef DSCONV_JPEG_SCAN_H
#define DSCONV_JPEG_SCAN_H

#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <jpeglib.h>

typedef struct dsconv_scan dsconv_scan;

// dsconv_scan_can_attach reports whether libjpeg's decoder can be replaced.
int dsconv_scan_can_attach(void);

// dsconv_scan_new returns NULL if there is no memory, or libjpeg's decoder cannot be replaced.
dsconv_scan *dsconv_scan_new(void);
void dsconv_scan_free(dsconv_scan *s);

// dsconv_scan_attach replaces the decoder for the scan that c is about to read, if s supports that kind of
// scan. Call it after jpeg_start_decompress. If the data are irregular, so that libjpeg might warn or
// guess, s gives up: it jumps to *jump, and dsconv_scan_gave_up returns true. dsconv_scan_attach returns 0
// if there is no memory.
int dsconv_scan_attach(dsconv_scan *s, struct jpeg_decompress_struct *c, jmp_buf *jump);
int dsconv_scan_gave_up(const dsconv_scan *s);

// dsconv_scan_columns sets which MCUs of each row are used, from first to last. Call it before the first
// row is read.
void dsconv_scan_columns(dsconv_scan *s, JDIMENSION first, JDIMENSION last);

#endif
