package convert

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/recipepath"
	"github.com/dsconv/dsconv/internal/storage/sidecar"
	"github.com/dsconv/dsconv/internal/storage/staging"
	"github.com/dsconv/dsconv/preprocess"
)

// maxOpenTries is how often Run tries to open the dataset while other processes finish or discard
// the unfinished one.
const maxOpenTries = 10

// open creates the dataset, or resumes an unfinished one of the same plan.
func (r *run) open(ctx context.Context) (w formats.Writer, n checkpoint, err error) {
	p := r.Plan
	if p.o.Discard {
		if err := staging.Discard(p.Path); err != nil {
			return nil, n, err
		}
	}
	for range maxOpenTries {
		if w, err = p.format.Create(p.Path, p.Meta, p.o.Create); err == nil {
			if err := p.checkUnchanged(); err != nil {
				return nil, n, errors.Join(err, w.Close(), staging.Discard(p.Path))
			}
			if err := p.writeSourceList(); err != nil {
				return nil, n, errors.Join(err, w.Close())
			}
			return w, checkpoint{Fingerprint: p.fingerprint, SourceList: p.listID(), Command: p.o.Command}, nil
		}
		if !errors.Is(err, formats.ErrPartial) {
			return nil, n, err
		}
		w, n, err = r.resume(ctx)
		if w != nil || err != nil && !errors.Is(err, formats.ErrNoPartial) {
			return w, n, err
		}
	}
	return nil, n, err
}

// resume resumes the unfinished dataset. The error is ErrNoPartial if there is no checkpoint to
// resume from; the unfinished dataset is removed then.
func (r *run) resume(ctx context.Context) (formats.Writer, checkpoint, error) {
	p := r.Plan
	w, was, b, err := p.format.Resume(p.Path, p.o.Create)
	if err != nil {
		if errors.Is(err, formats.ErrDamaged) {
			err = p.startOver(fmt.Errorf("%w: %w", ErrCannotResume, err))
		}
		return nil, checkpoint{}, err
	}
	if len(b) == 0 {
		// Without a checkpoint nothing is lost, and source and options may have changed.
		if err := errors.Join(w.Close(), staging.Discard(p.Path)); err != nil {
			return nil, checkpoint{}, err
		}
		return nil, checkpoint{}, formats.ErrNoPartial
	}
	if err := p.checkUnchanged(); err != nil {
		return nil, checkpoint{}, errors.Join(err, w.Close())
	}
	q, n, err := p.samePlan(ctx, &was, b)
	if err != nil {
		err = fmt.Errorf("%s%s: %w", p.Path, sidecar.PartialSuffix, p.addCommand(b, err))
		return nil, n, errors.Join(p.startOver(err), w.Close())
	}
	r.Plan = q
	return w, n, nil
}

// startOver adds to err, that the unfinished dataset cannot be resumed, what a program can do. A
// command says that itself.
func (p *Plan) startOver(err error) error {
	if p.o.Command != "" || !errors.Is(err, ErrCannotResume) {
		return err
	}
	return fmt.Errorf("%w; to start over, set Options.Discard", err)
}

// checkUnchanged returns an error if the dataset is not the version that the plan was made from:
// the changes of another process would be lost. The caller holds the lock.
func (p *Plan) checkUnchanged() error {
	if p.base == "" || p.base == staging.VersionAt(p.Path) {
		return nil
	}
	return fmt.Errorf("%s: another process has changed it since this command read it: repeat the command", p.Path)
}

// addCommand adds the command that started the unfinished dataset to err, the reason why it cannot
// be resumed. If that was an edit or another kind of command, it is the whole reason.
func (p *Plan) addCommand(note []byte, err error) error {
	n, nerr := decodeCheckpoint(note, 0)
	if nerr != nil || n.Command == "" || !errors.Is(err, ErrCannotResume) {
		return err
	}
	if p.change != nil || verb(n.Command) != verb(p.o.Command) {
		return fmt.Errorf("%w: it was started by: %s", ErrCannotResume, n.Command)
	}
	if errors.Is(err, ErrSourceChanged) {
		return err
	}
	return fmt.Errorf("%w; it was started by: %s", err, n.Command)
}

// verb returns the second word of a command.
func verb(command string) string {
	_, rest, _ := strings.Cut(command, " ")
	word, _, _ := strings.Cut(rest, " ")
	return word
}

// samePlan decodes the checkpoint b of an unfinished dataset, and checks that the dataset is of the same plan. It returns
// the plan to go on with: p, or p without the samples that the source has got since then.
func (p *Plan) samePlan(ctx context.Context, was *formats.Meta, b []byte) (*Plan, checkpoint, error) {
	n, added, err := p.checkSamePlan(was, b)
	if len(added) == 0 {
		return p, n, err
	}
	if q, ok, _ := p.ofListedSamples(ctx); ok { // else err says what differs
		if n, _, wrong := q.checkSamePlan(was, b); wrong == nil {
			q.added = added
			return q, n, nil
		}
	}
	return nil, n, errors.Join(err, ctx.Err())
}

