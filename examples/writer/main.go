// Writer writes pictures one after another, as a crawler or a renderer makes them, and goes on where it was interrupted:
// writer DST.tar
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"os/signal"

	"github.com/dsconv/dsconv"
	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/formats"
)

var schema = formats.Schema{
	{Name: "image", Kind: formats.Image},
	{Name: "label", Kind: formats.Label, Classes: []string{"bright", "dark"}},
}

// picture makes picture i: one gray pixel.
func picture(i int) *formats.Sample {
	s := &formats.Sample{Key: fmt.Sprintf("%06d", i)}
	s.Resize(len(schema))
	s.Values[0] = formats.Value{Data: []byte{byte(200 - 150*(i%2))}, Encoding: formats.Raw, DType: formats.Uint8, Shape: []int{1, 1, 1}}
	s.Values[1].SetInt64(int64(i % 2))
	return s
}

func write(ctx context.Context, dst string) (*dsconv.Report, error) {
	var o dsconv.Options
	o.Order = convert.KeyOrder // the order of the calls
	w, err := dsconv.NewWriter(ctx, dst, schema, o)
	if err != nil {
		return nil, err
	}
	defer w.Close()
	for i := w.Resumed(); i < 1000; i++ {
		if err := w.Write(picture(i)); err != nil {
			return nil, err
		}
		if i%100 == 99 { // what is older survives a crash
			if err := w.Checkpoint(); err != nil {
				return nil, err
			}
		}
	}
	return w.Commit()
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	report, err := write(ctx, os.Args[1])
	if err != nil {
		log.Panic(err)
	}
	log.Println(report.Written, "written")
}
