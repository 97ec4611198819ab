package reader

import (
	"context"
	"sync/atomic"

	"github.com/dsconv/dsconv/gpudecode"
)

// startDecoding starts the goroutines that decode the run's batches on the GPU, if one does. So the workers go on with
// the next batch meanwhile.
func (r *running) startDecoding() {
	r.endDecoding = func() {}
	if r.loader.gpu == nil {
		return
	}
	r.decoding, r.endDecoding = context.WithCancel(context.Background())
	if r.loader.config.Synchronous {
		return
	}
	r.staged = make(chan *slot, len(r.slots))
	var begun atomic.Int64
	for k := range r.loader.gpu.decoders {
		r.workers.Go(func() {
			w := r.loader.acquire()
			defer r.loader.release(w)
			w.stopBy(&r.interrupt)
			o := observer{observe: r.observe, worker: r.loader.config.Workers + k}
			for begun.Add(1) <= int64(r.batches) {
				select {
				case s := <-r.staged:
					o.work(s.number)
					r.complete(w, s)
					o.pause()
				case <-r.over:
					return
				}
			}
		})
	}
}

// decode decodes the slot's batch on the GPU. Entries that cannot be decoded, not even by w, are handled as OnError
// says; then what is left is decoded once more, because its places are others.
func (r *running) decode(w *worker, s *slot) error {
	for {
		s.sortFailed()
		entries := r.decodable(s)
		if len(entries) == 0 {
			return nil
		}
		bad, err := r.decodeEntries(w, s, entries)
		if err != nil || len(bad) == 0 {
			return err
		}
		for _, f := range bad {
			e, position := r.entry(s, f.entry)
			if err := r.handle(w, s, e, position, e.item.draw, f.err); err != nil {
				s.fail(f.entry, err)
			}
		}
	}
}

// decodable lists the entries that did not fail, in the order of their places on the device. If one failed for good,
// only those before it are decoded, since one of them may fail too and is the first then.
func (r *running) decodable(s *slot) (entries []int) {
	failed := s.failed
	for i := range s.size + r.extraEntries {
		if len(failed) == 0 || failed[0].entry != i {
			entries = append(entries, i)
			continue
		}
		if r.loader.config.OnError != Skip || endsRun(failed[0].err) {
			return entries
		}
		failed = failed[1:]
		if n := len(entries); i == s.size && n > 0 { // the first image is mixed with the last one
			entries = append(entries, entries[n-1])
		}
	}
	return entries
}

// entry is entry i of the slot's batch, or what its first one is mixed with, and its position.
func (r *running) entry(s *slot, i int) (e entry, position int) {
	e = entry{frame: &r.loader.frame, batch: s.batch, at: i, item: s.item(i)}
	if i == s.size {
		e.batch, e.at = &s.previous, 0
		return e, r.positionBefore(s)
	}
	return e, s.first + i
}

// decodeEntries decodes entries one after another to memory that the batch has then, unless some of them are bad.
func (r *running) decodeEntries(w *worker, s *slot, entries []int) (bad []failure, err error) {
	f, g := &r.loader.frame, r.loader.gpu
	s.images = s.images[:0]
	for to, i := range entries {
		e, _ := r.entry(s, i)
		for k := range f.views() {
			s.images = append(s.images, e.image(k, f.viewOffset(k)+to*f.viewEntryBytes(k), w))
		}
	}
	s.outcomes = append(s.outcomes[:0], make([]gpudecode.Outcome, len(s.images))...)
	memory, err := r.decodeImages(s)
	clear(s.images)
	if err != nil {
		return nil, err
	}
	for n := range s.outcomes {
		i := entries[n/f.views()]
		if err := s.outcomes[n].Err; err != nil && (len(bad) == 0 || bad[len(bad)-1].entry != i) {
			bad = append(bad, failure{i, err})
		}
	}
	if len(bad) > 0 {
		memory.Release()
		return bad, nil
	}
	g.decoded.Add(s.outcomes...)
	s.batch.device = memory
	return nil, nil
}

// decodeImages decodes the slot's images, one batch at a time.
func (r *running) decodeImages(s *slot) (deviceMemory, error) {
	l, g := r.loader, r.loader.gpu
	decoder := <-g.free
	defer func() { g.free <- decoder }()
	start := l.now()
	defer func() { g.busy.Add(int64(l.now() - start)) }()
	memory, err := decoder.Memory()
	if err != nil {
		return nil, err
	}
	if err := decoder.Decode(r.decoding, s.images, memory, s.outcomes); err != nil {
		memory.Release()
		return nil, err
	}
	return memory, nil
}
