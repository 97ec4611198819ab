package items

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/tinylib/msgp/msgp"
	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"github.com/dsconv/dsconv/formats"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var allKinds = formats.Schema{
	{Name: "image", Kind: formats.Image},
	{Name: "label", Kind: formats.Label, Classes: []string{"a", "b", "c"}},
	{Name: "score", Kind: formats.Number},
	{Name: "caption", Kind: formats.Text},
	{Name: "meta", Kind: formats.JSON},
	{Name: "blob", Kind: formats.Bytes},
	{Name: "vector", Kind: formats.Array, DType: formats.Float32, Shape: []int{1, 2}},
	{Name: "mask", Kind: formats.Mask},
}

var label = formats.Schema{{Name: "image", Kind: formats.Image}, {Name: "label", Kind: formats.Label}}

func tensor(b []byte, dtype string, shape []int, data []byte) []byte {
	b = msgp.AppendString(msgp.AppendArrayHeader(b, 3), dtype)
	b = msgp.AppendArrayHeader(b, uint32(len(shape)))
	for _, n := range shape {
		b = msgp.AppendInt(b, n)
	}
	return msgp.AppendBytes(b, data)
}

// head begins an answer of n values.
func head(key, split, failed string, n int) []byte {
	b := msgp.AppendArrayHeader(nil, uint32(3+n))
	for _, s := range []string{key, split, failed} {
		if s == "" {
			b = msgp.AppendNil(b)
		} else {
			b = msgp.AppendString(b, s)
		}
	}
	return b
}

// failure is an answer without a sample.
func failure(text string, errno int) []byte { return msgp.AppendInt(head("", "", text, 1), errno) }

var png = []byte("\x89PNG\r\n\x1a\nno more")

// small is an answer for the schema label.
func small(x int) []byte {
	return msgp.AppendInt(msgp.AppendBytes(head("", "", "", 2), png), x)
}

func everything() []byte {
	b := msgp.AppendBytes(head("k/1", "train", "", len(allKinds)), png)
	b = msgp.AppendFloat64(msgp.AppendInt(b, 2), 0.5)
	b = msgp.AppendString(msgp.AppendString(b, "ein Fuß"), `{"a": 1}`)
	b = msgp.AppendBytes(b, []byte{0, 255})
	b = tensor(b, "float32", []int{1, 2}, []byte{0, 0, 128, 63, 0, 0, 0, 64})
	return tensor(b, "uint8", []int{1, 2, 1}, []byte{7, 9})
}

func checkEverything(t *testing.T, s *formats.Sample) {
	t.Helper()
	if s.Key != "k/1" || s.Split != "train" || len(s.Values) != len(allKinds) {
		t.Fatalf("%+v", s)
	}
	x, _ := s.Values[1].Int64()
	y, _ := s.Values[2].Float32()
	if x != 2 || y != 0.5 {
		t.Errorf("label %d, number %g", x, y)
	}
	for k, want := range []formats.Value{
		0: {Data: png, Encoding: formats.PNG},
		3: {Data: []byte("ein Fuß"), Encoding: formats.Plain},
		4: {Data: []byte(`{"a": 1}`), Encoding: formats.Plain},
		5: {Data: []byte{0, 255}, Encoding: formats.Plain},
		6: {Data: []byte{0, 0, 128, 63, 0, 0, 0, 64}, Encoding: formats.Raw, DType: formats.Float32, Shape: []int{1, 2}},
		7: {Data: []byte{7, 9}, Encoding: formats.Raw, DType: formats.Uint8, Shape: []int{1, 2, 1}},
	} {
		got := s.Values[k]
		if k != 1 && k != 2 && (!bytes.Equal(got.Data, want.Data) || got.Encoding != want.Encoding || got.DType != want.DType || !reflect.DeepEqual(got.Shape, want.Shape)) {
			t.Errorf("field %s: %+v", allKinds[k].Name, got)
		}
	}
}

// socket returns the program's end of a socket, and the other one, which the test closes.
func socket(t *testing.T) (uintptr, net.Conn) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	f := os.NewFile(uintptr(fds[1]), "process")
	conn, err := net.FileConn(f)
	f.Close()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return uintptr(fds[0]), conn
}

// serve is a process that answers requests until its socket is closed. It closes the socket where there is no answer.
func serve(conn net.Conn, answer func(i int) []byte) {
	defer conn.Close()
	for r := msgp.NewReader(conn); ; {
		i, err := r.ReadInt()
		if err != nil {
			return
		}
		b := answer(i)
		if b == nil {
			return
		}
		if _, err := conn.Write(b); err != nil {
			return
		}
	}
}

