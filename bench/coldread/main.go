//go:build linux

// Command coldread measures ways to read records at random from a file that is not in the
// page cache: what formats.Prefetcher is built on was chosen by it.
//
//	coldread --dir /data --file-mib 2048 --records 110000,4000 --json coldread.json
//
// It writes a file of noise, and for each pass drops it from the page cache, makes sure of
// that (mincore), and reads records at keyed random places, all bytes of them:
//
//	mmap          through a mapping, the system reading ahead as it does
//	mmap-random   the same with MADV_RANDOM
//	mmap-willneed the same with MADV_WILLNEED for each batch, two batches ahead, in order of place
//	pread         with pread into a buffer, on as many goroutines as the others have
//	pread-16      with pread on 16 goroutines
//	pread-ahead   with pread and POSIX_FADV_WILLNEED for each batch, as mmap-willneed
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/dsconv/dsconv/internal/durable"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "coldread:", err)
		os.Exit(1)
	}
}

// settings are the flags.
type settings struct {
	FileMiB int   `json:"file_mib"`
	Records []int `json:"record_bytes"`
	Bytes   int   `json:"pass_bytes"` // about, of a pass
	Batch   int   `json:"batch"`
	Workers int   `json:"workers"`
	Rounds  int   `json:"rounds"`
	Procs   int   `json:"gomaxprocs"`

	dir  string
	json string
}

// measurement is one way to read records of one size.
type measurement struct {
	Record  int       `json:"record_bytes"`
	Way     string    `json:"way"`
	Reads   int       `json:"reads"`
	Seconds []float64 `json:"seconds"`         // of each round
	CPU     []float64 `json:"cpu_seconds"`     // of all threads
	Cached  []float64 `json:"cached_before"`   // share of the file's pages
	PerSec  float64   `json:"records_per_sec"` // of the median round
}

type result struct {
	Settings     settings       `json:"settings"`
	Measurements []*measurement `json:"measurements"`
}

func run(args []string, out io.Writer) (err error) {
	s, err := parse(args)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp(s.dir, "coldread")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "noise")
	if err := writeNoise(file, int64(s.FileMiB)<<20); err != nil {
		return err
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(s.Procs))
	r := result{Settings: s}
	for _, size := range s.Records {
		m, err := s.measure(file, size)
		if err != nil {
			return err
		}
		report(out, m)
		r.Measurements = append(r.Measurements, m...)
	}
	if s.json == "" {
		return nil
	}
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return durable.WriteFile(s.json, append(b, '\n'))
}

func parse(args []string) (settings, error) {
	var s settings
	flags := flag.NewFlagSet("coldread", flag.ContinueOnError)
	flags.StringVar(&s.dir, "dir", "", "where the file is made: on the disk to measure; a temporary folder if empty")
	flags.StringVar(&s.json, "json", "", "file for the result")
	flags.IntVar(&s.FileMiB, "file-mib", 2048, "size of the file")
	records := flags.String("records", "110000,4000", "sizes of records in bytes")
	flags.IntVar(&s.Bytes, "bytes", 200<<20, "about how much a pass reads, but not more than 10,000 records")
	flags.IntVar(&s.Batch, "batch", 64, "records of a batch")
	flags.IntVar(&s.Workers, "workers", 2, "goroutines that read")
	flags.IntVar(&s.Rounds, "rounds", 3, "times that each way is measured, in turns")
	flags.IntVar(&s.Procs, "gomaxprocs", runtime.GOMAXPROCS(0), "threads that run Go code")
	if err := flags.Parse(args); err != nil {
		return s, err
	}
	for _, r := range strings.Split(*records, ",") {
		n, err := strconv.Atoi(r)
		if err != nil || n < 1 || n > s.FileMiB<<20 {
			return s, fmt.Errorf("records of %q bytes in a file of %d MiB", r, s.FileMiB)
		}
		s.Records = append(s.Records, n)
	}
	if s.Bytes < 1 || s.Batch < 1 || s.Workers < 1 || s.Rounds < 1 || s.Procs < 1 {
		return s, fmt.Errorf("it takes 1 or more bytes, records of a batch, workers, rounds and threads")
	}
	return s, nil
}

// measure reads records of that size in all ways, in turns.
func (s *settings) measure(file string, size int) ([]*measurement, error) {
	reads := min(10_000, max(s.Batch, s.Bytes/size))
	var all []*measurement
	for _, w := range ways {
		all = append(all, &measurement{Record: size, Way: w.name, Reads: reads})
	}
	for round := range s.Rounds {
		for k, w := range ways {
			if err := s.pass(file, w, all[k], uint64(round)); err != nil {
				return nil, fmt.Errorf("%s: %w", w.name, err)
			}
		}
	}
	for _, m := range all {
		seconds := slices.Sorted(slices.Values(m.Seconds))
		m.PerSec = float64(reads) / seconds[len(seconds)/2]
	}
	return all, nil
}

func report(out io.Writer, all []*measurement) {
	for _, m := range all {
		fmt.Fprintf(out, "%6d bytes  %-14s %8.0f records/s %7.1f MB/s  %5.0f us of CPU a record, %.1f %% cached before\n",
			m.Record, m.Way, m.PerSec, m.PerSec*float64(m.Record)/1e6, 1e6*slices.Min(m.CPU)/float64(m.Reads), 100*slices.Max(m.Cached))
	}
}
