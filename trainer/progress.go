package trainer

import (
	"time"

	"github.com/dsconv/dsconv/reader"
)

// Progress is how far a training has come. A checkpoint has it beside the weights.
type Progress struct {
	// Steps is the number of batches trained on, in all epochs.
	Steps int `json:"steps"`
	// State is where the loader resumes: see reader.Loader's Resume.
	State reader.State `json:"state"`
	// Running sums up the epoch that State is in; Epochs are those before.
	Running Tally   `json:"running"`
	Epochs  []Epoch `json:"epochs"`
	// Classes names the network's outputs; nil if unknown.
	Classes []string `json:"classes,omitempty"`
	// Recipe is Checkpointing's.
	Recipe map[string]string `json:"recipe,omitempty"`
}

// Tally has the sums of part of an epoch. Its times are in nanoseconds.
type Tally struct {
	Loss       float64       `json:"loss"` // over the samples, not their mean
	Correct    int           `json:"correct"`
	Samples    int           `json:"samples"`
	Wait       time.Duration `json:"wait"`
	Compute    time.Duration `json:"compute"`
	Compile    time.Duration `json:"compile"`
	Checkpoint time.Duration `json:"checkpoint"`
}

func (t *Tally) metrics() Metrics {
	n := float64(t.Samples)
	return Metrics{Loss: t.Loss / n, Accuracy: float64(t.Correct) / n, Samples: t.Samples}
}

// finish ends the running epoch and starts the next one.
func (p *Progress) finish(val *Metrics) {
	t, n := p.Running, len(p.Epochs)+1
	p.Epochs = append(p.Epochs, Epoch{
		Number:            n,
		Seconds:           (t.Wait + t.Compute + t.Compile + t.Checkpoint).Seconds(),
		WaitSeconds:       t.Wait.Seconds(),
		ComputeSeconds:    t.Compute.Seconds(),
		CompileSeconds:    t.Compile.Seconds(),
		CheckpointSeconds: t.Checkpoint.Seconds(),
		ImagesPerSecond:   float64(t.Samples) / (t.Wait + t.Compute).Seconds(),
		Train:             t.metrics(),
		Val:               val,
	})
	p.State.Epoch, p.State.Position = n, 0
	p.Running = Tally{}
}
