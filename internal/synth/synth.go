// Package synth writes folders of photo-like JPEGs in class folders, for demos, tests and
// measurements that need no dataset from the network.
//
// An image takes as long to read as a photo: fractal materials and sensor noise give it a photo's
// bits per pixel and decode time (about 95 KB at the default size of 500x375, 4:2:0). Its class is
// the silhouette and the pattern of one large object, such as "banded_disc" or "rayed_star";
// colours, position, size, light and background don't depend on the class.
// So a small network learns the classes, while a pixel's colour, the mean colour
// and the colour histogram say next to nothing. Every class is its own mirror
// image: horizontal flips keep labels true.
package synth

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"image/jpeg"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/parallel"
)

// Limits on [Options], and what its zero fields stand for.
const (
	DefaultN       = 2000
	DefaultClasses = 10
	defaultWidth   = 500
	defaultHeight  = 375

	minSide = 16
	maxSide = 16384
)

// quality is that of Go's encoder, whose tables are libjpeg's; photo collections
// from the web commonly lie between 90 and 95.
const quality = 95

// Options are those of [Write]. Zero fields other than Seed take the defaults.
type Options struct {
	N       int    // images in all, spread evenly over the classes
	Classes int    // at least 1, at most [maxClasses]
	Width   int    // pixels, from minSide to maxSide
	Height  int    // pixels, from minSide to maxSide
	Seed    uint64 // another seed gives other images of the same classes
	// Splits maps a split to its share of each class; what is left goes to "train".
	// Empty: class folders without splits. See [ParseSplits].
	Splits  map[string]float64
	Workers int // concurrent encoders; 0: the number of cores
}

func (o Options) withDefaults() Options {
	o.N, o.Classes = cmp.Or(o.N, DefaultN), cmp.Or(o.Classes, DefaultClasses)
	o.Width, o.Height = cmp.Or(o.Width, defaultWidth), cmp.Or(o.Height, defaultHeight)
	return o
}

func (o Options) validate() error {
	switch {
	case o.Classes < 1 || o.Classes > maxClasses:
		return fmt.Errorf("synth: %d classes: want 1 to %d", o.Classes, maxClasses)
	case o.N < o.Classes:
		return fmt.Errorf("synth: %d images cannot fill %d classes", o.N, o.Classes)
	case min(o.Width, o.Height) < minSide || max(o.Width, o.Height) > maxSide:
		return fmt.Errorf("synth: size %dx%d: want sides of %d to %d pixels", o.Width, o.Height, minSide, maxSide)
	case o.Workers < 0:
		return fmt.Errorf("synth: %d workers", o.Workers)
	}
	return validateSplits(o.Splits)
}

// Write writes the folder dir: dir/CLASS/000123.jpg, or dir/SPLIT/CLASS/000123.jpg
// with splits, every class in every split in proportion. File names are unique in
// the whole folder. The same options give the same bytes for any number of workers (on one
// architecture and Go release: floating point may be fused, and image/jpeg may change).
//
// The images are written to dir.partial, which becomes dir at the end; after an error
// or a cancelled ctx it is removed. Write refuses a dir that exists and is not an
// empty folder, and a dir.partial that a killed run left.
//
// progress may be nil; calls never overlap and done counts the images written, 1 to N.
func Write(ctx context.Context, dir string, o Options, progress func(done int)) error {
	o = o.withDefaults()
	if err := o.validate(); err != nil {
		return err
	}
	files, err := plan(o)
	if err != nil {
		return err
	}
	dir, err = target(dir)
	if err != nil {
		return err
	}
	partial := dir + ".partial"
	if err := os.MkdirAll(filepath.Dir(partial), 0o777); err != nil {
		return fmt.Errorf("synth: create the parent folder of %s: %w", dir, err)
	}
	if err := os.Mkdir(partial, 0o777); err != nil {
		return fmt.Errorf("synth: create %s: %w (if a stopped run left it, remove it)", partial, err)
	}
	err = writeAll(ctx, partial, files, o, progress)
	if err == nil {
		err = publish(partial, dir)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("synth: write %s: %w", dir, err), os.RemoveAll(partial))
	}
	return nil
}

// publish gives the finished folder its name, in place of an empty folder or nothing.
func publish(partial, dir string) error {
	if err := os.Remove(dir); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return os.Rename(partial, dir)
}

// target returns the absolute path of dir, a folder that is empty or does not exist.
func target(dir string) (string, error) {
	if dir == "" {
		return "", errors.New("synth: no folder named")
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("synth: %s: %w", dir, err)
	}
	entries, err := os.ReadDir(abs)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return abs, nil
	case err != nil:
		return "", fmt.Errorf("synth: %s is not an empty folder: %w", dir, err)
	case len(entries) > 0:
		return "", fmt.Errorf("synth: %s is not empty: it has %s; choose another path", dir, entries[0].Name())
	}
	return filepath.EvalSymlinks(abs)
}

