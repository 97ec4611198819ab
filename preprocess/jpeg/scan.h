// A Huffman decoder for the sequential scans of sound JPEGs, in the place of libjpeg's: faster,
// and able to go to any restart marker.
#ifndef DSCONV_JPEG_SCAN_H
#define DSCONV_JPEG_SCAN_H

#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <jpeglib.h>

typedef struct dsconv_scan dsconv_scan;

// dsconv_scan_can_attach says whether there is a way to take libjpeg's place.
int dsconv_scan_can_attach(void);

// dsconv_scan_new gives NULL where there is no memory, or no way to take libjpeg's place.
dsconv_scan *dsconv_scan_new(void);
void dsconv_scan_free(dsconv_scan *s);

// dsconv_scan_attach takes over the scan that c is about to read, if it is of a kind that s
// knows; it is called after jpeg_start_decompress. What is unusual in the data, so that libjpeg
// might warn or guess, makes s give up: it jumps to *jump, and dsconv_scan_gave_up is true. It gives 0
// where there is no memory.
int dsconv_scan_attach(dsconv_scan *s, struct jpeg_decompress_struct *c, jmp_buf *jump);
int dsconv_scan_gave_up(const dsconv_scan *s);

// dsconv_scan_columns says that of all blocks those of the MCUs from first to last of each row
// are used; it is called before the first row is read.
void dsconv_scan_columns(dsconv_scan *s, JDIMENSION first, JDIMENSION last);

#endif
