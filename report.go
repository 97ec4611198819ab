package dsconv

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder"
	"github.com/dsconv/dsconv/internal/doubts"
	"github.com/dsconv/dsconv/internal/durable"
	"github.com/dsconv/dsconv/internal/unblocked"
)

// Report is the result of a pack, over all datasets that it writes.
// Found = Written + len(Skipped) + Failed + NotReached.
type Report struct {
	Found   int `json:"found"` // images
	Written int `json:"written"`
	Failed  int `json:"failed"` // images whose error ended the pack
	// NotReached are the images that a cancelled or failed pack did not come to. A repeated pack also does
	// those after the last checkpoint again: see convert.Report.Resumable.
	NotReached int `json:"not_reached,omitempty"`
	// Skipped are the images that are not in the datasets, with the cause. Listed are those of them
	// that were skipped when the folder was listed.
	Skipped []convert.Problem `json:"skipped"`
	Listed  []convert.Problem `json:"-"`
	Ignored int               `json:"ignored,omitempty"` // files whose names are not those of images
	// KeepExtension are images whose keys keep the extension, because they differ only in it.
	KeepExtension []string `json:"keep_extension,omitempty"`
	// Labels describes how the label columns of a table were interpreted.
	Labels []folder.LabelColumn `json:"labels,omitempty"`
	// LabelNotices says how labels were found where that is not evident.
	LabelNotices []string          `json:"label_notices,omitempty"`
	Table        string            `json:"report,omitempty"` // the file that lists what was skipped, failed or irregular
	Datasets     []*convert.Report `json:"datasets"`
	// Splits counts the images of each split, before any is skipped, and SplitsFrom says where the splits
	// come from.
	Splits     []formats.Split `json:"splits,omitempty"`
	SplitsFrom SplitsFrom      `json:"splits_from,omitempty"`
	// SystemFolders are hidden and system folders whose images are left out. They are in Skipped too.
	SystemFolders []folder.SystemFolder `json:"system_folders,omitempty"`
	// EmptyFolders are folders without images in the place of a class.
	EmptyFolders []string `json:"empty_folders,omitempty"`
	// Unmatched are the patterns that match nothing.
	Unmatched *formats.Patterns `json:"unmatched,omitempty"`
	// Fields says what was found for the fields of samples, besides image and labels.
	Fields []folder.FieldSummary `json:"fields,omitempty"`
	// UnusedTable is a table of dsconv unpack that is in the folder but was not given as Source.Labels.
	UnusedTable string `json:"untaken,omitempty"`
}

// SplitsFrom says what decides the splits of a pack.
type SplitsFrom string

// What decides the splits.
const (
	SplitsFromFolders SplitsFrom = "folders" // the source's folders are named train, val, ...
	SplitsFromTable   SplitsFrom = "table"   // the table that Source.Labels describes
	SplitsFromDataset SplitsFrom = "dataset" // the source is a dataset with splits
	SplitsFromShares  SplitsFrom = "shares"  // Options.Split has a share for each
	SplitsFromColumn  SplitsFrom = "column"  // Options.Split is a column of the source
)

// NewReport returns what is known about src, of which the patterns are packed, before an image is read.
func NewReport(src formats.Dataset, patterns formats.Patterns) (r *Report, err error) {
	r = &Report{Skipped: []convert.Problem{}}
	if f, ok := src.(*folder.Dataset); ok {
		r.Ignored, r.KeepExtension = f.Ignored(), f.KeepExtension()
		r.Labels, r.LabelNotices, r.UnusedTable = f.LabelColumns(), f.LabelNotices(), f.UnusedDescription()
		if notice := otherOrder(f); notice != "" {
			r.LabelNotices = append(slices.Clip(r.LabelNotices), notice)
		}
		r.Fields = f.Fields()
		r.SystemFolders, r.EmptyFolders = f.SystemFolders(), f.EmptyFolders()
	}
	if f, ok := src.(formats.Skipper); ok {
		for _, k := range f.Skips() {
			r.Listed = append(r.Listed, convert.Problem{Path: k.Path, Cause: k.Cause, Action: convert.ActionSkipped})
		}
		r.Skipped, r.Found = append(r.Skipped, r.Listed...), len(r.Listed)
	}
	if f, ok := src.(interface{ Notices() []string }); ok {
		r.LabelNotices = append(r.LabelNotices, f.Notices()...)
	}
	r.LabelNotices = slices.Concat(r.LabelNotices, doubts.OfClasses(src.Meta(), src.Len()))
	r.Unmatched, err = unmatched(src, patterns)
	return r, err
}

// begin returns the report of a run whose plan has the report r.
func (r *Report) begin() *Report {
	run := *r
	run.Found = len(r.Skipped)
	run.Skipped, run.LabelNotices = slices.Clip(r.Skipped), slices.Clip(r.LabelNotices)
	return &run
}

// Add adds the report on one dataset, unless it is nil, to the totals.
func (r *Report) Add(one *convert.Report) {
	if one == nil {
		return
	}
	r.Found += one.Found
	r.Written += one.Written
	r.Failed += one.Failed
	r.NotReached += one.NotReached
	r.Skipped = append(r.Skipped, one.Skipped...)
	r.Datasets = append(r.Datasets, one)
}

