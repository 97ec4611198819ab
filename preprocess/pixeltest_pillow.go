package preprocess

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"testing"
)

// pillow is a running Python that processes images with Pillow.
type pillow struct {
	t   *testing.T
	in  *json.Encoder
	out *bufio.Scanner
}

type ask map[string]any

type answer struct {
	Shape  []int
	SHA    string
	Names  []string
	Pixels []byte
	Error  string
}

// startPillow starts the Python of DSCONV_PYTHON, or skips the test.
func startPillow(t *testing.T) *pillow {
	python := os.Getenv("DSCONV_PYTHON")
	if python == "" {
		t.Skip("DSCONV_PYTHON is not set")
	}
	cmd := exec.Command(python, testdata("pillow.py"))
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
		io.Copy(io.Discard, out)
		cmd.Wait()
	})
	scanner := bufio.NewScanner(out)
	scanner.Buffer(nil, 64<<20)
	return &pillow{t, json.NewEncoder(in), scanner}
}

func (p *pillow) ask(a ask) answer {
	p.t.Helper()
	if err := p.in.Encode(a); err != nil {
		p.t.Fatal(err)
	}
	if !p.out.Scan() {
		p.t.Fatalf("Python ended: %v", p.out.Err())
	}
	var r answer
	if err := json.Unmarshal(p.out.Bytes(), &r); err != nil {
		p.t.Fatal(err)
	}
	return r
}

// exact skips tests of pixels that only libjpeg-turbo decodes exactly.
func exact(t *testing.T) {
	if DecoderName != "libjpeg-turbo" {
		t.Skipf("%s is not exact", DecoderName)
	}
}

func sha(m *Image) string {
	sum := sha256.Sum256(m.Pix)
	return hex.EncodeToString(sum[:])
}
