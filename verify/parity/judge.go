package parity

import (
	"bufio"
	"context"
	_ "embed" // the script
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/preprocess"
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/preprocess/resample"
)

//go:embed parity.py
var script string

// bootstrap keeps a file of the current folder from passing for one of Python's modules.
const bootstrap = "import sys\nsys.path[:] = [p for p in sys.path if p]\n"

// patience is how long an answer may take where Options do not say. The first one waits for
// torch to be read from the disk.
const patience = 2 * time.Minute

// maxHeader and maxPixels bound what is believed of an answer.
const (
	maxHeader = 1 << 20
	maxPixels = 1 << 32
)

// judge is a running Python. It belongs to one goroutine.
type judge struct {
	python   string
	cmd      *exec.Cmd
	in       io.WriteCloser
	out      *bufio.Reader
	pipe     io.Closer // what out reads
	stderr   tail
	patience time.Duration
	release  func() bool
}

// startJudge starts python and waits until it tells what it has. The process ends with
// close, or when ctx does.
func startJudge(ctx context.Context, o Options, torchvision bool) (*judge, Judge, error) {
	args := []string{"-c", bootstrap + script}
	if torchvision {
		args = append(args, "torchvision")
	}
	j := &judge{python: o.Python, cmd: exec.CommandContext(ctx, o.Python, args...), patience: o.Patience}
	j.cmd.Stderr = &j.stderr
	j.cmd.WaitDelay = time.Second
	in, err := j.cmd.StdinPipe()
	if err != nil {
		return nil, Judge{}, err
	}
	out, err := j.cmd.StdoutPipe()
	if err != nil {
		return nil, Judge{}, err
	}
	if err := j.cmd.Start(); err != nil {
		return nil, Judge{}, fmt.Errorf("%w: --python names the one that has Pillow", err)
	}
	j.in, j.out, j.pipe = in, bufio.NewReaderSize(out, 1<<16), out
	// A process that the killed one started may hold the pipes open.
	j.release = context.AfterFunc(ctx, j.hangUp)
	has, err := j.greeting(ctx)
	if err != nil {
		j.close()
		return nil, Judge{}, err
	}
	return j, has, nil
}

// greeting reads what Python has.
func (j *judge) greeting(ctx context.Context) (Judge, error) {
	var v struct {
		Judge
		Error string
	}
	err := j.within(ctx, func() error { return j.header(&v) })
	switch {
	case err != nil:
		return Judge{}, err
	case v.Error != "":
		return Judge{}, fmt.Errorf("%s has no Pillow (%s): install it, or name a Python that has it by --python", j.python, v.Error)
	case v.Pillow == "":
		return Judge{}, fmt.Errorf("%s does not tell its Pillow's version", j.python)
	}
	return v.Judge, nil
}

func (j *judge) hangUp() {
	j.in.Close()
	j.pipe.Close()
}

// close ends the process, which has nothing to save, and waits for it; it may be called again.
func (j *judge) close() {
	_ = j.cmd.Process.Kill() // it may have ended
	if j.release() {
		j.hangUp()
	}
	_ = j.cmd.Wait() // how it ends does not matter: its answers are complete or an error told why not
}

// within does something that Python must answer in time. An error says what Python printed.
func (j *judge) within(ctx context.Context, do func() error) error {
	late := time.AfterFunc(j.patience, func() {
		_ = j.cmd.Process.Kill() // it may have ended
		j.hangUp()
	})
	err := do()
	inTime := late.Stop()
	if err == nil {
		return nil
	}
	j.close() // what it printed last comes with its end
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case !inTime:
		return fmt.Errorf("%s did not answer within %v%s", j.python, j.patience, j.printed())
	}
	return fmt.Errorf("%s: %w%s", j.python, err, j.printed())
}

func (j *judge) printed() string {
	if text := strings.TrimSpace(j.stderr.String()); text != "" {
		return "; it printed:\n" + text
	}
	return ""
}

// header reads what an answer begins with.
func (j *judge) header(v any) error {
	var head [4]byte
	if _, err := io.ReadFull(j.out, head[:]); err != nil {
		return fmt.Errorf("it ended: %w", err)
	}
	n := binary.BigEndian.Uint32(head[:])
	if n > maxHeader {
		return fmt.Errorf("not an answer: it begins with %q", head)
	}
	text := make([]byte, n)
	if _, err := io.ReadFull(j.out, text); err != nil {
		return fmt.Errorf("it ended in the middle of an answer: %w", err)
	}
	if err := json.Unmarshal(text, v); err != nil {
		return fmt.Errorf("not an answer: %w", err)
	}
	return nil
}

