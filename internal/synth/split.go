package synth

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/dsconv/dsconv/formats"
)

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
