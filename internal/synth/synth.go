// Package synth writes folders of photo-like JPEGs in class folders, for demos, tests and
// measurements that need no dataset from the network.
//
// An image takes as long to read as a photo: fractal noise and sensor noise give it a photo's
// bits per pixel and decode time (about 95 KB at the default size of 500x375, 4:2:0). Its class is
// the silhouette and the pattern of one large object, such as "banded_disc" or "rayed_square";
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

// What the zero fields of [Options] stand for.
const (
	DefaultN       = 2000
	DefaultClasses = 10
	defaultWidth   = 500
	defaultHeight  = 375
)

// quality is that of Go's encoder, whose tables are libjpeg's; photo collections
// from the web commonly lie between 90 and 95.
const quality = 95

// Options are those of [Write]. Zero fields other than Seed take the defaults.
type Options struct {
	N             int     // images in all, spread evenly over the classes
	Classes       int     // at least 1, at most [maxClasses]
	Width, Height int     // pixels
	Seed          uint64  // another seed gives other images of the same classes
	Splits        []Split // none: class folders without splits
	Workers       int     // concurrent encoders; 0: the number of cores
}

// Split is a split and its share of each class.
type Split struct {
	Name  string
	Share float64
}

// ParseSplits parses a list such as "val=0.2" or "train=0.8,val=0.1,test=0.1". What is left goes to "train". The
// empty string means no splits.
func ParseSplits(s string) (splits []Split, err error) {
	if s == "" {
		return nil, nil
	}
	names, left := formats.SplitFolders(), 1.0
	for part := range strings.SplitSeq(s, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		share, err := strconv.ParseFloat(value, 64)
		at := slices.Index(names, name)
		if at < 0 || err != nil || !(share > 0 && share <= 1) {
			return nil, fmt.Errorf("synth: split %q: want NAME=SHARE, such as val=0.2, once for each of some of %s", part, strings.Join(formats.SplitFolders(), ", "))
		}
		names = slices.Delete(names, at, at+1)
		splits, left = append(splits, Split{name, share}), left-share
	}
	const slack = 1e-9 // of decimal shares added in binary
	if rest := slices.Contains(names, "train"); left < -slack || !rest && left > slack {
		return nil, fmt.Errorf("synth: the splits' shares add up to %v", 1-left)
	} else if rest && left > slack {
		splits = append(splits, Split{"train", left})
	}
	slices.SortFunc(splits, func(a, b Split) int { return cmp.Compare(a.Name, b.Name) })
	return splits, nil
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
	o.N, o.Classes = cmp.Or(o.N, DefaultN), cmp.Or(o.Classes, DefaultClasses)
	o.Width, o.Height = cmp.Or(o.Width, defaultWidth), cmp.Or(o.Height, defaultHeight)
	paths, err := plan(o)
	if err != nil {
		return fmt.Errorf("synth: %w", err)
	}
	if dir == "" {
		return errors.New("synth: no folder named")
	} else if dir, err = filepath.Abs(dir); err != nil {
		return fmt.Errorf("synth: %w", err)
	}
	if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 {
		return fmt.Errorf("synth: %s is not empty: it has %s; choose another path", dir, entries[0].Name())
	} else if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("synth: %s is not an empty folder: %w", dir, err)
	}
	partial := dir + ".partial"
	if err := errors.Join(os.MkdirAll(filepath.Dir(partial), 0o777), os.Mkdir(partial, 0o777)); err != nil {
		return fmt.Errorf("synth: create %s: %w (if a stopped run left it, remove it)", partial, err)
	}
	if err := writeAll(ctx, partial, paths, o, progress); err != nil {
		return errors.Join(fmt.Errorf("synth: write %s: %w", dir, err), os.RemoveAll(partial))
	}
	_ = os.Remove(dir) // an empty folder; if it is there still, Rename says so
	return os.Rename(partial, dir)
}

// writeAll encodes the images below root.
func writeAll(ctx context.Context, root string, paths []string, o Options, progress func(int)) error {
	var mu sync.Mutex
	done := 0
	return parallel.Each(ctx, len(paths), o.Workers, func() (do func(int) error, end func(), err error) {
		p := newPainter(o.Width, o.Height)
		return func(i int) error {
			if err := p.write(filepath.Join(root, paths[i]), newScene(o, i)); err != nil {
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

func (p *painter) write(path string, s *scene) error {
	p.encoded.Reset()
	if err := jpeg.Encode(&p.encoded, p.paint(s), &jpeg.Options{Quality: quality}); err != nil {
		return fmt.Errorf("encode %s: %w", path, err)
	}
	return errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, p.encoded.Bytes(), 0o666))
}

// plan lists the images' paths. Image i has class i modulo o.Classes, and lies in the
// split that holds its number within the class.
func plan(o Options) ([]string, error) {
	const minSide, maxSide = 16, 16384
	switch {
	case o.Classes < 1 || o.Classes > maxClasses:
		return nil, fmt.Errorf("%d classes: want 1 to %d", o.Classes, maxClasses)
	case o.N < o.Classes:
		return nil, fmt.Errorf("%d images cannot fill %d classes", o.N, o.Classes)
	case min(o.Width, o.Height) < minSide || max(o.Width, o.Height) > maxSide:
		return nil, fmt.Errorf("size %dx%d: want sides of %d to %d pixels", o.Width, o.Height, minSide, maxSide)
	}
	paths, folders := make([]string, o.N), map[string]bool{}
	for i := range paths {
		class := i % o.Classes
		size := (o.N - class + o.Classes - 1) / o.Classes
		folder := filepath.Join(splitOf(o.Splits, i/o.Classes, size), className(class))
		folders[folder] = true
		paths[i] = filepath.Join(folder, fmt.Sprintf("%06d.jpg", i))
	}
	if len(folders) < max(1, len(o.Splits))*o.Classes {
		return nil, fmt.Errorf("%d images leave a class of some split empty: ask for more images or fewer classes", o.N)
	}
	return paths, nil
}

// splitOf returns the split of image number n of a class that has size images.
func splitOf(splits []Split, n, size int) string {
	upper := 0.0
	for _, s := range splits {
		if upper += s.Share; n < int(math.Round(upper*float64(size))) {
			return s.Name
		}
	}
	return ""
}
