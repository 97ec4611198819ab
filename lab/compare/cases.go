package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"time"
)

// turn is the time that a side took for a fixed amount of work.
type turn struct {
	Seconds    float64 `json:"seconds"`
	CPUSeconds float64 `json:"cpu_seconds"`
}

// namedCase is one measurement.
type namedCase struct {
	name string
	work func(ctx context.Context, s side) (turn, error)
}

// Photos are decoded in part and resized. Small images and stored pixels are only cropped, so that
// reading is a larger share of the time. A turn takes about two seconds: shorter turns vary by more
// than the differences that matter.
var (
	photoOps = []string{"--epochs", "12"}
	smallOps = []string{"--epochs", "30", "--augment", "crop:56,flip", "--dtype", "uint8"}
	rawOps   = []string{"--epochs", "200", "--augment", "crop:224,flip", "--dtype", "uint8"}
)

func cases(s *settings, d *data) []namedCase {
	list := []namedCase{
		s.epochs("folder", d.folder, photoOps),
		s.epochs("plain", d.path("plain.lmdb"), photoOps),
		s.epochs("tiled", d.path("tiled.lmdb"), photoOps),
		s.epochs("small files", d.small, smallOps),
		s.epochs("small", d.path("small.lmdb"), smallOps),
	}
	for _, suffix := range rawFormats {
		list = append(list, s.epochs("raw "+suffix, d.path("raw."+suffix), rawOps))
	}
	list = append(
		list,
		s.pack("pack keep", d, 6),
		s.pack("pack resize", d, 2, "--resize", "shorter:256", "--encode", "jpeg:90"),
		s.pack("pack tiled", d, 2, "--encode", "jpeg-tiled"),
		s.repeat("open", 30, d, "info"),
		s.repeat("list", 15, d, "ls", "--long"),
	)
	if s.base.python == "" {
		return list
	}
	return append(
		list,
		s.python("python plain", d.path("plain.lmdb"), "photo"),
		s.python("python tiled", d.path("tiled.lmdb"), "photo"),
		s.python("python small", d.path("small.lmdb"), "small"),
		s.python("python raw", d.path("raw.lmdb"), "raw"),
	)
}

// epochs is dsconv bench, which does not count its first epoch.
func (s *settings) epochs(name, dataset string, options []string) namedCase {
	return namedCase{name, func(ctx context.Context, by side) (t turn, err error) {
		file := filepath.Join(filepath.Dir(dataset), "turn.json")
		args := append([]string{"bench", dataset, "--quiet", "--rounds", "1", "--json", file, "--workers", strconv.Itoa(s.Workers)}, options...)
		args = append(args, by.withoutAdvice(ctx)...)
		if err := command(ctx, by.program, args...).Run(); err != nil {
			return t, err
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return t, err
		}
		var r struct {
			Datasets []struct{ Rounds []turn }
		}
		if err := json.Unmarshal(text, &r); err != nil {
			return t, fmt.Errorf("result of dsconv bench: %w", err)
		}
		if len(r.Datasets) != 1 || len(r.Datasets[0].Rounds) != 1 {
			return t, fmt.Errorf("result of dsconv bench is not one round of one dataset: %s", text)
		}
		return r.Datasets[0].Rounds[0], nil
	}}
}

// withoutAdvice keeps a dsconv that knows it from trying ways to pack once it has measured: what runs between the turns should be
// alike.
func (s side) withoutAdvice(ctx context.Context) []string {
	help, err := exec.CommandContext(ctx, s.program, "bench", "--help").Output()
	if err != nil || !bytes.Contains(help, []byte("--advise")) {
		return nil
	}
	return []string{"--advise=false"}
}

// pack packs the folder so many times, each time to a new file.
func (s *settings) pack(name string, d *data, times int, options ...string) namedCase {
	return namedCase{name, func(ctx context.Context, by side) (total turn, err error) {
		for range times {
			dir, err := os.MkdirTemp(d.dir, "pack")
			if err != nil {
				return total, err
			}
			args := append([]string{"pack", d.folder, filepath.Join(dir, "out.lmdb"), "--quiet", "--workers", strconv.Itoa(s.Workers)}, options...)
			t, err := timed(command(ctx, by.program, args...))
			os.RemoveAll(dir)
			if err != nil {
				return total, err
			}
			total.add(t)
		}
		return total, nil
	}}
}

// repeat runs a command on the datasets of small images so many times.
func (s *settings) repeat(name string, times int, d *data, args ...string) namedCase {
	return namedCase{name, func(ctx context.Context, by side) (total turn, err error) {
		for range times {
			for _, dataset := range []string{"small.lmdb", "small.tar"} {
				t, err := timed(command(ctx, by.program, slices.Concat(args, []string{d.path(dataset)})...))
				if err != nil {
					return total, err
				}
				total.add(t)
			}
		}
		return total, nil
	}}
}

// loaderProgram times an epoch of a dsconv.Loader and prints a turn.
//
//go:embed loader.py
var loaderProgram string

// python measures the Loader of the side's wheel.
func (s *settings) python(name, dataset, ops string) namedCase {
	return namedCase{name, func(ctx context.Context, by side) (t turn, err error) {
		var out bytes.Buffer
		p := command(ctx, by.python, "-c", loaderProgram, dataset, ops, strconv.Itoa(s.Workers))
		p.Stdout = &out
		if err := p.Run(); err != nil {
			return t, err
		}
		return t, json.Unmarshal(out.Bytes(), &t)
	}}
}

// timed runs p and returns the time that it took.
func timed(p program) (t turn, err error) {
	start := time.Now()
	if err := p.Run(); err != nil {
		return t, err
	}
	return turn{time.Since(start).Seconds(), (p.ProcessState.UserTime() + p.ProcessState.SystemTime()).Seconds()}, nil
}

func (t *turn) add(u turn) {
	t.Seconds += u.Seconds
	t.CPUSeconds += u.CPUSeconds
}
