//go:build linux

package cache

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
)

// The test binary runs again as a process of a test, told which by the environment.
const (
	roleVar = "DSCONV_CACHE_TEST_ROLE"
	dirVar  = "DSCONV_CACHE_TEST_DIR"
)

var roles = map[string]func(Config) error{"share": share, "hold": hold, "die": die, "storm": storm}

func TestMain(m *testing.M) {
	role, ok := roles[os.Getenv(roleVar)]
	if !ok {
		os.Exit(m.Run())
	}
	if err := role(processConfig(os.Getenv(dirVar))); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func processConfig(dir string) Config {
	return Config{Dir: dir, Name: "shared", Limit: 16 << 20, Samples: 2000}
}

// process is another process of a test.
type process struct {
	*exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func start(t *testing.T, role, dir string) *process {
	t.Helper()
	p := &process{Cmd: exec.Command(os.Args[0])}
	p.Env = append(os.Environ(), roleVar+"="+role, dirVar+"="+dir, "GORACE=atexit_sleep_ms=0")
	p.Stderr = os.Stderr
	in, errIn := p.StdinPipe()
	out, errOut := p.StdoutPipe()
	if err := errors.Join(errIn, errOut, p.Start()); err != nil {
		t.Fatal(err)
	}
	p.in, p.out = in, bufio.NewReader(out)
	t.Cleanup(func() { _ = p.Process.Kill() })
	return p
}

// says is the next line that p writes.
func (p *process) says(t *testing.T) string {
	t.Helper()
	line, err := p.out.ReadString('\n')
	if err != nil {
		t.Fatalf("the process says %q: %v", line, err)
	}
	return strings.TrimSpace(line)
}

// kill gives p no chance to close anything.
func (p *process) kill(t *testing.T) {
	t.Helper()
	if err := p.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = p.Wait()
}

// end lets p continue and waits for its end.
func (p *process) end(t *testing.T) {
	t.Helper()
	_ = p.in.Close()
	if err := p.Wait(); err != nil {
		t.Error(err)
	}
}

// share loads all samples by several goroutines, says how many it filled, and checks them all
// when it is told to.
func share(conf Config) error {
	c, err := Open(conf)
	if err != nil {
		return err
	}
	var filled atomic.Int64
	var wg sync.WaitGroup
	failures := make(chan error, 4)
	for range 4 {
		wg.Go(func() { failures <- loadAll(c, conf.Samples, &filled) })
	}
	wg.Wait()
	for range 4 {
		err = errors.Join(err, <-failures)
	}
	fmt.Println(filled.Load())
	_, _ = io.Copy(io.Discard, os.Stdin)
	for i := range conf.Samples {
		if data, ok := c.Get(i); !ok || !bytes.Equal(data, content(i)) {
			err = errors.Join(err, fmt.Errorf("sample %d in the end: %v", i, ok))
		}
	}
	return errors.Join(err, c.Close())
}

func loadAll(c *Cache, n int, filled *atomic.Int64) error {
	for _, i := range rand.Perm(n) {
		data, ok := c.Get(i)
		if !ok {
			var err error
			want := content(i)
			data, ok, err = c.Put(i, len(want), func(dst []byte) error {
				filled.Add(1)
				copy(dst, want)
				return nil
			})
			if err != nil {
				return err
			}
		}
		if ok && !bytes.Equal(data, content(i)) {
			return fmt.Errorf("sample %d differs", i)
		}
	}
	return nil
}

func TestProcessesFillEachSampleOnce(t *testing.T) {
	dir := memoryDir(t)
	var ranks []*process
	for range 4 {
		ranks = append(ranks, start(t, "share", dir))
	}
	filled := 0
	for _, p := range ranks {
		n, err := strconv.Atoi(p.says(t))
		if err != nil {
			t.Fatal(err)
		}
		filled += n
	}
	if want := processConfig(dir).Samples; filled != want {
		t.Errorf("%d samples were filled %d times", want, filled)
	}
	for _, p := range ranks {
		p.end(t)
	}
	checkGone(t, dir)
}

// hold keeps a cache with one sample open.
func hold(conf Config) error {
	c, err := Open(conf)
	if err != nil {
		return err
	}
	if _, ok, err := putContent(c, 3); !ok || err != nil {
		return fmt.Errorf("put: %v %w", ok, err)
	}
	fmt.Println("open")
	_, _ = io.Copy(io.Discard, os.Stdin)
	return c.Close()
}

// die never comes to the end of filling sample 7.
func die(conf Config) error {
	c, err := Open(conf)
	if err != nil {
		return err
	}
	_, _, err = c.Put(7, 1000, func(dst []byte) error {
		copy(dst, content(7)[:10])
		fmt.Println("filling")
		_, err := io.Copy(io.Discard, os.Stdin)
		return err
	})
	return err
}

func TestKilledWhileFilling(t *testing.T) {
	dir := memoryDir(t)
	c := openCache(t, processConfig(dir))
	p := start(t, "die", dir)
	if s := p.says(t); s != "filling" {
		t.Fatal(s)
	}
	for _, killed := range []bool{false, true} {
		if killed {
			p.kill(t)
		}
		if _, ok := c.Get(7); ok {
			t.Error("half a sample is there")
		}
		if _, ok, err := putContent(c, 7); ok || err != nil {
			t.Errorf("killed %v: Put: %v %v", killed, ok, err)
		}
	}
	for i := range 100 {
		if data, ok, err := putContent(c, i); i != 7 && (!ok || err != nil || !bytes.Equal(data, content(i))) {
			t.Errorf("Put(%d): %v %v", i, ok, err)
		}
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	checkGone(t, dir)
}

func TestKilledLeavesNothingForEver(t *testing.T) {
	dir := memoryDir(t)
	conf := processConfig(dir)
	p := start(t, "hold", dir)
	p.says(t)
	other := conf
	other.Name = "other"
	openCache(t, other)
	if _, err := os.Stat(conf.path()); err != nil {
		t.Fatalf("a cache in use was removed: %v", err)
	}
	p.kill(t)

	half := conf.path() + ".123.new" // of one that was killed when it made a file
	if err := os.WriteFile(half, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c := openCache(t, conf)
	if _, ok := c.Get(3); ok {
		t.Error("what the killed process left is in the new cache")
	}
	if _, err := os.Stat(half); !os.IsNotExist(err) {
		t.Errorf("half a file is left: %v", err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}

	p = start(t, "hold", dir)
	p.says(t)
	p.kill(t)
	if _, err := os.Stat(conf.path()); err != nil {
		t.Fatal(err)
	}
	other.Name = "third"
	openCache(t, other)
	if _, err := os.Stat(conf.path()); !os.IsNotExist(err) {
		t.Errorf("a file that nobody uses is left: %v", err)
	}
}

func TestLastOneRemoves(t *testing.T) {
	dir := memoryDir(t)
	p := start(t, "hold", dir)
	p.says(t)
	c := openCache(t, processConfig(dir))
	if data, ok := c.Get(3); !ok || !bytes.Equal(data, content(3)) {
		t.Error("what the other process has put is not there")
	}
	p.end(t)
	if _, err := os.Stat(c.path); err != nil {
		t.Errorf("removed while it is used: %v", err)
	}
	p = start(t, "hold", dir)
	if err := c.Close(); err != nil { // at any moment of the other's Open
		t.Fatal(err)
	}
	p.says(t)
	p.end(t)
	checkGone(t, dir)
}

// storm opens and closes the cache again and again; who has it open shares it.
func storm(conf Config) error {
	for range 150 {
		a, err := Open(conf)
		if err != nil {
			return err
		}
		i := rand.IntN(conf.Samples)
		if _, _, err := putContent(a, i); err != nil {
			return err
		}
		b, err := Open(conf)
		if err != nil {
			return err
		}
		if _, ok := a.Get(i); ok { // else another process is at it
			if data, ok := b.Get(i); !ok || !bytes.Equal(data, content(i)) {
				return errors.New("two files at one time")
			}
		}
		if err := errors.Join(a.Close(), b.Close()); err != nil {
			return err
		}
	}
	return nil
}

func TestOpenAndCloseAtOnce(t *testing.T) {
	dir := memoryDir(t)
	var ps []*process
	for range 4 {
		ps = append(ps, start(t, "storm", dir))
	}
	for _, p := range ps {
		p.end(t)
	}
	checkGone(t, dir)
}

// Processes that are killed at any moment leave the others a cache with right bytes.
func TestKilledAtAnyMoment(t *testing.T) {
	dir := memoryDir(t)
	for round := range 6 {
		victim := start(t, "storm", dir)
		other := start(t, "share", dir)
		if round%2 == 0 {
			victim.kill(t)
		}
		other.says(t)
		if err := victim.Process.Signal(syscall.SIGKILL); err == nil {
			_ = victim.Wait()
		}
		other.kill(t)
	}
	openCache(t, processConfig(dir))
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("left: %v %v", left, err)
	}
}
