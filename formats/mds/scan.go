package mds

import (
	"context"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/foreign"
)

// scan adds the samples of all shards.
func (f *fields) scan(ctx context.Context, scan *foreign.Scan) error {
	for _, c := range f.set.columns {
		if _, err := scan.Column(c.name); err != nil {
			return err
		}
	}
	for k := range f.set.shards {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := scan.Use(k, func(data []byte) error { return f.scanShard(scan, k, data) }); err != nil {
			return fmt.Errorf("%s: %w", f.set.files[k].Path, err)
		}
	}
	return nil
}

// scanShard adds the samples of shard k. It begins with their number and their offsets.
func (f *fields) scanShard(scan *foreign.Scan, k int, data []byte) error {
	s := &f.set.shards[k]
	if int64(len(data)) != s.Raw.Bytes {
		return fmt.Errorf("%w: it has %d bytes, and index.json says %d", formats.ErrDamaged, len(data), s.Raw.Bytes)
	}
	if len(data) < 4 || int64(binary.LittleEndian.Uint32(data)) != s.Samples {
		return fmt.Errorf("%w: it does not begin with the number of its samples, %d", formats.ErrDamaged, s.Samples)
	}
	if s.Samples > int64(len(data))/4-2 {
		return fmt.Errorf("%w: %d samples cannot be in %d bytes", formats.ErrDamaged, s.Samples, len(data))
	}
	at := func(i int64) int64 { return int64(binary.LittleEndian.Uint32(data[4+4*i:])) }
	head := 4 + 4*(s.Samples+1)
	width := max(6, len(strconv.FormatInt(f.set.samples[s.split]-1, 10)))
	for i := range s.Samples {
		from, to := at(i), at(i+1)
		if from < head || to < from || to > int64(len(data)) {
			return fmt.Errorf("%w: sample %d would be the bytes %d to %d of %d", formats.ErrDamaged, i, from, to, len(data))
		}
		one := &foreign.Sample{Key: fmt.Sprintf("%0*d", width, s.first+i), Split: s.split, File: k, Label: formats.NoLabel}
		if s.split != "" {
			one.Key = s.split + "/" + one.Key
		}
		if err := f.fill(one, data, from, to); err != nil {
			return fmt.Errorf("sample %d at byte %d: %w", i, from, err)
		}
		if err := scan.Add(one); err != nil {
			return err
		}
	}
	return nil
}

// fill finds the values of the sample that lies between those bytes: the sizes of the columns that have no fixed
// one, then all values.
func (f *fields) fill(one *foreign.Sample, data []byte, from, to int64) error {
	sizes := make([]int64, len(f.set.columns))
	at := from
	for k, c := range f.set.columns {
		if sizes[k] = c.size; c.size > 0 {
			continue
		}
		if to-at < 4 {
			return fmt.Errorf("%w: it ends within its sizes", formats.ErrDamaged)
		}
		sizes[k] = int64(binary.LittleEndian.Uint32(data[at:]))
		at += 4
	}
	for k, size := range sizes {
		if size > to-at {
			return fmt.Errorf("%w: its column %q would have %d bytes of %d", formats.ErrDamaged, f.set.columns[k].name, size, to-at)
		}
		v := foreign.Value{Column: k, Offset: at, Length: size}
		if err := f.look(one, &v, data[at:at+size]); err != nil {
			return fmt.Errorf("column %q: %w", f.set.columns[k].name, err)
		}
		one.Values = append(one.Values, v)
		at += size
	}
	if at != to {
		return fmt.Errorf("%w: %d bytes are left after its columns", formats.ErrDamaged, to-at)
	}
	return nil
}

// look takes the label, and what images and arrays are.
func (f *fields) look(one *foreign.Sample, v *foreign.Value, raw []byte) error {
	c := &f.set.columns[v.Column]
	switch kind := kindOf(c.encoding); {
	case v.Column == f.label && kind == text:
		if one.Class = strings.TrimSpace(string(raw[:min(len(raw), maxClass+1)])); len(one.Class) > maxClass {
			return fmt.Errorf("%w: a class of %d bytes: name what has the label by a map, such as label=y", formats.ErrSchema, len(raw))
		}
	case v.Column == f.label && kind == integer:
		x, err := c.integer(raw)
		if err != nil {
			return err
		}
		if x < formats.NoLabel {
			return fmt.Errorf("%w: the class index %d", formats.ErrSchema, x)
		}
		one.Label = x
	case kind == picture:
		v.Encoding, v.Shape = formats.Raw, shapeOfPIL(raw)
	case kind == encoded || kind == other:
		v.Encoding = formats.Sniff(raw[:min(len(raw), 16)])
	case kind == array:
		if t, err := parseArray(c.encoding, raw, nil); err == nil {
			v.Tensor = &foreign.Tensor{DType: t.dtype, Shape: t.shape}
		}
	}
	return nil
}

// maxClass is the longest name of a class, in bytes.
const maxClass = 1024
