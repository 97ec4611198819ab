package convert

import (
	"context"
	"sync"
	"testing"

	"github.com/dsconv/dsconv/formats"
)

// Values besides the images count, however many read at once; and every sample gets its turn.
func TestFieldBudget(t *testing.T) {
	const readers, samples = 8, 40
	for name, c := range map[string]struct{ size, most int }{
		"small":          {smallFields, 0},
		"some":           {1 << 20, maxFieldBytes + 2*readers<<20},
		"large":          {aloneFields, maxFieldBytes + 2*aloneFields},
		"over the limit": {maxFieldBytes, 4 * maxFieldBytes},
	} {
		r := &run{}
		b := &r.budget
		defer b.stopWith(t.Context())()
		block := make([]byte, c.size) // all samples have the same one
		todo, done := make(chan *job, samples), make([]chan struct{}, samples)
		jobs := make([]*job, samples)
		for i := range jobs {
			jobs[i], done[i] = &job{pos: i}, make(chan struct{})
			todo <- jobs[i]
		}
		close(todo)
		var group sync.WaitGroup
		for range readers {
			group.Go(func() {
				for j := range todo {
					alone := b.admit(j)
					j.in.Values = []formats.Value{{}, {Data: block}}
					b.keep(j, 0, alone)
					close(done[j.pos])
				}
			})
		}
		most := int64(0)
		for i, j := range jobs {
			b.setNext(j)
			<-done[i]
			b.mu.Lock()
			most = max(most, b.fields.used)
			b.mu.Unlock()
			r.releaseInput(j)
		}
		group.Wait()
		if most > int64(c.most) || b.fields.used != 0 || c.size > smallFields && jobs[0].in.Values[1].Data != nil {
			t.Errorf("%s: %d bytes at once, want %d; %d are left", name, most, c.most, b.fields.used)
		}
	}
}

// The end of a run ends all waiting.
func TestFieldBudgetEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	b := &outputBudget{}
	defer b.stopWith(ctx)()
	b.admit(&job{pos: 0}) // alone, and never ends
	ended := make(chan struct{})
	go func() { b.admit(&job{pos: 1}); close(ended) }()
	cancel()
	<-ended
}
