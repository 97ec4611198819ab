package convert

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/atrest"
	"github.com/dsconv/dsconv/preprocess"
)

// openTries is how often another process may finish or discard the unfinished dataset just
// before it is opened.
const maxOpenTries = 10

// open creates the dataset or continues an unfinished one of the same plan.
func (p *Plan) open() (w formats.Writer, n checkpoint, err error) {
	if p.o.KeepOld {
		if err := atrest.MayKeep(p.Path); err != nil {
			return nil, n, err
		}
	}
	if p.o.Discard {
		if err := atrest.Discard(p.Path); err != nil {
			return nil, n, err
		}
	}
	for range maxOpenTries {
		if w, err = p.format.Create(p.Path, p.Meta, p.o.Create); err == nil {
			if err := p.checkUnchanged(); err != nil {
				return nil, n, errors.Join(err, w.Close(), atrest.Discard(p.Path))
			}
			if err := p.writeSourceList(); err != nil {
				return nil, n, errors.Join(err, w.Close())
			}
			return w, checkpoint{Fingerprint: p.fingerprint, Command: p.command}, nil
		}
		if !errors.Is(err, formats.ErrPartial) {
			return nil, n, err
		}
		w, n, err = p.resume()
		if w != nil || err != nil && !errors.Is(err, formats.ErrNoPartial) {
			return w, n, err
		}
	}
	return nil, n, err
}

// resume continues the unfinished dataset. ErrNoPartial if there is nothing to go on with:
// then it is gone.
func (p *Plan) resume() (formats.Writer, checkpoint, error) {
	w, was, b, err := p.format.Resume(p.Path, p.o.Create)
	if err != nil {
		if errors.Is(err, formats.ErrDamaged) {
			err = fmt.Errorf("%w: %w", ErrCannotResume, err)
		}
		return nil, checkpoint{}, err
	}
	if len(b) == 0 {
		// Without a checkpoint nothing is lost, and the source and options may be others.
		if err := errors.Join(w.Close(), atrest.Discard(p.Path)); err != nil {
			return nil, checkpoint{}, err
		}
		return nil, checkpoint{}, formats.ErrNoPartial
	}
	if err := p.checkUnchanged(); err != nil {
		return nil, checkpoint{}, errors.Join(err, w.Close())
	}
	n, err := p.checkSamePlan(&was, b)
	if err != nil {
		return nil, n, errors.Join(fmt.Errorf("%s%s: %w", p.Path, atrest.Suffix, p.addCommand(b, err)), w.Close())
	}
	return w, n, nil
}

// checkBase reports, under the lock, that the dataset is not the version any more that the plan was made
// of: what another process did since would be lost.
func (p *Plan) checkUnchanged() error {
	if p.base == "" || p.base == atrest.VersionAt(p.Path) {
		return nil
	}
	return fmt.Errorf("%s: another process changed it since this command read it: give the command again", p.Path)
}

// begunBy adds to err, which says why the unfinished dataset cannot be gone on with, what began
// it. Beside another command, or of an edit, that is all there is to say.
func (p *Plan) addCommand(note []byte, err error) error {
	n, nerr := decodeCheckpoint(note, 0)
	if nerr != nil || n.Command == "" || !errors.Is(err, ErrCannotResume) {
		return err
	}
	if p.change != nil || verb(n.Command) != verb(p.command) {
		return fmt.Errorf("%w %w: it was begun by the command %s, which goes on with it", formats.ErrPartial, ErrCannotResume, n.Command)
	}
	return fmt.Errorf("%w; it was begun by the command %s, which goes on with it", err, n.Command)
}

// verb is the second word of a command.
func verb(command string) string {
	_, rest, _ := strings.Cut(command, " ")
	word, _, _ := strings.Cut(rest, " ")
	return word
}

// continues is the note of an unfinished dataset that is of the same plan.
func (p *Plan) checkSamePlan(was *formats.Meta, b []byte) (checkpoint, error) {
	if diff := recipeDiff(was.Recipe, p.Meta.Recipe); diff != "" {
		return checkpoint{}, fmt.Errorf("%w %w: its recipe is another one (%s)", formats.ErrPartial, ErrCannotResume, diff)
	}
	n, err := decodeCheckpoint(b, p.fingerprint)
	if err != nil {
		return n, fmt.Errorf("%w: %w", ErrCannotResume, err)
	}
	changes, err := p.sourceChanges(n.Next)
	if errors.Is(err, errSourceList) && n.Fingerprint == p.fingerprint {
		err = nil
	} else if errors.Is(err, errSourceList) {
		changes, err = err.Error(), nil
	}
	if err != nil {
		return n, err
	}
	if changes == "" && !sameSchema(was.Schema, p.Meta.Schema) {
		changes = "its classes or fields"
	}
	if changes == "" && !sameHistory(was.History, p.Meta.History) {
		changes = "which edits are kept"
	}
	if changes != "" {
		return n, fmt.Errorf("%w %w: the source changed since (%s)", formats.ErrPartial, ErrCannotResume, changes)
	}
	n.Fingerprint = p.fingerprint
	return n, nil
}

// sameSchema says whether labels mean the same in both.
func sameSchema(a, b formats.Schema) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

// sameHistory reports whether two versions remember as many edits.
func sameHistory(a, b *formats.History) bool {
	return a == b || a != nil && b != nil && *a == *b
}

// sameRecipe says whether two recipes make the same bytes.
func sameRecipe(was, now map[string]string) bool { return recipeDiff(was, now) == "" }

// recipeDiff names what differs. A recipe of an older dsconv does not tell the version of its
// decoder or the rule of its patterns; that is no difference: the samples are compared too.
func recipeDiff(was, now map[string]string) string {
	var diff []string
	all := maps.Clone(was)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, now)
	for _, k := range slices.Sorted(maps.Keys(all)) {
		if _, told := was[k]; !told && (k == preprocess.DecoderVersionKey || k == formats.PatternRuleKey) {
			continue
		}
		if was[k] != now[k] {
			diff = append(diff, fmt.Sprintf("%s was %q, is %q", k, was[k], now[k]))
		}
	}
	return strings.Join(diff, "; ")
}
