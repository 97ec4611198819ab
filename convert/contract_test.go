package convert_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/shard"
)

// own is a newcomer's Dataset of gray images of 4x4 pixels; change breaks its contract.
type own struct {
	change func(i int, s *formats.Sample)
	info   func(i int) error
}

func (own) Meta() *formats.Meta {
	return &formats.Meta{Schema: formats.Schema{
		{Name: "image", Kind: formats.Image},
		{Name: "label", Kind: formats.Label, Classes: []string{"even", "odd"}},
	}}
}
func (own) Len() int     { return 20 }
func (own) Close() error { return nil }

func (d own) Info(i int) (formats.Info, error) {
	if d.info != nil {
		return formats.Info{}, d.info(i)
	}
	return formats.Info{Key: fmt.Sprintf("n%02d", i), Label: int64(i % 2)}, nil
}

func (d own) Read(i int, s *formats.Sample) error {
	s.Key = fmt.Sprintf("n%02d", i)
	s.Resize(2)
	s.Values[0] = formats.Value{Data: make([]byte, 16), Encoding: formats.Raw, DType: formats.Uint8, Shape: []int{4, 4, 1}}
	s.Values[1].SetInt64(int64(i % 2))
	if d.change != nil {
		d.change(i, s)
	}
	return nil
}

func pack(t *testing.T, d own) (*convert.Report, error) {
	t.Helper()
	return convert.Run(t.Context(), d, shard.Format{}, filepath.Join(t.TempDir(), "x.tar"), convert.Options{Order: convert.KeyOrder})
}

// TestContractBreachEndsTheRun: it is the program's mistake, and no bad image. The error names the key
// and what is wrong.
func TestContractBreachEndsTheRun(t *testing.T) {
	if r, err := pack(t, own{}); err != nil || r.Written != 20 {
		t.Fatalf("a Dataset that keeps its contract: %v: %+v", err, r)
	}
	for want, change := range map[string]func(s *formats.Sample){
		"no key":                           func(s *formats.Sample) { s.Key = "" },
		`the key "other"`:                  func(s *formats.Sample) { s.Key = "other" },
		"1 values for 2 fields":            func(s *formats.Sample) { s.Values = s.Values[:1] },
		"field image has no Encoding":      func(s *formats.Sample) { s.Values[0].Encoding = "" },
		`cannot have the encoding "plain"`: func(s *formats.Sample) { s.Values[0].Encoding = formats.Plain },
		`cannot have the encoding ""`:      func(s *formats.Sample) { s.Values[1].Encoding = "" },
		"set DType to uint8 or uint16":     func(s *formats.Sample) { s.Values[0].DType = "" },
		"shape []":                         func(s *formats.Sample) { s.Values[0].Shape = nil },
		"15 bytes are not raw pixels":      func(s *formats.Sample) { s.Values[0].Data = s.Values[0].Data[:15] },
		`0 bytes and type ""`:              func(s *formats.Sample) { s.Values[1] = formats.Value{Encoding: formats.Raw} },
		"class 2, and the schema has 2":    func(s *formats.Sample) { s.Values[1].SetInt64(2) },
		"class -1, but Info has 1":         func(s *formats.Sample) { s.Values[1].SetInt64(formats.NoLabel) },
		`the split "val", but Info has ""`: func(s *formats.Sample) { s.Split = "val" },
		"panicked: oops":                   func(*formats.Sample) { panic("oops") },
		"contract_test.go:":                func(s *formats.Sample) { s.Values = s.Values[:99] },
	} {
		r, err := pack(t, own{change: func(i int, s *formats.Sample) {
			if i == 11 {
				change(s)
			}
		}})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "n11") || strings.Contains(err.Error(), "internal error") {
			t.Errorf("%s: %v", want, err)
		}
		if r.Failed != 1 || len(r.Skipped) > 0 || r.Written != 11 {
			t.Errorf("%s: %+v", want, r)
		}
	}
}

// TestReadLeavesNothingOut: what Read does not set is empty, and not another sample's.
func TestReadLeavesNothingOut(t *testing.T) {
	_, err := pack(t, own{change: func(i int, s *formats.Sample) {
		if i > 0 {
			s.Key = s.Key[:1]
		}
	}})
	if !errors.Is(err, formats.ErrKey) {
		t.Error(err)
	}
	ds := silent{}
	r, err := convert.Run(t.Context(), ds, shard.Format{}, filepath.Join(t.TempDir(), "x.tar"), convert.Options{Order: convert.KeyOrder, Workers: 1, IOWorkers: 1})
	if err == nil || !strings.Contains(err.Error(), `key "n05"`) || !strings.Contains(err.Error(), "no key") || r.Written != 5 {
		t.Errorf("%v: %+v", err, r)
	}
}

// silent reads its first samples only.
type silent struct{ own }

func (d silent) Read(i int, s *formats.Sample) error {
	if i < 5 {
		return d.own.Read(i, s)
	}
	return nil
}

// TestInfoFails: the error says which sample's.
func TestInfoFails(t *testing.T) {
	_, err := pack(t, own{info: func(i int) error {
		if i == 5 {
			return errors.New("no info")
		}
		return nil
	}})
	if err == nil || !strings.Contains(err.Error(), "sample 5 of the source: no info") {
		t.Error(err)
	}
	_, err = pack(t, own{info: func(int) error { panic("oops") }})
	if err == nil || !strings.Contains(err.Error(), "panicked: oops") || !strings.Contains(err.Error(), "contract_test.go:") || strings.Contains(err.Error(), "report") {
		t.Error(err)
	}
}
