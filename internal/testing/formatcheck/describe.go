package formatcheck

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/dsconv/dsconv/formats"
)

// Description is what a dataset holds, without the way it is stored: what one version reads from
// a dataset can be compared with what another reads.
type Description struct {
	Schema  formats.Schema    `json:"Schema"`
	Splits  []formats.Split   `json:"Splits"`
	Columns []string          `json:"Columns"`
	Samples []DescribedSample `json:"Samples"`
}

// DescribedSample is one sample of a Description.
type DescribedSample struct {
	Key     string           `json:"Key"`
	Split   string           `json:"Split"`
	Source  string           `json:"Source"`
	Label   int64            `json:"Label"`
	Shape   [3]int           `json:"Shape"`
	Columns []string         `json:"Columns"`
	Values  []DescribedValue `json:"Values"`
}

// DescribedValue is one value; SHA256 is of its bytes, in hexadecimal digits.
type DescribedValue struct {
	Encoding formats.Encoding `json:"Encoding"`
	DType    formats.DType    `json:"DType"`
	Shape    []int            `json:"Shape"`
	SHA256   string           `json:"SHA256"`
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