// checkSamePlan decodes the checkpoint b of an unfinished dataset, and returns an error if the dataset is not of the same
// plan. added are samples that are new, with an error.
func (p *Plan) checkSamePlan(was *formats.Meta, b []byte) (n checkpoint, added []string, err error) {
	if diff := p.recipeDiff(was.Recipe); diff != "" {
		return n, nil, fmt.Errorf("%w: it was packed with other options (%s)", ErrCannotResume, diff)
	}
	if n, err = decodeCheckpoint(b, p.fingerprint); err != nil {
		return n, nil, fmt.Errorf("%w: %w", ErrCannotResume, err)
	}
	if err := p.checkStats(&n); err != nil {
		return n, nil, err
	}
	changes := ""
	if p.growing != nil {
		if n.Fingerprint != p.fingerprint {
			changes = "other samples, or other shards"
		}
	} else if n.SourceList == 0 || n.SourceList != p.listID() {
		d, err := p.sourceChanges(n.Next)
		switch {
		case errors.Is(err, errSourceList) && n.Fingerprint == p.fingerprint:
		case errors.Is(err, errSourceList):
			changes = err.Error()
		case err != nil:
			return n, nil, err
		default:
			changes, added = d.String(), d.added
		}
	}
	if changes == "" && !sameSchema(was.Schema, p.Meta.Schema) {
		changes = "other classes or fields"
	}
	if changes == "" && (!reflect.DeepEqual(was.History, p.Meta.History) || !maps.Equal(was.Renamed, p.Meta.Renamed)) {
		changes = "other edits by hand"
	}
	if changes != "" {
		return n, added, fmt.Errorf("%w (%s)", ErrSourceChanged, changes)
	}
	n.Fingerprint, n.SourceList = p.fingerprint, p.listID()
	return n, nil, nil
}

// sameSchema reports whether labels have the same meaning in both.
func sameSchema(a, b formats.Schema) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

// recipeDiff describes the differences of an earlier recipe of the dataset from the plan's. Paths differ only
// if they lead to other files.
func (p *Plan) recipeDiff(was map[string]string) string {
	return recipeDiff(recipepath.Resolve(was, p.Path), recipepath.Resolve(p.Meta.Recipe, p.Path))
}

// recipeDiff describes the differences of two recipes. That one lacks the version of its decoder is none, since the
// samples are compared too, nor is the rule of patterns that recipes had before there was but one.
func recipeDiff(was, now map[string]string) string {
	var diff []string
	all := maps.Clone(was)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, now)
	for _, k := range slices.Sorted(maps.Keys(all)) {
		if _, ok := was[k]; !ok && k == preprocess.DecoderVersionKey || k == "pattern-rule" {
			continue
		}
		if was[k] != now[k] {
			diff = append(diff, fmt.Sprintf("%s was %q, now %q", k, was[k], now[k]))
		}
	}
	return strings.Join(diff, "; ")
}

// Finished returns a report on the dataset at the plan's path if an earlier run of the same plan
// has written it; ok is false if there is no dataset or another one. A command with several plans
// uses it to skip those that are finished.
func (p *Plan) Finished() (r *Report, ok bool) {
	if p.src == nil || p.growing != nil {
		return nil, false
	}
	ds, err := p.format.Open(p.Path)
	if err != nil {
		return nil, false
	}
	defer ds.Close()
	m := ds.Meta()
	if p.recipeDiff(m.Recipe) != "" || !sameSchema(m.Schema, p.Meta.Schema) || p.o.Stats != (m.PixelStats != nil) {
		return nil, false
	}
	r = &Report{Path: p.Path, Shards: p.Shards, Found: p.Len(), Resumed: p.Len(), PixelStats: m.PixelStats, Results: Results{Written: ds.Len()}}
	selected := make([]uint64, p.src.Len()/64+1) // a bit for each index
	for pos := range p.Len() {
		i := p.order.at(pos)
		selected[i/64] |= 1 << (i % 64)
	}
	at := 0
	for i := range p.src.Len() {
		if selected[i/64]&(1<<(i%64)) == 0 {
			continue
		}
		in, err := p.src.Info(i)
		if err != nil {
			return nil, false
		}
		same, err := p.sameInfo(ds, at, &in, p.splits.Of(i, in))
		if err != nil {
			return nil, false
		}
		if same {
			at++
			continue
		}
		e := sourceEntry{key: in.Key, path: in.Source.Path}
		r.Skipped = append(r.Skipped, Problem{Path: e.name(), Cause: "skipped when " + p.Path + " was packed", Action: ActionSkipped})
	}
	return r, at == ds.Len()
}

// sameInfo reports whether sample at of ds was packed from the source sample in.
func (p *Plan) sameInfo(ds formats.Dataset, at int, in *formats.Info, split string) (bool, error) {
	if at == ds.Len() {
		return false, nil
	}
	was, err := ds.Info(at)
	return was.Key == in.Key && was.Label == in.Label && was.Split == split &&
		was.Source.Size == in.Source.Size && was.Source.ModTime == in.Source.ModTime, err
}
