package convert

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/cache"
	"github.com/dsconv/dsconv/internal/doubts"
	"github.com/dsconv/dsconv/internal/storage/sharded"
	"github.com/dsconv/dsconv/internal/storage/sidecar"
)

// ErrOptions is in the chain of New's errors about what the caller asked for: options, names, a
// source that cannot be packed like that. Nothing was written then.
var ErrOptions = errors.New("wrong options")

// optionError is an ErrOptions; its text is the error's own.
type optionError struct{ error }

func (e optionError) Unwrap() error { return e.error }

func (optionError) Is(target error) bool { return target == ErrOptions }

// asOptions adds ErrOptions to the chain of err, unless err says that New was cancelled, that a
// format's writer is missing or that the source could not be read.
func asOptions(err error) error {
	for _, other := range []error{context.Canceled, context.DeadlineExceeded, formats.ErrNotBuilt, formats.ErrClosed} {
		if errors.Is(err, other) {
			return err
		}
	}
	if formats.Unreadable(err) {
		return err
	}
	return optionError{err}
}

// checkArguments checks the arguments of New and NewVersion.
func checkArguments(ctx context.Context, src formats.Dataset, f formats.WritableFormat, dst string) error {
	if ctx == nil || src == nil || f == nil || dst == "" {
		return errors.New("convert.New: the context, the source or the format is nil, or the path of the output is empty")
	}
	if err := formats.CheckBuilt(f); err != nil {
		return fmt.Errorf("%s: %w", dst, err)
	}
	if err := src.Meta().Schema.Validate(); err != nil {
		return fmt.Errorf("convert.New: the source's Meta: %w", err)
	}
	return nil
}

// validate returns an error that names the first field whose value has no meaning.
func (o *Options) validate() error {
	for _, n := range []struct {
		field string
		value int64
	}{
		{"Limit", int64(o.Limit)},
		{"Sample", int64(o.Sample)},
		{"Checkpoint", o.Checkpoint},
		{"Workers", int64(o.Workers)},
		{"IOWorkers", int64(o.IOWorkers)},
		{"Shards.Size", o.Shards.Size},
		{"Shards.Count", int64(o.Shards.Count)},
		{"Shards.Min", int64(o.Shards.Min)},
		{"Memory", o.Memory},
		{"Create.Memory", o.Create.Memory},
		{"Create.Zstd", int64(o.Create.Zstd)},
	} {
		if n.value < 0 {
			return fmt.Errorf("convert.New: Options.%s is %d: use 0 for the default, or a number above 0", n.field, n.value)
		}
	}
	if s := o.Shards; s.Count > 0 && s.Size > 0 {
		return fmt.Errorf("convert.New: Options.Shards.Count is %d and Options.Shards.Size is %d: use only one of them", s.Count, s.Size)
	}
	if err := o.checkSample(); err != nil {
		return err
	}
	if err := o.Order.Validate(); err != nil {
		return fmt.Errorf("convert.New: Options.Order: %w", err)
	}
	if err := o.Split.Validate(); err != nil {
		return fmt.Errorf("convert.New: Options.Split: %w", err)
	}
	if _, err := doubts.ParseLimit(o.MaxSkipped); err != nil {
		return fmt.Errorf("convert.New: Options.MaxSkipped is %w", err)
	}
	if o.OnError != "" && o.OnError != Skip && o.OnError != Fail {
		return fmt.Errorf("convert.New: Options.OnError is %q: use %q or %q", string(o.OnError), string(Skip), string(Fail))
	}
	return nil
}

// limit is what MaxSkipped says, which is valid.
func (o *Options) limit() doubts.Limit {
	l, _ := doubts.ParseLimit(o.MaxSkipped)
	return l
}

// checkOnly returns an error if one of the splits only is not among the splits names.
func checkOnly(only, names []string) error {
	for _, name := range only {
		if !slices.Contains(names, name) {
			return fmt.Errorf("convert.New: Options.Only: no sample has the split %q; the splits are %q", name, names)
		}
	}
	return nil
}

// checkKey checks the key of sample i of a source, whose keys must come in order: last is the one before.
func checkKey(i int, key, last string) error {
	if err := formats.CheckKey(key); err != nil {
		return fmt.Errorf("sample %d of the source: %w", i, err)
	}
	if i > 0 && key <= last {
		return fmt.Errorf("sample %d of the source: %w: %q follows %q: a Dataset's keys must be unique and in bytewise order", i, formats.ErrOrder, key, last)
	}
	return nil
}

// checkSpace returns an error if the images whose bytes are copied do not fit on the output's disk. How large others become is
// not known before, and a file system that cannot tell its free space is tried.
func (p *Plan) checkSpace() error {
	free, err := cache.FreeSpace(filepath.Dir(filepath.Clean(p.Path)))
	if err != nil || p.copied <= free {
		return nil //nolint:nilerr // see above
	}
	written, _ := sharded.SizeOfFiles(p.Path + sidecar.PartialSuffix) // by an earlier run; nothing is there, or what can be read
	missing := p.copied - written
	if missing <= free {
		return nil
	}
	return fmt.Errorf("%s: %w: its images need %s more, and %s is free there; make room, or write to another disk",
		p.Path, syscall.ENOSPC, megabytes(missing), megabytes(free))
}

func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }
