package parity

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/guard"
	"github.com/dsconv/dsconv/internal/parallel"
	"github.com/dsconv/dsconv/preprocess"
)

// Options of Run. The zero value is usual.
type Options struct {
	Python   string        // the interpreter that has Pillow, "" is python3
	Sample   int           // how many images are chosen by Seed; 0 is all
	Seed     uint64        // decides which, and the crops
	Workers  int           // goroutines, each with a Python; the number of cores if it is below 1
	Patience time.Duration // how long Python may take for one image, 0 is two minutes
}

// ErrUnmatched is returned when the source has none of the chosen samples.
var ErrUnmatched = errors.New("the source has none of the dataset's samples: is it what the dataset was packed from?")

// Run compares the dataset dst, which was packed from src, with what Pillow makes of the same
// images. An error is about the comparison itself; a difference is in the certificate, which
// does not depend on the number of workers.
func Run(ctx context.Context, src, dst formats.Dataset, o Options) (*Certificate, error) {
	if o.Python == "" {
		o.Python = "python3"
	}
	if o.Patience <= 0 {
		o.Patience = patience
	}
	// A worker that fails ends the others' processes too.
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r, err := newRun(src, dst, o)
	if err != nil {
		return nil, err
	}
	if err := r.match(); err != nil {
		return nil, err
	}
	workers := o.Workers
	if workers < 1 {
		workers = parallel.Cores()
	}
	workers = min(workers, len(r.pairs)) // each starts a Python
	err = parallel.Each(ctx, len(r.pairs), workers, func() (func(int) error, func(), error) {
		w, err := r.worker(ctx)
		if err != nil {
			cancel(err)
			return nil, nil, err
		}
		return func(k int) error {
			err := guard.For(fmt.Sprintf("key %q", r.pairs[k].key), func() error { return w.sample(ctx, r.pairs[k]) })
			if err != nil {
				cancel(err)
			}
			return err
		}, w.close, nil
	})
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		return nil, err
	}
	return r.certificate(), nil
}

// run is one Run.
type run struct {
	src, dst formats.Dataset
	o        Options
	recipe   preprocess.Recipe
	fast     bool // the recipe asks for the fast decoder
	pairs    []pair
	paths    paths

	mu    sync.Mutex
	found Certificate
}

// pair is a sample of the dataset and where the source has it.
type pair struct {
	key     string
	dst     int
	src     int
	hash    [16]byte // of the source's file when it was packed, zero if not known
	inFiles bool     // the source has its files, so that hash can be compared
}

func newRun(src, dst formats.Dataset, o Options) (*run, error) {
	meta := dst.Meta()
	recipe, err := preprocess.ParseRecipe(meta.Recipe)
	if err != nil {
		return nil, fmt.Errorf("the dataset's recipe: %w", err)
	}
	r := &run{src: src, dst: dst, o: o, recipe: recipe, fast: recipe.Fast}
	r.recipe.Fast = false   // the path of its own
	r.recipe.Strict = false // what is odd is compared too
	r.found = Certificate{
		Dsconv: Dsconv{preprocess.DecoderName, preprocess.DecoderVersion(), preprocess.ResamplerName},
		Recipe: maps.Clone(meta.Recipe), Samples: dst.Len(), Seed: o.Seed,
		Missing: []string{}, Changed: []string{}, Notes: []string{},
	}
	if r.found.Recipe == nil {
		r.found.Recipe = map[string]string{}
	}
	r.paths = r.newPaths()
	return r, nil
}

// match chooses samples and finds each in the source: by path, else by key.
func (r *run) match() error {
	byPath, byKey := map[string]int{}, map[string]int{}
	chosen := r.choose()
	r.found.Chosen = len(chosen)
	infos := make([]formats.Info, len(chosen))
	for k, i := range chosen {
		in, err := r.dst.Info(i)
		if err != nil {
			return err
		}
		infos[k] = in
		byPath[in.Source.Path], byKey[in.Key] = -1, -1
	}
	inFiles := true
	for k := range r.src.Len() {
		in, err := r.src.Info(k)
		if err != nil {
			return err
		}
		inFiles = inFiles && in.Checksum == [16]byte{}
		if _, ok := byPath[in.Source.Path]; ok && in.Source.Path != "" {
			byPath[in.Source.Path] = k
		}
		if _, ok := byKey[in.Key]; ok {
			byKey[in.Key] = k
		}
	}
	for k, in := range infos {
		at := byKey[in.Key]
		if in.Source.Path != "" && byPath[in.Source.Path] >= 0 {
			at = byPath[in.Source.Path]
		}
		if at < 0 {
			r.found.Missing = append(r.found.Missing, in.Key)
			continue
		}
		r.pairs = append(r.pairs, pair{key: in.Key, dst: chosen[k], src: at, hash: in.Source.Hash, inFiles: inFiles})
	}
	if len(r.pairs) == 0 {
		return ErrUnmatched
	}
	return nil
}

// choose gives the indices of the samples that are compared, in order.
func (r *run) choose() []int {
	n := r.dst.Len()
	if r.o.Sample <= 0 || r.o.Sample >= n {
		all := make([]int, n)
		for i := range all {
			all[i] = i
		}
		return all
	}
	chosen := rand.New(rand.NewPCG(r.o.Seed, 0)).Perm(n)[:r.o.Sample]
	slices.Sort(chosen)
	return chosen
}

// certificate sums up.
func (r *run) certificate() *Certificate {
	c := &r.found
	c.Equal = true
	for _, p := range r.paths.all() {
		if p.Images == 0 && len(p.Refused) == 0 && len(p.NotJudged) == 0 {
			continue
		}
		p.finish()
		c.Paths = append(c.Paths, p)
		c.Equal = c.Equal && p.Equal()
	}
	slices.Sort(c.Missing)
	slices.Sort(c.Changed)
	r.note()
	return c
}

// note says what a reader of the certificate has to know about the two sides.
func (r *run) note() {
	c := &r.found
	add := func(format string, args ...any) { c.Notes = append(c.Notes, fmt.Sprintf(format, args...)) }
	if v := major(c.Judge.Pillow); v != pillowOfResampler {
		add("Pillow %s is not the %s whose pixels dsconv gives: resized images can differ", c.Judge.Pillow, preprocess.ResamplerName)
	}
	if !strings.HasPrefix(c.Judge.JPEG, preprocess.DecoderName) {
		add("Pillow decodes JPEGs by %s and dsconv by %s: their pixels can differ", c.Judge.JPEG, preprocess.DecoderName)
	}
	for key, now := range map[string]string{"decoder": c.Dsconv.Decoder, "resampler": c.Dsconv.Resampler} {
		if was := c.Recipe[key]; was != "" && was != now {
			add("the dataset was packed with the %s %s, this dsconv has %s", key, was, now)
		}
	}
	slices.Sort(c.Notes)
}

// pillowOfResampler is the Pillow that preprocess.ResamplerName speaks of.
var pillowOfResampler = major(strings.TrimPrefix(preprocess.ResamplerName, "pillow-"))

// major is the first number of a version.
func major(version string) int {
	first, _, _ := strings.Cut(version, ".")
	n, err := strconv.Atoi(first)
	if err != nil {
		return 0
	}
	return n
}
