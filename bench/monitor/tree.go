package monitor

import (
	"context"
	"fmt"
	"time"

	"github.com/shirou/gopsutil/v4/process"
)

// tree is a process and its descendants. It belongs to one goroutine.
type tree struct {
	pid       int
	members   []int         // of which the first is the process
	refreshed time.Duration // when members was read
	seen      map[int]time.Duration
	cpu       time.Duration // of all members, also of those that have ended
	memory    treeMemory
}

// refresh is how old the list of members may be: finding them takes longer than reading theirs.
const refresh = time.Second

// usage is the usage now, which is the time since the Monitor's start. A process that has ended uses nothing.
func (t *tree) usage(ctx context.Context, now time.Duration) (usage, error) {
	if t.seen == nil || now-t.refreshed >= refresh {
		members, err := family(ctx, t.pid)
		if err != nil {
			return usage{}, err
		}
		t.members, t.refreshed = members, now
	}
	if t.seen == nil {
		t.seen = map[int]time.Duration{}
	}
	for _, pid := range t.members {
		cpu, err := processCPU(pid)
		if err != nil {
			continue // it has ended
		}
		t.cpu += max(0, cpu-t.seen[pid])
		t.seen[pid] = cpu
	}
	return usage{cpu: t.cpu, memory: t.memory.of(t.members, now)}, nil
}

// treeMemory measures the memory of processes. What several of them have in common should count once, but to find out takes
// as long as their page tables are large, and is done rarely; in between what they have in memory is followed.
type treeMemory struct {
	shared   int64         // with what is common counted once, when it was measured last
	resident int64         // the sum over processes at the same time
	next     time.Duration // when it may be measured again
}

// costly is how many times longer than the measurement the time until the next one is: it takes 0.2 % of the time.
const costly = 500

func (m *treeMemory) of(members []int, now time.Duration) int64 {
	resident := sum(members, residentMemory)
	if now < m.next && m.resident > 0 {
		return int64(float64(m.shared) * float64(resident) / float64(m.resident))
	}
	begin := time.Now()
	m.shared, m.resident = sum(members, proportionalMemory), resident
	if m.shared == 0 {
		m.shared = resident
	}
	m.next = now + costly*time.Since(begin)
	return m.shared
}

func sum(members []int, f func(pid int) int64) (total int64) {
	for _, pid := range members {
		total += f(pid)
	}
	return total
}

// scan finds the descendants of a process among all processes.
func scan(ctx context.Context, pid int) ([]int, error) {
	list, err := process.ProcessesWithContext(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the processes: %w", err)
	}
	children := map[int][]int{}
	for _, p := range list {
		if parent, err := p.PpidWithContext(ctx); err == nil {
			children[int(parent)] = append(children[int(parent)], int(p.Pid))
		}
	}
	all := []int{pid}
	for i := 0; i < len(all); i++ {
		all = append(all, children[all[i]]...)
	}
	return all, nil
}
