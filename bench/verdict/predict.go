package verdict

// Predict returns the seconds of an epoch of the subject's loop and samples if another loader feeds it.
// Both must be measured on the same machine under the same conditions. The subject's measured epoch
// calibrates the result. A subject without a loop is the loader alone.
func Predict(subject, loader *Costs) float64 {
	if subject == nil || loader == nil {
		return 0
	}
	fed := *subject
	fed.Workers, fed.Processes, fed.Parts = loader.Workers, loader.Processes, loader.Parts
	fed.Loader, fed.Start, fed.SwapStall = loader.Loader, loader.Start, loader.SwapStall
	fed.Step, fed.Transfer = subject.stepAlone(), subject.transfer()
	return subject.calibration() * fed.observed()
}

// calibration is by how much the measured epoch is longer than the modelled one.
func (c *Costs) calibration() float64 {
	modelled := c.observed()
	if finite(c.Epoch) == 0 || modelled == 0 {
		return 1
	}
	return c.Epoch / modelled
}

// observed is the modelled epoch on the machine as it was: with the loader's measured speed or its parts' wall times.
func (c *Costs) observed() float64 {
	m := c.model()
	workers := max(m.workers, 1)
	m.work, m.passing, m.swap = c.wall(), 0, 0
	if alone := c.loader(); alone > 0 {
		m.work = alone * workers
	}
	return m.seconds()
}
