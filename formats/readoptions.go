package formats

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// ReadOptions say how a dataset that another program wrote is read. The zero value goes by what the files
// contain.
type ReadOptions struct {
	// Format is the name of the format, where the content does not decide; "" looks.
	Format string
	// Map names for a field ("image", "label", ...) the key, column, feature or extension that the dataset
	// has it under. Which names it may have is up to the format.
	Map map[string]string
}

// OptionsOpener is a Format whose datasets can be read in more than one way.
type OptionsOpener interface {
	// OpenWith is Open with options; making the index of a large dataset ends when ctx does.
	OpenWith(ctx context.Context, path string, o ReadOptions) (Dataset, error)
}

// ParseMap reads entries such as "image=jpg,label=cls", as --map has them. The error wraps ErrSchema.
func ParseMap(entries string) (map[string]string, error) {
	if entries == "" {
		return nil, nil
	}
	m := map[string]string{}
	for entry := range strings.SplitSeq(entries, ",") {
		field, key, ok := strings.Cut(entry, "=")
		switch {
		case !ok || field == "" || key == "":
			return nil, fmt.Errorf("%w: the map has %q: write FIELD=KEY, such as image=jpg,label=cls", ErrSchema, entry)
		case !validName(field):
			return nil, fmt.Errorf("%w: the map has the field %q: use 1 to 64 letters, digits, '_' and '-'", ErrSchema, field)
		case m[field] != "":
			return nil, fmt.Errorf("%w: the map has the field %q twice", ErrSchema, field)
		}
		m[field] = key
	}
	return m, nil
}

// Keys of the recipe of a dataset, and of one that was packed from it: see convert.
const (
	mapKey          = "map"
	sourceMapKey    = "source.map"
	sourceFormatKey = "source.format"
)

// Recipe returns the entries of Meta.Recipe for the options, nil if there are none. A dataset that was
// opened with a map has it there, so that what is packed from it tells how it was read.
func (o ReadOptions) Recipe() map[string]string {
	if len(o.Map) == 0 {
		return nil
	}
	return map[string]string{mapKey: o.mapText()}
}

// mapText is what ParseMap reads.
func (o ReadOptions) mapText() string {
	var entries []string
	for _, field := range slices.Sorted(maps.Keys(o.Map)) {
		entries = append(entries, field+"="+o.Map[field])
	}
	return strings.Join(entries, ",")
}

// ReadOptionsFromRecipe returns the options that the source of a dataset with that recipe was read with.
// Without a map the content of another source decides.
func ReadOptionsFromRecipe(recipe map[string]string) (ReadOptions, error) {
	m, err := ParseMap(recipe[sourceMapKey])
	if len(m) == 0 {
		return ReadOptions{}, err
	}
	return ReadOptions{Format: recipe[sourceFormatKey], Map: m}, nil
}

// OpenWith opens the dataset at path as o says. A format that has no options refuses a map.
func (r Registry) OpenWith(ctx context.Context, path string, o ReadOptions) (Dataset, error) {
	f, err := r.ForReading(path, o)
	if err != nil {
		return nil, err
	}
	return OpenFormat(ctx, f, path, o)
}

// ForReading returns the format that the dataset at path is read with.
func (r Registry) ForReading(path string, o ReadOptions) (Format, error) {
	if o.Format == "" {
		return r.ByExistingPath(path)
	}
	if err := cmp.Or(r.check(), CheckPath(path)); err != nil {
		return nil, err
	}
	return r.ByName(o.Format)
}

// OpenFormat opens the dataset at path with f, which refuses a map if it has no options.
func OpenFormat(ctx context.Context, f Format, path string, o ReadOptions) (Dataset, error) {
	switch opener, ok := f.(OptionsOpener); {
	case f == nil || ctx == nil:
		return nil, errors.New("formats.OpenFormat: no format or no context: give dsconv.Formats() and context.Background()")
	case ok:
		return openWith(f, path, func() (Dataset, error) { return opener.OpenWith(ctx, path, o) })
	case len(o.Map) > 0:
		return nil, fmt.Errorf("%s: %w: the map %s is for datasets of other programs; the format %s has the fields that it was written with",
			path, ErrSchema, o.mapText(), f.Name())
	}
	return openWith(f, path, func() (Dataset, error) { return f.Open(path) })
}
