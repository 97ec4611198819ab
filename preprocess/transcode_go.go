package preprocess

import "errors"

// goTranscoder is jpegTranscoder in pure Go; it gives the same bytes.
type goTranscoder struct {
	from, back jpegBlocks
	writer     jpegWriter
	stop       *Stop
}

func (t *goTranscoder) append(dst, src, meta []byte, interval int) ([]byte, error) {
	t.from.stop, t.back.stop = t.stop, t.stop
	switch err := t.from.read(src); {
	case err == nil:
	case EndsRun(err):
		return dst, err
	case errors.Is(err, errScans):
		return dst, &NotTiledError{Reason: notScans}
	default:
		return dst, &NotTiledError{Reason: notSound, Detail: err.Error()}
	}
	if !t.from.oneMeaning() {
		return dst, &NotTiledError{Reason: notRange, Detail: "two quantisation tables of one number"}
	}
	out, err := t.writer.appendJPEG(dst, meta, &t.from, interval)
	if EndsRun(err) {
		return dst, err
	} else if err != nil {
		return dst, &NotTiledError{Reason: notRange, Detail: err.Error()}
	}
	if err := t.back.read(out[len(dst):]); err != nil || !t.back.sameAs(&t.from) {
		return dst, errors.Join(errors.New("tile JPEG: the check of what was written failed: its coefficients read back as others"), err)
	}
	return out, nil
}

// oneMeaning says that no two components use different quantisation tables of one number.
func (b *jpegBlocks) oneMeaning() bool {
	for i := range b.list {
		for j := range i {
			if b.list[i].table == b.list[j].table && b.list[i].quant != b.list[j].quant {
				return false
			}
		}
	}
	return true
}
