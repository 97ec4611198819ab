package items

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"github.com/tinylib/msgp/msgp"

	"github.com/dsconv/dsconv/formats"
)

// process is a process that sends samples, and one end of its socket. It is safe for concurrent use.
type process struct {
	conn   net.Conn
	r      *msgp.Reader
	header *Header

	mu      sync.Mutex
	last    chan struct{} // closed when the last request's answer was read
	failed  error         // nothing can be read any more; guarded by the turns
	pending int           // requests without an answer, guarded by Indexed.mu
}

const (
	maxText     = 1 << 20 // bytes of a key, or of what is said of an error
	bufferBytes = 8 << 10 // what is longer is read where it is wanted
)

// newProcess takes over a file descriptor of a socket.
func newProcess(fd uintptr, h *Header) (*process, error) {
	f := os.NewFile(fd, "socket")
	if f == nil {
		return nil, fmt.Errorf("file descriptor %d: %w", fd, os.ErrInvalid)
	}
	conn, err := net.FileConn(f)
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("file descriptor %d is no socket: %w", fd, err)
	}
	p := &process{conn: conn, r: msgp.NewReaderSize(conn, bufferBytes), header: h, last: make(chan struct{})}
	p.r.SetMaxStringLength(maxText)
	close(p.last)
	return p, nil
}

// request asks for sample i and reads the answer into s. Answers come in the order of the requests.
func (p *process) request(i int, s *formats.Sample) error {
	done := make(chan struct{})
	defer close(done)
	p.mu.Lock()
	before := p.last
	p.last = done
	_, err := p.conn.Write(msgp.AppendInt(nil, i))
	p.mu.Unlock()
	<-before
	if err == nil && p.failed == nil {
		err = p.read(s)
	}
	if _, ok := errors.AsType[sampleError](err); err != nil && !ok && p.failed == nil {
		p.failed = p.explain(err)
	}
	return cmp.Or(p.failed, err)
}

// read reads the next answer.
func (p *process) read(s *formats.Sample) error {
	if t := p.header.timeout(); t > 0 {
		if err := p.conn.SetReadDeadline(time.Now().Add(t)); err != nil {
			return err
		}
	}
	return readAnswer(p.r, p.header.Schema, s)
}

// close ends all reads.
func (p *process) close() error {
	if err := p.conn.Close(); !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

// explain returns the error for a failed read or write, which ends a pack.
func (p *process) explain(err error) error {
	_, garbage := errors.AsType[msgp.Error](err)
	switch {
	case garbage:
		return lost{protocolError("%w", err)}
	case errors.Is(err, formats.ErrSchema):
		return lost{err}
	case errors.Is(err, os.ErrDeadlineExceeded):
		return lost{fmt.Errorf("the program has not sent it for %s", p.header.timeout())}
	case errors.Is(err, net.ErrClosed):
		return lost{errors.New("the pack was ended")}
	}
	return lost{errors.New("the program that sends the samples has ended")}
}

// lost is the error if samples do not come any more. No sample is left out for it: it is a formats.ErrClosed.
type lost struct{ error }

func (e lost) Unwrap() error { return e.error }

func (lost) Is(target error) bool { return target == formats.ErrClosed }
