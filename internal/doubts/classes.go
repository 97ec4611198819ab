package doubts

import (
	"fmt"
	"strings"

	"github.com/dsconv/dsconv/formats"
)

// fewImages is how many images may have a class each: fewer are an example.
const fewImages = 20

// OfClasses returns sentences about the classes of a dataset.
func OfClasses(m *formats.Meta, images int) (list []string) {
	for _, f := range m.Schema {
		first := map[string]string{}
		for _, name := range f.Classes {
			lower := strings.ToLower(name)
			if other, twin := first[lower]; twin {
				list = append(list, fmt.Sprintf("%s: the classes %s and %s differ only in upper and lower case", f.Name, other, name))
				break
			}
			first[lower] = name
		}
		if n := len(f.Classes); f.Kind == formats.Label && images >= fewImages && n >= images-images/10 {
			list = append(list, fmt.Sprintf("%s: %d classes for %d images: perhaps it is not the label but a name or a number of each image", f.Name, n, images))
		}
	}
	return list
}
