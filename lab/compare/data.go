package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// data are the paths of the datasets that both sides read.
type data struct {
	folder string
	small  string // a folder of small images
	dir    string
}

func (d *data) path(name string) string { return filepath.Join(d.dir, name) }

// rawFormats are the suffixes of the datasets of pixels.
var rawFormats = []string{"lmdb", "h5", "tar", "tfrecord"}

// prepare writes the datasets with base to dir, which is empty.
func prepare(ctx context.Context, s *settings, dir string) (*data, error) {
	d := &data{dir: dir}
	d.folder, d.small = d.path("images"), d.path("small")
	n := strconv.Itoa(s.N)
	steps := [][]string{{"synth", d.small, "--n", strconv.Itoa(5 * s.N), "--size", "64x64", "--quiet"}}
	source := s.Images
	if source == "" {
		source = d.path("synthetic")
		steps = append(steps, []string{"synth", source, "--n", n, "--quiet"})
	}
	pack := func(from, name string, options ...string) {
		steps = append(steps, append([]string{"pack", from, d.path(name), "--quiet"}, options...))
	}
	pack(source, "plain.lmdb", "--limit", n)
	// The folder has only those images, whatever else the source has.
	steps = append(steps, []string{"unpack", d.path("plain.lmdb"), d.folder})
	pack(d.folder, "tiled.lmdb", "--encode", "jpeg-tiled")
	for _, suffix := range rawFormats {
		pack(d.folder, "raw."+suffix, "--resize", "cover:256x256", "--encode", "raw")
	}
	pack(d.small, "small.lmdb")
	pack(d.small, "small.tar")
	for _, step := range steps {
		if err := command(ctx, s.base.program, step...).Run(); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// program is a command whose error includes what it printed to standard error.
type program struct{ *exec.Cmd }

func command(ctx context.Context, name string, args ...string) program {
	return program{exec.CommandContext(ctx, name, args...)}
}

// Run runs the program and drops its messages unless it fails.
func (p program) Run() error {
	var messages bytes.Buffer
	p.Stderr = &messages
	err := p.Cmd.Run()
	if err == nil {
		return nil
	}
	text := strings.TrimSpace(messages.String())
	return errors.Join(fmt.Errorf("%s: %w", strings.Join(p.Args, " "), err), errors.New(text))
}
