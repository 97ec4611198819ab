package jpeg

import (
	"errors"

	"github.com/dsconv/dsconv/preprocess/pixel"
)

// GoTranscoder is jpegTranscoder in pure Go; it gives the same bytes.
type GoTranscoder struct {
	from, back JpegBlocks
	writer     jpegWriter
	Stop       *pixel.Stop
}

func (t *GoTranscoder) Append(dst, src, meta []byte, interval int) ([]byte, error) {
	t.from.stop, t.back.stop = t.Stop, t.Stop
	switch err := t.from.Read(src); {
	case err == nil:
	case pixel.EndsRun(err):
		return dst, err
	case errors.Is(err, ErrScans):
		return dst, &NotTiledError{Reason: NotScans}
	default:
		return dst, &NotTiledError{Reason: NotSound, Detail: err.Error()}
	}
	if !t.from.oneMeaning() {
		return dst, &NotTiledError{Reason: notRange, Detail: "two quantisation tables of one number"}
	}
	out, err := t.writer.appendJPEG(dst, meta, &t.from, interval)
	if pixel.EndsRun(err) {
		return dst, err
	} else if err != nil {
		return dst, &NotTiledError{Reason: notRange, Detail: err.Error()}
	}
	if err := t.back.Read(out[len(dst):]); err != nil || !t.back.SameAs(&t.from) {
		return dst, errors.Join(errors.New("tile JPEG: the check of what was written failed: its coefficients read back as others"), err)
	}
	return out, nil
}

// oneMeaning says that no two components use different quantisation tables of one number.
func (b *JpegBlocks) oneMeaning() bool {
	for i := range b.list {
		for j := range i {
			if b.list[i].table == b.list[j].table && b.list[i].quant != b.list[j].quant {
				return false
			}
		}
	}
	return true
}
