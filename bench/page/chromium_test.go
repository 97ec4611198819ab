package page

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"
)

// browsers are Chromium's names, the smallest first.
var browsers = []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"}

// tab is a page of a headless Chromium, driven by the DevTools protocol over a pipe: JSON messages that end with a zero byte.
type tab struct {
	t       *testing.T
	ctx     context.Context
	out     *os.File
	session string

	mu      sync.Mutex
	last    int
	replies map[int]chan reply
	seen    []event
	changed chan struct{} // closed at the next event
	ended   chan struct{} // closed when Chromium says no more
}

type reply struct {
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Message string `json:"message"`
	} `json:"error"`
}

type event struct {
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

// newTab starts Chromium, or skips the test where there is none. It ends with the test.
func newTab(t *testing.T) *tab {
	t.Helper()
	if testing.Short() {
		t.Skip("Chromium is not started with -short")
	}
	program := ""
	for _, name := range browsers {
		if path, err := exec.LookPath(name); err == nil {
			program = path
			break
		}
	}
	if program == "" {
		t.Skipf("no Chromium here: %v", browsers)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute) // for a hang; the test's own context ends before its Cleanup
	ours, theirs := pipes(t), pipes(t)
	cmd := exec.CommandContext(ctx, program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
		"--remote-debugging-pipe", "--window-size=1280,1000", "--user-data-dir="+t.TempDir())
	cmd.ExtraFiles = []*os.File{ours[0], theirs[1]} // its files 3 and 4
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ours[0].Close()
	theirs[1].Close()
	b := &tab{t: t, ctx: ctx, out: ours[1], replies: map[int]chan reply{}, changed: make(chan struct{}), ended: make(chan struct{})}
	go b.listen(theirs[0])
	t.Cleanup(func() {
		b.send("Browser.close", nil) // Chromium may end before it answers
		<-b.ended
		if err := cmd.Wait(); err != nil && t.Failed() {
			t.Logf("%v: %s", err, said.Bytes())
		}
		cancel()
	})
	b.open()
	return b
}

func pipes(t *testing.T) [2]*os.File {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close(); w.Close() })
	return [2]*os.File{r, w}
}

// open makes an empty page and asks for all of its events.
func (b *tab) open() {
	var target struct{ TargetID string }
	b.call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var attached struct{ SessionID string }
	b.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	b.session = attached.SessionID
	for _, domain := range []string{"Page", "Runtime", "Log", "Network"} {
		b.call(domain+".enable", nil, nil)
	}
}

// listen passes on what Chromium says until it ends.
func (b *tab) listen(in *os.File) {
	defer close(b.ended)
	lines := bufio.NewReaderSize(in, 1<<20)
	for {
		text, err := lines.ReadBytes(0)
		if err != nil {
			return
		}
		var m struct {
			ID int
			reply
			event
		}
		if json.Unmarshal(bytes.TrimSuffix(text, []byte{0}), &m) != nil {
			continue
		}
		b.mu.Lock()
		if waiting := b.replies[m.ID]; waiting != nil {
			waiting <- m.reply
			delete(b.replies, m.ID)
		} else if m.Method != "" {
			b.seen = append(b.seen, m.event)
			close(b.changed)
			b.changed = make(chan struct{})
		}
		b.mu.Unlock()
	}
}

// send sends a command and returns where its reply will come.
func (b *tab) send(method string, params map[string]any) (chan reply, error) {
	b.mu.Lock()
	b.last++
	id, answer := b.last, make(chan reply, 1)
	b.replies[id] = answer
	b.mu.Unlock()
	m := map[string]any{"id": id, "method": method}
	if params != nil {
		m["params"] = params
	}
	if b.session != "" && method != "Browser.close" {
		m["sessionId"] = b.session
	}
	text, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	_, err = b.out.Write(append(text, 0))
	return answer, err
}

// call sends a command, waits for its reply and stores it in result, if that is not nil.
func (b *tab) call(method string, params map[string]any, result any) {
	b.t.Helper()
	answer, err := b.send(method, params)
	if err != nil {
		b.t.Fatal(method, err)
	}
	select {
	case r := <-answer:
		if r.Error != nil {
			err = errors.New(r.Error.Message)
		} else if result != nil {
			err = json.Unmarshal(r.Result, result)
		}
	case <-b.ended:
		err = errors.New("chromium ended")
	case <-b.ctx.Done():
		err = b.ctx.Err()
	}
	if err != nil {
		b.t.Fatal(method, err)
	}
}

// load opens a file and waits until its scripts have run.
func (b *tab) load(file string) {
	b.t.Helper()
	b.mu.Lock()
	from := len(b.seen)
	b.mu.Unlock()
	b.call("Page.navigate", map[string]any{"url": "file://" + file}, nil)
	for {
		b.mu.Lock()
		changed, seen := b.changed, b.seen[from:]
		b.mu.Unlock()
		for _, e := range seen {
			if e.Method == "Page.loadEventFired" {
				return
			}
		}
		select {
		case <-changed:
		case <-b.ended:
			b.t.Fatal("chromium ended")
		case <-b.ctx.Done():
			b.t.Fatal(b.ctx.Err())
		}
	}
}

// eval runs JavaScript, waits for its promise if it is one, and stores its value in result.
func (b *tab) eval(script string, result any) {
	b.t.Helper()
	var done struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails json.RawMessage
	}
	b.call("Runtime.evaluate", map[string]any{"expression": script, "returnByValue": true, "awaitPromise": true}, &done)
	if done.ExceptionDetails != nil {
		b.t.Fatalf("%s: %s", script, done.ExceptionDetails)
	}
	if result != nil {
		if err := json.Unmarshal(done.Result.Value, result); err != nil {
			b.t.Fatalf("%s: %s: %v", script, done.Result.Value, err)
		}
	}
}

// frames waits until the page has been painted twice.
func (b *tab) frames() {
	b.t.Helper()
	b.eval("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))", nil)
}

// complaints are the errors and warnings that the page and Chromium reported about it.
func (b *tab) complaints() (list []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range b.seen {
		switch e.Method {
		case "Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded":
			list = append(list, fmt.Sprintf("%s: %.600s", e.Method, e.Params))
		}
	}
	return list
}

// requests are the addresses of which the page asked something.
func (b *tab) requests() (list []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range b.seen {
		var p struct {
			Request struct{ URL string }
			URL     string
		}
		switch e.Method {
		case "Network.requestWillBeSent", "Network.webSocketCreated", "Network.webTransportCreated":
			if json.Unmarshal(e.Params, &p) == nil {
				list = append(list, p.Request.URL+p.URL)
			}
		}
	}
	return list
}
