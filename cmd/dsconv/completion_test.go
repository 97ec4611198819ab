package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
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
		{words: "pack|--labels|=|", files: true}, // bash
		{words: "pack|--force|", files: true},
		{words: "pack|--labels|", files: true},
		{words: "pack|--labels=", files: true},
		{words: "verify|--rep", want: "--repair"},
		{words: "verify|--repair|ima", files: true},
		{words: "verify|", files: true},
		{words: "verify|--|--quick", files: true},
		{words: "nonsense|"},
		{words: "pack|--nonsense|", files: true},
		{words: "shards|", want: "plan pack missing commit --help"},
		{words: "shards|c", want: "commit"},
		{words: "shards|plan|--out", want: "--output"},
		{words: "shards|pack|", files: true},
		{words: "shards|nonsense|"},
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
try dsconv pack --enc
try dsconv pack --no-such-flag-at-all
try dsconv info 'my d'
complete -p dsconv
`)
	want := []string{"verify", "--encode", "", "", "complete -o default -F _dsconv dsconv"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestFishCompletion: the script gives fish the words.
func TestFishCompletion(t *testing.T) {
	got := shell(t, "fish", `
dsconv completion fish | source
complete -C 'dsconv ver'
complete -C 'dsconv info my'
`)
	want := []string{"verify\tcheck a dataset against its checksums, or its pixels against Pillow's", "my data.tar"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
