package convert

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/gpudecode"
	"github.com/dsconv/dsconv/internal/durable"
	"github.com/dsconv/dsconv/internal/legible"
)

// Problem is an input that is not in the dataset, or that was packed although it is irregular, and the
// cause.
type Problem struct {
	Path   string `json:"path"`
	Cause  string `json:"cause"`
	Action Action `json:"action,omitempty"` // "" in a list of warnings
}

// Report is the result of a run. Found = Written + len(Skipped) + Failed + NotReached.
type Report struct {
	Path   string `json:"path"`
	Found  int    `json:"found"`
	Failed int    `json:"failed"` // samples whose error ended the run
	// NotReached are the samples that a cancelled or failed run did not come to. More are done again when
	// it is repeated: see Resumable.
	NotReached int `json:"not_reached,omitempty"`
	Results
	// Narrowed lists images of more than 8 bits per channel that were reduced to 8 bits.
	Narrowed []Problem `json:"narrowed,omitempty"`
	// Kept lists samples of a new version of a dataset whose new image is bad, so that they stay as they were.
	Kept    []Problem `json:"kept,omitempty"`
	Failure *Problem  `json:"failure,omitempty"` // the input whose error ended the run
	Resumed int       `json:"resumed,omitempty"` // positions that an earlier run did
	// Resumable is the number of positions that a repeated run need not do again, after a run that ended with an error: all
	// that it did, unless what it wrote could not be made durable. Found, Written and the others count also what was lost.
	Resumable int `json:"resumable,omitempty"`
	// AddedLater names the samples that the source has got since an earlier run began the dataset, which therefore does not have
	// them. They are not among those found; an edit can add them.
	AddedLater []string `json:"added_later,omitempty"`
	Shards     int      `json:"shards"`
	Seconds    float64  `json:"seconds"`
	// PixelStats are the statistics that were recorded, with Options.Stats.
	PixelStats *formats.PixelStats `json:"pixel_stats,omitempty"`
	// Stages are seconds of work, summed over goroutines; Waited is how long the writer waited
	// for images.
	Stages Stages `json:"stages"`
}

// Results are the parts of a Report that a checkpoint stores too.
type Results struct {
	Written  int            `json:"written"`
	BytesIn  int64          `json:"bytes_in"`
	BytesOut int64          `json:"bytes_out"` // of the images as written
	Skipped  []Problem      `json:"skipped,omitempty"`
	Warnings []Problem      `json:"warnings,omitempty"`
	Oriented int            `json:"oriented,omitempty"` // images whose EXIF orientation is not 1
	Tiled    int            `json:"tiled,omitempty"`    // images that got restart markers, with Encode.Tiled
	Untiled  map[string]int `json:"untiled,omitempty"`  // images that keep their bytes then, by reason
	// Decoded counts what decoded the images, with preprocess.DecoderGPU.
	Decoded *gpudecode.Counts `json:"decoded,omitempty"`
	Varying bool              `json:"varying,omitempty"` // images have more than one shape; in a Report: raw images
}

func (s *Results) addTiled(tiled int, untiled []string) {
	s.Tiled += tiled
	for _, why := range untiled {
		if s.Untiled == nil {
			s.Untiled = map[string]int{}
		}
		s.Untiled[why]++
	}
}

// Table lists every skipped or failed input and every warning.
func (r *Report) Table() []Problem {
	rows := slices.Clone(r.Skipped)
	for _, k := range r.Kept {
		k.Action = ActionKept
		rows = append(rows, k)
	}
	if r.Failure != nil {
		rows = append(rows, *r.Failure)
	}
	for _, w := range slices.Concat(r.Warnings, r.Narrowed) {
		w.Action = ActionWritten
		rows = append(rows, w)
	}
	return rows
}

// WriteTable writes rows to file as CSV with a header, in UTF-8, with paths as legible.Name encodes them. The file is complete or
// not there.
func WriteTable(file string, rows []Problem) error {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	err := w.Write([]string{"path", "cause", "action"})
	for _, k := range rows {
		err = errors.Join(err, w.Write([]string{inert("./", legible.Name(k.Path)), inert("'", legible.Line(k.Cause)), string(k.Action)}))
	}
	w.Flush()
	if err := errors.Join(err, w.Error()); err != nil {
		return fmt.Errorf("encode %s: %w", file, err)
	}
	if err := durable.WriteFile(file, b.Bytes()); err != nil {
		return fmt.Errorf("write the report of skipped images and warnings: %w", err)
	}
	return nil
}

// inert returns a cell that no spreadsheet takes for a formula: with a prefix if it begins like one. A path with "./" before it
// names the same file.
func inert(prefix, cell string) string {
	if first, _ := utf8.DecodeRuneInString(cell); cell != "" && strings.ContainsRune("=+-@\t\r\uff1d\uff0b\uff0d\uff20", first) {
		return prefix + cell
	}
	return cell
}

// Stages has the seconds that each stage of a run took.
type Stages struct {
	Read    float64 `json:"read"`
	Process float64 `json:"process"`
	Write   float64 `json:"write"`
	Waited  float64 `json:"waited"`
}

// JSON is UTF-8, but a path may have any bytes. legible.UTF8 encodes it; legible.Original decodes it.

type problemFields Problem

// isInvalidUTF8 reports whether r is what bytes that are not UTF-8 decode to.
func isInvalidUTF8(r rune) bool { return r == utf8.RuneError }

// MarshalJSON encodes k with its path as UTF-8.
func (k Problem) MarshalJSON() ([]byte, error) {
	k.Path, k.Cause = legible.UTF8(k.Path), legible.Escape(k.Cause, isInvalidUTF8)
	return json.Marshal(problemFields(k))
}

// UnmarshalJSON decodes what MarshalJSON encoded.
func (k *Problem) UnmarshalJSON(b []byte) error {
	err := json.Unmarshal(b, (*problemFields)(k))
	k.Path = legible.Original(k.Path)
	return err
}
