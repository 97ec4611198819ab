package edit

import (
	"context"
	"fmt"

	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/formats"
)

// Report is what every edit reports. With Options.DryRun it tells what would be done.
type Report struct {
	Path   string `json:"path"` // of the dataset
	DryRun bool   `json:"dry_run,omitempty"`
	// UpToDate: there was nothing to do. No new version was written.
	UpToDate bool `json:"up_to_date,omitempty"`
	Samples  int  `json:"samples"` // of the dataset afterwards
	Written  int  `json:"written"` // samples; those of kept files do not count
	// Files is the number of data files of the new version. FilesKept of them are those of the old
	// version.
	Files     int `json:"files,omitempty"`
	FilesKept int `json:"files_kept"`
	// StatsDropped: the dataset had statistics of its pixels, which the new version does not have.
	StatsDropped bool `json:"stats_dropped,omitempty"`
	// Published: the new version is at Path. If it is not, the dataset is what it was.
	Published bool `json:"-"`
	// Run is the report of the conversion that wrote the new version: bad images, bytes, times. It is
	// nil if none was needed, or with DryRun.
	Run *convert.Report `json:"report,omitempty"`
}

// finish runs the plan of a new version of the dataset at path, which has had samples until now. The
// plan is nil if there is nothing to do. With an error of the run comes a report.
func finish(ctx context.Context, p *convert.Plan, f formats.WritableFormat, path string, had int, o *Options) (*Report, error) {
	r := &Report{Path: path, DryRun: o.DryRun, UpToDate: p == nil, Samples: had}
	if p == nil {
		return r, nil
	}
	r.Written, r.Files, r.FilesKept = p.Len(), p.Shards, p.Kept()
	hadStats := p.Meta.PixelStats == nil && hasStats(f, path)
	var err error
	switch {
	case o.DryRun:
		r.Samples = p.Samples
	default:
		r.Run, err = p.Run(ctx)
		if err != nil {
			r.Written = 0
			if r.Run != nil {
				r.Written = r.Run.Written
			}
			return r, err
		}
		r.Written = r.Run.Written
		r.Published = true
		if r.Samples, err = count(f, path); err != nil {
			return r, fmt.Errorf("the edit is done, but the dataset does not open: %w", err)
		}
	}
	r.StatsDropped = hadStats
	return r, nil
}

// hasStats reports whether the dataset at path has statistics of its pixels.
func hasStats(f formats.Format, path string) bool {
	ds, err := f.Open(path)
	if err != nil {
		return false
	}
	defer ds.Close()
	return ds.Meta().PixelStats != nil
}

func count(f formats.Format, path string) (int, error) {
	ds, err := f.Open(path)
	if err != nil {
		return 0, err
	}
	return ds.Len(), ds.Close()
}
