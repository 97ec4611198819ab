package preprocess

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/dsconv/dsconv/formats"
)

// An encoder that has encoded images can be stopped as a new one can.
func TestStopAfterAnImage(t *testing.T) {
	m := testImage(300, 200, 3, formats.Uint8)
	for _, o := range []Encode{{Quality: 90}, {Quality: 90, Optimize: HasLibjpegTurbo}, {Quality: 90, Progressive: HasLibjpegTurbo}} {
		e := NewEncoder()
		defer e.Close()
		var s Stop
		e.StopBy(&s)
		for range 2 {
			if _, err := e.AppendJPEG(nil, m, o); err != nil {
				t.Fatal(err)
			}
		}
		s.Set()
		if _, err := e.AppendJPEG(nil, m, o); !errors.Is(err, context.Canceled) {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

// Long work ends once it is stopped, and work begun after that ends at once. Without the stop it would end
// without an error.
func TestStopInsideAnImage(t *testing.T) {
	long := jpegOfManyScans(6000, 6000, 100)
	image := testImage(3000, 2000, 3, formats.Uint8)
	_, png := encoded(t, 600, 400)
	for name, work := range map[string]func(s *Stop) error{
		"decode": func(s *Stop) error {
			d := NewDecoder()
			defer d.Close()
			d.StopBy(s)
			var m Image
			return d.Decode(&m, &formats.Value{Data: long}, DecodeOptions{})
		},
		"tile": func(s *Stop) error {
			tr := new(Transcoder)
			defer tr.Close()
			tr.StopBy(s)
			_, err := tr.Append(nil, long, 8, false)
			return err
		},
		"encode": func(s *Stop) (err error) {
			e := NewEncoder()
			defer e.Close()
			e.StopBy(s)
			for err == nil {
				_, err = e.AppendJPEG(nil, image, Encode{Quality: 90, Progressive: HasLibjpegTurbo})
			}
			return err
		},
		"PNG": func(s *Stop) (err error) {
			d := NewDecoder()
			defer d.Close()
			d.StopBy(s)
			for err == nil {
				var m Image
				err = d.Decode(&m, &formats.Value{Data: png}, DecodeOptions{})
			}
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "tile" && !HasLibjpegTurbo {
				t.Skip("this build does not tile")
			}
			var s Stop
			ctx, cancel := context.WithCancel(context.Background())
			defer s.When(ctx)()
			time.AfterFunc(10*time.Millisecond, cancel) // at any moment
			if err := work(&s); !errors.Is(err, context.Canceled) {
				t.Errorf("stopped during the work: %v", err)
			}
			if err := work(&s); !errors.Is(err, context.Canceled) {
				t.Errorf("stopped before: %v", err)
			}
		})
	}
}
