package main

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder"
)

// unpackPlan is what an unpack writes. It is complete before the first file is written.
type unpackPlan struct {
	ds            formats.Dataset
	indices       []int32  // of the samples, in the dataset
	names         []string // of the images' files
	bases         []string // start of the names of files beside the images; nil if there are none
	stem          string   // name of the table and its description without extension
	table         string   // name of the table of labels; "" if none is needed
	splitIsColumn bool     // the user's column "split" equals the split
	hasSplits     bool     // some sample has a split
	keysDiffer    bool     // some key is not the path without extension
	hasReturns    bool     // some text has a carriage return
	// fingerprint identifies what is written: it differs for another dataset or split.
	fingerprint string
}

// planUnpack plans to write the samples of only. split is the split that was asked for, "" without one; it is part
// of the plan's identity.
func planUnpack(ds formats.Dataset, split string, only *chosenSamples) (*unpackPlan, error) {
	p := &unpackPlan{ds: ds, splitIsColumn: true}
	h := xxh3.New()
	schema, err := json.Marshal(ds.Meta().Schema)
	if err != nil {
		return nil, err
	}
	_, _ = fmt.Fprintf(h, "%q %q %q", split, schema, ds.Meta().Columns) // a hash never fails
	if err := p.selectSamples(only, h); err != nil {
		return nil, err
	}
	p.fingerprint = fmt.Sprintf("%016x", h.Sum64())
	plain, err := p.foldersSuffice()
	if err == nil && !plain {
		p.nameTable()
	}
	return p, err
}

// selectSamples lists the samples and the names of their files.
func (p *unpackPlan) selectSamples(only *chosenSamples, h *xxh3.Hasher) error {
	taken := map[string]bool{}
	column := slices.Index(p.ds.Meta().Columns, "split")
	p.splitIsColumn = column >= 0
	for i := range p.ds.Len() {
		if !only.has(i) {
			continue
		}
		in, err := p.ds.Info(i)
		if err != nil {
			return err
		}
		name := freeName(&in, taken)
		taken[name] = true
		p.indices, p.names = append(p.indices, int32(i)), append(p.names, name)
		p.hasSplits = p.hasSplits || in.Split != ""
		p.splitIsColumn = p.splitIsColumn && in.Columns[column] == in.Split
		p.keysDiffer = p.keysDiffer || in.Key != stem(name)
		p.hasReturns = p.hasReturns || hasReturn(name) || slices.ContainsFunc(in.Columns, hasReturn)
		_, _ = fmt.Fprintf(h, "%q %q %q %q", in.Key, in.Split, in.Columns, name)
		_, _ = h.Write(binary.LittleEndian.AppendUint64(in.Checksum[:], uint64(in.Label)))
	}
	p.hasReturns = p.hasReturns || slices.ContainsFunc(p.ds.Meta().Columns, hasReturn)
	for _, f := range p.ds.Meta().Schema {
		p.hasReturns = p.hasReturns || slices.ContainsFunc(f.Classes, hasReturn)
	}
	p.findBases(taken)
	return nil
}

func hasReturn(s string) bool { return strings.Contains(s, "\r") }

func stem(name string) string { return strings.TrimSuffix(name, path.Ext(name)) }

// freeName returns a name for a sample's image that is not taken.
func freeName(in *formats.Info, taken map[string]bool) string {
	enc := fileEncoding(in.Encoding)
	name := shortName(fileName(in, enc))
	if !taken[name] {
		return name
	}
	ext := enc.Extension()
	if ext == "" {
		ext = path.Ext(name)
	}
	base := shortName(in.Key)
	name = base + ext
	for n := 2; taken[name]; n++ {
		name = fmt.Sprintf("%s-%d%s", base, n, ext)
	}
	return name
}

// maxNameBytes is the most bytes of a file or folder name. File systems allow 255 bytes, and names of
// files beside the image are longer.
const maxNameBytes = 180

// shortName shortens the names in a path that are too long for a file system.
func shortName(name string) string {
	if len(name) <= maxNameBytes {
		return name
	}
	parts := strings.Split(name, "/")
	for i, part := range parts {
		if len(part) <= maxNameBytes {
			continue
		}
		ext := path.Ext(part)
		if len(ext) > 10 {
			ext = ""
		}
		parts[i] = fmt.Sprintf("%s-%016x%s", strings.ToValidUTF8(part[:maxNameBytes-30], ""), xxh3.HashString(part), ext)
	}
	return strings.Join(parts, "/")
}

// findBases sets bases so that no file beside an image has an image's name.
func (p *unpackPlan) findBases(taken map[string]bool) {
	var fields []string
	for i, f := range p.ds.Meta().Schema {
		if i != p.ds.Meta().Schema.ImageIndex() && !f.Kind.IsLabel() {
			fields = append(fields, "."+f.Name)
		}
	}
	if fields == nil {
		return
	}
	stems := map[string]bool{}
	for name := range taken {
		stems[stem(name)] = true
	}
	bases := map[string]bool{}
	for _, name := range p.names {
		base := stem(name)
		for bases[base] || slices.ContainsFunc(fields, func(f string) bool { return stems[base+f] }) {
			base += "+"
		}
		bases[base] = true
		p.bases = append(p.bases, base)
	}
}

// keyAt returns the key of the sample at index at, for messages.
func (p *unpackPlan) keyAt(at int) string {
	in, err := p.ds.Info(int(p.indices[at]))
	if err != nil {
		return p.names[at]
	}
	return in.Key
}

// foldersSuffice reports whether class folders represent everything: keys, labels, classes and splits.
func (p *unpackPlan) foldersSuffice() (bool, error) {
	m := p.ds.Meta()
	field := formats.Schema{{Name: "image", Kind: formats.Image}, {Name: "label", Kind: formats.Label}}
	if len(m.Columns) > 0 || len(m.Schema) > 2 {
		return false, nil
	}
	for i, f := range m.Schema {
		if f.Name != field[i].Name || f.Kind != field[i].Kind {
			return false, nil
		}
	}
	return p.foldersMatch(folder.NewPreview(p.names))
}

// foldersMatch reports whether packing the folders gives every sample its key, split and label.
func (p *unpackPlan) foldersMatch(v *folder.Preview) (bool, error) {
	m := p.ds.Meta()
	if !slices.Equal(v.Classes(), m.Classes()) || (len(m.Schema) == 2) != (v.Classes() != nil) {
		return false, nil
	}
	for at, name := range p.names {
		in, err := p.ds.Info(int(p.indices[at]))
		if err != nil {
			return false, err
		}
		if key, split, label, ok := v.Sample(name); !ok || key != in.Key || split != in.Split || label != in.Label {
			return false, nil
		}
	}
	return true, nil
}

const labelsStem = "labels"

// nameTable sets names for the table and its description that no image or folder has.
func (p *unpackPlan) nameTable() {
	ext := ".csv"
	if p.hasReturns {
		ext = ".jsonl" // in a .csv a newline within a cell is always \n
	}
	taken := map[string]bool{} // in lower case, because some file systems ignore case
	for _, name := range p.names {
		top, _, _ := strings.Cut(name, "/")
		taken[strings.ToLower(top)] = true
	}
	p.stem = labelsStem
	for i := 2; taken[p.stem+ext] || taken[p.description()]; i++ {
		p.stem = fmt.Sprintf("%s-%d", labelsStem, i)
	}
	p.table = p.stem + ext
}

func (p *unpackPlan) description() string { return p.stem + ".json" }
