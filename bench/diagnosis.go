package bench

import (
	"fmt"
	"strings"
)

const (
	// fed is the share of the epoch below which a consumer that waited was not starved.
	fed = 0.05
	// light is the share of the time of workers and step below which the workers' is little.
	light = 0.1
	// idle is the share of the cores below which they were not kept busy.
	idle = 0.7
	// crowded is the share of their time below which workers that compute lacked a core.
	crowded = 0.8
)

// diagnose names what holds the epoch back, in one sentence, and what of dsconv's options
// acts on that. cores is how many the process may use.
func diagnose(d *Dataset, m *images, o *Options, cores int) string {
	stage, spent := d.Stages.largest()
	loader := d.Stages.workers()
	var text string
	switch starved := percent(d.Starved); {
	case o.alone():
		text = fmt.Sprintf("%s takes %s of the workers' time", stage, percent(ratio(spent, loader)))
	case d.Starved >= fed:
		text = fmt.Sprintf("%s takes %s of the workers' time; the consumer starved %s of the epoch", stage, percent(ratio(spent, loader)), starved)
	case sharesCores(d, o, cores) && loader >= light*(loader+d.Stages.Step):
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

// sharesCores says that the step is computed on the cores that the workers use, so that
// what the workers do slows it down.
func sharesCores(d *Dataset, o *Options, cores int) bool {
	onCPU := o.Backend == "" || o.Backend == "go"
	return o.Train != "" && (onCPU || d.BusyCores >= idle*float64(cores))
}

// largest is the workers' stage that takes most.
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

// advice is what acts on the stage, "" if dsconv has nothing.
func advice(d *Dataset, m *images, o *Options, stage string, cores int) string {
	var list []string
	switch {
	case o.Workers < cores:
		list = append(list, fmt.Sprintf("try more --workers, %d cores are there", cores))
	case stage == "read" && d.BusyCores > 0 && d.BusyCores < idle*float64(cores):
		list = append(list, fmt.Sprintf("%.1f of %d cores were busy, so try more --workers, which then wait at the same time",
			d.BusyCores, cores))
	}
	if a := repack(d, m, stage); a != "" {
		list = append(list, a)
	}
	return strings.Join(list, "; ")
}

// lackedCores says that the workers computed for much longer than the whole process had a
// core: other goroutines or other programs had it.
func (d *Dataset) lackedCores() bool {
	s := d.Stages
	return d.CPU > 0 && d.CPU < crowded*(s.Decode+s.Augment+s.Collate)
}

// percent is a share as people read it.
func percent(share float64) string { return fmt.Sprintf("%.0f %%", 100*share) }
