//go:build deadcode

// Command publicapi is never run: it tells scripts/deadcode which functions are there for users of
// the Go packages alone, so that dsconv's programs don't call them. Each is in docs/go.md or in an example of its package.
package main

import (
	"context"

	"github.com/dsconv/dsconv"
	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/edit"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder"
	"github.com/dsconv/dsconv/internal/forgotten"
	"github.com/dsconv/dsconv/preprocess"
	"github.com/dsconv/dsconv/preprocess/codec"
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader"
	"github.com/dsconv/dsconv/trainer"
)

func main() {
	ctx := context.Background()
	_, _ = dsconv.Open("")
	_ = dsconv.Samples(nil)
	_, _ = dsconv.Pack(ctx, "", "", dsconv.Options{})
	_, _ = dsconv.PackDataset(ctx, nil, "", dsconv.Options{})
	_, _ = dsconv.NewLoader("", reader.Config{})
	_, _ = convert.Run(ctx, nil, nil, "", convert.Options{})
	_, _ = edit.Remove(ctx, nil, "", nil, edit.Options{})
	_, _ = dsconv.OpenSources(ctx, nil, folder.Config{}, formats.ReadOptions{})
	var t *trainer.Trainer
	_, _ = t.Step(nil)
	images()
	loading()
	// What names, in tests, what they forgot to close: internal/testing/forgottentest.
	_, _ = forgotten.StillOpen(), forgotten.Closed()
}

func images() {
	_, _ = codec.Decode(nil, codec.DecodeOptions{})
	_, _ = codec.DecodeFrom(nil, codec.DecodeOptions{})
	_, _ = codec.DecodeImage(nil, codec.DecodeOptions{})
	_, _, _ = codec.Inspect(nil)
	_ = codec.Encode(nil, nil, codec.EncodeOptions{})
	_ = codec.EncodeImage(nil, nil, codec.EncodeOptions{})
	_, _ = pixel.FromImage(nil)
	_, _ = preprocess.Thumbnail(nil, preprocess.ThumbnailOptions{})
	_, _ = preprocess.ThumbnailOf(nil, preprocess.ThumbnailOptions{})
}

func loading() {
	_ = reader.ViewPixels[uint8](nil, 0)
	var l reader.Loader
	if run, err := l.Start(context.Background(), 0); err == nil { // reader's package comment
		_, _ = run.Next(context.Background())
		run.Stop()
	}
	new(reader.Batch).Keep() // reader's package comment
	new(reader.Batch).Release()
	new(reader.Batch).Clone()
}
