package plan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

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
	// if the packed images of a candidate would take more than 256 MiB or 10 seconds.
	Sample int `json:"sample"`
	// Rounds is how often each candidate is loaded, in turns, for 0.3 seconds each; 0 is 3.
	Rounds int `json:"rounds"`

	// Format is that of the candidates; "" is LMDB or, in a build without it, shard.
	Format string `json:"format"`
	// Resizes and Encodings are tried in all combinations that make sense. If both are empty, those that suit the images
	// and the loader are: none of these enlarges an image.
	Resizes   []preprocess.Resize   `json:"-"`
	Encodings []codec.EncodeOptions `json:"-"`

	// Dir is the folder of the temporary folder, on the disk that the dataset will be on; "" is the system's. It must exist.
	Dir string `json:"-"`
	// Sources are the words for the source in commands of dsconv pack; none are the path. Reading are flags of that command,
	// with their values, that say how the source is read, as Open does.
	Sources []string `json:"sources,omitempty"`
	Reading []string `json:"reading,omitempty"`
	// Open opens the dataset or folder at a path; nil is dsconv.OpenSource. Run closes it.
	Open func(ctx context.Context, path string) (formats.Dataset, error) `json:"-"`
	// Progress, if not nil, is called after each step, on the caller's goroutine.
	Progress func(Progress) `json:"-"`

	effort effort
}

// effort is how much is tried of each candidate.
type effort struct {
	sample      int           // images at least, if Sample is 0
	bytes       int64         // of packed images at most
	packSeconds float64       // about the most of packing them
	load        time.Duration // each time that they are loaded
}

var (
	ofPlan   = effort{1000, 256 << 20, 10, 300 * time.Millisecond}
	ofAdvice = effort{256, 64 << 20, 1.5, 120 * time.Millisecond} // which must not take long
)

// Progress is a step of a plan that has just ended.
type Progress struct {
	Step  string // "packed --encode raw", "loaded --encode raw"
	Done  int
	Total int // as far as known
}

// Validate returns the error that Run would return for the options.
func (o Options) Validate() error {
	_, err := o.withDefaults(ofPlan)
	return err
}

func (o Options) withDefaults(e effort) (_ Options, err error) {
	if min(o.Sample, o.Rounds) < 0 {
		return o, fmt.Errorf("plan: sample %d, rounds %d: the numbers must not be negative", o.Sample, o.Rounds)
	}
	o.effort = cmp.Or(o.effort, e)
	o.Rounds = cmp.Or(o.Rounds, 3)
	if o.Open == nil {
		o.Open = func(ctx context.Context, path string) (formats.Dataset, error) {
			return dsconv.OpenSource(ctx, path, folder.Config{})
		}
	}
	if o.Bench, err = o.Bench.Filled(); err != nil {
		return o, fmt.Errorf("plan: %w", err)
	}
	format, err := o.format()
	if err != nil {
		return o, fmt.Errorf("plan: %w", err)
	}
	o.Format = format.Name()
	var errs []error
	for _, r := range o.Resizes {
		errs = append(errs, new(preprocess.Resize).UnmarshalText([]byte(r.String())))
	}
	for _, e := range o.Encodings {
		errs = append(errs, e.Check("Encodings"))
	}
	if err := errors.Join(errs...); err != nil {
		return o, fmt.Errorf("plan: %w", err)
	}
	return o, nil
}

// format is the format of the candidates.
func (o *Options) format() (formats.WritableFormat, error) {
	name := o.Format
	if name == "" {
		if f, err := named("lmdb"); err == nil {
			return f, nil
		}
		name = "shard"
	}
	return named(name)
}

// named is the format of that name, if this build writes it.
func named(name string) (formats.WritableFormat, error) {
	f, err := dsconv.Formats().Writable().ByName(name)
	if err != nil {
		return nil, err
	}
	w, ok := f.(formats.WritableFormat)
	if !ok {
		return nil, fmt.Errorf("format %s: a dataset is packed as lmdb, hdf5, shard or tfrecord", name)
	}
	return w, formats.CheckBuilt(w)
}

// suffixes are those of the formats' files.
var suffixes = map[string]string{"lmdb": ".lmdb", "hdf5": ".h5", "shard": ".tar", "tfrecord": ".tfrecord"}

// words are the words for the source at path.
func (o *Options) words(path string) []string {
	if len(o.Sources) > 0 {
		return o.Sources
	}
	return []string{path}
}

// command is the command that packs the source at path with flags.
func (o *Options) command(path, flags string) string {
	words := []string{"dsconv pack"}
	for _, source := range o.words(path) {
		words = append(words, quote(source))
	}
	words = append(words, "OUT"+suffixes[o.Format])
	for _, word := range o.Reading {
		if !strings.HasPrefix(word, "--") {
			word = quote(word)
		}
		words = append(words, word)
	}
	return strings.TrimSuffix(strings.Join(append(words, flags), " "), " ")
}

// quote writes a path so that a shell reads it.
func quote(path string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+,:=@%", r)
	}
	if path != "" && !strings.ContainsFunc(path, func(r rune) bool { return !plain(r) }) && path[0] != '-' {
		return path
	}
	if strings.HasPrefix(path, "-") {
		path = "./" + path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}
