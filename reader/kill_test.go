package reader_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dsconv/dsconv"
	"github.com/dsconv/dsconv/reader"
)

// trainee is the environment variable that makes the test binary a training.
const trainee = "DSCONV_TEST_TRAINEE"

// session is what a training is started with. It goes through three epochs, adds what it saw
// to a log and saves its state after each step.
type session struct {
	Dataset              string
	Workers, Rank, World int
	Log, State           string        // files
	Pause                time.Duration // between steps
}

func (s session) run(t *testing.T) {
	c := training(bothMixers...)
	c.Shuffle, c.BatchSize, c.WorldSize, c.Rank, c.Workers = true, 4/s.World, s.World, s.Rank, s.Workers
	l, err := reader.Open(dsconv.Formats(), s.Dataset, c)
	must(t, err)
	defer l.Close()
	state, begun := readState(t, s.State)
	log, err := os.OpenFile(s.Log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	must(t, err)
	defer log.Close()
	must(t, log.Truncate(int64(len(upTo(readLog(t, s.Log), state, begun)))))
	for epoch := state.Epoch; epoch < 3; epoch++ {
		batches := l.Epoch(t.Context(), epoch)
		if begun && epoch == state.Epoch {
			batches = l.Resume(t.Context(), state)
		}
		for b, err := range batches {
			must(t, err)
			_, err := fmt.Fprintln(log, epoch, b.End, stepOf(b).Entries)
			must(t, err)
			writeState(t, s.State, l.State(epoch, b))
			time.Sleep(s.Pause)
		}
	}
}

// writeState leaves the old state or the new one, whenever it is killed.
func writeState(t *testing.T, file string, s reader.State) {
	t.Helper()
	b, err := json.Marshal(s)
	must(t, err)
	must(t, os.WriteFile(file+".new", b, 0o600))
	must(t, os.Rename(file+".new", file))
}

func readState(t *testing.T, file string) (s reader.State, begun bool) {
	t.Helper()
	b, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return s, false
	}
	must(t, err)
	must(t, json.Unmarshal(b, &s))
	return s, true
}

func readLog(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if !errors.Is(err, fs.ErrNotExist) {
		must(t, err)
	}
	return string(b)
}

// upTo is a log up to the state; what comes after it will come again.
func upTo(log string, s reader.State, begun bool) string {
	at := 0
	for line := range strings.Lines(log) {
		epoch, end := 0, 0
		if _, err := fmt.Sscan(line, &epoch, &end); err != nil || !begun {
			break
		}
		if epoch > s.Epoch || epoch == s.Epoch && end > s.Position {
			break
		}
		at += len(line)
	}
	return log[:at]
}

// TestTrainingIsKilled: a training that is killed at random moments, and resumes each time with
// another number of workers from another format, gets the samples of one that is not killed.
func TestTrainingIsKilled(t *testing.T) {
	if given := os.Getenv(trainee); given != "" {
		var s session
		must(t, json.Unmarshal([]byte(given), &s))
		s.run(t)
		return
	}
	c := newCorpus(t, 58, packings())
	enough := 12
	if testing.Short() {
		enough = 2
	}
	alone := uninterrupted(t, c, 1)[0]
	pair := uninterrupted(t, c, 2)
	if got := interleaved(t, pair); got != alone {
		t.Fatal("two ranks together see something else than one")
	}
	for _, want := range [][]string{{alone}, pair} {
		if testing.Short() && len(want) == 1 {
			continue
		}
		t.Run(fmt.Sprintf("world size %d", len(want)), func(t *testing.T) {
			r := rand.New(rand.NewPCG(uint64(len(want)), 9))
			for killed := 0; killed < enough; {
				killed += killedTraining(t, c, r, want)
			}
		})
	}
}

// uninterrupted is the logs of all ranks.
func uninterrupted(t *testing.T, c *corpus, world int) (logs []string) {
	t.Helper()
	for _, s := range newSessions(t, world) {
		s.Dataset, s.Workers = c.stored[0].path, 2
		s.run(t)
		logs = append(logs, readLog(t, s.Log))
	}
	if lines := strings.Count(logs[0], "\n"); lines != 3*15 {
		t.Fatalf("%d steps", lines)
	}
	return logs
}

// interleaved joins the lines of each step.
func interleaved(t *testing.T, logs []string) string {
	t.Helper()
	joined := ""
	others := strings.Split(logs[1], "\n")
	for k, line := range strings.Split(logs[0], "\n") {
		if line == "" {
			continue
		}
		_, rest, _ := strings.Cut(others[k], "[")
		joined += strings.TrimSuffix(line, "]") + " " + rest + "\n"
	}
	return joined
}

