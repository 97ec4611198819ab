package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/dsconv/dsconv/internal/testing/fakegpu"
	"github.com/dsconv/dsconv/internal/testing/formatcheck"
)

// asProgram is the environment variable that makes the test binary run as dsconv.
const asProgram = "DSCONV_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		return
	}
	interruptChildren()
	testscript.Main(formatcheck.OwnCache{M: m}, map[string]func(){"dsconv": main})
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
			env.Setenv("XDG_CACHE_HOME", os.Getenv("XDG_CACHE_HOME"))
			env.Setenv("PYTHON", os.Getenv("DSCONV_PYTHON"))
			env.Setenv("HOSTILE", "\x1b[31m\u009b31m\u202e")
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exit":     exitCode,
			"sametree": sameTree,
			"copytree": copyFolder,
			"nothing":  nothingThere,
			"truncate": truncate,
			"flipbit":  flipBit,
			"rename":   renameAll,
			"harmless": harmlessCommand,
			// fakegpu MODES replaces NVIDIA's libraries by those of internal/testing/fakegpu.
			"fakegpu": func(ts *testscript.TestScript, _ bool, args []string) {
				for _, one := range fakegpu.Environment(t, strings.Join(args, ","), "") {
					name, value, _ := strings.Cut(one, "=")
					ts.Setenv(name, value)
				}
				ts.Setenv("NVJPEG", filepath.Join(fakegpu.Build(t), fakegpu.NVJPEG))
			},
		},
		Condition: func(cond string) (bool, error) {
			switch cond {
			case "cgo":
				return cgo, nil
			case "root":
				return os.Getuid() == 0, nil
			case "fakegpu":
				return cgo && runtime.GOOS == "linux", nil
			case "python":
				return os.Getenv("DSCONV_PYTHON") != "", nil
			}
			return false, fmt.Errorf("unknown condition %q", cond)
		},
	})
}

// exitCode implements exit CODE ARGS...: it runs dsconv and compares its exit code. The script's stdout
// and stderr check the output.
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
	a, err := formatcheck.ReadTree(ts.MkAbs(args[0]))
	ts.Check(err)
	b, err := formatcheck.ReadTree(ts.MkAbs(args[1]))
	ts.Check(err)
	if same := maps.Equal(a, b); same == neg {
		ts.Fatalf("%s has %d files, %s has %d; same: %v", args[0], len(a), args[1], len(b), same)
	}
}

// copyFolder copies a folder.
func copyFolder(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(os.CopyFS(ts.MkAbs(args[1]), os.DirFS(ts.MkAbs(args[0]))))
}

// nothingThere calls each command that opens a dataset with a path that does not exist, in this process: starting so many
// takes longer than what they do. A second argument is text that the error must have too.
func nothingThere(ts *testscript.TestScript, _ bool, args []string) {
	path, want := args[0], append([]string{regexp.QuoteMeta(args[0] + ": there is nothing at that path")}, args[1:]...)
	for _, command := range [][]string{
		{"info", path},
		{"ls", path},
		{"cat", path, "k"},
		{"verify", path},
		{"verify", path, "--repair", "images"},
		{"diff", "cl.tar", path},
		{"unpack", path, "out"},
		{"pack", path, "out.tar"},
		{"add", path, "images"},
		{"rm", path, "--key", "k"},
		{"relabel", path, "table.csv"},
		{"merge", "out.tar", "cl.tar", path},
		{"train", path},
		{"bench", path},
	} {
		code := exitFailed
		if command[0] == "verify" || command[0] == "diff" {
			code = exitUnknown
		}
		for i, word := range command[1:] {
			if word != "k" && word[0] != '-' {
				command[1+i] = ts.MkAbs(word)
			}
		}
		got, said := dsconvSays(command...)
		said = strings.ReplaceAll(said, ts.MkAbs(".")+"/", "")
		for _, text := range want {
			if got != code || !regexp.MustCompile(text).MatchString(said) || strings.Contains(said, "not a dataset") {
				ts.Fatalf("%s: exit code %d: %s", command[0], got, said)
			}
		}
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

// hostileNames move a terminal's cursor, change its colours, hide or reverse its text, or are not UTF-8.
var hostileNames = []string{
	"\x1b[31m\x1b[2J", "\u009b31m", "\u0085", "a\u202eb", "a\u2066b\u2069", "\u200e\u200f\u061c", "\ufeffa\u200bb", "\x7f\r\b",
	"\u2028", "\U000e0041", "\xff\xfe", "a\nb\tc",
}

// renameAll renames the files and folders of a folder to hostile names.
func renameAll(ts *testscript.TestScript, _ bool, args []string) {
	root := ts.MkAbs(args[0])
	dirs, err := os.ReadDir(root)
	ts.Check(err)
	n := 0
	for i, dir := range dirs {
		files, err := os.ReadDir(filepath.Join(root, dir.Name()))
		ts.Check(err)
		for _, f := range files {
			name := hostileNames[n%len(hostileNames)] + filepath.Ext(f.Name())
			ts.Check(os.Rename(filepath.Join(root, dir.Name(), f.Name()), filepath.Join(root, dir.Name(), name)))
			n++
		}
		ts.Check(os.Rename(filepath.Join(root, dir.Name()), filepath.Join(root, hostileNames[i])))
	}
}

// harmlessCommand is exit for a command whose output must not have hidden characters. With --json its
// standard output must be JSON.
func harmlessCommand(ts *testscript.TestScript, neg bool, args []string) {
	exitCode(ts, neg, args)
	for _, name := range []string{"stdout", "stderr"} {
		said := ts.ReadFile(name)
		for i, r := range said {
			if r != '\n' && r != '\t' && (!unicode.IsGraphic(r) || r == utf8.RuneError) {
				ts.Fatalf("%s has %q at %d: %q", name, r, i, said)
			}
		}
		decoder := json.NewDecoder(strings.NewReader(said))
		for name == "stdout" && slices.Contains(args, "--json") {
			var v any
			if err := decoder.Decode(&v); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				ts.Fatalf("%v: %s", err, said)
			}
		}
	}
}
