package bench

import (
	"fmt"
	"strings"
)

const (
	// starvedFrom is the share of the epoch from which a consumer that waited was starved.
	starvedFrom = 0.05
	// lightLoad is the share of the time of workers and step below which the workers don't matter.
	lightLoad = 0.1
	// busyFrom is the share of the cores from which they were busy.
	busyFrom = 0.7
	// hadCore is the share of the workers' computing time below which they lacked cores.
	hadCore = 0.8
)

// diagnose says in one sentence what limits the epoch's speed, and which of dsconv's options
// could change that. cores is how many the process may use.
func diagnose(d *Dataset, m *images, o *Options, cores int) string {
	stage, spent := d.Stages.largest()
	loader := d.Stages.workers()
	var text string
	switch starved := percent(d.Starved); {
	case o.alone():
		text = fmt.Sprintf("%s takes %s of the workers' time", stage, percent(ratio(spent, loader)))
	case d.Starved >= starvedFrom:
		text = fmt.Sprintf("%s takes %s of the workers' time; the consumer starved %s of the epoch", stage, percent(ratio(spent, loader)), starved)
	case sharesCores(d, o, cores) && loader >= lightLoad*(loader+d.Stages.Step):
		text = fmt.Sprintf("the trainer starved only %s of the epoch, but shares the cores with the workers, who take %s of the time of both, "+
			"most of it for %s", starved, percent(loader/(loader+d.Stages.Step)), stage)
	default:
		return fmt.Sprintf("the consumer starved only %s of the epoch: its own step takes the time, and faster data would not help", starved)
	}
	if a := advice(d, m, o, stage, cores); a != "" {
		text += ": " + a
	}
	return text
}

// sharesCores reports whether the step runs on the cores that the workers use, so that
// they slow it down.
func sharesCores(d *Dataset, o *Options, cores int) bool {
	onCPU := o.Backend == "" || o.Backend == "go"
	return o.Train != "" && (onCPU || d.BusyCores >= busyFrom*float64(cores))
}

// largest is the workers' stage that takes the most time.
func (s Stages) largest() (name string, spent float64) {
	for _, stage := range []struct {
		name  string
		spent float64
	}{{"read", s.Read}, {"decode", s.Decode}, {"augment", s.Augment}, {"collate", s.Collate}} {
		if name == "" || stage.spent > spent {
			name, spent = stage.name, stage.spent
		}
	}
	return name, spent
}

// advice is how to make the stage faster, "" if dsconv knows no way.
func advice(d *Dataset, m *images, o *Options, stage string, cores int) string {
	var list []string
	switch {
	case o.Workers < cores:
		list = append(list, fmt.Sprintf("try more --workers, there are %d cores", cores))
	case stage == "read" && d.BusyCores > 0 && d.BusyCores < busyFrom*float64(cores):
		list = append(list, fmt.Sprintf("%.1f of %d cores were busy, so try more --workers, which then wait at the same time",
			d.BusyCores, cores))
	}
	if a := repack(d, m, stage); a != "" {
		list = append(list, a)
	}
	return strings.Join(list, "; ")
}

// lackedCores reports whether the workers' stages took much longer than the CPU time of the whole
// process: other goroutines or other programs had the cores.
func (d *Dataset) lackedCores() bool {
	s := d.Stages
	return d.CPU > 0 && d.CPU < hadCore*(s.Decode+s.Augment+s.Collate)
}

// percent is a share for people to read.
func percent(share float64) string { return fmt.Sprintf("%.0f %%", 100*share) }
