package edit

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/dsconv/dsconv/preprocess"
)

// packed is how a dataset was packed, as its recipe tells.
type packed struct {
	preprocess.Recipe
	filesZstd int // level at which its files are compressed
}

// recipeOf reads a dataset's recipe. What this build would do otherwise than the one that
// packed the dataset is an error: its images would be of two kinds.
func recipeOf(m map[string]string, compressesFiles bool) (packed, error) {
	var p packed
	var err error
	if p.Recipe, err = preprocess.ParseRecipe(m); err != nil {
		return p, fmt.Errorf("its recipe: %w", err)
	}
	if compressesFiles {
		p.filesZstd, p.Zstd = p.Zstd, 0
	}
	for key, now := range p.Map() {
		if was := m[key]; was != now && (key == "decoder" || key == "resampler") {
			return p, fmt.Errorf("it was packed with the %s %s, this dsconv has %s: pack it anew", key, was, now)
		}
	}
	return p, nil
}

// withDecoder is the recipe of a dataset to which images were added: more than one version of
// the decoder may have read them.
func withDecoder(m map[string]string) map[string]string {
	was, told := m[preprocess.DecoderVersionKey]
	now := preprocess.DecoderVersion()
	if !told || slices.Contains(strings.Split(was, ", "), now) {
		return m
	}
	m = maps.Clone(m)
	m[preprocess.DecoderVersionKey] = was + ", " + now
	return m
}

// withShards is the recipe of a dataset that has n files now.
func withShards(m map[string]string, n int) map[string]string {
	m = maps.Clone(m)
	delete(m, "shards")
	if n > 1 {
		m["shards"] = strconv.Itoa(n)
	}
	return m
}
