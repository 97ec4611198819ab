package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/urfave/cli/v2"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/reader"
	"github.com/dsconv/dsconv/reader/order"
)

// configOf is the description of a loader that a command's flags give.
func configOf(t *testing.T, read func(*cli.Context) (reader.Config, error), flags []cli.Flag, args ...string) reader.Config {
	t.Helper()
	var got reader.Config
	app := cli.App{Flags: flags, Action: func(cc *cli.Context) (err error) {
		got, err = read(cc)
		return err
	}}
	if err := app.Run(append([]string{"x"}, args...)); err != nil {
		t.Fatal(err)
	}
	return got
}

// TestLoaderDefaults: the flags' defaults are those of reader.Config, but for a shuffled order and a
// seed of 1. What a command adds is what its model takes.
func TestLoaderDefaults(t *testing.T) {
	want, err := reader.Config{BatchSize: 1, Seed: 1, Order: order.Spec{Kind: order.Full}}.WithDefaults()
	if err != nil {
		t.Fatal(err)
	}
	got, err := configOf(t, loaderConfig, loaderFlags("", "", "", ""), "--batch", "1").WithDefaults()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the flags' defaults differ from reader.Config's (-want +got):\n%s", diff)
	}
	train := configOf(t, learnConfig, trainCommand(nil).Flags)
	if train.BatchSize != 32 || train.DType != formats.Uint8 || len(train.Transforms) != 2 {
		t.Errorf("train loads %+v", train)
	}
}

// TestLoaderFlagsAreRead gives each flag a value that is not its default.
func TestLoaderFlagsAreRead(t *testing.T) {
	args := []string{
		"--batch=3", "--workers=5", "--augment=flip", "--dtype=float16", "--decode=fast", "--split=val", "--seed=7",
		"--order=block:4:2", "--prefetch=6", "--cache=encoded:8MB", "--on-error=skip", "--max-pixels=9",
	}
	got := configOf(t, loaderConfig, loaderFlags("", "", "", ""), args...)
	want := reader.Config{
		BatchSize: 3, Workers: 5, DType: formats.Float16, FastDecode: true, Split: "val", Seed: 7, Prefetch: 6,
		Order: order.Spec{Kind: order.Block, Block: 4, Window: 2}, Cache: reader.Cache{Kind: reader.Encoded, Limit: 8e6},
		OnError: reader.Skip, MaxPixels: 9, Transforms: got.Transforms,
	}
	if diff := cmp.Diff(want, got); diff != "" || len(got.Transforms) != 1 {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if n := len(loaderFlags("", "", "", "")); n != len(args)+1 { // --size excludes --augment
		t.Errorf("%d flags, %d are tried", n, len(args)+1)
	}
}
