package description_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/description"
	"github.com/dsconv/dsconv/internal/storage/indexfile"
	"github.com/dsconv/dsconv/internal/storage/sampleindex"
)

// TestCheckRows: rows that differ from the index are named, the first ones one by one.
func TestCheckRows(t *testing.T) {
	const n = 3000
	rows := func(change func(i int, r *sampleindex.Row)) sampleindex.Rows {
		return func(yield func(r *sampleindex.Row) error) error {
			for i := range n {
				r := sampleindex.Row{Info: formats.Info{Key: fmt.Sprintf("%04d", i), Label: int64(i % 7), Size: 10}}
				r.Location.Offset = int64(i)
				r.Location.Length = 10
				change(i, &r)
				if err := yield(&r); err != nil {
					return err
				}
			}
			return nil
		}
	}
	same := func(int, *sampleindex.Row) {}
	path := filepath.Join(t.TempDir(), "index")
	f, err := os.Create(path)
	must(t, err)
	must(t, errors.Join(sampleindex.Build(f, nil, 0, rows(same), sampleindex.ID{}), f.Close()))
	b, err := os.ReadFile(path)
	must(t, err)
	x, err := sampleindex.Open(b, path)
	must(t, err)
	d := description.New(&formats.Meta{Count: n}, indexfile.Inside(x))
	for _, c := range []struct {
		change  func(i int, r *sampleindex.Row)
		located bool
		want    []string
	}{
		{same, true, nil},
		{func(_ int, r *sampleindex.Row) { r.Location = sampleindex.Location{} }, false, nil},
		{func(i int, r *sampleindex.Row) { r.Label += int64(i / (n - 1)) }, false, []string{`key "2999": its label`}},
		{func(i int, r *sampleindex.Row) { r.Size += int64(i / (n - 12)) }, false, append(many(10, "its size"), "2 more samples")},
	} {
		var got []string
		must(t, d.CheckRows(t.Context(), rows(c.change), c.located, func(err error) { got = append(got, err.Error()) }))
		if len(got) != len(c.want) {
			t.Fatalf("%q, want %q", got, c.want)
		}
		for i, want := range c.want {
			if !strings.Contains(got[i], want) {
				t.Errorf("%q does not say %q", got[i], want)
			}
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := d.CheckRows(ctx, rows(same), true, func(err error) { t.Error(err) }); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled check: %v", err)
	}
}

func many(n int, text string) (list []string) {
	for range n {
		list = append(list, text)
	}
	return list
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
