package conformance

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/checksum"
)

// differ tells the first difference between what came back and what was written, or "".
func differ(schema formats.Schema, got, want *formats.Sample) string {
	switch {
	case got.Key != want.Key:
		return fmt.Sprintf("key %q, want %q", got.Key, want.Key)
	case got.Split != want.Split:
		return fmt.Sprintf("key %q: split %q, want %q", want.Key, got.Split, want.Split)
	case got.Source != want.Source:
		return fmt.Sprintf("key %q: source %+v, want %+v", want.Key, got.Source, want.Source)
	case !slices.Equal(got.Columns, want.Columns):
		return fmt.Sprintf("key %q: columns %q, want %q", want.Key, got.Columns, want.Columns)
	case len(got.Values) != len(want.Values):
		return fmt.Sprintf("key %q: %d values, want %d", want.Key, len(got.Values), len(want.Values))
	case got.Checksum != want.Checksum:
		return fmt.Sprintf("key %q: sum %x, want %x", want.Key, got.Checksum, want.Checksum)
	}
	for i := range got.Values {
		if d := differValue(&got.Values[i], &want.Values[i], i == schema.ImageIndex()); d != "" {
			return fmt.Sprintf("key %q: field %s: %s", want.Key, schema[i].Name, d)
		}
	}
	if sum := checksum.SampleChecksum(schema, got); sum != want.Checksum {
		return fmt.Sprintf("key %q: the values have the sum %x, want %x", want.Key, sum, want.Checksum)
	}
	return ""
}

func differValue(got, want *formats.Value, designated bool) string {
	if got.Encoding != want.Encoding {
		return fmt.Sprintf("encoding %q, want %q", got.Encoding, want.Encoding)
	}
	if !bytes.Equal(got.Data, want.Data) {
		return fmt.Sprintf("%d bytes that differ from the %d written", len(got.Data), len(want.Data))
	}
	isRaw := want.Encoding == formats.Raw || want.Encoding == formats.RawZstd
	if !slices.Equal(got.Shape, want.Shape) && (isRaw || designated || len(got.Shape) > 0) {
		return fmt.Sprintf("shape %v, want %v", got.Shape, want.Shape)
	}
	if got.DType != want.DType && (isRaw || got.DType != "") {
		return fmt.Sprintf("element type %q, want %q", got.DType, want.DType)
	}
	return ""
}

// same reads every sample of ds, in a mixed order and into one Sample, and compares.
func same(t *testing.T, ds formats.Dataset, c set) {
	t.Helper()
	if ds.Len() != len(c.samples) {
		t.Fatalf("%d samples, want %d", ds.Len(), len(c.samples))
	}
	want := c.inKeyOrder()
	var s formats.Sample
	s.Resize(len(c.schema) + 3)
	s.Columns = []string{"left", "over", "from", "before"}
	for _, i := range c.order(false) {
		if err := ds.Read(i, &s); err != nil {
			t.Fatalf("read %q: %v", want[i].Key, err)
		}
		if d := differ(c.schema, &s, want[i]); d != "" {
			t.Fatal(d)
		}
	}
}
