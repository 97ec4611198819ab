package bench

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/dsconv/dsconv/bench/verdict"
	"github.com/dsconv/dsconv/internal/figures"
	"github.com/dsconv/dsconv/reader"
)

// Report is the outcome of a Run.
type Report struct {
	Machine Machine `json:"machine"`
	Options Options `json:"options"` // with the defaults filled in
	// Consumer describes what took the batches.
	Consumer string `json:"consumer"`
	// MemoryOfProcess reports whether Dataset.PeakMemory is the high-water mark of the whole
	// process, because the system cannot reset it.
	MemoryOfProcess bool      `json:"memory_of_process,omitempty"`
	Datasets        []Dataset `json:"datasets"`
	// Notes are reasons why the figures are hard to compare.
	Notes []string `json:"notes,omitempty"`
	// Source is the file that a merged report was read from. Merged are the reports of other
	// runs, whose ratios compare with their own first dataset.
	Source string   `json:"source,omitempty"`
	Merged []Report `json:"merged,omitempty"`

	// Advice is the recommendation for the first dataset; nil if none was asked for.
	Advice *verdict.Advice `json:"advice,omitempty"`
}

// Dataset is what was measured on one dataset. Its figures are medians over the rounds.
type Dataset struct {
	Path     string `json:"path"` // as the caller gave it
	Format   string `json:"format"`
	Encoding string `json:"encoding,omitempty"` // of the first image
	Resize   string `json:"resize,omitempty"`   // by which it was packed
	Split    string `json:"split,omitempty"`
	Samples  int    `json:"samples"` // in the split
	// Shorter is the upper bound of the images' shorter sides; 0 if unknown.
	Shorter int `json:"shorter_side,omitempty"`

	EpochSeconds    float64 `json:"epoch_seconds"`
	ImagesPerSecond float64 `json:"images_per_second"`
	// Ratio is the images/s divided by those of the first dataset: the median of the ratios
	// within each round.
	Ratio float64 `json:"ratio"`
	// Starved is the share of the epoch in which the consumer waited for data.
	Starved float64 `json:"starved"`
	// CPU is the process's CPU time per image, in microseconds, step included; BusyCores is how
	// many cores it kept busy.
	CPU       float64 `json:"cpu_us_per_image"`
	BusyCores float64 `json:"busy_cores"`
	// Stages are microseconds per image.
	Stages Stages `json:"stage_us_per_image"`

	// PeakMemory is the largest resident memory of the process with only this dataset, in
	// bytes, from opening to the end of the warm-up epoch. Mapped is how much of it were pages
	// of the dataset's files at the end, which the system takes back when it needs memory.
	PeakMemory int64 `json:"peak_memory_bytes"`
	Mapped     int64 `json:"mapped_bytes"`
	Disk       int64 `json:"disk_bytes"` // all splits, indexes and manifest included

	// Depth is the mean number of batches that were ready when the consumer asked for one.
	Depth float64 `json:"queue_depth"`
	// Memory is what the loader estimated before the first epoch.
	Memory reader.Memory `json:"memory_estimate"`
	// Cached is the bytes of images in the cache at the end, Bad the number of bad samples.
	Cached int64 `json:"cached_bytes,omitempty"`
	Bad    int64 `json:"bad_samples,omitempty"`

	// Transfer is the seconds per epoch of copying batches to the device; Accuracy and
	// Loss are those after the last round. Training loops in Python measure them.
	Transfer float64  `json:"transfer_seconds,omitempty"`
	Accuracy *float64 `json:"accuracy,omitempty"`
	Loss     *float64 `json:"loss,omitempty"`
	// Settings are options of this dataset alone.
	Settings map[string]any `json:"settings,omitempty"`

	// Of a training loop in Python: the images by what decoded them (engine, cuda, cpu), the images/s without
	// training by the number of workers that was tried, and the step's microseconds per image while nothing is loaded.
	Decoded   map[string]int64   `json:"decoded,omitempty"`
	Swept     map[string]float64 `json:"swept_images_per_second,omitempty"`
	StepAlone float64            `json:"step_us_per_image_without_loading,omitempty"`

	// Narrowed is how often an image of 16 bits per channel lost some of them, and how.
	Narrowed    int64  `json:"narrowed,omitempty"`
	NarrowedHow string `json:"narrowed_how,omitempty"`

	// Diagnosis describes the bottleneck in one sentence: the verdict's, if there is one.
	Diagnosis string         `json:"diagnosis"`
	Costs     *verdict.Costs `json:"costs,omitempty"`
	// RankCosts are those of each rank of a distributed loop, from which Judge makes Costs: those of the slowest.
	RankCosts []verdict.Costs  `json:"rank_costs,omitempty"`
	Verdict   *verdict.Verdict `json:"verdict,omitempty"`
	Timeline  *Timeline        `json:"timeline,omitempty"`

	Rounds []Round `json:"rounds"`
}

// Stages are times by stage. Step is the consumer's, the others are
// summed over the workers.
type Stages struct {
	Read    float64 `json:"read"`
	Decode  float64 `json:"decode"`
	Augment float64 `json:"augment"`
	Collate float64 `json:"collate"`
	Step    float64 `json:"step"`
}

// workers is the stages' sum without the step.
func (s Stages) workers() float64 { return s.Read + s.Decode + s.Augment + s.Collate }

