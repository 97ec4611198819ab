package reader

// delayed is a dataset that also delays what follows the reading of an image: a stand-in for slow stages, as dsconv
// bench --delay uses it.
type delayed interface {
	// Delay waits as long as the stage "decode", "augment" or "collate" of an image is delayed.
	Delay(stage string)
}

// delay delays a stage of the image, if the dataset wants that. It costs nothing otherwise.
func (w *worker) delay(stage string) {
	if d := w.loader.delayed; d != nil {
		d.Delay(stage)
	}
}
