package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
)

// The tests' dsconv is the test program itself. Beside its plan, in a folder of their own, lie these files:
//
//	shards     how many shards there are
//	fail-I     how many attempts at shard I fail
//	hang-I     attempts at shard I wait until they are told to stop
//	started-I  is written by an attempt, as long as its attempts so far
//	stopped-I  is written by an attempt that was told to stop
//	shard-I    the shard
//	commits    is written by commit, if all shards are there
const standIn = "DSCONV_BEAM_STAND_IN"

func TestMain(m *testing.M) {
	if os.Getenv(standIn) != "" {
		if err := standInDsconv(os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, "stand-in:", err)
			os.Exit(1)
		}
		return
	}
	flag.Parse()
	beam.Init()
	firstPause = time.Millisecond
	os.Exit(m.Run())
}

// standInDsconv is dsconv shards missing, pack and commit.
func standInDsconv(args []string) error {
	plan := filepath.Dir(args[2])
	switch args[1] {
	case "missing":
		for _, i := range standInMissing(plan) {
			fmt.Println(i)
		}
		return nil
	case "commit":
		if missing := standInMissing(plan); len(missing) > 0 {
			return fmt.Errorf("shards %v are missing", missing)
		}
		return os.WriteFile(filepath.Join(plan, "commits"), nil, 0o644)
	case "pack":
		return standInPack(plan, args[3])
	}
	return fmt.Errorf("unknown command %q", args)
}

func standInMissing(plan string) (missing []int) {
	for i := range readNumber(filepath.Join(plan, "shards")) {
		if _, err := os.Stat(filepath.Join(plan, fmt.Sprintf("shard-%d", i))); err != nil {
			missing = append(missing, i)
		}
	}
	return missing
}

func standInPack(plan, shard string) error {
	started, err := os.OpenFile(filepath.Join(plan, "started-"+shard), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	defer started.Close()
	if _, err := started.WriteString("x"); err != nil {
		return err
	}
	attempts, err := started.Stat()
	if err != nil {
		return err
	}
	if int(attempts.Size()) <= readNumber(filepath.Join(plan, "fail-"+shard)) {
		return fmt.Errorf("attempt %d fails", attempts.Size())
	}
	if _, err := os.Stat(filepath.Join(plan, "hang-"+shard)); err == nil {
		_, _ = io.Copy(io.Discard, os.Stdin)
		return os.WriteFile(filepath.Join(plan, "stopped-"+shard), nil, 0o644)
	}
	return os.WriteFile(filepath.Join(plan, "shard-"+shard), nil, 0o644)
}

// readNumber returns the number in a file, 0 if there is none.
func readNumber(path string) int {
	b, _ := os.ReadFile(path)
	n, _ := strconv.Atoi(string(b))
	return n
}

// newStandIn returns a job of that many shards, whose dsconv is this program, and its plan's folder.
func newStandIn(t *testing.T, shards int) (*job, string) {
	t.Helper()
	t.Setenv(standIn, "1")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	plan := t.TempDir()
	write(t, plan, "shards", strconv.Itoa(shards))
	write(t, plan, "plan.json", "{}")
	forgetOptions(t)
	unit := packShard{Dsconv: self, Plan: filepath.Join(plan, "plan.json"), Threads: 1, Retries: 2}
	return &job{unit: unit, runner: "prism"}, plan
}

// forgetOptions makes Beam's options, which a launch fills in, empty again after the test.
func forgetOptions(t *testing.T) {
	t.Cleanup(func() {
		for _, option := range []*string{jobopts.Endpoint, jobopts.EnvironmentType, jobopts.EnvironmentConfig, jobopts.WorkerBinary, jobopts.JobName} {
			*option = ""
		}
	})
}

func write(t *testing.T, plan, name, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(plan, name), []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func exists(plan, name string) bool {
	_, err := os.Stat(filepath.Join(plan, name))
	return err == nil
}

// attempts returns how often the stand-in was told to pack the shard.
func attempts(plan string, shard int) int64 {
	info, err := os.Stat(filepath.Join(plan, fmt.Sprintf("started-%d", shard)))
	if err != nil {
		return 0
	}
	return info.Size()
}

// waitFor waits for a file of the plan; the limit only detects a hang.
func waitFor(t *testing.T, ctx context.Context, plan, name string) {
	t.Helper()
	ctx, stop := context.WithTimeout(ctx, 5*time.Minute)
	defer stop()
	for !exists(plan, name) {
		if !pause(ctx, 10*time.Millisecond) {
			t.Fatalf("%s did not appear", name)
		}
	}
}
