package parquet

import (
	"encoding/json"
	"slices"

	"github.com/dsconv/dsconv/internal/storage/parquetfile"
)

// feature is what datasets says of a column.
type feature struct {
	Type  string   `json:"_type"`
	Names []string `json:"names"`
}

// featuresOf reads what datasets wrote into the file's metadata. What it cannot read is as if it were not there: the
// columns' own types decide then.
func featuresOf(f *parquetfile.File) map[string]feature {
	var content struct {
		Info struct {
			Features map[string]json.RawMessage `json:"features"`
		} `json:"info"`
	}
	if json.Unmarshal([]byte(f.Metadata("huggingface")), &content) != nil {
		return nil
	}
	features := map[string]feature{}
	for name, raw := range content.Info.Features {
		var one feature
		if json.Unmarshal(raw, &one) == nil { // a list has no type
			features[name] = one
		}
	}
	return features
}

// sameNames reports whether the classes of a column are the same in two files.
func sameNames(a, b map[string]feature, column string) bool {
	return slices.Equal(a[column].Names, b[column].Names)
}