// indexed opens a dataset of n processes that answer so.
func indexed(t *testing.T, h *Header, n int, answer func(i int) []byte) *Indexed {
	t.Helper()
	var running sync.WaitGroup
	var fds []uintptr
	for range n {
		fd, conn := socket(t)
		fds = append(fds, fd)
		running.Go(func() { serve(conn, answer) })
	}
	d, err := OpenIndexed(h, fds)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(d.Close(), d.Close()); err != nil {
			t.Error(err)
		}
		running.Wait()
	})
	return d
}

func TestEveryKindOfValue(t *testing.T) {
	d := indexed(t, &Header{Schema: allKinds, Length: 2}, 1, func(int) []byte { return everything() })
	var s formats.Sample
	for i := range 2 { // the second one into the memory of the first
		if err := d.Read(i, &s); err != nil {
			t.Fatal(err)
		}
		if want := fmt.Sprint(i); s.Key != want || s.Split != "" {
			t.Errorf("key %q, split %q: an indexed sample has those of its Info", s.Key, s.Split)
		}
		s.Key, s.Split = "k/1", "train"
		checkEverything(t, &s)
	}
	fd, conn := socket(t)
	st, err := OpenStream(&Header{Schema: allKinds, Length: -1}, fd)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	go func() { _, _ = conn.Write(append(everything(), msgp.AppendNil(nil)...)) }()
	if err := st.Read(0, &s); err != nil {
		t.Fatal(err)
	}
	checkEverything(t, &s)
	for i := range 2 {
		if err := st.Read(1+i, &s); !errors.Is(err, formats.ErrEnd) {
			t.Errorf("after the last sample: %v", err)
		}
	}
}

func TestErrorOfOneItem(t *testing.T) {
	d := indexed(t, &Header{Schema: label, Length: 10}, 1, func(i int) []byte {
		if i == 3 {
			return failure("ValueError: no", int(syscall.EIO))
		}
		return small(i)
	})
	for i := range 10 {
		var s formats.Sample
		err := d.Read(i, &s)
		if i == 3 {
			if err == nil || err.Error() != "item 3: ValueError: no" || errors.Is(err, formats.ErrClosed) || !formats.Unreadable(err) {
				t.Errorf("got %v", err)
			}
			continue
		}
		if x, _ := s.Values[1].Int64(); err != nil || x != int64(i) {
			t.Errorf("item %d is %d: %v", i, x, err)
		}
	}
}

// Many goroutines share several processes, and each gets the sample that it asked for.
func TestProcessesShareRequests(t *testing.T) {
	d := indexed(t, &Header{Schema: label, Length: 400}, 3, small)
	var all sync.WaitGroup
	for g := range 8 {
		all.Go(func() {
			var s formats.Sample
			for i := g; i < 400; i += 8 {
				err := d.Read(i, &s)
				if err != nil {
					t.Error(err)
					return
				}
				if x, _ := s.Values[1].Int64(); x != int64(i) {
					t.Errorf("item %d is %d", i, x)
				}
			}
		})
	}
	all.Wait()
	for _, p := range d.processes {
		if p.pending != 0 {
			t.Errorf("%d requests are pending", p.pending)
		}
	}
}

// What ends a process ends all that is asked of it, and is no fault of a sample.
func TestNothingComesAnyMore(t *testing.T) {
	all := small(1)
	long := msgp.AppendArrayHeader(nil, 5)
	for name, k := range map[string]struct {
		answer  []byte // nil: the process ends
		timeout float64
		want    string
	}{
		"end":               {nil, 0, "has ended"},
		"end in a value":    {all[:len(all)-4], 0, "has ended"}, // and the process ends at the next request
		"end in the header": {long, 0, "has ended"},
		"time":              {[]byte{}, 0.001, "not sent it for 1ms"},
		"time in a value":   {all[:len(all)-4], 0.001, "not sent it for 1ms"},
		"garbage":           {[]byte{0xc1}, 0, "is no sample"},
	} {
		t.Run(name, func(t *testing.T) {
			asked := 0
			d := indexed(t, &Header{Schema: label, Length: 3, Timeout: k.timeout}, 1, func(int) []byte {
				switch asked++; {
				case asked == 1:
					return k.answer
				case k.timeout == 0:
					return nil
				}
				return []byte{}
			})
			errs := make(chan error)
			for i := range 2 {
				go func() { errs <- d.Read(i, new(formats.Sample)) }()
			}
			for range 2 {
				if err := <-errs; !errors.Is(err, formats.ErrClosed) || !strings.Contains(err.Error(), k.want) {
					t.Errorf("got %v, want %q", err, k.want)
				} else if errors.Is(err, formats.ErrSchema) != (name == "garbage") {
					t.Errorf("got %v", err)
				}
			}
		})
	}
}

