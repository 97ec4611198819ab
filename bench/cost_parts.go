package bench

import "github.com/dsconv/dsconv/bench/verdict"

// stageTime is a stage's wall time and how much of it was blocked, in microseconds per image.
type stageTime struct {
	kind          verdict.Kind
	wall, blocked float64
}

// workerStages are the workers' stages, in the order of their use: reading is the first.
func (s *Stages) workerStages() []stageTime {
	return []stageTime{
		{kind: verdict.Read, wall: s.Read},
		{kind: verdict.Decode, wall: s.Decode},
		{kind: verdict.Augment, wall: s.Augment},
		{kind: verdict.Collate, wall: s.Collate},
	}
}

// parts divides the workers' stages into computing, waiting for a core and being blocked. Of these only sums are known: cpu is
// the CPU time that the workers had for an image, w what the process's threads waited for. What is left of the wall time
// was blocked.
func (s *Stages) parts(cpu float64, w *aboutWaiting) (list []verdict.Part) {
	stages, wall := s.workerStages(), s.workers()
	busy := min(max(cpu, 0), wall)
	queue := min(w.queue, wall-busy)
	block(stages, wall-busy-queue)
	if w.fromDisk {
		readAll(stages)
	}
	for _, stage := range stages {
		if stage.wall <= 0 {
			continue
		}
		p := verdict.Part{Name: string(stage.kind), Kind: stage.kind, Wall: stage.wall}
		if cpu > 0 {
			awake := stage.wall - stage.blocked
			p.CPU = awake * busy / (busy + queue)
			p.Queue = awake - p.CPU
		}
		list = append(list, p)
	}
	return list
}

// block divides the time that workers were blocked: reading has it first, because the other stages only compute. Where it is
// longer than reading was, each of the others has its share.
func block(stages []stageTime, all float64) {
	stages[0].blocked = min(all, stages[0].wall)
	var others float64
	for _, stage := range stages[1:] {
		others += stage.wall
	}
	if others == 0 {
		return
	}
	left := (all - stages[0].blocked) / others
	for i := range stages[1:] {
		stages[1+i].blocked = left * stages[1+i].wall
	}
}

// readAll counts as reading whatever a stage was blocked: the data came from a disk, and a mapped file is read by whoever
// touches it first.
func readAll(stages []stageTime) {
	for i := range stages[1:] {
		stage := &stages[1+i]
		stages[0].wall += stage.blocked
		stages[0].blocked += stage.blocked
		stage.wall, stage.blocked = stage.wall-stage.blocked, 0
	}
}
