package bench

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"path/filepath"
	"strings"
	"testing"
)

// Arguments that make no sense are errors that name them; nothing is opened.
func TestMisuse(t *testing.T) {
	paths, open := opener(t, newMemory("a", 16, &log{}))
	var none context.Context
	run := func(ctx context.Context, paths []string, change func(*Options)) error {
		o := small()
		o.Open = open
		change(&o)
		r, err := Run(ctx, paths, o)
		if err != nil && r != nil {
			t.Errorf("a report with the error %v", err)
		}
		return err
	}
	usual := func(*Options) {}
	for says, err := range map[string]error{
		"bench.Run: ctx is nil":     run(none, paths, usual),
		"bench.Run: paths is empty": run(t.Context(), nil, usual),
		"or has an empty path":      run(t.Context(), []string{"a", ""}, usual),
		"rounds -1":                 run(t.Context(), paths, func(o *Options) { o.Rounds = -1 }),
		"epochs -1":                 run(t.Context(), paths, func(o *Options) { o.Epochs = -1 }),
		"size -1":                   run(t.Context(), paths, func(o *Options) { o.Size = -1 }),
		"consume -1":                run(t.Context(), paths, func(o *Options) { o.Consume = -1 }),
		"consume NaN":               run(t.Context(), paths, func(o *Options) { o.Consume = math.NaN() }),
		"bench b: ":                 run(t.Context(), []string{"b"}, usual),
	} {
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v does not say %q", err, says)
		}
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if err := run(cancelled, paths, usual); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	// The default opens datasets and folders.
	missing := filepath.Join(t.TempDir(), "none.tar")
	if err := run(t.Context(), []string{missing}, func(o *Options) { o.Open = nil }); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing path: %v", err)
	}
}
