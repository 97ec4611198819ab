package nonsense_test

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/jpeg"
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

// world is what sensible calls need: a folder of six images, and a tar packed from it.
type world struct {
	t           *testing.T
	images, tar string
	image       []byte
}

var (
	contextType = reflect.TypeFor[context.Context]()
	errorType   = reflect.TypeFor[error]()
)

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, images: filepath.Join(t.TempDir(), "images"), tar: filepath.Join(t.TempDir(), "data.tar"), image: drawn(t)}
	for i := range 6 {
		dir := filepath.Join(w.images, []string{"train", "val"}[i/4], []string{"blue", "red"}[i%2])
		w.must(os.MkdirAll(dir, 0o755))
		w.must(os.WriteFile(filepath.Join(dir, fmt.Sprint(i, ".jpg")), w.image, 0o644))
	}
	w.pack()
	return w
}

func drawn(t *testing.T) []byte {
	t.Helper()
	img := image.NewRGBA(image.Rect(0, 0, 24, 16))
	for i := range img.Pix {
		img.Pix[i] = byte(i * 7)
	}
	var file bytes.Buffer
	if err := jpeg.Encode(&file, img, nil); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// usual returns a value of type t that a caller may pass: what makers has for it, or else something plain.
func (w *world) usual(t reflect.Type) reflect.Value {
	if v, ok := w.made(t); ok {
		return v
	}
	switch t.Kind() {
	case reflect.String:
		return reflect.ValueOf(w.tar).Convert(t)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint8, reflect.Uint16,
		reflect.Uint32, reflect.Uint64, reflect.Float32, reflect.Float64:
		return reflect.ValueOf(1).Convert(t)
	case reflect.Slice:
		s := reflect.MakeSlice(t, 1, 1)
		s.Index(0).Set(w.usual(t.Elem()))
		return s
	case reflect.Pointer:
		p := reflect.New(t.Elem())
		p.Elem().Set(w.usual(t.Elem()))
		return p
	case reflect.Func:
		return reflect.MakeFunc(t, func([]reflect.Value) []reflect.Value {
			var results []reflect.Value
			for r := range t.Outs() {
				results = append(results, reflect.Zero(r))
			}
			return results
		})
	}
	return reflect.Zero(t)
}

// made returns a value of type t, or one that has the methods of the interface t, as a maker makes it.
func (w *world) made(t reflect.Type) (reflect.Value, bool) {
	for _, maker := range makers {
		m := reflect.ValueOf(maker)
		if made := m.Type().Out(0); made != t && (t.Kind() != reflect.Interface || t.NumMethod() == 0 || !made.Implements(t)) {
			continue
		}
		v := reflect.New(t).Elem()
		v.Set(m.Call([]reflect.Value{reflect.ValueOf(w)})[0])
		return v, true
	}
	return reflect.Value{}, false
}
