package main

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder"
)

// summary is what a pack did, over all datasets that it wrote.
type summary struct {
	Found    int               `json:"found"`
	Written  int               `json:"written"`
	Failed   int               `json:"failed"`
	Skipped  []convert.Skip    `json:"skipped"`
	Ignored  int               `json:"ignored,omitempty"` // files that are no images by their name
	Renamed  []string          `json:"keep_extension,omitempty"`
	Report   string            `json:"report,omitempty"`
	Datasets []*convert.Report `json:"datasets"`
}

func newSummary(src formats.Dataset) *summary {
	s := &summary{Skipped: []convert.Skip{}}
	if f, ok := src.(*folder.Dataset); ok {
		for _, k := range f.Skips() {
			s.Skipped = append(s.Skipped, convert.Skip{Path: k.Path, Cause: k.Cause, Action: "skipped"})
		}
		s.Found, s.Ignored, s.Renamed = len(f.Skips()), f.Ignored(), f.KeepExtension()
	}
	return s
}

func (s *summary) add(r *convert.Report) {
	s.Found += r.Found
	s.Written += r.Written
	s.Failed += r.Failed
	s.Skipped = append(s.Skipped, r.Skipped...)
	s.Datasets = append(s.Datasets, r)
}

// writeSkipped writes the table of what was skipped: to file, or beside DST if anything
// was.
func (s *summary) writeSkipped(file, dst string) error {
	if file == "" {
		if len(s.Skipped) == 0 {
			return nil
		}
		file = strings.TrimRight(dst, "/") + ".skipped.csv"
	}
	s.Report = file
	f, err := os.Create(file)
	if err != nil {
		return fmt.Errorf("write the table of skipped images: %w", err)
	}
	if strings.EqualFold(filepath.Ext(file), ".json") {
		enc := json.NewEncoder(f)
		enc.SetIndent("", "  ")
		err = enc.Encode(s.Skipped)
	} else {
		w := csv.NewWriter(f)
		err = w.Write([]string{"path", "cause", "action"})
		for _, k := range s.Skipped {
			err = errors.Join(err, w.Write([]string{k.Path, k.Cause, k.Action}))
		}
		w.Flush()
		err = errors.Join(err, w.Error())
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	return nil
}

func (s *summary) print(c *console, o *packOptions) error {
	if o.json {
		return c.json(s)
	}
	if o.quiet {
		return nil
	}
	c.printf("found %d = written %d + skipped %d + failed %d\n", s.Found, s.Written, len(s.Skipped), s.Failed)
	for _, r := range s.Datasets {
		printReport(c, r)
	}
	s.printOdd(c)
	return nil
}

func printReport(c *console, r *convert.Report) {
	c.printf("%s: %d images, %s in, %s out, %d file(s), %.1f s, %.0f images/s\n", r.Path, r.Written, bytesOf(r.BytesIn),
		bytesOf(r.BytesOut), r.Shards, r.Seconds, float64(r.Written-r.Resumed)/max(r.Seconds, 1e-9))
	st := r.Stages
	c.printf("  where the time went: read %.1f s, process %.1f s (over all goroutines), write and sync %.1f s, the writer waited %.1f s\n",
		st.Read, st.Process, st.Write, st.Waited)
	if r.Resumed > 0 {
		c.printf("  %d images were done before\n", r.Resumed)
	}
	if r.Oriented > 0 {
		c.printf("  %d images have an EXIF orientation that asks for a rotation (see --exif)\n", r.Oriented)
	}
	if r.Varying {
		c.printf("  the raw images differ in shape; --resize cover:WxH makes them equal, so that a batch is read in one piece\n")
	}
	for i, w := range r.Warnings {
		if i == 10 {
			c.printf("  ... and %d more warnings (--json lists them all)\n", len(r.Warnings)-i)
			break
		}
		c.printf("  written, but odd: %s: %s\n", printable(w.Path), w.Cause)
	}
}

func (s *summary) printOdd(c *console) {
	if s.Ignored > 0 {
		c.printf("%d other files are no images and were not looked at\n", s.Ignored)
	}
	if len(s.Renamed) > 0 {
		c.printf("%d images share a stem, so their keys keep the extension, such as %s\n", len(s.Renamed), printable(s.Renamed[0]))
	}
	for i, k := range s.Skipped {
		if i == 10 {
			c.printf("  ... and %d more\n", len(s.Skipped)-i)
			break
		}
		c.printf("  skipped %s: %s\n", printable(k.Path), k.Cause)
	}
	if s.Report != "" {
		c.printf("the table of what was skipped: %s\n", s.Report)
	}
}
