package shards

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"unicode/utf8"

	"github.com/klauspost/compress/zstd"
	"github.com/zeebo/xxh3"

	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder"
	"github.com/dsconv/dsconv/internal/unblocked"
)

// The listing is a file beside the plan that has a line of JSON for each sample, in the order of writing. The lines of a
// shard are a zstd frame, so that its process reads these alone, and so that zstdcat shows all.

// listingSuffix is appended to the plan's name.
const listingSuffix = ".samples.zst"

// row is a sample of the listing.
type row struct {
	folder.Listed
	// Checksum is that of the sample, if the source is a dataset that has checksums.
	Checksum string `json:"checksum,omitempty"`
}

// rowOf returns the row of a sample of which only its Info is known.
func rowOf(in *formats.Info) row {
	r := row{Listed: folder.Listed{
		Key: in.Key, Path: in.Source.Path, Size: in.Source.Size, ModTime: in.Source.ModTime, Split: in.Split, Columns: in.Columns,
	}}
	if in.Label != formats.NoLabel {
		r.Labels = []int64{in.Label}
	}
	if in.Checksum != [16]byte{} {
		r.Checksum = hex.EncodeToString(in.Checksum[:])
	}
	return r
}

func (p *Plan) listingFile() string { return p.file + listingSuffix }

// listingWriter writes a listing shard by shard.
type listingWriter struct {
	to   io.Writer
	zstd *zstd.Encoder
	hash *xxh3.Hasher
	end  int64
}

// writeListing writes the listing of n shards; rows calls its argument with the rows of a shard. It returns where
// each shard's are.
func writeListing(f io.Writer, n int, rows func(shard int, yield func(*row) error) error) (parts []Part, err error) {
	to := bufio.NewWriterSize(f, 1<<20)
	w := &listingWriter{to: to, hash: xxh3.New()}
	// One goroutine, so that equal listings have equal bytes.
	if w.zstd, err = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest)); err != nil {
		return nil, err
	}
	for shard := range n {
		part, err := w.shard(func(yield func(*row) error) error { return rows(shard, yield) })
		if err != nil {
			return nil, errors.Join(err, w.zstd.Close())
		}
		parts = append(parts, part)
	}
	return parts, errors.Join(w.zstd.Close(), to.Flush())
}

// Write counts and hashes what the encoder writes.
func (w *listingWriter) Write(b []byte) (int, error) {
	_, _ = w.hash.Write(b)
	w.end += int64(len(b))
	return w.to.Write(b)
}

func (w *listingWriter) shard(rows func(yield func(*row) error) error) (part Part, err error) {
	w.hash.Reset()
	w.zstd.Reset(w)
	err = rows(func(r *row) error {
		if !utf8.ValidString(r.Path) {
			return fmt.Errorf("%q: its path is not UTF-8, which the listing cannot hold: rename the file", r.Path)
		}
		b, err := json.Marshal(r)
		if err != nil {
			return fmt.Errorf("list %s: %w", r.Path, err)
		}
		part.Samples++
		_, err = w.zstd.Write(append(b, '\n'))
		return err
	})
	if err == nil {
		err = w.zstd.Close()
	}
	part.End, part.Hash = w.end, fmt.Sprintf("%016x", w.hash.Sum64())
	return part, err
}

// A listing has at most so many bytes before compression, and so many more for each compressed one: paths, sizes and times
// that differ do not compress further.
const (
	freeListing     = 16 << 20
	maxListingRatio = 200
)

// eachRow calls yield with the samples of a shard, in the order of writing. The row is overwritten by the next one.
func (p *Plan) eachRow(shard int, yield func(*row) error) error {
	b, err := p.frame(shard)
	if err != nil {
		return err
	}
	z, err := zstd.NewReader(bytes.NewReader(b), zstd.WithDecoderConcurrency(1))
	if err != nil {
		return err
	}
	defer z.Close()
	d := json.NewDecoder(io.LimitReader(z, freeListing+maxListingRatio*int64(len(b))))
	for n := 0; ; n++ {
		r := row{}
		switch err := d.Decode(&r); {
		case errors.Is(err, io.EOF) && n == p.Listing[shard].Samples:
			return nil
		case err != nil || n == p.Listing[shard].Samples:
			return fmt.Errorf("%s: shard %d: %w: it has %d readable samples of %d", p.listingFile(), shard, formats.ErrDamaged, n, p.Listing[shard].Samples)
		}
		if err := yield(&r); err != nil {
			return err
		}
	}
}

// frame returns the bytes of a shard in the listing.
func (p *Plan) frame(shard int) ([]byte, error) {
	from, part := int64(0), p.Listing[shard]
	if shard > 0 {
		from = p.Listing[shard-1].End
	}
	damaged := func(why string) error {
		return fmt.Errorf("%s: %w: %s: dsconv shards plan writes it again, with the same options", p.listingFile(), formats.ErrDamaged, why)
	}
	f, err := unblocked.Open(p.listingFile())
	if errors.Is(err, os.ErrNotExist) {
		return nil, damaged("the listing of the plan is missing")
	} else if err != nil {
		return nil, err
	}
	defer f.Close()
	if st, err := f.Stat(); err != nil {
		return nil, err
	} else if from < 0 || part.End < from || part.End > st.Size() {
		return nil, damaged("it is shorter than the plan says")
	}
	b := make([]byte, part.End-from)
	if _, err := f.ReadAt(b, from); err != nil {
		return nil, err
	}
	if fmt.Sprintf("%016x", xxh3.Hash(b)) != part.Hash {
		return nil, damaged(fmt.Sprintf("the samples of shard %d are not those that were written", shard))
	}
	return b, nil
}

