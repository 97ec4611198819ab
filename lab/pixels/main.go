// Command pixels times decoding, processing and resizing of images without files, processes and
// goroutines: the images are read into memory first, and one thread works on them.
//
//	pixels decode IMAGES
//	pixels process IMAGES [--resize shorter:256] [--encode jpeg:90] [--decode fast]
//	pixels resize FROM TO [--times 100]
//
// For each line of input it does one pass and prints a line of JSON, so that another program can
// be timed in between, as lab/peers does. It prints the first line, {"images":N}, when it is
// ready.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"
)

// pass does the work once.
type pass func() (result, error)

// result is the outcome of a pass.
type result struct {
	Images   int     `json:"images"`
	BytesIn  int     `json:"bytes_in,omitempty"`
	BytesOut int     `json:"bytes_out,omitempty"`
	Seconds  float64 `json:"seconds,omitempty"`
}

func main() {
	if err := run(os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "pixels:", err)
		os.Exit(1)
	}
}

// run does a pass for each line of requests.
func run(args []string, requests io.Reader, out io.Writer) error {
	if len(args) < 2 {
		return fmt.Errorf("%d arguments: write decode IMAGES, process IMAGES or resize FROM TO", len(args))
	}
	work, ready, err := prepare(args[0], args[1:])
	if err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	answers := json.NewEncoder(out)
	if err := answers.Encode(ready); err != nil {
		return err
	}
	lines := bufio.NewScanner(requests)
	for lines.Scan() {
		start := time.Now()
		r, err := work()
		if err != nil {
			return fmt.Errorf("%s: %w", args[0], err)
		}
		r.Seconds = time.Since(start).Seconds()
		if err := answers.Encode(r); err != nil {
			return err
		}
	}
	return lines.Err()
}

// prepare reads the images and returns the named work on them.
func prepare(name string, args []string) (work pass, ready result, err error) {
	switch name {
	case "decode":
		return decode(args[0])
	case "process":
		flags := flag.NewFlagSet(name, flag.ContinueOnError)
		resize := flags.String("resize", "", "as of dsconv pack")
		encode := flags.String("encode", "keep", "as of dsconv pack")
		decode := flags.String("decode", "exact", "as of dsconv pack")
		if err := flags.Parse(args[1:]); err != nil {
			return nil, ready, err
		}
		return process(args[0], *resize, *encode, *decode)
	case "resize":
		if len(args) < 2 {
			return nil, ready, errors.New("write resize FROM TO, such as resize 500x375 341x256")
		}
		flags := flag.NewFlagSet(name, flag.ContinueOnError)
		times := flags.Int("times", 100, "images of a pass")
		if err := flags.Parse(args[2:]); err != nil {
			return nil, ready, err
		}
		return resize(args[0], args[1], *times)
	}
	return nil, ready, errors.New("unknown work: choose decode, process or resize")
}
