package main

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
)

// TestComplete: what the words of a command line may become.
func TestComplete(t *testing.T) {
	app := newApp(&console{out: io.Discard, err: io.Discard})
	for _, c := range []struct {
		words string // with | between them
		want  string
		files bool
	}{
		{words: "ver", want: "verify"},
		{words: "--ver", want: "--version"},
		{words: "pack|--enc", want: "--encode"},
		{words: "pack|--encode|j", want: "jpeg-tiled jpeg"},
		{words: "pack|--encode=j", want: "--encode=jpeg-tiled --encode=jpeg"},
		{words: "pack|--encode|=|j", want: "jpeg-tiled jpeg"}, // bash
		{words: "pack|--encode|=", want: "keep jpeg-tiled jpeg png raw"},
		{words: "pack|--filter|", want: "nearest box bilinear hamming bicubic lanczos"},
		{words: "pack|a|b|--on-error|f", want: "fail"},
		{words: "train|a|--on-error|s", want: "skip substitute"},
		{words: "merge|--order|", want: "key shuffle:0"},
		{words: "bench|a|--order|", want: "none full balanced"},
		{words: "pack|--force|", files: true},
		{words: "pack|--limit|"},
		{words: "pack|--labels|", files: true},
		{words: "pack|--labels=", files: true},
		{words: "verify|--rep", want: "--repair"},
		{words: "verify|--repair|ima", files: true},
		{words: "verify|", files: true},
		{words: "verify|--|--quick", files: true},
		{words: "completion|", want: "bash zsh fish"},
		{words: "nonsense|"},
		{words: "pack|--nonsense|", files: true},
		{words: "shards|", want: "plan pack missing commit --help"},
		{words: "shards|c", want: "commit"},
		{words: "shards|plan|--encode|j", want: "jpeg-tiled jpeg"},
		{words: "shards|plan|--out", want: "--output"},
		{words: "shards|pack|", files: true},
		{words: "shards|nonsense|"},
		{words: "add|--progress|", want: "auto json"},
	} {
		list, files := complete(app, strings.Split(c.words, "|"))
		var got []string
		for _, one := range list {
			got = append(got, one.text)
		}
		if strings.Join(got, " ") != c.want || files != c.files {
			t.Errorf("%s: %q, files %v; want %q, %v", c.words, got, files, c.want, c.files)
		}
	}
}

// TestCompletedValues: the commands take each value that is completed.
func TestCompletedValues(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing")
	code := func(cmd *cli.Command, flag, value string) (int, string) {
		args := []string{"dsconv", cmd.Name, "--" + flag, value}
		n, ok := map[string]int{"merge": 3, "relabel": 2}[cmd.Name]
		if !ok {
			n = len(strings.Fields(cmd.ArgsUsage))
		}
		for i := range n {
			if i == 0 && cmd.Name == "pack" {
				args = append(args, missing) // a folder of images
				continue
			}
			args = append(args, missing+".tar")
		}
		args = append(args, map[string][]string{
			"pack label-type": {"--labels", "x.csv"}, "pack unlisted": {"--labels", "x.csv"}, "pack decoder": {"--encode", "png"}, "rm progress": {"--key", "k"}, "bench backend": {"--train", "mlp"},
		}[cmd.Name+" "+flag]...)
		var said strings.Builder
		return run(context.Background(), args, &console{in: strings.NewReader(""), out: io.Discard, err: &said}), said.String()
	}
	tried := map[string]bool{}
	for _, cmd := range newApp(&console{out: io.Discard, err: io.Discard}).Commands {
		for _, f := range cmd.Flags {
			name := f.Names()[0]
			for _, value := range fixedValues(cmd, name) {
				tried[name] = true
				// A build without cgo knows the value, and says what it lacks.
				if got, said := code(cmd, name, value); got == exitUsage && !strings.Contains(said, "this build lacks") {
					t.Errorf("dsconv %s --%s %s: %s", cmd.Name, name, value, said)
				}
			}
		}
	}
	for _, values := range []map[string][]string{loadingValues, writingValues} {
		for name := range values {
			if !tried[name] {
				t.Errorf("no command has the flag --%s", name)
			}
		}
	}
}

// shellFolder returns a folder with the program dsconv, on the PATH of the returned environment, and
// datasets whose names have spaces.
func shellFolder(t *testing.T) (dir string, env []string) {
	t.Helper()
	dir = t.TempDir()
	program, err := filepath.Abs(os.Args[0])
	must(t, err)
	must(t, os.Mkdir(filepath.Join(dir, "bin"), 0o755))
	must(t, os.Symlink(program, filepath.Join(dir, "bin", "dsconv")))
	for _, name := range []string{"my data.tar", "naïve.tar"} {
		must(t, os.WriteFile(filepath.Join(dir, name), nil, 0o644))
	}
	return dir, []string{asProgram + "=1", "PATH=" + filepath.Join(dir, "bin") + ":" + os.Getenv("PATH"), "HOME=" + dir}
}

// shell runs a script in a shell and returns its lines.
func shell(t *testing.T, name, script string) []string {
	t.Helper()
	program, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("there is no %s", name)
	}
	dir, env := shellFolder(t)
	cmd := exec.Command(program, "-c", script)
	cmd.Dir, cmd.Env = dir, slices.Concat(os.Environ(), env)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return strings.Split(strings.TrimSpace(string(out)), "\n")
}

// TestBashCompletion: the script gives bash the words.
func TestBashCompletion(t *testing.T) {
	got := shell(t, "bash", `
source <(dsconv completion bash)
try() {
	COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _dsconv dsconv 2>/dev/null
	echo "${COMPREPLY[*]}"
}
try dsconv ver
try dsconv pack --encode j
try dsconv pack --encode = j
try dsconv pack --no-such-flag-at-all
try dsconv info 'my d'
complete -p dsconv
`)
	want := []string{"verify", "jpeg-tiled jpeg", "jpeg-tiled jpeg", "", "", "complete -o default -F _dsconv dsconv"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestFishCompletion: the script gives fish the words.
func TestFishCompletion(t *testing.T) {
	got := shell(t, "fish", `
dsconv completion fish | source
complete -C 'dsconv ver'
complete -C 'dsconv pack --encode j'
complete -C 'dsconv pack --encode=j'
complete -C 'dsconv info my'
`)
	want := []string{"verify\tcheck a dataset against its checksums, or its pixels against Pillow's", "jpeg", "jpeg-tiled", "--encode=jpeg", "--encode=jpeg-tiled", "my data.tar"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
