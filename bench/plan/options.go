package plan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/dsconv/dsconv"
	"github.com/dsconv/dsconv/bench"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder"
	"github.com/dsconv/dsconv/preprocess"
	"github.com/dsconv/dsconv/preprocess/codec"
)

// Options say what is tried and how it is loaded. The zero value tries what suits the images, on a sample of about 1,000,
// and loads them as the zero value of bench.Options does.
type Options struct {
	// Bench describes the loader and the consumer of its batches, as for bench.Run: Config, Size and Consume. The rest of
	// it is not used.
	Bench bench.Options `json:"-"`
	// Sample is the number of images that are tried, evenly spread over the keys; 0 is 1,000, and more of small images: the
	// processor's caches hold a few of those, but not the whole dataset. Fewer are tried
	// if the packed images of a candidate would take more than SampleBytes or TrySeconds.
	Sample int `json:"sample"`
	// SampleBytes is the most bytes of a candidate's packed images; 0 is 256 MiB.
	SampleBytes int64 `json:"sample_bytes"`
	// TrySeconds is about the most that packing the sample of one candidate may take; 0 is 10.
	TrySeconds float64 `json:"try_seconds"`
	// Rounds is how often each candidate is loaded, in turns, for LoadSeconds each; 0 is 3 times 0.3 seconds.
	Rounds      int     `json:"rounds"`
	LoadSeconds float64 `json:"load_seconds"`

	// Formats are those whose bytes are computed; none is all that this build writes.
	Formats []string `json:"formats,omitempty"`
	// Resizes and Encodings are tried in all combinations that make sense. If both are empty, those that suit the images
	// and the loader are: none of these enlarges an image.
	Resizes   []preprocess.Resize   `json:"-"`
	Encodings []codec.EncodeOptions `json:"-"`
	// NoQuality leaves out PSNR and SSIM.
	NoQuality bool `json:"no_quality,omitempty"`

	// Dir is the folder of the temporary folder, on the disk that the dataset will be on; "" is the system's. It must exist.
	Dir string `json:"-"`
	// least is what Sample is at least if it is 0.
	least int
	// Sources are the words for the source in commands of dsconv pack; none are the path. Reading are flags of that command,
	// with their values, that say how the source is read, as Open does.
	Sources []string `json:"sources,omitempty"`
	Reading []string `json:"reading,omitempty"`
	// Open opens the dataset or folder at a path; nil is dsconv.OpenSource. Run closes it.
	Open func(ctx context.Context, path string) (formats.Dataset, error) `json:"-"`
	// Progress, if not nil, is called after each step, on the caller's goroutine.
	Progress func(Progress) `json:"-"`
}

// Progress is a step of a plan that has just ended.
type Progress struct {
	Step  string // "packed --encode raw", "loaded --encode raw"
	Done  int
	Total int // as far as known
}

// The defaults of Options.
const (
	defaultSample      = 1000
	defaultSampleBytes = 256 << 20
	defaultTrySeconds  = 10
	defaultRounds      = 3
	defaultLoadSeconds = 0.3
)

// Validate returns the error that Run would return for the options.
func (o Options) Validate() error {
	_, err := o.withDefaults()
	return err
}

func (o Options) withDefaults() (Options, error) {
	for name, x := range map[string]float64{
		"sample": float64(o.Sample), "sample bytes": float64(o.SampleBytes), "try seconds": o.TrySeconds,
		"rounds": float64(o.Rounds), "load seconds": o.LoadSeconds,
	} {
		if !(x >= 0) || math.IsInf(x, 0) {
			return o, fmt.Errorf("plan: %s %v: it must be a number that is not negative", name, x)
		}
	}
	if o.Bench.Train != "" || o.Bench.ViewCount != 0 {
		return o, errors.New("plan: it loads one image of each sample, without a trainer: leave out Train and ViewCount")
	}
	o.least = cmp.Or(o.least, defaultSample)
	o.SampleBytes = cmp.Or(o.SampleBytes, defaultSampleBytes)
	o.TrySeconds = cmp.Or(o.TrySeconds, defaultTrySeconds)
	o.Rounds = cmp.Or(o.Rounds, defaultRounds)
	o.LoadSeconds = cmp.Or(o.LoadSeconds, defaultLoadSeconds)
	if o.Open == nil {
		o.Open = func(ctx context.Context, path string) (formats.Dataset, error) {
			return dsconv.OpenSource(ctx, path, folder.Config{})
		}
	}
	filled, err := o.Bench.Filled()
	if err != nil {
		return o, fmt.Errorf("plan: %w", err)
	}
	o.Bench = filled
	if o.Formats, err = writable(o.Formats); err != nil {
		return o, err
	}
	return o, o.checkGrid()
}

// checkGrid checks the sizes and encodings that the caller gave.
func (o *Options) checkGrid() error {
	var errs []error
	for _, r := range o.Resizes {
		var same preprocess.Resize
		errs = append(errs, same.UnmarshalText([]byte(r.String())))
	}
	for _, e := range o.Encodings {
		errs = append(errs, e.Check("Encodings"))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("plan: %w", err)
	}
	return nil
}

// writable checks the names of formats; none are all that this build can write. LMDB comes first if it is among them.
func writable(names []string) ([]string, error) {
	var out []string
	for _, f := range dsconv.Formats() {
		if w, ok := f.(formats.WritableFormat); ok && len(names) == 0 && formats.CheckBuilt(w) == nil {
			out = append(out, f.Name())
		}
	}
	for _, name := range names {
		w, err := formatNamed(name)
		if err != nil {
			return nil, err
		}
		if err := formats.CheckBuilt(w); err != nil {
			return nil, fmt.Errorf("plan: %w", err)
		}
		out = append(out, name)
	}
	return out, nil
}

// formatNamed is the format of that name.
func formatNamed(name string) (formats.WritableFormat, error) {
	f, err := dsconv.Formats().Writable().ByName(name)
	if err != nil {
		return nil, fmt.Errorf("plan: %w", err)
	}
	w, ok := f.(formats.WritableFormat)
	if !ok {
		return nil, fmt.Errorf("plan: format %s: a dataset is packed as lmdb, hdf5, shard or tfrecord", name)
	}
	return w, nil
}

// suffixes are those of the formats' files.
var suffixes = map[string]string{"lmdb": ".lmdb", "hdf5": ".h5", "shard": ".tar", "tfrecord": ".tfrecord"}
