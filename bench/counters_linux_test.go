package bench

import (
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"golang.org/x/sys/unix"
)

// Two threads that compute on one core wait for each other: for as long as both do, one of them is in the queue.
func TestQueue(t *testing.T) {
	before, err := readCounters()
	if err != nil {
		t.Fatal(err)
	}
	var cores unix.CPUSet
	if err := unix.SchedGetaffinity(0, &cores); err != nil {
		t.Fatal(err)
	}
	core := 0
	for !cores.IsSet(core) {
		core++
	}
	const each = 100 * time.Millisecond
	var started, done sync.WaitGroup
	var finished atomic.Int64
	measured := make(chan struct{})
	for range 2 {
		started.Add(1)
		done.Add(1)
		go func() {
			runtime.LockOSThread() // and never unlocked: the thread, with its one core, ends with the goroutine
			var one unix.CPUSet
			one.Set(core)
			if err := unix.SchedSetaffinity(0, &one); err != nil {
				t.Error(err)
			}
			started.Done()
			started.Wait()
			begin := threadCPU()
			for first := true; finished.Load() < 2; {
				if first && threadCPU()-begin >= each {
					first = false
					finished.Add(1)
				}
			}
			done.Done()
			<-measured // a thread that ended would no longer count
		}()
	}
	done.Wait()
	after, err := readCounters()
	close(measured)
	if err != nil {
		t.Fatal(err)
	}
	d := after.sub(before)
	if d.Queue < 1.8*each.Seconds() {
		t.Errorf("two threads that computed %v each on one core: %+v", each, d)
	}
}

const mountinfo = "30 25 0:27 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n"

func file(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }

func someStalled(total string) *fstest.MapFile {
	return file("some avg10=1.00 avg60=0.00 avg300=0.00 total=" + total + "\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=99\n")
}

// The control group's counters are taken before the machine's, where it has them.
func TestGroups(t *testing.T) {
	page := int64(os.Getpagesize())
	machine := map[string]*fstest.MapFile{
		"proc/self/mountinfo":  file(mountinfo),
		"proc/self/cgroup":     file("0::/job.slice/run\n"),
		"proc/pressure/cpu":    someStalled("1000000"),
		"proc/pressure/io":     someStalled("2000000"),
		"proc/pressure/memory": someStalled("3000000"),
		"proc/vmstat":          file("nr_free 5\npgmajfault 70\npswpin 10\npswpout 20\nzswpin 1\nzswpout 2\n"),
	}
	of := func(more map[string]*fstest.MapFile) (c Counters) {
		root := fstest.MapFS{}
		for name, f := range machine {
			root[name] = f
		}
		for name, f := range more {
			root[name] = f
		}
		c.addGroup(root)
		return c
	}
	ofMachine := Counters{MemoryStall: 3, AllMajorFaults: 70, SwapIn: 11 * page}
	const group = "sys/fs/cgroup/job.slice/run/"
	ofGroup := map[string]*fstest.MapFile{
		group + "cpu.pressure": someStalled("100000"), group + "io.pressure": someStalled("200000"),
		group + "memory.pressure": someStalled("300000"), group + "memory.stat": file("anon 5\npgmajfault 7\npswpin 3\npswpout 4\n"),
	}
	want := Counters{MemoryStall: 0.3, AllMajorFaults: 7, SwapIn: 3 * page}
	if got := of(ofGroup); got != want {
		t.Errorf("in a group: %+v, want %+v", got, want)
	}
	if got := of(nil); got != ofMachine {
		t.Errorf("a group without counters: %+v, want %+v", got, ofMachine)
	}
	ofGroup[group+"memory.stat"] = file("anon 5\npgmajfault 7\n") // an old kernel
	want.SwapIn = 11 * page
	if got := of(ofGroup); got != want {
		t.Errorf("an old kernel: %+v, want %+v", got, want)
	}
	inContainer := map[string]*fstest.MapFile{
		"proc/self/cgroup":              file("3:cpu:/x\n0::/../../other\n"),
		"sys/fs/cgroup/memory.pressure": someStalled("400000"),
	}
	want = ofMachine
	want.MemoryStall = 0.4
	if got := of(inContainer); got != want {
		t.Errorf("in a container: %+v, want %+v", got, want)
	}
	var none Counters
	if none.addGroup(fstest.MapFS{}); none != (Counters{}) {
		t.Errorf("without /proc: %+v", none)
	}
}

func threadCPU() time.Duration {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t) // cannot fail
	return time.Duration(t.Nano())
}

// What the machine and this process did is read from their files; what is missing there is 0.
func TestCountersOfFiles(t *testing.T) {
	root := fstest.MapFS{
		"proc/stat":                    file("cpu  1000 20 300 99999 5 60 7 8 500 0\ncpu0 1 1 1 1 1 1 1 1 1 1\n"),
		"proc/self/stat":               file("7 (a b) R 1 7 7 0 -1 4194560 500 0 44 0 9 9 0 0 20 0 4 0 0\n"),
		"proc/self/io":                 file("rchar: 5\nread_bytes: 4096\n"),
		"proc/self/task/7/schedstat":   file("100 2000000000 3\n"),
		"proc/self/task/8/schedstat":   file("100 500000000 3\n"),
		"proc/self/task/9/nothing.txt": file(""),
	}
	if busy, err := busyCores(root); err != nil || busy != 13950*time.Millisecond {
		t.Errorf("%v, %v", busy, err)
	}
	var c Counters
	if c.addProcess(root); c != (Counters{MajorFaults: 44, Read: 4096, Queue: 2.5}) {
		t.Errorf("%+v", c)
	}
	if _, err := busyCores(fstest.MapFS{}); err == nil {
		t.Error("no error without /proc")
	}
}