// question is an image and what is to be made of it.
type question struct {
	// Mode, W and H are of raw pixels, as Pillow calls them; else the image is encoded.
	Mode string `json:"mode,omitempty"`
	W    int    `json:"w,omitempty"`
	H    int    `json:"h,omitempty"`

	Color     pixel.Color `json:"color"`
	Orient    bool        `json:"orient"`
	MaxPixels int         `json:"max_pixels"`
	Steps     []step      `json:"steps"`
	Size      int         `json:"size"` // bytes of the image
}

// step is one thing that is made of an image: "decode" is the image itself.
type step struct {
	Op     string          `json:"op"`
	Filter resample.Filter `json:"filter,omitempty"`
	// Of "resize" and "torchvision": a Resize, and the side of a square to cut out after it.
	Mode    preprocess.ResizeMode `json:"mode,omitempty"`
	W       int                   `json:"w"`
	H       int                   `json:"h"`
	Upscale bool                  `json:"upscale"`
	Center  int                   `json:"center"`
	// Of "region": its place, and the side that it is scaled to; 0 for none.
	X    int `json:"x"`
	Y    int `json:"y"`
	Side int `json:"side"`
}

// made is what came of one step.
type made struct {
	image *pixel.Image
	err   error // why Python could not do it
}

// ask gives what Python makes of an image, a made for each step. A refusal is why it did not
// decode the image at all; an error is about Python.
func (j *judge) ask(ctx context.Context, q question, data []byte) (steps []made, refusal, err error) {
	q.Size = len(data)
	var reply struct {
		Error   string
		Results []struct {
			Error string
			Shape []int
			Bits  int
		}
	}
	err = j.within(ctx, func() error {
		if err := j.send(&q, data); err != nil {
			return err
		}
		if err := j.header(&reply); err != nil {
			return err
		}
		if reply.Error == "" && len(reply.Results) != len(q.Steps) {
			return fmt.Errorf("not an answer: %d results where %d were asked for", len(reply.Results), len(q.Steps))
		}
		for _, r := range reply.Results {
			if r.Error != "" {
				steps = append(steps, made{err: errors.New(r.Error)})
				continue
			}
			m, err := j.pixels(r.Shape, r.Bits)
			if err != nil {
				return err
			}
			steps = append(steps, made{image: m})
		}
		return nil
	})
	if err == nil && reply.Error != "" {
		refusal = errors.New(reply.Error)
	}
	return steps, refusal, err
}

func (j *judge) send(q *question, data []byte) error {
	text, err := json.Marshal(q)
	if err != nil {
		return err
	}
	head := binary.BigEndian.AppendUint32(nil, uint32(len(text)))
	for _, part := range [][]byte{head, text, data} {
		if _, err := j.in.Write(part); err != nil {
			return fmt.Errorf("it takes no more images: %w", err)
		}
	}
	return nil
}

func (j *judge) pixels(shape []int, bits int) (*pixel.Image, error) {
	if len(shape) != 3 || bits != 8 && bits != 16 {
		return nil, fmt.Errorf("not an answer: pixels of shape %v with %d bits", shape, bits)
	}
	n := bits / 8
	for _, side := range shape {
		if side < 1 || side > maxPixels/n {
			return nil, fmt.Errorf("not an answer: pixels of shape %v", shape)
		}
		n *= side
	}
	dtype := formats.Uint8
	if bits == 16 {
		dtype = formats.Uint16
	}
	var m pixel.Image
	m.Reset(shape[0], shape[1], shape[2], dtype)
	if _, err := io.ReadFull(j.out, m.Pix); err != nil {
		return nil, fmt.Errorf("it ended in the middle of an image: %w", err)
	}
	return &m, nil
}

// tail keeps the end of what is written to it.
type tail struct{ b []byte }

const maxTail = 2000

func (t *tail) Write(p []byte) (int, error) {
	t.b = append(t.b, p...)
	if extra := len(t.b) - maxTail; extra > 0 {
		t.b = append(t.b[:0], t.b[extra:]...)
	}
	return len(p), nil
}

func (t *tail) String() string { return string(t.b) }
