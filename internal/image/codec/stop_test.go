package codec

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/jpeg"
	"github.com/dsconv/dsconv/internal/testing/pixeltest"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// An encoder that has encoded images can be stopped as a new one can.
func TestStopAfterAnImage(t *testing.T) {
	m := pixeltest.TestImage(300, 200, 3, formats.Uint8)
	for _, o := range []EncodeOptions{{Quality: 90}, {Quality: 90, Optimize: jpeg.HasLibjpegTurbo}, {Quality: 90, Progressive: jpeg.HasLibjpegTurbo}} {
		e := NewEncoder()
		defer e.Close()
		var s pixel.Stop
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
	image := pixeltest.TestImage(3000, 2000, 3, formats.Uint8)
	_, png := encoded(t, 600, 400)
	for name, work := range map[string]func(s *pixel.Stop) error{
		"decode": func(s *pixel.Stop) error {
			d := NewDecoder()
			defer d.Close()
			d.StopBy(s)
			var m pixel.Image
			return d.Decode(&m, &formats.Value{Data: long}, DecodeOptions{})
		},
		"tile": func(s *pixel.Stop) error {
			tr := new(jpeg.Transcoder)
			defer tr.Close()
			tr.StopBy(s)
			_, err := tr.Append(nil, long, 8, false)
			return err
		},
		"encode": func(s *pixel.Stop) (err error) {
			e := NewEncoder()
			defer e.Close()
			e.StopBy(s)
			for err == nil {
				_, err = e.AppendJPEG(nil, image, EncodeOptions{Quality: 90, Progressive: jpeg.HasLibjpegTurbo})
			}
			return err
		},
		"PNG": func(s *pixel.Stop) (err error) {
			d := NewDecoder()
			defer d.Close()
			d.StopBy(s)
			for err == nil {
				var m pixel.Image
				err = d.Decode(&m, &formats.Value{Data: png}, DecodeOptions{})
			}
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "tile" && !jpeg.HasLibjpegTurbo {
				t.Skip("this build does not tile")
			}
			var s pixel.Stop
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
