package edit

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/dsconv/dsconv/internal/image/jpeg"
	"github.com/dsconv/dsconv/preprocess"
)

// recipeOf parses a dataset's recipe; filesZstd is the zstd level of its files. If this build would produce
// other pixels than the build that packed the dataset, it is an error: the dataset would mix both.
func recipeOf(m map[string]string, compressesFiles bool) (r preprocess.Recipe, filesZstd int, err error) {
	if r, err = preprocess.ParseRecipe(m); err != nil {
		return r, 0, fmt.Errorf("its recipe: %w", err)
	}
	if compressesFiles {
		filesZstd, r.Zstd = int(r.Zstd), 0
	}
	if m["decoder"] == mixed {
		return r, 0, errors.New("no single decoder made its images, since it was merged from several datasets: change those and merge them again, or pack it again")
	}
	if err := r.CheckPixels(m); err != nil {
		return r, 0, fmt.Errorf("%w: pack it again", err)
	}
	return r, filesZstd, nil
}

// mixed stands for an option that several datasets had with different values.
const mixed = "mixed"

// mixDecoders changes the recipe of a dataset that is merged from datasets with recipes: if a GPU decoded images, and not
// one and the same decoded all of them, the decoder is mixed. Without it the recipe would name none, or only the card.
func mixDecoders(merged map[string]string, recipes []map[string]string) {
	device := []string{"decoder", "nvjpeg", "card", "jpeg-engine"}
	onGPU, differ := false, false
	for _, r := range recipes {
		onGPU = onGPU || r["decoder"] == string(preprocess.DecoderGPU) || r["decoder"] == mixed
		differ = differ || slices.ContainsFunc(device, func(key string) bool { return r[key] != recipes[0][key] })
	}
	if !onGPU || !differ {
		return
	}
	for _, key := range device {
		delete(merged, key)
	}
	merged["decoder"] = mixed
}

// withDecoder returns the recipe of a dataset to which images are added: the recipe lists all
// versions of the decoder that read images.
func withDecoder(m map[string]string) map[string]string {
	was, ok := m[preprocess.DecoderVersionKey]
	now := jpeg.DecoderVersion()
	if !ok || slices.Contains(strings.Split(was, ", "), now) {
		return m
	}
	m = maps.Clone(m)
	m[preprocess.DecoderVersionKey] = was + ", " + now
	return m
}

// withShards returns the recipe of a dataset that now has n files.
func withShards(m map[string]string, n int) map[string]string {
	to := map[string]string{} // a dataset of somebody's own may have no recipe
	maps.Copy(to, m)
	delete(to, "shards")
	if n > 1 {
		to["shards"] = strconv.Itoa(n)
	}
	return to
}
