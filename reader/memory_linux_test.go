package reader

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/codec"
	"github.com/dsconv/dsconv/internal/image/jpeg"
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader/augment"
)

// estimated is one Loader whose memory is estimated and measured, in a process of its own.
type estimated struct {
	Path    string // of a file of Kinds values of Size bytes each
	Size    int
	Shape   [3]int
	Form    formats.Encoding
	Samples int
	Batch   int
	Workers int
	Ahead   int
	DType   formats.DType
	Kind    CacheKind
	Limit   int64
}

// measured is what the process says.
type measured struct {
	Estimate Memory
	Peak     int64 // more than before the Loader was made
}

// TestEstimateIsNearThePeak within 20 %.
func TestEstimateIsNearThePeak(t *testing.T) {
	if raced() {
		t.Skip("the race detector takes memory of its own")
	}
	cases := map[string]estimated{
		"uint8 batches":   {Form: formats.Raw, Samples: 800, Batch: 160, Workers: 2, Ahead: 3, DType: formats.Uint8},
		"float32, 7":      {Form: formats.Raw, Samples: 300, Batch: 50, Workers: 7, DType: formats.Float32},
		"prefetch of 8":   {Form: formats.Raw, Samples: 600, Batch: 48, Workers: 2, Ahead: 8, DType: formats.Uint8},
		"encoded cache":   {Form: formats.Raw, Samples: 500, Batch: 16, Workers: 2, DType: formats.Uint8, Kind: Encoded},
		"a full cache":    {Form: formats.Raw, Samples: 500, Batch: 40, Workers: 2, DType: formats.Float32, Kind: Decoded, Limit: 30 << 20},
		"12 megapixels":   {Form: formats.JPEG, Samples: 6, Batch: 3, Workers: 3, DType: formats.Uint8},
		"zstd":            {Form: formats.RawZstd, Samples: 4, Batch: 2, Workers: 2, DType: formats.Uint8},
		"progressive":     {Form: formats.JPEG, Samples: 2, Batch: 1, Workers: 2, DType: formats.Uint8},
		"decoded, 12 Mpx": {Form: formats.JPEG, Samples: 3, Batch: 1, Workers: 2, DType: formats.Uint8, Kind: Decoded},
	}
	for name, e := range cases {
		t.Run(name, func(t *testing.T) {
			if e.Form == formats.JPEG && (testing.Short() || !jpeg.HasLibjpegTurbo) {
				t.Skip("JPEGs are decoded by libjpeg-turbo, and slowly")
			}
			e.Path = filepath.Join(t.TempDir(), "values")
			e.write(t, name == "progressive")
			m := e.measure(t)
			total := m.Estimate.Total()
			t.Logf("estimate %.1f MB (%+v), peak %.1f MB, ratio %.3f", float64(total)/1e6, m.Estimate, float64(m.Peak)/1e6, float64(m.Peak)/float64(total))
			if total < 60e6 {
				t.Errorf("the estimate of %d bytes is too little to be compared", total)
			}
			if r := float64(m.Peak) / float64(total); r < 0.8 || r > 1.2 {
				t.Errorf("the peak is %.2f of the estimate", r)
			}
		})
	}
}

// raced reports whether this is the race detector's build.
func raced() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.ContainsFunc(info.Settings, func(s debug.BuildSetting) bool { return s.Key == "-race" && s.Value == "true" })
}

