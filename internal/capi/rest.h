// What a consumer does to a batch's images after it has them: see reader.Rest. Loaders that were opened with
// "deferred": true or "decoder": "gpu" leave it to the consumer.
//
// JSON of open: the argument "deferred" is a boolean. The reply has "rest": null if nothing is ever left to
// do, else a list with an object for each view:
//   "dtype", "shape"   of one image in the block or on the device: "uint8" and [H, W, C] with "deferred"
//   "channels"         C
//   "tables"           whether dsconv_tables has this view's; false if values already are what they become
//   "previous"         whether blocks have room for one more image after the last one of the batch: the one
//   that the
//                      first is mixed with
// "parts" and "views" describe what the images become: their dtype, shape and layout, as without "deferred",
// and as dsconv_pick gives them. Offsets of views in a block, and block_size, are those of the images in the
// block.
//
// For each view of a batch the consumer does this, in this order:
//   1. It mirrors image i left to right if flips[i] & 1, top to bottom if flips[i] & 2.
//   2. It replaces each value v of channel c by the element whose bits are tables[c][v], if there are tables.
//   3. It brings the images into the layout of the loader.
//   4. It erases, in the order of the erasures: values, rounded to the element type, replace the region of
//   the image.
//   5. It mixes image i with image i-1 as it was after step 4, and image 0 with the previous one, at index n:
//      with DSCONV_BLEND x[i] = round(x[i-1] * (1 - share)) + round(x[i] * share), where 1 - share is
//      `other`, each product and the sum rounded to the element type; with DSCONV_CUT the region of x[i]
//      becomes that of x[i-1].
// Labels are mixed already.
#ifndef DSCONV_REST_H
#define DSCONV_REST_H

#include <stdint.h>

enum {
  DSCONV_UNMIXED = 0, // there is no previous image
  DSCONV_BLEND = 1,
  DSCONV_CUT = 2,
};

// dsconv_rest describes what is left to do on a view of a batch.
typedef struct {
  int64_t images;     // flips that there are: those of the batch, and of the previous one if it is mixed
  int64_t erasures;   // numbers of erasures and of all their values
  int64_t values;     //
  int32_t mixing;     // DSCONV_UNMIXED, ...
  float share, other; // weights of an image and of the one before it: DSCONV_BLEND
  int32_t x, y, w, h; // the region, which may be empty: DSCONV_CUT
} dsconv_rest_t;

// dsconv_erasure is a region of an image whose pixels get other values.
typedef struct {
  int64_t image;      // its index; n is the previous one
  int64_t at;         // index of the first of its values
  int32_t x, y, w, h; // the region, in pixels from the top left
  int32_t noise;      // 0: one value for each channel. 1: [channels][h][w] values, whatever the layout
  int32_t unused;
} dsconv_erasure_t;

#endif
