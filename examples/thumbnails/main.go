// Thumbnails SRC DST writes a JPEG, upright, of at most 256x256 pixels, of each photo in SRC to DST.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"image/jpeg"
	"log"
	"os"

	"github.com/dsconv/dsconv/preprocess"
	"golang.org/x/sync/errgroup"
)

func thumbnail(src, dst string) error {
	photo, err := os.ReadFile(src)
	if err != nil {
		return err
	}
	img, err := preprocess.Thumbnail(bytes.NewReader(photo), preprocess.ThumbnailOptions{W: 256, H: 256})
	if err != nil {
		return fmt.Errorf("%s: %w", src, err)
	}
	var b bytes.Buffer
	return errors.Join(jpeg.Encode(&b, img, nil), os.WriteFile(dst, b.Bytes(), 0o600))
}

func main() {
	files, err := os.ReadDir(os.Args[1])
	var g errgroup.Group
	g.SetLimit(16)
	for _, f := range files {
		g.Go(func() error { return thumbnail(os.Args[1]+"/"+f.Name(), os.Args[2]+"/"+f.Name()+".jpg") })
	}
	if err := errors.Join(err, g.Wait()); err != nil {
		log.Fatal(err)
	}
	log.Println(len(files), "thumbnails in", os.Args[2])
}
