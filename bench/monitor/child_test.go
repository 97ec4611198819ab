package monitor

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"
)

// childVariable makes the test's program a child that uses CPU and memory, or one that starts such a child.
const childVariable = "DSCONV_MONITOR_CHILD"

const (
	childCPU    = 100 * time.Millisecond
	childMemory = 64 << 20
)

func child() {
	if os.Getenv(childVariable) == "swap" {
		swapChild()
		return
	}
	if os.Getenv(childVariable) == "parent" {
		c := exec.Command(os.Args[0])
		c.Env, c.Stdin, c.Stdout = append(os.Environ(), childVariable+"=worker"), os.Stdin, os.Stdout
		if err := c.Run(); err != nil {
			fmt.Println(err)
		}
		fmt.Println("worker ended")
		_, _ = io.Copy(io.Discard, os.Stdin)
		return
	}
	memory := make([]byte, childMemory)
	for {
		for i := 0; i < len(memory); i += 512 {
			memory[i]++
		}
		if used, err := processCPU(os.Getpid()); err != nil || used >= childCPU {
			break
		}
	}
	fmt.Println("worker used", memory[0] > 0)
	_, _ = bufio.NewReader(os.Stdin).ReadByte()
}

// children are a process with a child of its own, which has used childCPU and has childMemory.
type children struct {
	pid   int
	stdin io.WriteCloser
	out   *bufio.Reader
}

func startChildren(t *testing.T) children {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), childVariable+"=parent")
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		if err := c.Wait(); err != nil {
			t.Error(err)
		}
	})
	all := children{pid: c.Process.Pid, stdin: in, out: bufio.NewReader(out)}
	all.expect(t, "worker used true\n")
	return all
}

func (c *children) expect(t *testing.T, line string) {
	t.Helper()
	if got, err := c.out.ReadString('\n'); got != line {
		t.Fatalf("%q, %v, want %q", got, err, line)
	}
}

// endWorker ends the child's child.
func (c *children) endWorker(t *testing.T) {
	t.Helper()
	if _, err := io.WriteString(c.stdin, "x"); err != nil {
		t.Fatal(err)
	}
	c.expect(t, "worker ended\n")
}
