package convert

import "runtime/debug"

const (
	// maxFieldBytes is the most memory of values besides the designated image that wait to be written, before no further
	// sample is read.
	maxFieldBytes = 128 << 20
	// smallFields are not counted: all jobs may have as much. aloneFields are so large that one sample is read at a time.
	smallFields = maxFieldBytes / 512
	aloneFields = maxFieldBytes / 4
	// freedFields is the size from which on memory is returned to the system at once.
	freedFields = 64 << 20
)

// fieldBytes is the part of an outputBudget that counts values of a source besides the designated images. Their sizes are
// known when they are read, so what is in progress then goes beyond the limit: one sample at first and after a large one, else
// one for each reader.
type fieldBytes struct {
	used   int64
	alone  bool // some sample is read alone
	spread bool // the last sample was small enough for several at once
}

// admit waits until the sample of j may be read. It returns whether it is read alone, which keep needs to know. Samples are
// read in the order of their positions, so the one that is committed next never waits for memory of a later one.
func (h *outputBudget) admit(j *job) (alone bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for (h.fields.alone || h.fields.used >= maxFieldBytes && j.pos != h.next) && !h.stopped {
		h.changed.Wait()
	}
	alone = !h.fields.spread
	h.fields.alone = h.fields.alone || alone
	return alone
}

// keep counts what was read of j; image is the number of the designated image.
func (h *outputBudget) keep(j *job, image int, alone bool) {
	n := int64(0)
	for i := range j.in.Values {
		if i != image {
			n += int64(len(j.in.Values[i].Data))
		}
	}
	if n > smallFields {
		j.fieldBytes = 2 * n // processing may copy them
	}
	h.mu.Lock()
	h.fields.used += j.fieldBytes
	h.fields.spread = n < aloneFields
	if alone {
		h.fields.alone = false
	}
	h.mu.Unlock()
	h.changed.Broadcast()
}

// releaseFields frees what keep counted.
func (h *outputBudget) releaseFields(j *job) {
	if j.fieldBytes == 0 {
		return
	}
	dropValues(&j.in)
	dropValues(&j.out)
	if j.fieldBytes >= freedFields {
		debug.FreeOSMemory()
	}
	h.mu.Lock()
	h.fields.used -= j.fieldBytes
	h.mu.Unlock()
	j.fieldBytes = 0
	h.changed.Broadcast()
}
