package inmemory

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/codec"
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader"
)

// pngs is a dataset of n PNGs, all but every fourth of them in the split train. Pixels tell their sample.
type pngs struct {
	n   int
	bad func(i int) bool
}

func (d *pngs) Meta() *formats.Meta {
	return &formats.Meta{
		Schema: formats.Schema{{Name: "image", Kind: formats.Image}, {Name: "label", Kind: formats.Label, Classes: []string{"a", "b"}}},
		Splits: []formats.Split{{Name: "train"}, {Name: "val"}},
	}
}

func (d *pngs) Len() int { return d.n }

func (d *pngs) Info(i int) (formats.Info, error) {
	split := "train"
	if i%4 == 0 {
		split = "val"
	}
	return formats.Info{Key: fmt.Sprintf("%04d", i), Split: split, Label: int64(i % 2)}, nil
}

func (d *pngs) Read(i int, s *formats.Sample) error {
	in, _ := d.Info(i)
	if d.bad != nil && d.bad(i) {
		return fmt.Errorf("%s: %w", in.Key, formats.ErrDamaged)
	}
	m := image.NewRGBA(image.Rect(0, 0, 6, 4))
	for y := range 4 {
		for x := range 6 {
			m.Set(x, y, color.RGBA{R: uint8(i), G: uint8(x), B: uint8(y), A: 255})
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		return err
	}
	s.Key, s.Split = in.Key, in.Split
	s.Resize(2)
	s.Values[0].Copy(b.Bytes())
	s.Values[0].Encoding = formats.PNG
	s.Values[1].SetInt64(in.Label)
	return nil
}

func (d *pngs) Close() error { return nil }

var rgb = codec.DecodeOptions{Color: pixel.ColorRGB}

func TestHold(t *testing.T) {
	ds := &pngs{n: 40}
	held, err := Hold(t.Context(), ds, Options{Split: "train", Limit: 10 * 6 * 4 * 3, Decode: rgb})
	if err != nil {
		t.Fatal(err)
	}
	if held.Held() != 10 || held.Len() != 40 {
		t.Fatalf("%d samples of %d are held", held.Held(), held.Len())
	}
	for _, s := range held.Samples() {
		if s.Split != "train" {
			t.Errorf("sample %s of the split %q is held", s.Key, s.Split)
		}
	}
	var got, want formats.Sample
	for i := range held.Len() {
		if err := held.Read(i, &got); err != nil {
			t.Fatal(err)
		}
		in, _ := held.Info(i)
		if got.Key != in.Key || got.Split != in.Split {
			t.Errorf("sample %d is %s of %q", i, got.Key, got.Split)
		}
		var of int // the sample that it stands for is near
		if _, err := fmt.Sscanf(held.Samples()[i*10/40].Key, "%d", &of); err != nil {
			t.Fatal(err)
		}
		if of < i-4 || of > i+4 {
			t.Errorf("sample %d has the values of %d", i, of)
		}
		if err := ds.Read(of, &want); err != nil || !bytes.Equal(got.Values[0].Data, want.Values[0].Data) {
			t.Errorf("sample %d is not as stored: %v", i, err)
		}
	}
	if held.View(40, &got) == nil || held.View(-1, &got) == nil {
		t.Error("samples that there are not were lent")
	}
}

func TestDecoded(t *testing.T) {
	held, err := Hold(t.Context(), &pngs{n: 8}, Options{Limit: 1 << 20, Decode: rgb})
	if err != nil {
		t.Fatal(err)
	}
	pixels, err := held.Decoded(t.Context(), rgb)
	if err != nil {
		t.Fatal(err)
	}
	if pixels.Held() != 8 {
		t.Fatalf("%d samples", pixels.Held())
	}
	for _, s := range pixels.Samples() {
		if n := len(s.Values[0].Data); n != 6*4*3 {
			t.Errorf("sample %s has %d bytes", s.Key, n)
		}
	}
	// A loader makes the same batches of the stored samples, those in memory, and their pixels.
	var want *reader.Batch
	for name, ds := range map[string]formats.Dataset{"bytes": held, "pixels": pixels, "stored": &pngs{n: 8}} {
		l, err := reader.New(ds, reader.Config{BatchSize: 8, Workers: 2})
		if err != nil {
			t.Fatal(name, err)
		}
		for batch, err := range l.Epoch(t.Context(), 0) {
			if err != nil {
				t.Fatal(name, err)
			}
			if want == nil {
				want = batch.Clone()
			}
			if !bytes.Equal(reader.Pixels[uint8](batch), reader.Pixels[uint8](want)) || !bytes.Equal(batch.LabelBytes(), want.LabelBytes()) {
				t.Errorf("%s: other batches", name)
			}
		}
		if err := l.Close(); err != nil {
			t.Error(name, err)
		}
	}
}

func TestHoldPassesOverBadSamples(t *testing.T) {
	held, err := Hold(t.Context(), &pngs{n: 20, bad: func(i int) bool { return i%5 != 3 }}, Options{Limit: 1 << 20, Decode: rgb})
	if err != nil || held.Held() != 4 {
		t.Errorf("%d samples held: %v", held.Held(), err)
	}
	_, err = Hold(t.Context(), &pngs{n: 20, bad: func(int) bool { return true }}, Options{Limit: 1 << 20, Decode: rgb})
	if !errors.Is(err, formats.ErrDamaged) {
		t.Errorf("only bad samples: %v", err)
	}
	if _, err = Hold(t.Context(), &pngs{n: 1}, Options{Split: "train", Limit: 1 << 20, Decode: rgb}); !errors.Is(err, errNone) {
		t.Errorf("no sample of the split: %v", err)
	}
	held, err = Hold(t.Context(), &pngs{n: 20}, Options{Limit: 1, Decode: rgb})
	if err != nil || held.Held() != 1 {
		t.Errorf("%d samples held without room: %v", held.Held(), err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err = Hold(ctx, &pngs{n: 20}, Options{Limit: 1, Decode: rgb}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
