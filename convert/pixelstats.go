package convert

import (
	"fmt"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/pixelsum"
	"github.com/dsconv/dsconv/internal/legible"
	"github.com/dsconv/dsconv/preprocess"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// sumPixels decodes the image that j is about to write, and sums its pixels. An image that does not decode is
// written as without Options.Stats, and left out of the sums, with a warning.
func (r *run) sumPixels(proc *preprocess.Processor, j *job) {
	j.summed = false
	if !r.o.Stats {
		return
	}
	sums, err := proc.Sums(&j.out.Values[r.schema.ImageIndex()])
	switch {
	case err == nil:
		j.sums, j.summed = sums, true
	case pixel.EndsRun(err):
		j.err = err
	case j.warning == "":
		j.warning = "left out of the statistics: " + legible.Line(err.Error())
	}
}

// addSums adds the sample of j to the statistics of its split.
func (r *run) addSums(j *job) {
	if !r.o.Stats {
		return
	}
	if r.state.Sums == nil {
		r.state.Sums = map[string]*pixelsum.Sums{}
	}
	s := r.state.Sums[j.out.Split]
	if s == nil {
		s = new(pixelsum.Sums)
		r.state.Sums[j.out.Split] = s
	}
	if j.summed {
		s.Add(&j.sums)
	} else {
		s.Undecoded++
	}
	if label := r.schema.LabelIndex(); label >= 0 {
		s.AddLabel(&r.schema[label], &j.out.Values[label])
	}
}

// setStats gives the statistics to the writer and to the report.
func (r *run) setStats() error {
	if !r.o.Stats {
		return nil
	}
	w, err := statsWriter(r.w, r.Path, r.format.Name())
	if err != nil {
		return err
	}
	r.report.PixelStats = pixelsum.Statistics(r.state.Sums, len(r.Meta.Classes()))
	w.SetPixelStats(r.report.PixelStats)
	return nil
}

// statsWriter is w, the writer of a dataset of the format at path, as one that records statistics.
func statsWriter(w formats.Writer, path, format string) (formats.PixelStatsWriter, error) {
	if to, ok := w.(formats.PixelStatsWriter); ok {
		return to, nil
	}
	return nil, fmt.Errorf("%s: the format %s cannot record statistics of the pixels", path, format)
}

// checkStats returns an error if the checkpoint n, of an unfinished dataset, was made without the statistics that
// this plan is to record, or with statistics that it is not to record.
func (p *Plan) checkStats(n *checkpoint) error {
	switch had := n.Sums != nil; {
	case had == p.o.Stats || n.Written == 0:
		return nil
	case had:
		return fmt.Errorf("%w: it was packed with statistics of the pixels", ErrCannotResume)
	}
	return fmt.Errorf("%w: it was packed without statistics of the pixels", ErrCannotResume)
}
