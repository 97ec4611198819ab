package verify

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/guard"
	"github.com/dsconv/dsconv/internal/parallel"
	"github.com/dsconv/dsconv/internal/storage/checksum"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// partBytes is how much is checked at a time, first by blocks, then by samples: small enough that
// the samples are still in the page cache after the blocks were read from the disk.
const partBytes = 256 << 20

// check is one Run.
type check struct {
	ds      formats.Dataset
	checker formats.Checker
	o       Options
	order   []int32 // of the samples in the files
	ends    []int64 // bytes of images up to and with each, in that order
	mu      sync.Mutex
	report  *Report
}

func (c *check) run(ctx context.Context) error {
	c.report.Checked = c.ds.Len()
	if n := c.ds.Meta().Count; n != c.ds.Len() {
		c.report.Dataset = append(c.report.Dataset, fmt.Sprintf("%d samples where %d were written", c.ds.Len(), n))
	}
	c.order = storageOrder(c.ds)
	if c.o.Quick {
		if err := c.described(c.checker.CheckQuick(ctx, c.damage)); err != nil {
			return err
		}
		return c.samples(ctx, 0, len(c.order))
	}
	total := int64(0)
	for _, i := range c.order {
		in, err := c.ds.Info(int(i))
		if err != nil {
			return err
		}
		total += in.Size
		c.ends = append(c.ends, total)
	}
	parts := int(total/partBytes) + 1
	from := 0
	for k := range parts {
		err := c.described(c.checker.Check(ctx, formats.Portion{Index: k, Count: parts}, c.o.Workers, c.damage))
		if err != nil {
			return err
		}
		to := from
		for to < len(c.order) && (k == parts-1 || c.ends[to] <= total/int64(parts)*int64(k+1)) {
			to++
		}
		if err := c.samples(ctx, from, to); err != nil {
			return err
		}
		from = to
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

// storageOrder lists the samples in the order of the files.
func storageOrder(ds formats.Dataset) []int32 {
	if o, ok := ds.(formats.StorageOrdered); ok {
		return o.StorageOrder()
	}
	order := make([]int32, ds.Len())
	for i := range order {
		order[i] = int32(i)
	}
	return order
}

// samples checks the samples from from up to, not including, to, in storage order.
func (c *check) samples(ctx context.Context, from, to int) error {
	return parallel.Each(ctx, to-from, c.o.Workers, func() (func(int) error, func(), error) {
		var s formats.Sample
		return func(k int) error { return c.sample(int(c.order[from+k]), &s) }, func() {}, nil
	})
}

// sample adds sample i to the report if something is wrong with it.
func (c *check) sample(i int, s *formats.Sample) error {
	in, err := c.ds.Info(i)
	if err != nil {
		return err
	}
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
