package formatcheck

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/dsconv/dsconv/formats"
)

// Partial is an unfinished dataset in memory that a test manipulates like an attacker: Store
// corrects the journal's checksums.
type Partial struct {
	Files map[string][]byte // by path in DST.partial
	State []byte            // the format's state in the last checkpoint
	rest  []byte            // of the last checkpoint: the caller's note and the rows
	head  []byte            // the journal's records before
}

// loadPartial reads DST.partial, whose journal has a checkpoint.
func loadPartial(t testing.TB, dir string) *Partial {
	t.Helper()
	p := &Partial{Files: map[string][]byte{}}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err == nil {
			p.Files[name], err = os.ReadFile(path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	journal := p.Files["journal"]
	last := 0
	for at := 0; at < len(journal); at += 8 + int(binary.LittleEndian.Uint32(journal[at:])) {
		last = at
	}
	payload := journal[last+8:]
	n, k := binary.Uvarint(payload)
	p.head, p.State, p.rest = journal[:last], payload[k:k+int(n)], payload[k+int(n):]
	return p
}

// Clone is a copy that may be changed, but for the bytes of files.
func (p *Partial) Clone() *Partial {
	return &Partial{Files: maps.Clone(p.Files), State: slices.Clone(p.State), rest: slices.Clone(p.rest), head: p.head}
}

// Store lays the unfinished dataset out in dir.
func (p *Partial) Store(t testing.TB, dir string) {
	t.Helper()
	payload := append(append(binary.AppendUvarint(nil, uint64(len(p.State))), p.State...), p.rest...)
	journal := binary.LittleEndian.AppendUint32(slices.Clone(p.head), uint32(len(payload)))
	journal = binary.LittleEndian.AppendUint32(journal, crc32.Checksum(payload, crc32.MakeTable(crc32.Castagnoli)))
	p.Files["journal"] = append(journal, payload...)
	for name, b := range p.Files {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// Over is b with some bytes overwritten at at.
func Over(b []byte, at uint32, with []byte) []byte {
	b = slices.Clone(b)
	if len(b) > 0 {
		copy(b[int(at)%len(b):], with)
	}
	return b
}

// change overwrites bytes of one of the parts: of the state, of the note and the rows, of a
// file, or of the list of what to publish.
func (p *Partial) change(what byte, at uint32, with []byte) {
	switch what % 4 {
	case 0:
		p.State = Over(p.State, at, with)
	case 1:
		p.rest = Over(p.rest, at, with)
	case 2:
		var files []string
		for _, name := range slices.Sorted(maps.Keys(p.Files)) {
			if filepath.Dir(name) != "." {
				files = append(files, name)
			}
		}
		if len(files) > 0 {
			name := files[int(what/4)%len(files)]
			p.Files[name] = Over(p.Files[name], at, with)
		}
	case 3:
		p.Files["publish"] = with
	}
}

// Stopped is a dataset of which two thirds are written, with a checkpoint after every fifth
// sample.
func Stopped(t testing.TB, format formats.WritableFormat, name string, m formats.Meta, samples []*formats.Sample) *Partial {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	w, err := format.Create(path, m, formats.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range samples[:len(samples)*2/3] {
		if err = w.Write(s); err == nil && i%5 == 4 {
			err = w.Checkpoint([]byte("note"))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return loadPartial(t, path+".partial")
}

// GoOn resumes the dataset at path, writes what of the samples comes after the last
// checkpoint, and commits.
func GoOn(format formats.WritableFormat, path string, samples []*formats.Sample) error {
	w, _, _, err := format.Resume(path, formats.CreateOptions{})
	if err != nil {
		return err
	}
	for _, s := range samples[len(samples)*2/3/5*5:] {
		if err := w.Write(s); err != nil {
			return errors.Join(err, w.Close())
		}
	}
	return errors.Join(w.Commit(), w.Close())
}

// FuzzPartial changes parts of an unfinished dataset: resuming it is an error, or gives a dataset
// that opens; nothing panics or crashes, and nothing beside the dataset changes. believable
// makes the format's own checksums fit, if it is not nil.
func FuzzPartial(f *testing.F, format formats.WritableFormat, name string, m formats.Meta, samples []*formats.Sample, believable func(p *Partial)) {
	whole := Stopped(f, format, name, m, samples)
	f.Add(byte(0), uint32(0), []byte{0xff, 0xff}, byte(1), uint32(0), []byte{})
	f.Add(byte(1), uint32(6), []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f}, byte(1), uint32(60), []byte{0x80})
	f.Add(byte(2), uint32(0), []byte{0xff, 0xff}, byte(6), uint32(2), []byte{0xff, 0x7f})
	f.Add(byte(3), uint32(0), []byte(`[{"From":"victim","To":"`+name+`.partial/old/0","Old":true}]`), byte(0), uint32(0), []byte{})
	f.Add(byte(3), uint32(0), []byte(`[{"From":"`+name+`.partial/data/x","To":"victim"}]`), byte(0), uint32(0), []byte{})
	f.Fuzz(func(t *testing.T, what byte, at uint32, with []byte, what2 byte, at2 uint32, with2 []byte) {
		p := whole.Clone()
		p.change(what, at, with)
		p.change(what2, at2, with2)
		if believable != nil {
			believable(p)
		}
		path := filepath.Join(t.TempDir(), name)
		p.Store(t, path+".partial")
		goesOnOrNot(t, format, path, samples)
	})
}

// goesOnOrNot resumes an unfinished dataset that a fuzzer may have made up.
func goesOnOrNot(t *testing.T, format formats.WritableFormat, path string, samples []*formats.Sample) {
	t.Helper()
	victim := filepath.Join(filepath.Dir(path), "victim")
	if err := os.WriteFile(victim, []byte("precious"), 0o644); err != nil {
		t.Fatal(err)
	}
	err := GoOn(format, path, samples)
	if b, rerr := os.ReadFile(victim); rerr != nil || string(b) != "precious" {
		t.Fatalf("the file beside it: %q, %v", b, rerr)
	}
	if err != nil {
		return
	}
	d, err := format.Open(path)
	if err != nil {
		t.Fatalf("what was published does not open: %v", err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
}
