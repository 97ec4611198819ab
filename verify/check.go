package verify

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/guard"
	"github.com/dsconv/dsconv/internal/parallel"
	"github.com/dsconv/dsconv/internal/storage/checksum"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// partBytes is how much is checked at a time, first by blocks, then by samples: small enough that
// the samples are still in the page cache after the blocks were read from the disk.
const partBytes = 256 << 20

// maxBatch is how many samples are distributed to workers at a time.
const maxBatch = 16384

// check is one Run.
type check struct {
	ds      formats.Dataset
	checker formats.Checker
	o       Options
	total   int64        // bytes of the images
	read    atomic.Int64 // of them, checked
	parts   int
	part    int // the next one whose blocks are checked
	mu      sync.Mutex
	report  *Report
	count   parallel.Counter
}

func newCheck(ds formats.Dataset, checker formats.Checker, o Options, r *Report) *check {
	c := &check{ds: ds, checker: checker, o: o, report: r}
	if o.Progress != nil {
		start := time.Now()
		c.count.Show = func(done int) {
			o.Progress(Progress{Done: done, Total: ds.Len(), Bytes: c.read.Load(), Elapsed: time.Since(start)})
		}
	}
	return c
}

func (c *check) run(ctx context.Context) error {
	c.report.Checked = c.ds.Len()
	if n := c.ds.Meta().Count; n != c.ds.Len() {
		c.report.Dataset = append(c.report.Dataset, fmt.Sprintf("%d samples where %d were written", c.ds.Len(), n))
	}
	if c.o.Quick {
		if err := c.described(c.checker.CheckQuick(ctx, c.damage)); err != nil {
			return err
		}
		return c.samples(ctx, c.ds.Len(), func(k int) int { return k })
	}
	n := int64(max(c.ds.Len(), 1))
	c.total = max(c.ds.Meta().Stats.Bytes, 0)
	c.parts = int(min(c.total/partBytes, n)) + 1
	batch := make([]int32, 0, max(64, min(maxBatch, partBytes*n/(c.total+1))))
	flush := func() error {
		if err := c.blocksOf(ctx, c.read.Load()); err != nil {
			return err
		}
		err := c.samples(ctx, len(batch), func(k int) int { return int(batch[k]) })
		batch = batch[:0]
		return err
	}
	err := c.inOrder(func(i int32) error {
		if batch = append(batch, i); len(batch) < cap(batch) {
			return nil
		}
		return flush()
	})
	if err == nil {
		err = flush()
	}
	if err != nil {
		return err
	}
	return c.blocksOf(ctx, math.MaxInt64)
}

// blocksOf checks the blocks of the parts that are next after samples with that many bytes were checked.
func (c *check) blocksOf(ctx context.Context, read int64) error {
	for ; c.part < c.parts && read >= c.total/int64(c.parts)*int64(c.part); c.part++ {
		err := c.checker.Check(ctx, formats.Portion{Index: c.part, Count: c.parts}, c.o.Workers, c.damage)
		if err := c.described(err); err != nil {
			return err
		}
	}
	return nil
}

func (c *check) damage(d formats.Damage) { c.report.Blocks = append(c.report.Blocks, d) }

// described adds damage of the files that describe the dataset to the report.
func (c *check) described(err error) error {
	if !errors.Is(err, formats.ErrDamaged) {
		return err
	}
	c.report.NoTable = true
	if cause := causeOf(err); !slices.Contains(c.report.Dataset, cause) {
		c.report.Dataset = append(c.report.Dataset, cause)
	}
	return nil
}

// inOrder calls do with each sample in the order of the files.
func (c *check) inOrder(do func(i int32) error) error {
	if o, ok := c.ds.(formats.StorageOrdered); ok {
		return o.EachStored(do)
	}
	for i := range int32(c.ds.Len()) {
		if err := do(i); err != nil {
			return err
		}
	}
	return nil
}

// samples checks the n samples that index returns for 0 to n-1.
func (c *check) samples(ctx context.Context, n int, index func(k int) int) error {
	return parallel.Each(ctx, n, c.o.Workers, func() (func(int) error, func(), error) {
		var s formats.Sample
		return func(k int) error {
			err := c.sample(index(k), &s)
			c.count.Add(1)
			return err
		}, func() {}, nil
	})
}

// sample adds sample i to the report if something is wrong with it.
func (c *check) sample(i int, s *formats.Sample) error {
	in, err := c.ds.Info(i)
	if err != nil {
		return err
	}
	c.read.Add(in.Size)
	wrong := guard.Do(func() error {
		if err := c.row(i, &in); err != nil || c.o.Quick {
			return err
		}
		return c.bytes(i, &in, s)
	})
	if pixel.EndsRun(wrong) {
		return fmt.Errorf("key %q: %w", in.Key, wrong)
	}
	if wrong != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.report.Samples = append(c.report.Samples, DamagedSample{in.Key, causeIn(in.Key, wrong)})
	}
	return nil
}

// causeIn is an error's message without the sample's key, which the report has anyway.
func causeIn(key string, err error) string {
	cause := causeOf(err)
	for _, prefix := range []string{fmt.Sprintf("key %q: ", key), fmt.Sprintf("key %q ", key)} {
		cause = strings.TrimPrefix(cause, prefix)
	}
	return cause
}

// row checks row i of the manifest.
func (c *check) row(i int, in *formats.Info) error {
	if err := formats.CheckKey(in.Key); err != nil {
		return err
	}
	if i > 0 {
		last, err := c.ds.Info(i - 1)
		if err != nil {
			return err
		}
		if last.Key >= in.Key {
			return fmt.Errorf("%w: it comes after %q", formats.ErrOrder, last.Key)
		}
	}
	if n := len(c.ds.Meta().Classes()); in.Label < formats.NoLabel || n > 0 && in.Label >= int64(n) {
		return fmt.Errorf("the label is %d, the dataset has %d classes", in.Label, n)
	}
	if in.Checksum == [16]byte{} {
		return errors.New("the manifest has no checksum of it")
	}
	return nil
}

// bytes checks the bytes of sample i, in the dataset's own memory if it is a formats.Viewer.
func (c *check) bytes(i int, in *formats.Info, s *formats.Sample) error {
	v, ok := c.ds.(formats.Viewer)
	if !ok {
		if err := c.ds.Read(i, s); err != nil {
			return err
		}
		return c.values(in, s)
	}
	return guard.Use(s, func() error {
		if err := v.View(i, s); err != nil {
			return err
		}
		if checksum.SampleChecksum(c.ds.Meta().Schema, s) != in.Checksum {
			return fmt.Errorf("%w: the checksum differs", formats.ErrDamaged)
		}
		return c.values(in, s)
	})
}

// values compares a sample with its row.
func (c *check) values(in *formats.Info, s *formats.Sample) error {
	schema := c.ds.Meta().Schema
	img := &s.Values[schema.ImageIndex()]
	if int64(len(img.Data)) != in.Size {
		return fmt.Errorf("the image has %d bytes, the manifest says %d", len(img.Data), in.Size)
	}
	if img.Encoding != in.Encoding {
		return fmt.Errorf("the image is %s, the manifest says %s", img.Encoding, in.Encoding)
	}
	if f := schema.LabelIndex(); f >= 0 && schema[f].Kind == formats.Label {
		if x, ok := s.Values[f].Int64(); !ok || x != in.Label {
			return fmt.Errorf("the label is %d, the manifest says %d", x, in.Label)
		}
	}
	return nil
}