// Round is one dataset's turn in a round: Options.Epochs epochs.
type Round struct {
	Images      int64   `json:"images"` // that the consumer took
	Loaded      int64   `json:"loaded"` // by the workers; more than Images where epochs end early
	Bytes       int64   `json:"bytes"`  // of Loaded as stored
	Epochs      int     `json:"epochs"`
	Seconds     float64 `json:"seconds"`      // wall time of all epochs
	WaitSeconds float64 `json:"wait_seconds"` // time that the consumer waited for data
	// FirstSeconds is the part of WaitSeconds until the first batch of each epoch.
	FirstSeconds float64 `json:"first_wait_seconds,omitempty"`
	// CPUSeconds is the CPU time of the process.
	CPUSeconds float64 `json:"cpu_seconds"`
	// Waited is what the process waited for, and what others did meanwhile; nil if the system does not tell.
	Waited *Counters `json:"waited,omitempty"`
	Stages Stages    `json:"stage_seconds"`
	Depth  float64   `json:"queue_depth"`
	// Ratio is the images/s divided by those of the first dataset in this round.
	Ratio float64 `json:"ratio"`
	// As in Dataset, of all epochs; Accuracy and Loss after the last.
	TransferSeconds float64  `json:"transfer_seconds,omitempty"`
	Accuracy        *float64 `json:"accuracy,omitempty"`
	Loss            *float64 `json:"loss,omitempty"`
}

func (r *Round) imagesPerSecond() float64 { return ratio(float64(r.Images), r.Seconds) }

// summarise fills in the datasets' ratios and medians from their rounds.
func (r *Report) summarise() {
	for i := range r.Datasets {
		d := &r.Datasets[i]
		for k := range d.Rounds {
			first := &r.Datasets[0].Rounds[k]
			d.Rounds[k].Ratio = ratio(d.Rounds[k].imagesPerSecond(), first.imagesPerSecond())
		}
		d.medians()
	}
	r.note()
}

// median is the median of a figure over the rounds.
func (d *Dataset) median(f func(r *Round) float64) float64 {
	values := make([]float64, len(d.Rounds))
	for i := range d.Rounds {
		values[i] = f(&d.Rounds[i])
	}
	return figures.Median(values)
}

func (d *Dataset) medians() {
	over := d.median
	stage := func(f func(s Stages) float64) float64 {
		return over(func(r *Round) float64 { return 1e6 * ratio(f(r.Stages), float64(r.Loaded)) })
	}
	d.EpochSeconds = over(func(r *Round) float64 { return ratio(r.Seconds, float64(r.Epochs)) })
	d.ImagesPerSecond = over((*Round).imagesPerSecond)
	d.Ratio = over(func(r *Round) float64 { return r.Ratio })
	d.Starved = over(func(r *Round) float64 { return ratio(r.WaitSeconds, r.Seconds) })
	d.CPU = over(func(r *Round) float64 { return 1e6 * ratio(r.CPUSeconds, float64(r.Loaded)) })
	d.BusyCores = over(func(r *Round) float64 { return ratio(r.CPUSeconds, r.Seconds) })
	d.Depth = over(func(r *Round) float64 { return r.Depth })
	d.Transfer = over(func(r *Round) float64 { return ratio(r.TransferSeconds, float64(r.Epochs)) })
	d.Stages = Stages{
		Read:    stage(func(s Stages) float64 { return s.Read }),
		Decode:  stage(func(s Stages) float64 { return s.Decode }),
		Augment: stage(func(s Stages) float64 { return s.Augment }),
		Collate: stage(func(s Stages) float64 { return s.Collate }),
		Step:    over(func(r *Round) float64 { return 1e6 * ratio(r.Stages.Step, float64(r.Images)) }),
	}
}

// note adds the reasons why the figures are hard to compare.
func (r *Report) note() {
	if slices.ContainsFunc(r.Datasets, func(d Dataset) bool { return d.Samples != r.Datasets[0].Samples }) {
		r.Notes = append(r.Notes, "the datasets have different numbers of images: ratios compare images/s")
	}
	if r.Options.LimitBatches > 0 {
		r.Notes = append(r.Notes, "epochs end early because of --limit-batches")
	}
	if r.MemoryOfProcess {
		r.Notes = append(r.Notes, "peak memory is of the whole process since its start: this system cannot reset it")
	}
}

// ratio is a/b, 0 where b is 0.
func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

// ReadReport reads the JSON of a report: of [Run], or of a loop in Python.
func ReadReport(in io.Reader) (*Report, error) {
	var r Report
	if err := json.NewDecoder(in).Decode(&r); err != nil {
		return nil, fmt.Errorf("not a report of dsconv bench --json, or only a part of one: %w", err)
	}
	if len(r.Datasets) == 0 {
		return nil, errors.New("not a report of dsconv bench: it has no datasets")
	}
	return &r, nil
}

// Merge puts other runs under r. Their figures don't change: their ratios stay
// those to their own first dataset.
func (r *Report) Merge(others ...*Report) {
	for _, o := range others {
		alone := *o
		alone.Merged = nil
		r.Merged = append(r.Merged, alone)
		r.Merged = append(r.Merged, o.Merged...)
	}
}

// runs are the report and those merged into it.
func (r *Report) runs() []*Report {
	all := []*Report{r}
	for i := range r.Merged {
		all = append(all, &r.Merged[i])
	}
	return all
}
