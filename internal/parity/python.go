package parity

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/dsconv/dsconv/internal/interpreter"
	"github.com/dsconv/dsconv/python"
)

// bootstrap runs the modules whose sources are the first line of the input.
const bootstrap = `import importlib.util, json, sys
sources = json.loads(sys.stdin.buffer.readline())
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name in sources:
            return importlib.util.spec_from_loader(name, self, is_package=name == "parity")
    def create_module(self, spec):
        return None
    def exec_module(self, module):
        exec(compile(sources[module.__name__], module.__name__ + ".py", "exec"), module.__dict__)
sys.meta_path.insert(0, Finder())
from parity.serve import main
main()
`

// Result is what Python found.
type Result struct {
	Equal       bool            `json:"equal"` // no default path differs
	Certificate json.RawMessage `json:"certificate"`
	Text        string          `json:"text"` // the certificate for people
}

// process is a running Python. Its methods may be called from several goroutines.
type process struct {
	python  string
	timeout time.Duration
	in      io.WriteCloser
	fail    context.CancelCauseFunc
	ctx     context.Context
	ended   chan struct{} // closed when the process has ended
	stderr  tail

	sending sync.Mutex
	mu      sync.Mutex
	waiting map[int]chan struct{} // closed when the sample of this number was compared
	line    []byte                // the answer so far
	result  *Result
}

// startPython starts python. The process ends when ctx does, at the latest; fail ends ctx.
func startPython(ctx context.Context, fail context.CancelCauseFunc, o Options) (*process, error) {
	modules, err := python.Parity()
	if err != nil {
		return nil, err
	}
	sources, err := json.Marshal(modules)
	if err != nil {
		return nil, err
	}
	p := &process{
		python: o.Python, timeout: o.timeout, ctx: ctx, fail: fail,
		ended: make(chan struct{}), waiting: map[int]chan struct{}{},
	}
	cmd := interpreter.Command(ctx, o.Python, bootstrap)
	cmd.Stdout, cmd.Stderr = answers{p}, &p.stderr
	cmd.WaitDelay = time.Second // a process that the killed one started may hold the pipes open
	if p.in, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("%w: --python names the one that has Pillow", err)
	}
	go func() {
		defer close(p.ended)
		fail(failure{fmt.Errorf("it ended early: %w", cmp.Or(cmd.Wait(), errNoResult))})
	}()
	p.write(append(sources, '\n'))
	return p, nil
}

// send sends JSON and the image that it is about. That Python takes no more is told by its end.
func (p *process) send(header any, data []byte) {
	text, err := json.Marshal(header)
	if err != nil {
		p.fail(err)
		return
	}
	sizes := binary.BigEndian.AppendUint64(nil, uint64(len(text)))
	p.write(binary.BigEndian.AppendUint64(sizes, uint64(len(data))), text, data)
}

func (p *process) write(list ...[]byte) {
	p.sending.Lock()
	defer p.sending.Unlock()
	for _, b := range list {
		if _, err := p.in.Write(b); err != nil {
			return
		}
	}
}

// compare sends the images of sample k and waits until Python has compared them.
func (p *process) compare(k int, key string, send func() error) error {
	compared := make(chan struct{})
	p.mu.Lock()
	p.waiting[k] = compared
	p.mu.Unlock()
	late := time.AfterFunc(p.timeout, func() { p.fail(failure{fmt.Errorf("key %q: no answer within %v", key, p.timeout)}) })
	defer late.Stop()
	if err := send(); err != nil {
		return err
	}
	select {
	case <-compared:
		return nil
	case <-p.ctx.Done():
		return context.Cause(p.ctx)
	}
}

// finish ends the process and gives its result; err is why there is none.
func (p *process) finish(err error) (*Result, error) {
	if err == nil {
		late := time.AfterFunc(p.timeout, func() { p.fail(failure{fmt.Errorf("no result within %v", p.timeout)}) })
		defer late.Stop()
		p.in.Close()
		<-p.ended
		if p.result != nil {
			return p.result, nil
		}
	}
	p.fail(err)
	<-p.ended
	err = context.Cause(p.ctx)
	if f := (failure{}); !errors.As(err, &f) {
		return nil, err
	}
	printed := strings.TrimSpace(string(p.stderr))
	if printed != "" {
		printed = "; it printed:\n" + printed
	}
	return nil, fmt.Errorf("%s: %w%s", p.python, err, printed)
}

// failure is an error of Python's: what it printed last is told with it.
type failure struct{ error }

var errNoResult = errors.New("it gave no result")

// answers reads the lines that Python writes.
type answers struct{ *process }

func (p answers) Write(b []byte) (int, error) {
	p.line = append(p.line, b...)
	for {
		if len(p.line) > 0 && p.line[0] != '{' {
			p.fail(failure{fmt.Errorf("the Python process printed this instead of a result: %.80q", p.line)})
			return len(b), nil
		}
		line, rest, whole := bytes.Cut(p.line, []byte{'\n'})
		if !whole {
			return len(b), nil
		}
		p.answer(line)
		p.line = rest
	}
}

// answer takes a line: an error, the number of a sample that was compared, or the result.
func (p answers) answer(line []byte) {
	var a struct {
		Error  string `json:"error"`
		Sample *int   `json:"sample"`
		Result
	}
	err := json.Unmarshal(line, &a)
	switch {
	case err == nil && a.Error != "":
		p.fail(failure{fmt.Errorf("the Python has no Pillow (%s): install it (pip install Pillow), or use --python to name a Python that has it", a.Error)})
	case err == nil && a.Text != "":
		p.result = &a.Result
	case err == nil && a.Sample != nil && p.compared(*a.Sample):
	default:
		p.fail(failure{fmt.Errorf("the Python process printed this instead of a result: %.80q", line)})
	}
}

// compared ends the wait for sample k, and reports whether there was one.
func (p answers) compared(k int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	compared, ok := p.waiting[k]
	if ok {
		close(compared)
		delete(p.waiting, k)
	}
	return ok
}

// tail is the end of what was written to it.
type tail []byte

const maxTail = 2000

func (t *tail) Write(p []byte) (int, error) {
	*t = append(*t, p...)
	*t = append((*t)[:0], (*t)[max(0, len(*t)-maxTail):]...)
	return len(p), nil
}