// planShard plans the shard from the listing, or from the sources.
func (p *Plan) planShard(ctx context.Context, f formats.WritableFormat, d *Dataset, shard, i int, path string, o convert.Options, replan Replanner) (*convert.Plan, io.Closer, error) {
	if p.Root != "" {
		return p.planListed(ctx, f, d, shard, path, o)
	}
	if replan == nil {
		return nil, nil, errors.New("shards: this plan needs a Replanner, since its listing does not describe the samples completely")
	}
	plans, closer, err := replan(ctx, p)
	if err != nil {
		return nil, nil, err
	}
	whole := plans[slices.IndexFunc(p.Datasets, func(one Dataset) bool { return one.Path == d.Path })]
	err = p.compare(whole, d, shard, i)
	var plan *convert.Plan
	if err == nil {
		whole.SetRunOptions(o)
		plan, err = whole.Shard(i, path)
	}
	if err != nil {
		return nil, nil, errors.Join(err, closer.Close())
	}
	return plan, closer, nil
}

// planListed plans the shard from the listing alone.
func (p *Plan) planListed(ctx context.Context, f formats.WritableFormat, d *Dataset, shard int, path string, o convert.Options) (*convert.Plan, io.Closer, error) {
	var rows []folder.Listed // the plan says how many, but the listing's bytes decide
	err := p.eachRow(shard, func(r *row) error {
		rows = append(rows, r.Listed)
		return ctx.Err()
	})
	if err != nil {
		return nil, nil, err
	}
	order, sorted := byKey(rows)
	src, err := folder.OpenListed(p.Root, *p.Source, sorted)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: shard %d: %w", p.listingFile(), shard, err)
	}
	plan, err := convert.NewShard(ctx, src, order, d.Meta, f, path, o)
	if err == nil {
		err = sameRecipe(d.Meta.Recipe, o.Recipe.Map())
	}
	if err != nil {
		return nil, nil, errors.Join(err, src.Close())
	}
	return plan, src, nil
}

// sameRecipe returns an error if this program would make other pixels than the one that made the plan.
func sameRecipe(planned, here map[string]string) error {
	for key, value := range here {
		if was, ok := planned[key]; ok && was != value {
			return fmt.Errorf("%w: the plan was made with %s %q, this dsconv has %q: use one build of dsconv for all shards", convert.ErrOptions, key, was, value)
		}
	}
	return nil
}

// byKey returns the rows in the order of their keys, and for each of the given rows its position there.
func byKey(rows []folder.Listed) (order []int32, sorted []folder.Listed) {
	at := make([]int32, len(rows)) // by key
	for i := range at {
		at[i] = int32(i)
	}
	slices.SortFunc(at, func(a, b int32) int { return cmp.Compare(rows[a].Key, rows[b].Key) })
	order, sorted = make([]int32, len(rows)), make([]folder.Listed, len(rows))
	for rank, i := range at {
		order[i], sorted[rank] = int32(rank), rows[i]
	}
	return order, sorted
}

// compare returns formats.ErrChanged, with what differs, if the sources are not those of the plan.
func (p *Plan) compare(now *convert.Plan, d *Dataset, shard, i int) error {
	if fmt.Sprintf("%016x", now.Fingerprint()) == d.Fingerprint && now.Len() == d.Samples {
		return nil
	}
	pos, to := now.ShardRange(i)
	changed := ""
	err := p.eachRow(shard, func(was *row) error {
		if pos >= to {
			return nil
		}
		_, in, err := now.PlannedSample(pos)
		pos++
		if err != nil {
			return err
		}
		if changed == "" {
			changed = difference(was, &in)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if now.Len() != d.Samples {
		changed = fmt.Sprintf("they have %d samples, and had %d", now.Len(), d.Samples)
	}
	if changed == "" {
		return nil // other shards may see a difference; files that were copied or touched are read as they are
	}
	return changedSource{fmt.Sprintf("the sources have changed since the plan was made: %s: restore them, or make a new plan", changed)}
}

// difference says how a sample differs from its row, apart from the file's time; "" if it does not.
func difference(was *row, in *formats.Info) string {
	now := rowOf(in)
	name := cmp.Or(was.Path, was.Key)
	switch {
	case was.Key != now.Key:
		return fmt.Sprintf("%s is in the place of %s", cmp.Or(now.Path, now.Key), name)
	case was.Size != now.Size:
		return fmt.Sprintf("%s has %d bytes, and had %d", name, now.Size, was.Size)
	case !slices.Equal(was.Labels, now.Labels):
		return name + " has another label"
	case !slices.Equal(was.Columns, now.Columns):
		return name + " has other columns"
	case was.Checksum != now.Checksum:
		return name + " has another checksum"
	case was.Split != now.Split:
		return fmt.Sprintf("%s is in the split %q, and was in %q", name, now.Split, was.Split)
	}
	return ""
}

// changedSource is a formats.ErrChanged.
type changedSource struct{ text string }

func (e changedSource) Error() string { return e.text }

func (changedSource) Is(target error) bool { return target == formats.ErrChanged }