func newSessions(t *testing.T, world int) []session {
	t.Helper()
	dir := t.TempDir()
	sessions := make([]session, world)
	for rank := range sessions {
		name := filepath.Join(dir, fmt.Sprint("rank", rank))
		sessions[rank] = session{Rank: rank, World: world, Log: name + ".log", State: name + ".json"}
	}
	return sessions
}

// killedTraining kills and resumes a training until it is done, and returns the number of kills.
func killedTraining(t *testing.T, c *corpus, r *rand.Rand, want []string) (kills int) {
	t.Helper()
	sessions := newSessions(t, len(want))
	for turn := 0; ; turn++ {
		from := common(t, sessions)
		var ranks []*exec.Cmd
		for i := range sessions {
			s := &sessions[i]
			s.Dataset, s.Workers, s.Pause = c.stored[(turn+i)%len(c.stored)].path, 1+(turn+i)%4, 2*time.Millisecond
			ranks = append(ranks, startSession(t, *s))
		}
		done := from == last(from)
		if !done {
			await(t, sessions[0], from, turn, r)
		}
		killed := false
		for _, p := range ranks {
			killed = endSession(t, p, !done) || killed
		}
		for i, s := range sessions {
			state, begun := readState(t, s.State)
			got, expect := upTo(readLog(t, s.Log), state, begun), upTo(want[i], state, begun)
			if got != expect || !killed && got != want[i] {
				t.Fatalf("rank %d after %d kills, at %+v: it saw\n%s\nuninterrupted:\n%s", i, kills, state, got, expect)
			}
		}
		if !killed {
			return kills
		}
		kills++
	}
}

// last is the state at the end, of the order of s.
func last(s reader.State) reader.State {
	s.Epoch, s.Position = 2, 58
	return s
}

// await waits for the moment of a kill: most times after a few steps, sometimes at any time,
// perhaps before the training has begun.
func await(t *testing.T, s session, from reader.State, turn int, r *rand.Rand) {
	t.Helper()
	if turn%4 == 3 {
		time.Sleep(time.Duration(r.IntN(150)) * time.Millisecond)
		return
	}
	awaitSteps(t, s, from, 1+r.IntN(3))
	time.Sleep(time.Duration(r.IntN(4000)) * time.Microsecond)
}

// common puts all ranks back to the state of the one that has come least far, as their
// collective steps would, and gives it.
func common(t *testing.T, sessions []session) reader.State {
	t.Helper()
	least, all := reader.State{Epoch: 3}, true
	for _, s := range sessions {
		state, begun := readState(t, s.State)
		all = all && begun
		if cmp.Or(cmp.Compare(state.Epoch, least.Epoch), cmp.Compare(state.Position, least.Position)) < 0 {
			least = state
		}
	}
	for _, s := range sessions {
		if all {
			writeState(t, s.State, least)
		} else {
			_ = os.Remove(s.State) // it may not be there
		}
	}
	return least
}

func startSession(t *testing.T, s session) *exec.Cmd {
	t.Helper()
	b, err := json.Marshal(s)
	must(t, err)
	p := exec.Command(os.Args[0], "-test.run=^TestTrainingIsKilled$", "-test.count=1")
	p.Env = append(os.Environ(), trainee+"="+string(b))
	p.Stdout = new(bytes.Buffer)
	p.Stderr = p.Stdout
	must(t, p.Start())
	t.Cleanup(func() { _ = p.Process.Kill() }) // where the test failed
	return p
}

// awaitSteps waits until so many steps were made since from, or all.
func awaitSteps(t *testing.T, s session, from reader.State, steps int) {
	t.Helper()
	goal := min(from.Epoch*58+from.Position+4*steps, 3*58)
	for deadline := time.Now().Add(5 * time.Minute); ; time.Sleep(time.Millisecond) {
		if now, _ := readState(t, s.State); now.Epoch*58+now.Position >= goal {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d steps after %+v were not made", steps, from)
		}
	}
}

// endSession waits for the training, or kills it if it is not done.
func endSession(t *testing.T, p *exec.Cmd, kill bool) (killed bool) {
	t.Helper()
	if kill {
		_ = p.Process.Kill() // it may be done
	}
	err := p.Wait()
	var exit *exec.ExitError
	if errors.As(err, &exit) && !exit.Exited() {
		return true
	}
	if err != nil {
		t.Fatalf("the training failed: %v\n%s", err, p.Stdout)
	}
	return false
}
