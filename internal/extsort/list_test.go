package extsort

import (
	"fmt"
	"os"
	"testing"
)

// pair takes a record.
type pair struct{ key, value string }

func (p *pair) Decode(key, value []byte) error {
	p.key, p.value = string(key), string(value)
	return nil
}

// Records are the same in memory and in a mapped file, one by one and from any key on.
func TestRecordsInAnyMemory(t *testing.T) {
	const n = 1000
	for _, memory := range []int64{1 << 20, 1, 5000} {
		temporary := t.TempDir()
		t.Setenv("TMPDIR", temporary)
		sorted := New("", 1<<20)
		for i := n - 1; i >= 0; i-- {
			if err := sorted.Add(fmt.Appendf(nil, "k%04d", 2*i), fmt.Appendf(nil, "v%d", i)); err != nil {
				t.Fatal(err)
			}
		}
		r, err := NewList(sorted, memory)
		if err != nil {
			t.Fatal(err)
		}
		if err := sorted.Close(); err != nil {
			t.Fatal(err)
		}
		if r.Len() != n || r.mapped != (memory < 1<<20) {
			t.Errorf("memory %d: %d records, mapped %v", memory, r.Len(), r.mapped)
		}
		for i := range n {
			var got pair
			if err := r.Read(i, &got); err != nil || got != (pair{fmt.Sprintf("k%04d", 2*i), fmt.Sprintf("v%d", i)}) {
				t.Fatalf("memory %d: record %d is %v, %v", memory, i, got, err)
			}
		}
		for from, want := range map[string]int{"": 0, "k0000": 0, "k0001": 1, "k0777": 389, "k1998": 999, "k1999": n, "z": n} {
			next := want
			err := r.From([]byte(from), func(i int, key, _ []byte) (bool, error) {
				if i != next || string(key) != fmt.Sprintf("k%04d", 2*i) {
					return false, fmt.Errorf("record %d is %s", i, key)
				}
				next++
				return true, nil
			})
			if err != nil || next != n {
				t.Errorf("memory %d, from %q: %v, to %d", memory, from, err, next)
			}
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		if left, err := os.ReadDir(temporary); err != nil || len(left) > 0 {
			t.Errorf("left behind: %v %v", left, err)
		}
	}
}
