package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/dsconv/dsconv/formats/formattest"
)

// asProgram in the environment makes the test's binary dsconv itself.
const asProgram = "DSCONV_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		return
	}
	interruptChildren()
	testscript.Main(m, map[string]func(){"dsconv": main})
}

// interruptChildren lets SIGINT end the processes that tests start, also where the tests
// themselves were started with SIGINT ignored, as in the background of a script: a child inherits
// that, but not a handler.
func interruptChildren() {
	if signal.Ignored(os.Interrupt) {
		signal.Notify(make(chan os.Signal, 1), os.Interrupt)
	}
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(env *testscript.Env) error {
			env.Setenv("PYTHON", os.Getenv("DSCONV_PYTHON"))
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exit":     exitCode,
			"sametree": sameTree,
			"truncate": truncate,
			"flipbit":  flipBit,
		},
		Condition: func(cond string) (bool, error) {
			switch cond {
			case "cgo":
				return cgo, nil
			case "root":
				return os.Getuid() == 0, nil
			case "python":
				return os.Getenv("DSCONV_PYTHON") != "", nil
			}
			return false, fmt.Errorf("unknown condition %q", cond)
		},
	})
}

// exitCode runs dsconv and compares its exit code: exit CODE ARGS...; stdout and stderr
// look at what it printed.
func exitCode(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec("dsconv", args[1:]...); err != nil {
		var e *exec.ExitError
		if !errors.As(err, &e) {
			ts.Fatalf("%v", err)
		}
		got = e.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// sameTree compares two folders: names and bytes.
func sameTree(ts *testscript.TestScript, neg bool, args []string) {
	a, err := formattest.ReadTree(ts.MkAbs(args[0]))
	ts.Check(err)
	b, err := formattest.ReadTree(ts.MkAbs(args[1]))
	ts.Check(err)
	if same := maps.Equal(a, b); same == neg {
		ts.Fatalf("%s has %d files, %s has %d; same: %v", args[0], len(a), args[1], len(b), same)
	}
}

// truncate cuts a file to a number of bytes.
func truncate(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.ParseInt(args[1], 10, 64)
	ts.Check(err)
	ts.Check(os.Truncate(ts.MkAbs(args[0]), n))
}

// flipBit changes one bit of the byte at an offset of a file.
func flipBit(ts *testscript.TestScript, _ bool, args []string) {
	at, err := strconv.Atoi(args[1])
	ts.Check(err)
	b, err := os.ReadFile(ts.MkAbs(args[0]))
	ts.Check(err)
	b[at] ^= 4
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), b, 0o644))
}
