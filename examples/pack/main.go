// Pack packs a folder of images into a dataset whose format the suffix of the destination names,
// for example train.lmdb. Ctrl-C stops it; the same command resumes.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"os/signal"

	"github.com/dsconv/dsconv"
	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/preprocess"
	"github.com/dsconv/dsconv/preprocess/codec"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: pack FOLDER DST.lmdb")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	o := dsconv.Options{Options: convert.Options{Checkpoint: 1 << 20}}
	o.Recipe = preprocess.Recipe{EXIF: pixel.EXIFApply, Encode: codec.EncodeOptions{Encoding: formats.JPEG, Quality: 90}}
	o.Recipe.Resize = preprocess.Resize{Mode: preprocess.ResizeShorter, W: 256}
	o.Progress = func(p convert.Progress) {
		fmt.Fprintf(os.Stderr, "\r%d/%d images, %d skipped ", p.Done, p.Total, p.Skipped)
	}
	r, err := dsconv.Pack(ctx, os.Args[1], os.Args[2], o)
	stop()
	for _, s := range r.Skipped {
		fmt.Printf("\nskipped %s: %s", s.Path, s.Cause)
	}
	fmt.Printf("\n%d of %d written, %d skipped, %d left\n", r.Written, r.Found, len(r.Skipped), r.NotReached)
	if err != nil {
		log.Fatal(err) // after Ctrl-C it is context.Canceled
	}
}
