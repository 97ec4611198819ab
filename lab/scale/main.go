//go:build linux

// Command scale measures how the packed formats scale with the number of samples: it writes a small
// and a large dataset of similar samples, and times opening them and reading at random, in turns,
// with a warm page cache.
//
//	scale --dir /tmp/scale --small 10000 --large 1000000 --json scale.json
//
// Several passes show which part of a random read grows: the row of the sample ("info"), the view, which
// finds the bytes ("lookup"), the view with all bytes touched ("view"), the copy with its checksum
// ("read"), and for comparison the same bytes of the same files touched in a plain mapping of the
// program's own ("plain"): the time of the machine's memory and page tables, whatever the code. A read
// for training ("load") includes decoding, a random crop and the batch. The first passes over a mapping
// are separate ("first view", "first plain"): they have the page faults.
//
// Opening is timed and its memory measured in processes of their own too, --opens of each dataset, which
// open it and load a batch. --epochs of them load an epoch, or several if that is short, and measure again:
//
//	scale --dir /tmp/scale --small 1000 --large 1000000 --side 16 --min-bytes 700 --max-bytes 1100
//	  --reads 2000 --disk-rounds 0 --opens 11 --epochs 1 --json scale-memory.json
//
// With --keep the datasets stay in --dir, and processes.py measures processes of Python that use them.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/dsconv/dsconv"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/durable"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "scale:", err)
		os.Exit(1)
	}
}

// settings are the flags.
type settings struct {
	Formats  []string `json:"formats"`
	Small    int      `json:"small"`
	Large    int      `json:"large"`
	MinBytes int      `json:"min_bytes"` // of an image
	MaxBytes int      `json:"max_bytes"`
	Shards   int      `json:"shards"`
	Reads    int      `json:"reads"` // of a pass
	Rounds   int      `json:"rounds"`
	Workers  []int    `json:"workers"`

	DiskRounds int `json:"disk_rounds"` // reads from the disk
	Side       int `json:"side"`        // of an image, in pixels
	Opens      int `json:"opens"`       // processes that open each dataset and load a batch
	Epochs     int `json:"epochs"`      // processes that also load an epoch

	dir  string
	json string
	keep bool
	jpeg []byte // what each image begins with
}

// result has the times of each round, and how they grow.
type result struct {
	Settings settings                  `json:"settings"`
	Formats  map[string][]measurements `json:"formats"` // small and large
	Growth   map[string]growth         `json:"growth"`
}

func run(args []string, out io.Writer) error {
	if len(args) > 0 && args[0] == probeName {
		return probe(args[1:], out)
	}
	s, err := parse(args)
	if err != nil {
		return err
	}
	if s.dir == "" {
		if s.dir, err = os.MkdirTemp("", "scale"); err != nil {
			return err
		}
		defer os.RemoveAll(s.dir)
	}
	r := result{s, map[string][]measurements{}, map[string]growth{}}
	for _, name := range s.Formats {
		m, err := s.measure(name)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		r.Formats[name], r.Growth[name] = m, grown(m[0], m[1])
		report(out, name, m, r.Growth[name])
	}
	if s.json == "" {
		return nil
	}
	return durable.WriteJSON(s.json, r)
}

func parse(args []string) (settings, error) {
	s := settings{Workers: []int{1, 2}}
	names := "lmdb,hdf5,shard,tfrecord"
	flags := flag.NewFlagSet("scale", flag.ContinueOnError)
	flags.StringVar(&names, "formats", names, "formats to measure, separated by commas")
	flags.IntVar(&s.Small, "small", 10_000, "samples of the smaller dataset")
	flags.IntVar(&s.Large, "large", 1_000_000, "samples of the larger dataset")
	flags.IntVar(&s.MinBytes, "min-bytes", 3072, "smallest size of an image")
	flags.IntVar(&s.MaxBytes, "max-bytes", 4096, "largest size of an image")
	flags.IntVar(&s.Shards, "shards", 8, "files of a shard or tfrecord dataset")
	flags.IntVar(&s.Reads, "reads", 200_000, "random reads of a pass")
	flags.IntVar(&s.Rounds, "rounds", 5, "measurements of each dataset, in turns")
	flags.IntVar(&s.DiskRounds, "disk-rounds", 1, "measurements of reading from the disk")
	flags.IntVar(&s.Side, "side", 48, "width and height of an image")
	flags.IntVar(&s.Opens, "opens", 5, "processes that open each dataset and load a batch")
	flags.IntVar(&s.Epochs, "epochs", 0, "processes that open each dataset and load an epoch")
	flags.StringVar(&s.dir, "dir", "", "folder for the datasets; a temporary folder if empty")
	flags.StringVar(&s.json, "json", "", "file for the result")
	flags.BoolVar(&s.keep, "keep", false, "keep the datasets in --dir, and use those that exist")
	if err := flags.Parse(args); err != nil {
		return s, err
	}
	s.Formats = strings.Split(names, ",")
	if s.Small < 1 || s.Large < s.Small || s.MaxBytes < s.MinBytes || s.Shards < 1 || s.Reads < 1 || s.Rounds < 1 || s.Side < 1 {
		return s, errors.New("samples, reads, shards, rounds and --side must be at least 1, --large at least --small, --max-bytes at least --min-bytes")
	}
	var err error
	if s.jpeg, err = photo(s.Side); err == nil && len(s.jpeg) > s.MinBytes {
		err = fmt.Errorf("--min-bytes must be at least %d, the size of a JPEG of --side %d", len(s.jpeg), s.Side)
	}
	return s, err
}

// measure writes the two datasets of a format, times them in turns and removes them.
func (s *settings) measure(name string) ([]measurements, error) {
	format, err := formatOf(name)
	if err != nil {
		return nil, err
	}
	m := make([]measurements, 2)
	dirs := make([]string, 2)
	for k, n := range []int{s.Small, s.Large} {
		dirs[k] = filepath.Join(s.dir, fmt.Sprintf("%s-%d", name, n))
		start := time.Now()
		if err := s.write(format, dirs[k], n); err != nil {
			return nil, err
		}
		m[k] = measurements{
			Samples: n, WriteSeconds: time.Since(start).Seconds(), Nanoseconds: map[string][]float64{}, CPU: map[string][]float64{}, Disk: map[string][]float64{},
		}
	}
	for range s.Rounds {
		if err := s.round(format, dirs, m); err != nil {
			return nil, err
		}
	}
	if err := s.processes(name, format, dirs, m); err != nil {
		return nil, err
	}
	for range s.DiskRounds {
		if err := s.disk(format, dirs[1], &m[1]); err != nil {
			return nil, err
		}
	}
	if s.keep {
		return m, nil
	}
	return m, errors.Join(os.RemoveAll(dirs[0]), os.RemoveAll(dirs[1]))
}

func formatOf(name string) (formats.WritableFormat, error) {
	for _, f := range dsconv.Formats() {
		if w, ok := f.(formats.WritableFormat); ok && f.Name() == name {
			return w, nil
		}
	}
	return nil, errors.New("no such packed format in this build")
}