// write makes the file.
func (e *estimated) write(t *testing.T, progressive bool) {
	t.Helper()
	e.Shape = [3]int{224, 224, 3}
	data := noise(224*224*3, 1)
	if e.Form != formats.Raw {
		e.Shape = [3]int{3000, 4000, 3}
		if progressive {
			e.Shape[0] = 4250 // a component's coefficients are more than malloc ever keeps
		}
		m := pixel.Image{H: e.Shape[0], W: e.Shape[1], C: 3, DType: formats.Uint8}
		m.Pix = make([]byte, m.H*m.W*m.C)
		for i := range m.Pix {
			m.Pix[i] = byte(i>>7 + i/12000)
		}
		data = m.Pix
		if e.Form == formats.RawZstd {
			data = compressed(t, raw(formats.Uint8, data, e.Shape[:]...)).Data
		} else {
			data = encoded(t, &m, progressive)
		}
	}
	e.Size = len(data)
	if err := os.WriteFile(e.Path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func encoded(t *testing.T, m *pixel.Image, progressive bool) []byte {
	t.Helper()
	enc := codec.NewEncoder()
	defer enc.Close()
	data, err := enc.AppendJPEG(nil, m, codec.EncodeOptions{Encoding: formats.JPEG, Quality: 75, Sampling: pixel.Sampling444, Progressive: progressive})
	if err != nil {
		t.Fatal(err)
	}
	return data
}

const estimatedEnv = "DSCONV_TEST_ESTIMATED"

func (e *estimated) measure(t *testing.T) (m measured) {
	t.Helper()
	job, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestEstimatedProcess$", "-test.v")
	cmd.Env = append(os.Environ(), estimatedEnv+"="+string(job))
	out, err := cmd.CombinedOutput()
	_, rest, found := strings.Cut(string(out), "measured ")
	if err != nil || !found {
		t.Fatalf("%v\n%s", err, out)
	}
	if err := json.NewDecoder(strings.NewReader(rest)).Decode(&m); err != nil {
		t.Fatal(err)
	}
	return m
}

// TestEstimatedProcess is the process: it does nothing in the tests' own.
func TestEstimatedProcess(t *testing.T) {
	job := os.Getenv(estimatedEnv)
	if job == "" {
		t.Skip("run by TestEstimateIsNearThePeak")
	}
	var e estimated
	if err := json.Unmarshal([]byte(job), &e); err != nil {
		t.Fatal(err)
	}
	ds := e.open(t)
	before := resident(t)
	c := Config{
		BatchSize: e.Batch, Workers: e.Workers, Prefetch: e.Ahead, DType: e.DType, Shuffle: true,
		Transforms: []augment.Op{augment.RandomHorizontalFlip{P: 0.5}},
		Cache:      Cache{Kind: e.Kind, Limit: e.Limit},
	}
	if e.Form != formats.Raw {
		c.Transforms = []augment.Op{augment.Resize{H: 224, W: 224}}
	}
	l := makeLoader(t, ds, c)
	estimate, err := l.Estimate(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	peak := peakDuring(t, func() {
		for epoch := range 2 {
			for _, err := range l.Epoch(t.Context(), epoch) {
				if err != nil {
					t.Fatal(err)
				}
			}
		}
	})
	text, err := json.Marshal(measured{estimate, peak - before})
	if err != nil {
		t.Fatal(err)
	}
	fmt.Printf("measured %s\n", text)
}

// peakDuring is the most memory that is resident while f runs.
func peakDuring(t *testing.T, f func()) int64 {
	var done atomic.Bool
	peak := make(chan int64)
	go func() {
		most := int64(0)
		for !done.Load() {
			most = max(most, resident(t))
			time.Sleep(2 * time.Millisecond)
		}
		peak <- most
	}()
	f()
	done.Store(true)
	return <-peak
}

// resident is RssAnon+RssShmem: what is the process's own and no file's.
func resident(t *testing.T) (n int64) {
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Error(err)
	}
	for line := range strings.Lines(string(b)) {
		var kb int64
		name, value, _ := strings.Cut(line, ":")
		if name == "RssAnon" || name == "RssShmem" {
			_, _ = fmt.Sscan(value, &kb)
			n += kb << 10
		}
	}
	return n
}

// mapped is a dataset whose samples all have one value, which lies in a mapped file.
type mapped struct {
	estimated
	meta formats.Meta
	data []byte
}

func (e estimated) open(t *testing.T) *mapped {
	f, err := os.Open(e.Path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	data, err := syscall.Mmap(int(f.Fd()), 0, e.Size, syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Munmap(data) })
	return &mapped{estimated: e, meta: newMemory().meta, data: data}
}

func (d *mapped) Meta() *formats.Meta { return &d.meta }
func (d *mapped) Len() int            { return d.Samples }
func (d *mapped) Close() error        { return nil }

func (d *mapped) Info(i int) (formats.Info, error) {
	return formats.Info{Key: fmt.Sprintf("%06d", i), Label: 1, Size: int64(d.Size), Encoding: d.Form, Shape: d.Shape, Checksum: [16]byte{byte(os.Getpid()), byte(os.Getpid() >> 8)}}, nil
}

func (d *mapped) Read(i int, s *formats.Sample) error { return d.View(i, s) }

func (d *mapped) View(i int, s *formats.Sample) error {
	s.Key = fmt.Sprintf("%06d", i)
	s.Resize(2)
	v := &s.Values[0]
	v.Data, v.Encoding, v.DType = d.data, d.Form, formats.Uint8
	v.SetShape(d.Shape[:]...)
	s.Values[1].SetInt64(1)
	return nil
}
