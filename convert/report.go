package convert

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/dsconv/dsconv/internal/durable"
	"github.com/dsconv/dsconv/internal/legible"
)

// Skip is an input that is not in the dataset, and the cause.
type Skip struct {
	Path   string `json:"path"`
	Cause  string `json:"cause"`
	Action string `json:"action"` // ActionSkipped, ...
}

// Warning is an input that was packed although it is irregular.
type Warning struct {
	Path  string `json:"path"`
	Cause string `json:"cause"`
}

// Report is the result of a run. Found = Written + len(Skipped) + Failed.
type Report struct {
	Path     string    `json:"path"`
	Found    int       `json:"found"`
	Written  int       `json:"written"`
	Failed   int       `json:"failed"`
	Skipped  []Skip    `json:"skipped,omitempty"`
	Warnings []Warning `json:"warnings,omitempty"`
	// Narrowed lists images of 16 bits per channel that were reduced to 8 bits.
	Narrowed []Warning `json:"narrowed,omitempty"`
	Failure  *Skip     `json:"failure,omitempty"`  // the input whose error ended the run
	Oriented int       `json:"oriented,omitempty"` // images whose EXIF orientation is not 1
	Tiling
	Resumed  int     `json:"resumed,omitempty"` // positions that an earlier run did
	BytesIn  int64   `json:"bytes_in"`
	BytesOut int64   `json:"bytes_out"` // of the images as written
	Shards   int     `json:"shards"`
	Varying  bool    `json:"varying,omitempty"` // raw images have more than one shape
	Seconds  float64 `json:"seconds"`
	// Stages are seconds of work, summed over goroutines; Waited is how long the writer waited
	// for images.
	Stages Stages `json:"stages"`
}

// Tiling counts images that got restart markers, in a run with Encode.Tiled.
type Tiling struct {
	Tiled   int            `json:"tiled,omitempty"`   // images that got restart markers
	Untiled map[string]int `json:"untiled,omitempty"` // images that keep their bytes, by reason
}

func (t *Tiling) add(tiled int, untiled []string) {
	t.Tiled += tiled
	for _, why := range untiled {
		if t.Untiled == nil {
			t.Untiled = map[string]int{}
		}
		t.Untiled[why]++
	}
}

// Table lists every skipped or failed input and every warning.
func (r *Report) Table() []Skip {
	rows := slices.Clone(r.Skipped)
	if r.Failure != nil {
		rows = append(rows, *r.Failure)
	}
	for _, list := range [][]Warning{r.Warnings, r.Narrowed} {
		for _, w := range list {
			rows = append(rows, Skip{Path: w.Path, Cause: w.Cause, Action: ActionWritten})
		}
	}
	return rows
}

// WriteTable writes rows to file: as JSON if its name ends in .json, else as CSV with a header. Both
// are UTF-8, with paths as legible.UTF8 and legible.Name encode them. The file is complete or not
// there.
func WriteTable(file string, rows []Skip) error {
	var b bytes.Buffer
	encode := encodeCSV
	if strings.EqualFold(filepath.Ext(file), ".json") {
		encode = encodeJSON
	}
	if err := encode(&b, rows); err != nil {
		return fmt.Errorf("encode %s: %w", file, err)
	}
	if err := durable.WriteFile(file, b.Bytes()); err != nil {
		return fmt.Errorf("write the report of skipped images and warnings: %w", err)
	}
	return nil
}

func encodeJSON(b *bytes.Buffer, rows []Skip) error {
	enc := json.NewEncoder(b)
	enc.SetIndent("", "  ")
	return enc.Encode(append([]Skip{}, rows...)) // [] rather than null
}

func encodeCSV(b *bytes.Buffer, rows []Skip) error {
	w := csv.NewWriter(b)
	err := w.Write([]string{"path", "cause", "action"})
	for _, k := range rows {
		err = errors.Join(err, w.Write([]string{legible.Name(k.Path), legible.Line(k.Cause), k.Action}))
	}
	w.Flush()
	return errors.Join(err, w.Error())
}

// Stages has the seconds that each stage of a run took.
type Stages struct {
	Read    float64 `json:"read"`
	Process float64 `json:"process"`
	Write   float64 `json:"write"`
	Waited  float64 `json:"waited"`
}

// Progress is the progress of a run.
type Progress struct {
	Done, Total int // positions of the plan
	Skipped     int
	BytesIn     int64
	Elapsed     time.Duration
}
