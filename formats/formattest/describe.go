package formattest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/dsconv/dsconv/formats"
)

// Description is what a dataset holds, without the way it is stored: what one version reads from
// a dataset can be compared with what another reads.
type Description struct {
	Schema  formats.Schema
	Splits  []formats.Split
	Columns []string
	Samples []DescribedSample
}

// DescribedSample is one sample of a Description.
type DescribedSample struct {
	Key, Split, Source string
	Label              int64
	Shape              [3]int
	Columns            []string
	Values             []DescribedValue
}

// DescribedValue is one value; SHA256 is of its bytes, in hexadecimal digits.
type DescribedValue struct {
	Encoding formats.Encoding
	DType    formats.DType
	Shape    []int
	SHA256   string
}

// Describe reads all samples of ds.
func Describe(ds formats.Dataset) (Description, error) {
	m := ds.Meta()
	d := Description{Schema: m.Schema, Splits: m.Splits, Columns: m.Columns}
	var smp formats.Sample
	for i := range ds.Len() {
		info, err := ds.Info(i)
		if err != nil {
			return d, fmt.Errorf("sample %d: %w", i, err)
		}
		if err := ds.Read(i, &smp); err != nil {
			return d, fmt.Errorf("sample %d: %w", i, err)
		}
		s := DescribedSample{
			Key: info.Key, Split: info.Split, Source: info.Source.Path, Label: info.Label, Shape: info.Shape, Columns: info.Columns,
		}
		for _, v := range smp.Values {
			sum := sha256.Sum256(v.Data)
			s.Values = append(s.Values, DescribedValue{v.Encoding, v.DType, append([]int(nil), v.Shape...), hex.EncodeToString(sum[:])})
		}
		d.Samples = append(d.Samples, s)
	}
	return d, nil
}
