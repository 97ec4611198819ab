package doctor

import (
	"errors"
	"io/fs"
	"math"
	"runtime"

	"golang.org/x/sys/unix"

	"github.com/dsconv/dsconv/internal/cache"
	"github.com/dsconv/dsconv/internal/parallel"
)

const (
	smallShm    = 1 << 30
	smallMemory = 3 << 29 // images alone may take 1 GiB
	fewFiles    = 4096
)

// limits describes what the process may use: processors, memory, /dev/shm and open files.
func limits() []Line {
	return []Line{cores(runtime.NumCPU(), parallel.Cores()), memory(cache.FreeMemory()), shm(cache.FreeSpace("/dev/shm")), openFiles()}
}

// cores says how many processors there are, and how many of them dsconv uses.
func cores(cpus, workers int) Line {
	if workers >= cpus {
		return ok("cores", "%d", cpus)
	}
	return ok("cores", "%d; dsconv uses %d, as the cgroup's quota or GOMAXPROCS says", cpus, workers).
		advise("programs that count processors start too many workers here: give PyTorch's DataLoader num_workers=%d", workers)
}

// memory says what is free, for the process's cgroups too.
func memory(free int64, err error) Line {
	if err != nil {
		return ok("memory", "unknown").advise("%v", err)
	}
	line := ok("memory", "%s available", size(free))
	if free < smallMemory {
		return line.warn("little memory: large images alone may take 1 GiB, and a process above its cgroup's limit is killed; " +
			"allow the container more, or pack with --memory and load with fewer workers")
	}
	return line
}

func shm(free int64, err error) Line {
	const name = "/dev/shm"
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return ok(name, "none").advise("the caches of loaders are files in the folder for temporary files instead")
	case err != nil:
		return ok(name, "unknown").warn("%v", err)
	case free < smallShm:
		return ok(name, "%s free", size(free)).warn("too little for a loader's cache and for PyTorch's DataLoader with workers, which end with a bus error: " +
			"start the container with --shm-size=8g or --ipc=host")
	}
	return ok(name, "%s free", size(free))
}

// openFiles says to how many Go has raised the limit of this process.
func openFiles() Line {
	const name = "open files"
	var l unix.Rlimit
	switch err := unix.Getrlimit(unix.RLIMIT_NOFILE, &l); {
	case err != nil:
		return ok(name, "unknown").advise("%v", err)
	case l.Max > math.MaxInt64:
		return ok(name, "unlimited")
	case l.Max < fewFiles:
		return ok(name, "%d", l.Max).warn("datasets of many files need more: ulimit -n %d, or docker run --ulimit nofile=%d", 1<<16, 1<<16)
	}
	return ok(name, "%d", l.Max)
}
