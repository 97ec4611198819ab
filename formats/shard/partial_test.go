package shard

import (
	"fmt"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/checksum"
	"github.com/dsconv/dsconv/internal/testing/formatcheck"
)

// FuzzPartial: see formattest.
func FuzzPartial(f *testing.F) {
	m := formats.Meta{Version: formats.Version, Format: "shard", Columns: []string{"note"}, Schema: formats.Schema{
		{Name: "image", Kind: formats.Image},
		{Name: "label", Kind: formats.Label, Classes: []string{"cat", "dog"}},
	}}
	samples := make([]*formats.Sample, 24)
	for i := range samples {
		s := &formats.Sample{Key: fmt.Sprintf("c/%03d", i), Split: "train", Columns: []string{"x"}, Values: []formats.Value{
			{Data: fmt.Appendf([]byte("\xff\xd8\xff"), "image %d", i*i), Encoding: formats.JPEG, Shape: []int{1, 2, 3}}, {},
		}}
		s.Values[1].SetInt64(int64(i % 2))
		s.Checksum = checksum.SampleChecksum(m.Schema, s)
		samples[i] = s
	}
	formatcheck.FuzzPartial(f, Format{}, "x-%02d.tar", m, samples, nil)
}
