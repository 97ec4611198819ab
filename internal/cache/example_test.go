//go:build linux

package cache_test

import (
	"fmt"
	"os"

	"github.com/dsconv/dsconv/internal/cache"
)

func Example() {
	c, err := cache.Open(cache.Config{Name: "photos-4f2a", Limit: 1 << 20, Samples: 3, Dir: os.TempDir()})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()

	photos := []string{"a cat", "a dog", "a cat"} // on a slow disk
	load := func(i int) []byte {
		if data, ok := c.Get(i); ok {
			return data
		}
		photo := photos[i]
		data, ok, err := c.Put(i, len(photo), func(dst []byte) error {
			copy(dst, photo)
			return nil
		})
		if err != nil || !ok {
			return []byte(photo)
		}
		return data
	}
	for range 2 { // epochs
		for i := range photos {
			fmt.Printf("%s, ", load(i))
		}
	}
	fmt.Println(c.Stats().Samples, "samples,", c.Stats().Hits, "hits")
	// Output: a cat, a dog, a cat, a cat, a dog, a cat, 3 samples, 3 hits
}
