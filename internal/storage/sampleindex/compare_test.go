package sampleindex

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
)

// TestCompare: an index equals the rows that it was made from, and each difference is named.
func TestCompare(t *testing.T) {
	rows := someRows(rand.New(rand.NewPCG(3, 3)), 85, 2, 2)
	x := open(t, write(t, rows, []string{"a", "b"}, 2))
	for i := range rows {
		if err := x.Compare(i, &rows[i], true); err != nil {
			t.Error(err)
		}
	}
	for what, change := range map[string]func(r *Row){
		"key":                     func(r *Row) { r.Key += "x" },
		"split":                   func(r *Row) { r.Split += "x" },
		"label":                   func(r *Row) { r.Label++ },
		"size, encoding or shape": func(r *Row) { r.Shape[2]++ },
		"checksum":                func(r *Row) { r.Checksum[7]++ },
		"source":                  func(r *Row) { r.Source.ModTime++ },
		"columns":                 func(r *Row) { r.Columns = []string{r.Columns[0], "x"} },
		"edits":                   func(r *Row) { r.Provenance.Edited++ },
		"location":                func(r *Row) { r.Fields = []Location{r.Fields[0], {Offset: -1}} },
	} {
		r := rows[7]
		change(&r)
		if err := x.Compare(7, &r, true); !errors.Is(err, formats.ErrDamaged) || !strings.Contains(err.Error(), "its "+what+" is") {
			t.Errorf("another %s: %v", what, err)
		}
	}
}
