package dsconv_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/tinylib/msgp/msgp"
	"golang.org/x/sys/unix"

	"github.com/dsconv/dsconv"
	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/formats"
)

// processes are n fake processes, which do what serve says. wait waits for their ends.
func processes(t *testing.T, n int, serve func(conn net.Conn)) (fds []int, wait func()) {
	t.Helper()
	var running sync.WaitGroup
	for range n {
		pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		must(t, err)
		f := os.NewFile(uintptr(pair[1]), "process")
		conn, err := net.FileConn(f)
		must(t, errors.Join(err, f.Close()))
		fds = append(fds, pair[0])
		running.Go(func() {
			defer conn.Close()
			serve(conn)
		})
	}
	return fds, running.Wait
}

// answer is a sample of PackItems.
func answer(t *testing.T, i int) []byte {
	var s formats.Sample
	must(t, newSquares(100).Read(i, &s))
	b := msgp.AppendNil(msgp.AppendNil(msgp.AppendNil(msgp.AppendArrayHeader(nil, 5))))
	return msgp.AppendInt(msgp.AppendBytes(b, s.Values[0].Data), i%3)
}

func header(length int) *strings.Reader {
	return strings.NewReader(fmt.Sprintf(`{"schema":[{"name":"image","kind":"image"},{"name":"label","kind":"label"}],"length":%d,"size":100,"identity":"squares","ascending":true}`, length))
}

func TestPackItems(t *testing.T) {
	indexed := func(conn net.Conn) {
		for r := msgp.NewReader(conn); ; {
			i, err := r.ReadInt()
			if err != nil {
				return
			}
			if _, err := conn.Write(answer(t, i)); err != nil {
				return
			}
		}
	}
	stream := func(conn net.Conn) {
		for i := range 40 {
			_, _ = conn.Write(answer(t, i)) // nobody reads it if the format is not built
		}
		_, _ = conn.Write(msgp.AppendNil(nil))
	}
	for _, name := range []string{"x.lmdb", "x.h5", "x.tar", "x.tfrecord"} {
		for length, serve := range map[int]func(net.Conn){40: indexed, -1: stream} {
			noLeaks(t)
			n := 1
			if length > 0 {
				n = 3
			}
			fds, wait := processes(t, n, serve)
			dst := filepath.Join(t.TempDir(), name)
			r, err := dsconv.PackItems(t.Context(), header(length), fds, dst, dsconv.Options{})
			wait()
			if errors.Is(err, formats.ErrNotBuilt) {
				continue
			}
			if err != nil || r.Found != 40 || r.Written != 40 {
				t.Fatalf("%s of %d: %v: %+v", name, length, err, r)
			}
			ds, err := dsconv.Open(dst)
			must(t, err)
			for i := range 40 {
				if in, err := ds.Info(i); err != nil || in.Label != int64(i%3) {
					t.Errorf("%s of %d, sample %d: %+v, %v", name, length, i, in, err)
				}
			}
			if classes := ds.Meta().Schema[1].Classes; len(classes) != 3 {
				t.Errorf("classes %q", classes)
			}
			must(t, ds.Close())
		}
	}
}

// A pack that is cancelled while a process does not answer ends, says so, and keeps what was written.
func TestPackItemsIsCancelled(t *testing.T) {
	for _, order := range []convert.Order{convert.KeyOrder, ""} {
		noLeaks(t)
		dst := filepath.Join(t.TempDir(), "x.tar")
		o := dsconv.Options{Options: convert.Options{Order: order}}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		asked := 0
		serve := func(conn net.Conn) {
			for r := msgp.NewReader(conn); ; {
				i, err := r.ReadInt()
				if err != nil {
					return
				}
				switch asked++; {
				case asked > 40: // it hangs
					continue
				default:
					_, _ = conn.Write(answer(t, i))
				}
			}
		}
		o.Progress = func(p convert.Progress) {
			if p.Done > p.Resumed {
				cancel()
			}
		}
		fds, wait := processes(t, 1, serve)
		r, err := dsconv.PackItems(ctx, header(60), fds, dst, o)
		wait()
		if !errors.Is(err, context.Canceled) || r.Written == 0 || r.Failed != 0 || len(r.Datasets) != 1 || r.Datasets[0].Resumable != r.Written {
			t.Fatalf("%v: %+v", err, r)
		}
		asked = -60
		o.Progress = nil
		fds, wait = processes(t, 1, serve)
		r, err = dsconv.PackItems(t.Context(), header(60), fds, dst, o)
		wait()
		if err != nil || r.Written != 60 || r.Datasets[0].Resumed == 0 {
			t.Errorf("%v: %+v", err, r)
		}
	}
}

func TestPackItemsMisuse(t *testing.T) {
	dst := filepath.Join(t.TempDir(), "x.tar")
	var none context.Context
	for name, pack := range map[string]func() (*dsconv.Report, error){
		"no context": func() (*dsconv.Report, error) { return dsconv.PackItems(none, header(1), nil, dst, dsconv.Options{}) },
		"no header":  func() (*dsconv.Report, error) { return dsconv.PackItems(t.Context(), nil, nil, dst, dsconv.Options{}) },
		"nonsense": func() (*dsconv.Report, error) {
			return dsconv.PackItems(t.Context(), strings.NewReader("x"), nil, dst, dsconv.Options{})
		},
		"no socket": func() (*dsconv.Report, error) {
			return dsconv.PackItems(t.Context(), header(1), nil, dst, dsconv.Options{})
		},
		"standard input": func() (*dsconv.Report, error) {
			return dsconv.PackItems(t.Context(), header(1), []int{0}, dst, dsconv.Options{})
		},
		"negative": func() (*dsconv.Report, error) {
			return dsconv.PackItems(t.Context(), header(1), []int{-1}, dst, dsconv.Options{})
		},
		"no such socket": func() (*dsconv.Report, error) {
			return dsconv.PackItems(t.Context(), header(1), []int{1 << 20}, dst, dsconv.Options{})
		},
		"two of a stream": func() (*dsconv.Report, error) {
			return dsconv.PackItems(t.Context(), header(-1), []int{3, 4}, dst, dsconv.Options{})
		},
		"stream of nobody": func() (*dsconv.Report, error) {
			return dsconv.PackItems(t.Context(), header(-1), nil, dst, dsconv.Options{})
		},
	} {
		if r, err := pack(); !errors.Is(err, convert.ErrOptions) || r == nil {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
}