// Rows lists what is not in the datasets, and what was written with a warning.
func (r *Report) Rows() []convert.Problem {
	rows := slices.Clone(r.Listed)
	for _, one := range r.Datasets {
		rows = append(rows, one.Table()...)
	}
	return rows
}

// compareBytes says which images are in several splits or classes. The datasets are complete, so
// a context that ends now only ends the comparison.
func (r *Report) compareBytes(ctx context.Context, memory int64) (err error) {
	var datasets []formats.Dataset
	for _, one := range r.Datasets {
		ds, err := Formats().Open(one.Path)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, ds.Close()) }()
		datasets = append(datasets, ds)
	}
	found, err := doubts.Find(ctx, memory, datasets...)
	r.LabelNotices = append(r.LabelNotices, found...)
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// WriteTable writes Rows to file, as convert.WriteTable does. Without rows there is no file beside the dataset, where TablePath puts
// it: that of an earlier run is removed. failed is the error of the run, or nil: if a
// run failed before it did anything, the table of an earlier one is not replaced.
func (r *Report) WriteTable(file string, failed error) error {
	nothing := r.Written == 0 && len(r.Skipped) == len(r.Listed) && r.Failed == 0
	if failed != nil && nothing {
		return nil
	}
	rows := r.Rows()
	if len(rows) == 0 && len(r.Datasets) > 0 && file == tableBeside(r.Datasets[0].Path) {
		if _, err := TablePath("", r.Datasets[0].Path); err != nil || !durable.Exists(file) {
			return err
		}
		return os.Remove(file)
	}
	if err := convert.WriteTable(file, rows); err != nil {
		return err
	}
	r.Table = file
	return nil
}

// TablePath returns where the table of what was skipped is written: file, or if that is "" a file beside
// the dataset dst. The name of a file ends in .csv, unless it is a device or a pipe. The error is
// formats.ErrForeign if a file is there that is no such table: it could be an image or a dataset.
func TablePath(file, dst string) (string, error) {
	name := file
	if file == "" && dst == "" {
		return "", wrongOptions{errors.New("dsconv.TablePath: give the path of the table or of the dataset")}
	}
	if file == "" {
		name = tableBeside(dst)
	}
	if err := durable.Check(name); err != nil {
		return name, err
	}
	if _, open := durable.Descriptor(name); open {
		return name, nil // what the shell opened
	}
	st, err := os.Stat(name)
	if err == nil && !st.Mode().IsRegular() {
		return name, nil
	}
	if !strings.EqualFold(filepath.Ext(name), ".csv") {
		return name, wrongOptions{fmt.Errorf("%s: the report of skipped images is written as CSV: choose a name that ends in .csv", name)}
	}
	if err != nil {
		return name, nil // there is none yet, or writing it returns the error
	}
	f, err := unblocked.Open(name)
	if err != nil {
		return name, err
	}
	defer f.Close()
	head := make([]byte, len(tableBegin))
	if n, _ := io.ReadFull(f, head); n > 0 && string(head[:n]) != tableBegin {
		return name, fmt.Errorf("%s: %w: the report of skipped images would replace it; move it away, or choose another file for the report",
			name, formats.ErrForeign)
	}
	return name, nil
}

func tableBeside(dst string) string { return strings.TrimRight(dst, "/") + ".report.csv" }

// tableBegin is what the tables that convert.WriteTable wrote begin with.
const tableBegin = "path,cause"

// unmatched returns the patterns that match no image or folder of the source, nil if all match.
func unmatched(src formats.Dataset, patterns formats.Patterns) (*formats.Patterns, error) {
	if len(patterns.Include)+len(patterns.Exclude) == 0 {
		return nil, nil
	}
	var left formats.Patterns
	if f, ok := src.(*folder.Dataset); ok {
		left = f.Unmatched()
	} else {
		c, err := patterns.Compile()
		if err != nil {
			return nil, err
		}
		for i := range src.Len() {
			in, err := src.Info(i)
			if err != nil {
				return nil, err
			}
			c.IncludesFile(in.Name())
		}
		left = c.Unmatched()
	}
	if len(left.Include)+len(left.Exclude) == 0 {
		return nil, nil
	}
	return &left, nil
}

// otherOrder says which images of class folders are in another order than in torchvision's ImageFolder, which sorts
// by class, folder and name; "" if none. Keys have no extension, and "/" is a character like others there: 1-2.jpg
// comes before 1.jpg, and the folder shirt-long before shirt.
func otherOrder(f *folder.Dataset) string {
	columns := f.LabelColumns()
	if len(columns) != 1 || columns[0].Column != "" {
		return ""
	}
	schema := f.Meta().Schema
	classes := schema[schema.LabelIndex()].Classes
	var last []string
	for i := range f.Len() {
		in, err := f.Info(i)
		if err != nil {
			return "" // the pack meets the error too, and tells it
		}
		if in.Label == formats.NoLabel {
			continue
		}
		dir, name := path.Split(in.Source.Path)
		place := []string{in.Split, classes[in.Label], dir, name}
		if slices.Compare(last, place) > 0 {
			return fmt.Sprintf("torchvision's ImageFolder has %s before %s, and this order is that of the keys: lists of indices that were saved for ImageFolder name other samples (in Python, Dataset.imagefolder_order maps them)",
				in.Source.Path, path.Join(last[2], last[3]))
		}
		last = place
	}
	return ""
}
