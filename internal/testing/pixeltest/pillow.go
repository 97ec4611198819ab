package pixeltest

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"testing"

	"github.com/dsconv/dsconv/internal/image/jpeg"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// Pillow is a running Python that processes images with Pillow.
type Pillow struct {
	t   *testing.T
	in  *json.Encoder
	out *bufio.Scanner
}

// Ask is a question to Pillow: an operation and its arguments.
type Ask map[string]any

// Answer is what Pillow returns; Error is not empty if it refused.
type Answer struct {
	Shape  []int
	SHA    string
	Names  []string
	Pixels []byte
	Error  string
}

// StartPillow starts the Python of DSCONV_PYTHON, or skips the test.
func StartPillow(t *testing.T) *Pillow {
	python := os.Getenv("DSCONV_PYTHON")
	if python == "" {
		t.Skip("DSCONV_PYTHON is not set")
	}
	cmd := exec.Command(python, Testdata("pillow.py"))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		_, _ = io.Copy(io.Discard, out)
		_ = cmd.Wait()
	})
	scanner := bufio.NewScanner(out)
	scanner.Buffer(nil, 64<<20)
	return &Pillow{t, json.NewEncoder(in), scanner}
}

// Ask asks Pillow and returns its answer.
func (p *Pillow) Ask(a Ask) Answer {
	p.t.Helper()
	if err := p.in.Encode(a); err != nil {
		p.t.Fatal(err)
	}
	if !p.out.Scan() {
		p.t.Fatalf("Python ended: %v", p.out.Err())
	}
	var r Answer
	if err := json.Unmarshal(p.out.Bytes(), &r); err != nil {
		p.t.Fatalf("%v: Python's answer has %d bytes; what follows it: %t, %v", err, len(p.out.Bytes()), p.out.Scan(), p.out.Err())
	}
	return r
}

// Exact skips tests of pixels that only libjpeg-turbo decodes exactly.
func Exact(t *testing.T) {
	if jpeg.DecoderName != "libjpeg-turbo" {
		t.Skipf("%s is not exact", jpeg.DecoderName)
	}
}

// SHA returns the SHA-256 of the pixels of m.
func SHA(m *pixel.Image) string {
	sum := sha256.Sum256(m.Pix)
	return hex.EncodeToString(sum[:])
}