func TestCloseEndsReads(t *testing.T) {
	asked := make(chan struct{}, 10)
	d := indexed(t, &Header{Schema: label, Length: 10}, 2, func(int) []byte {
		asked <- struct{}{}
		return []byte{}
	})
	errs := make(chan error)
	for i := range 4 {
		go func() { errs <- d.Read(i, new(formats.Sample)) }()
	}
	for range 4 {
		<-asked
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	for range 4 {
		if err := <-errs; !errors.Is(err, formats.ErrClosed) {
			t.Errorf("got %v", err)
		}
	}
	if err := d.Read(0, new(formats.Sample)); !errors.Is(err, formats.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

// signalling is a Sender that says when it is asked.
type signalling struct {
	Sender
	asked chan struct{}
}

func (s signalling) Next(to *formats.Sample) error {
	s.asked <- struct{}{}
	return s.Sender.Next(to)
}

func TestCloseEndsAStream(t *testing.T) {
	fd, _ := socket(t)
	p, err := newProcess(fd, &Header{Schema: label, Length: -1})
	if err != nil {
		t.Fatal(err)
	}
	asked := make(chan struct{}, 1)
	d := NewStream(p.header, signalling{sender{p}, asked})
	errs := make(chan error)
	for i := range 3 {
		go func() { errs <- d.Read(i, new(formats.Sample)) }()
	}
	<-asked
	if err := errors.Join(d.Close(), d.Close()); err != nil {
		t.Error(err)
	}
	for range 3 {
		if err := <-errs; !errors.Is(err, formats.ErrClosed) {
			t.Errorf("got %v", err)
		}
	}
}

func TestStream(t *testing.T) {
	fd, conn := socket(t)
	d, err := OpenStream(&Header{Schema: label, Length: -1, Resumes: true, Ascending: true, Decoded: true}, fd)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if !d.Ascending() || !d.Resumes() || !d.Decoded() || d.Len() != math.MaxInt32 || d.Meta().Count != 0 {
		t.Errorf("%+v", d)
	}
	said := make(chan int, 2)
	go func() {
		r := msgp.NewReader(conn)
		begin, state := readBegin(r)
		said <- begin
		if state != "before" {
			t.Errorf("the state is %q", state)
		}
		_, _ = conn.Write(append(msgp.AppendInt(msgp.AppendBytes(head("", "val", "", 2), png), 5), failure("bad", 0)...))
		_, _ = conn.Write(msgp.AppendBytes(nil, []byte("now")))
		kept, _ := readBegin(r)
		said <- kept
		_, _ = conn.Write(append(msgp.AppendInt(msgp.AppendBytes(head("own", "", "", 2), png), 6), 0xc1))
	}()
	if err := d.Begin(7, []byte("before")); err != nil || <-said != 7 {
		t.Fatal(err)
	}
	var s formats.Sample
	if err := d.Read(7, &s); err != nil || s.Key != "val/0000000007" || s.Split != "val" {
		t.Fatalf("%v, %q", err, s.Key)
	}
	if err := d.Read(8, &s); err == nil || err.Error() != "bad" {
		t.Errorf("a bad one: %v", err)
	}
	err = d.Read(9, &s)
	if keep, ok := errors.AsType[*formats.Keep](err); !ok || string(keep.State) != "now" {
		t.Errorf("to be kept: %v", err)
	}
	if err := d.Kept(9); err != nil || <-said != 9 {
		t.Fatal(err)
	}
	if err := d.Read(9, &s); err != nil || s.Key != "own" || s.Split != "" {
		t.Errorf("%v, %q, %q", err, s.Key, s.Split)
	}
	for range 2 {
		if err := d.Read(10, &s); !errors.Is(err, formats.ErrSchema) || !errors.Is(err, formats.ErrClosed) {
			t.Errorf("garbage: %v", err)
		}
	}
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	if err := d.Kept(10); !errors.Is(err, formats.ErrClosed) {
		t.Errorf("a process that ended: %v", err)
	}
}

// readBegin reads what a process is told at the beginning and after a formats.Keep.
func readBegin(r *msgp.Reader) (samples int, state string) {
	_, _ = r.ReadArrayHeader()
	samples, _ = r.ReadInt()
	b, _ := r.ReadBytes(nil)
	return samples, string(b)
}

// answered is what a process explains of an answer's error.
func answered(b []byte, schema formats.Schema, s *formats.Sample) error {
	p := &process{header: &Header{Schema: schema}, r: msgp.NewReaderSize(bytes.NewReader(b), 64<<10)}
	p.r.SetMaxStringLength(maxText)
	err := readAnswer(p.r, schema, s)
	if err == nil || errors.Is(err, formats.ErrEnd) || errors.As(err, new(*formats.Keep)) || errors.As(err, new(sampleError)) {
		return err
	}
	return p.explain(err)
}

func TestGarbage(t *testing.T) {
	image := msgp.AppendBytes(head("", "", "", 2), png)
	huge := binary.BigEndian.AppendUint32([]byte{0xdb}, math.MaxUint32)
	for name, b := range map[string][]byte{
		"a number":            msgp.AppendInt(nil, 5),
		"a map":               msgp.AppendMapHeader(nil, 5),
		"an extension":        {0xd4, 5, 0},
		"a reserved byte":     {0xc1},
		"no values":           head("", "", "", 0),
		"an empty array":      msgp.AppendArrayHeader(nil, 0),
		"too many values":     msgp.AppendArrayHeader(nil, math.MaxUint32),
		"values and error":    append(head("", "", "error", 2), image...),
		"key is a number":     msgp.AppendInt(msgp.AppendArrayHeader(nil, 5), 7),
		"key of 4 GB":         append(msgp.AppendArrayHeader(nil, 5), huge...),
		"value is nil":        msgp.AppendNil(image),
		"value is a map":      msgp.AppendMapHeader(image, 1),
		"label beyond int64":  msgp.AppendUint64(image, math.MaxUint64),
		"tensor of 2 parts":   msgp.AppendArrayHeader(image, 2),
		"tensor without type": msgp.AppendNil(msgp.AppendArrayHeader(image, 3)),
		"65 dimensions":       tensor(image, "uint8", make([]int, 65), nil),
		"text as shape":       msgp.AppendString(msgp.AppendArrayHeader(msgp.AppendString(msgp.AppendArrayHeader(image, 3), "uint8"), 1), "x"),
	} {
		// What follows must not matter.
		b = append(b, bytes.Repeat([]byte{0xc0}, 100)...)
		if err := answered(b, label, new(formats.Sample)); !errors.Is(err, formats.ErrSchema) || !errors.Is(err, formats.ErrClosed) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A length takes no memory before its bytes have come.
func TestLengthsAreNotBelieved(t *testing.T) {
	image := msgp.AppendBytes(head("", "", "", 2), png)
	for name, b := range map[string][]byte{
		"bytes": binary.BigEndian.AppendUint32(append(image, 0xc6), math.MaxUint32),
		"text":  binary.BigEndian.AppendUint32(append(image, 0xdb), math.MaxUint32),
		"tensor": binary.BigEndian.AppendUint32(
			append(msgp.AppendArrayHeader(msgp.AppendString(msgp.AppendArrayHeader(image, 3), "uint8"), 0), 0xc6), math.MaxUint32),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := answered(append(b, make([]byte, 1<<20)...), label, new(formats.Sample))
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; !errors.Is(err, formats.ErrClosed) || used > 100<<20 {
			t.Errorf("%s: %v, %d bytes", name, err, used)
		}
	}
}

// A value of several steps is whole, and the next one is in its memory.
func TestLargeValue(t *testing.T) {
	data := make([]byte, 70<<20)
	for i := range data {
		data[i] = byte(i * i >> 7)
	}
	b := msgp.AppendInt(msgp.AppendBytes(head("", "", "", 2), data), 1)
	var s formats.Sample
	var first *byte
	for range 2 {
		if err := answered(b, label, &s); err != nil || !bytes.Equal(s.Values[0].Data, data) {
			t.Fatal("other bytes", err)
		}
		if first != nil && first != &s.Values[0].Data[0] {
			t.Error("new memory for each value")
		}
		first = &s.Values[0].Data[0]
	}
}

func TestHeader(t *testing.T) {
	const schema = `"schema":[{"name":"image","kind":"image"}]`
	for text, want := range map[string]string{
		`{` + schema + `,"length":3}`:                                                           "",
		`{` + schema + `,"length":-1,"splits":[{"name":"a","count":0}]}`:                        "",
		`{` + schema + `,"length":3,"keys":["a","b","c"]}`:                                      "",
		`{` + schema + `,"length":3,"splits":[{"name":"a","count":1},{"name":"b","count":2}]}`:  "",
		`{` + schema + `,"length":3,"keys":["a","c","b"]}`:                                      "do not ascend",
		`{` + schema + `,"length":3,"keys":["a"]}`:                                              "1 keys for 3",
		`{` + schema + `,"length":-2}`:                                                          "-2 samples",
		`{` + schema + `,"length":2147483648}`:                                                  "at most",
		`{` + schema + `,"length":3,"splits":[{"name":"a","count":1}]}`:                         "1 samples of 3",
		`{` + schema + `,"length":3,"splits":[{"name":"a","count":5},{"name":"b","count":-2}]}`: "-2 samples",
		`{"length":3}`:                  "schema",
		`{"schema":[{"name":"image"}]}`: "kind",
		`{` + schema + `,"length":"3"}`: "description of the samples",
		`nonsense`:                      "description of the samples",
		``:                              "EOF",
	} {
		_, err := ReadHeader(strings.NewReader(text))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// Keys and splits of all samples are known, and ascend.
func TestInfo(t *testing.T) {
	h := &Header{Schema: label, Length: 12, Splits: []formats.Split{{Name: "a", Count: 2}, {Name: "b", Count: 0}, {Name: "c", Count: 10}}, Identity: "x"}
	d := indexed(t, h, 1, small)
	last := ""
	for i := range 12 {
		in, err := d.Info(i)
		if err != nil || in.Key <= last || in.Label != formats.NoLabel || in.Size != 1 {
			t.Errorf("%d: %+v, %v", i, in, err)
		}
		var s formats.Sample
		if err := d.Read(i, &s); err != nil || s.Key != in.Key || s.Split != in.Split {
			t.Errorf("%d: %+v is %q in %q: %v", i, in, s.Key, s.Split, err)
		}
		last = in.Key
	}
	if in, _ := d.Info(3); in.Key != "c/01" || in.Split != "c" {
		t.Errorf("%+v", in)
	}
	other := *h
	other.Identity = "y"
	if other.begin(); other.info(0).Checksum == h.info(0).Checksum {
		t.Error("another dataset has the same checksum")
	}
	for _, i := range []int{-1, 12} {
		if _, err := d.Info(i); err == nil {
			t.Errorf("there is no sample %d", i)
		}
		if err := d.Read(i, new(formats.Sample)); err == nil {
			t.Errorf("sample %d is read", i)
		}
	}
}

func TestOpenNeedsSockets(t *testing.T) {
	h := &Header{Schema: label, Length: 1}
	if _, err := OpenIndexed(h, nil); err == nil {
		t.Error("no process is enough")
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	fd, err := unix.Dup(int(r.Fd()))
	r.Close()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := OpenIndexed(h, []uintptr{uintptr(fd)}); err == nil || !strings.Contains(err.Error(), "no socket") {
		t.Errorf("a pipe: %v", err)
	}
	if _, err := OpenStream(h, math.MaxUint32); err == nil {
		t.Error("a file descriptor that is none")
	}
}

func FuzzAnswer(f *testing.F) {
	f.Add(everything())
	f.Add(small(1))
	f.Add(failure("failed", 5))
	f.Add(msgp.AppendNil(nil))
	f.Add(msgp.AppendBool(nil, true))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, schema := range []formats.Schema{allKinds, label} {
			var s formats.Sample
			err := answered(b, schema, &s)
			switch {
			case err == nil && len(s.Values) != len(schema):
				t.Errorf("%d values for %d fields", len(s.Values), len(schema))
			case err == nil, errors.Is(err, formats.ErrEnd), errors.As(err, new(*formats.Keep)), errors.As(err, new(sampleError)), errors.Is(err, formats.ErrClosed):
			default:
				t.Errorf("%T %v", err, err)
			}
		}
	})
}

func FuzzHeader(f *testing.F) {
	f.Add([]byte(`{"schema":[{"name":"image","kind":"image"}],"length":3,"keys":["a","b","c"],"size":7,"identity":"x","timeout":1.5}`))
	f.Add([]byte(`{"schema":[{"name":"image","kind":"image"}],"length":3,"splits":[{"name":"a","count":1},{"name":"b","count":2}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := ReadHeader(io.MultiReader(bytes.NewReader(b)))
		if err != nil {
			return
		}
		for i := range min(h.Length, 100) {
			if in := h.info(i); in.Key == "" && len(h.Keys) == 0 || in.Size < 1 {
				t.Errorf("%+v", in)
			}
		}
		_ = h.timeout()
	})
}