// writeAll encodes the planned files below root.
func writeAll(ctx context.Context, root string, files []file, o Options, progress func(int)) error {
	if err := makeFolders(root, files); err != nil {
		return err
	}
	var mu sync.Mutex
	done := 0
	return parallel.Each(ctx, len(files), o.Workers, func() (do func(int) error, end func(), err error) {
		p := newPainter(o.Width, o.Height)
		return func(i int) error {
			if err := writeImage(root, files[i], p, newScene(o, i, files[i].class)); err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			done++
			if progress != nil {
				progress(done)
			}
			return nil
		}, func() {}, nil
	})
}

func makeFolders(root string, files []file) error {
	folders := map[string]bool{}
	for _, f := range files {
		folders[filepath.Dir(f.path)] = true
	}
	for folder := range folders {
		if err := os.MkdirAll(filepath.Join(root, folder), 0o777); err != nil {
			return err
		}
	}
	return nil
}

func writeImage(root string, f file, p *painter, s *scene) error {
	p.encoded.Reset()
	if err := jpeg.Encode(&p.encoded, p.paint(s), &jpeg.Options{Quality: quality}); err != nil {
		return fmt.Errorf("encode %s: %w", f.path, err)
	}
	return os.WriteFile(filepath.Join(root, f.path), p.encoded.Bytes(), 0o666)
}

// splitNames are the first-level folders that readers of class folders take as splits.
var splitNames = formats.SplitFolders()

// ParseSplits parses a list such as "val=0.2" or "train=0.8,val=0.1,test=0.1" into the
// shares of [Options.Splits]. The empty string means no splits and returns nil.
func ParseSplits(s string) (map[string]float64, error) {
	if s == "" {
		return nil, nil
	}
	splits := map[string]float64{}
	for part := range strings.SplitSeq(s, ",") {
		name, value, ok := strings.Cut(strings.TrimSpace(part), "=")
		share, err := strconv.ParseFloat(value, 64)
		if !ok || err != nil {
			return nil, fmt.Errorf("synth: split %q: want NAME=SHARE, such as val=0.2", part)
		}
		if _, twice := splits[name]; twice {
			return nil, fmt.Errorf("synth: split %q is named twice", name)
		}
		splits[name] = share
	}
	return splits, validateSplits(splits)
}

func validateSplits(splits map[string]float64) error {
	sum := 0.0
	for name, share := range splits {
		if !slices.Contains(splitNames, name) {
			return fmt.Errorf("synth: split %q: want one of %s", name, strings.Join(splitNames, ", "))
		}
		if !(share > 0 && share <= 1) {
			return fmt.Errorf("synth: split %s=%v: want a share above 0, at most 1", name, share)
		}
		sum += share
	}
	const slack = 1e-9 // of decimal shares added in binary
	if sum > 1+slack {
		return fmt.Errorf("synth: the splits' shares add up to %v", sum)
	}
	if _, ok := splits["train"]; ok && sum < 1-slack {
		return errors.New("synth: shares that name train must add up to 1; leave train out to give it the rest")
	}
	return nil
}

// file is one image: its path below the folder and its class.
type file struct {
	path  string
	class int
}

// plan lists the files of o. Image i has class i modulo o.Classes, and lies in the
// split that holds its number within the class.
func plan(o Options) ([]file, error) {
	bounds := splitBounds(o.Splits)
	files := make([]file, o.N)
	names := make([]string, o.Classes)
	folders := map[string]bool{}
	for c := range names {
		names[c] = classOf(c).String()
	}
	for i := range files {
		c := i % o.Classes
		size := (o.N - c + o.Classes - 1) / o.Classes
		folder := filepath.Join(splitAt(bounds, i/o.Classes, size), names[c])
		folders[folder] = true
		files[i] = file{path: filepath.Join(folder, fmt.Sprintf("%06d.jpg", i)), class: c}
	}
	if want := max(1, len(bounds)) * o.Classes; len(folders) < want {
		return nil, fmt.Errorf("synth: %d images leave a class of some split empty: ask for more images or fewer classes", o.N)
	}
	return files, nil
}

// splitBound is the share of each class up to which a split goes.
type splitBound struct {
	name  string
	upper float64
}

func splitBounds(splits map[string]float64) []splitBound {
	if len(splits) == 0 {
		return nil
	}
	shares := maps.Clone(splits)
	rest := 1.0
	for _, name := range slices.Sorted(maps.Keys(splits)) {
		rest -= shares[name]
	}
	if rest > 1e-9 {
		shares["train"] += rest
	}
	var bounds []splitBound
	upper := 0.0
	for _, name := range slices.Sorted(maps.Keys(shares)) {
		upper += shares[name]
		bounds = append(bounds, splitBound{name, upper})
	}
	return bounds
}

// splitAt returns the split of image number n of a class that has size images.
func splitAt(bounds []splitBound, n, size int) string {
	for _, b := range bounds {
		if n < int(math.Round(b.upper*float64(size))) {
			return b.name
		}
	}
	return ""
}
