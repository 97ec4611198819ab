package shards

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"

	"github.com/zeebo/xxh3"

	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder"
	"github.com/dsconv/dsconv/internal/durable"
	"github.com/dsconv/dsconv/internal/recipepath"
	"github.com/dsconv/dsconv/internal/unblocked"
)

// version is the version of plans that this package writes and reads.
const version = 1

// Plan is a plan, as its file has it in JSON. Its methods are safe for concurrent use.
type Plan struct {
	Version int `json:"version"`
	// ID is a hash of the rest. Plans with equal IDs make equal shards.
	ID string `json:"id"`
	// Program is the version of dsconv that made the plan, and that must pack its shards.
	Program string `json:"program"`
	// Sources are the folders, archives and datasets, with absolute paths.
	Sources []string `json:"sources"`
	// Root is the folder whose images the listing describes completely: a shard's process reads their files, and lists
	// nothing. It is "" where each process must open the sources.
	Root string `json:"root,omitempty"`
	// Source describes the sources' samples, if there is a Root.
	Source *formats.Meta `json:"source,omitempty"`
	// Options are those of the pack.
	Options Options `json:"options"`
	// Datasets are what is written: one, or one for each split.
	Datasets []Dataset `json:"datasets"`
	// Shards is the number of shards of all datasets. They are numbered from 0, those of the first dataset first.
	Shards int `json:"shards"`
	// Listing says where the samples of each shard are in the listing.
	Listing []Part `json:"listing"`
	// Found is what is reported about the sources before an image is read.
	Found json.RawMessage `json:"found,omitempty"`

	file string // of the plan
}

// Dataset is one dataset of a plan.
type Dataset struct {
	Path   string       `json:"path"` // absolute
	Format string       `json:"format"`
	Meta   formats.Meta `json:"meta"`
	// Samples and Shards are its numbers of samples, before any is skipped, and of shards.
	Samples int `json:"samples"`
	Shards  int `json:"shards"`
	// Fingerprint differs between plans of other samples, orders or splits.
	Fingerprint string `json:"fingerprint"`
}

// Part is where the samples of a shard are in the listing: until byte End, from the End of the shard before.
type Part struct {
	Samples int    `json:"samples"`
	End     int64  `json:"end"`
	Hash    string `json:"hash"` // XXH3 of these bytes, 64 bits
}

// errOtherPlan is returned for shards that belong to another plan.
var errOtherPlan = errors.New("it belongs to another plan")

// Read reads the plan in a file. The error is formats.ErrNewer for one of a later version of dsconv, and
// formats.ErrDamaged for one that was changed.
func Read(file string) (*Plan, error) {
	b, err := unblocked.ReadFile(file)
	if err != nil {
		return nil, err
	}
	p := &Plan{}
	if err := json.Unmarshal(b, p); err != nil || p.Version == 0 {
		return nil, fmt.Errorf("%s: %w: it is not a plan of shards: dsconv shards plan makes one", file, formats.ErrNotDataset)
	}
	if p.Version != version {
		return nil, fmt.Errorf("%s: %w: its version is %d, this dsconv reads version %d", file, formats.ErrNewer, p.Version, version)
	}
	if p.file, err = filepath.Abs(file); err != nil {
		return nil, err
	}
	if err := p.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return p, nil
}

// check returns an error if the plan is not as it was written.
func (p *Plan) check() error {
	id, err := p.id()
	if err != nil {
		return err
	}
	if id != p.ID {
		return fmt.Errorf("%w: it was changed after dsconv shards plan wrote it: make a new plan", formats.ErrDamaged)
	}
	left, fit := p.Listing, len(p.Listing) == p.Shards && p.Shards > 0
	for _, ds := range p.Datasets {
		if fit = fit && ds.Shards > 0 && ds.Shards <= len(left); !fit {
			break
		}
		samples := 0
		for _, part := range left[:ds.Shards] {
			if fit = fit && part.Samples >= 0 && part.Samples <= math.MaxInt32; fit {
				samples += part.Samples
			}
		}
		fit, left = fit && samples == ds.Samples, left[ds.Shards:]
	}
	if !fit || len(left) > 0 {
		return fmt.Errorf("%w: the numbers of its shards and samples do not fit together", formats.ErrDamaged)
	}
	return nil
}

// id returns what ID must be.
func (p *Plan) id() (string, error) {
	one := *p
	one.ID = ""
	b, err := json.Marshal(&one)
	if err != nil {
		return "", fmt.Errorf("encode the plan: %w", err)
	}
	sum := xxh3.Hash128(b).Bytes()
	return hex.EncodeToString(sum[:]), nil
}

// File returns the absolute path of the plan's file.
func (p *Plan) File() string { return p.file }

// checkProgram returns an error if the shards must be packed by another version of dsconv.
func (p *Plan) checkProgram(here string) error {
	if here == p.Program {
		return nil
	}
	return fmt.Errorf("%s: the plan was made by dsconv %s, but this is dsconv %s: its bytes may differ. Use one version for all shards", p.file, p.Program, here)
}

// locate returns the dataset of a shard, and its number there.
func (p *Plan) locate(shard int) (d *Dataset, i int, err error) {
	i = shard
	for k := range p.Datasets {
		d = &p.Datasets[k]
		if i >= 0 && i < d.Shards {
			return d, i, nil
		}
		i -= d.Shards
	}
	return nil, 0, badShard{fmt.Errorf("%s: there is no shard %d: the plan has the shards 0 to %d", p.file, shard, p.Shards-1)}
}

// badShard is a convert.ErrOptions; its text is the error's own.
type badShard struct{ error }

func (badShard) Is(target error) bool { return target == convert.ErrOptions }

// first returns the number of the first shard of a dataset.
func (p *Plan) first(d *Dataset) int {
	n := 0
	for k := range p.number(d) {
		n += p.Datasets[k].Shards
	}
	return n
}

// write writes the listing and the plan to their files, and creates the folders for the shards. Nothing changes if all is
// there already, so that processes that make the same plan at once all succeed.
func (p *Plan) write(rows func(shard int, yield func(*row) error) error, discard bool) (err error) {
	var created []*work
	defer func() {
		if err != nil {
			for _, w := range created {
				err = errors.Join(err, w.sweep())
			}
		}
	}()
	// The listing decides the ID. It gets its name after the checks: an earlier plan may still be in use.
	err = durable.Build(p.listingFile(), func(f *os.File) (err error) {
		if p.Listing, err = writeListing(f, p.Shards, rows); err != nil {
			return err
		}
		if p.ID, err = p.id(); err != nil {
			return err
		}
		created, err = p.createFolders(discard)
		return err
	})
	if err != nil {
		return err
	}
	// The folders are there before the plan: one without them was committed.
	if err := durable.WriteJSON(p.file, p); err != nil {
		return err
	}
	again, err := Read(p.file)
	if err == nil && again.ID != p.ID {
		err = fmt.Errorf("%s: the plan cannot be read back", p.file)
	}
	return err
}

// createFolders creates the folders for the shards, if no other plan is in the way. It returns those that are new.
func (p *Plan) createFolders(discard bool) (created []*work, err error) {
	if err := p.replace(discard); err != nil {
		return nil, err
	}
	for i := range p.Datasets {
		if err := p.work(&p.Datasets[i]).checkFree(discard); err != nil {
			return nil, err
		}
	}
	for i := range p.Datasets {
		w := p.work(&p.Datasets[i])
		isNew, err := w.create(p.file)
		if isNew {
			created = append(created, w)
		}
		if err != nil {
			return created, err
		}
	}
	return created, nil
}

// replace returns an error if another plan is in the file. With discard, its shards are removed.
func (p *Plan) replace(discard bool) error {
	was, err := Read(p.file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.Is(err, formats.ErrNotDataset):
		return fmt.Errorf("%s: %w: choose another file for the plan", p.file, formats.ErrForeign)
	case err != nil && !discard:
		return fmt.Errorf("%w; choose another file for the new plan", err)
	case err == nil && was.ID != p.ID && !discard:
		return fmt.Errorf("%s: %w: another plan, for %s: choose another file for the new one, or add --discard to drop the old one with its shards",
			p.file, formats.ErrExists, was.Datasets[0].Path)
	case err == nil && was.ID != p.ID:
		return was.discard()
	}
	return nil
}

// discard removes the shards of the plan.
func (p *Plan) discard() error {
	var errs []error
	for i := range p.Datasets {
		if w := p.work(&p.Datasets[i]); w.check() == nil {
			errs = append(errs, w.sweep())
		}
	}
	return errors.Join(errs...)
}

// Options are the options of a pack, as a plan has them: those that decide the bytes, and what becomes of bad images.
type Options struct {
	convert.Options
	Report string `json:"report,omitempty"` // the table of what was skipped

	// Destination is what was asked for: the dataset, or a folder for one of each split in the Format.
	Destination string `json:"destination"`
	Format      string `json:"format,omitempty"`

	Read   formats.ReadOptions `json:"read,omitzero"`
	Folder folder.Config       `json:"folder"`
}

// MakeAbsolute makes all paths absolute: the processes of the shards have other current folders.
func (o *Options) MakeAbsolute() {
	f := &o.Folder
	f.Labels, f.ClassOrder = absolute("labels", f.Labels), absolute("class-order", f.ClassOrder)
	f.Boxes, f.Captions = allAbsolute("boxes", f.Boxes), allAbsolute("captions", f.Captions)
	f.FolderLabels = maps.Clone(f.FolderLabels)
	for name, file := range f.FolderLabels {
		f.FolderLabels[name] = absolute(recipepath.FolderLabels+name, file)
	}
}

// absolute returns the value of the recipe's key with absolute paths.
func absolute(key, value string) string {
	return recipepath.Absolute(map[string]string{key: value})[key]
}

func allAbsolute(key string, values []string) (list []string) {
	for _, value := range values {
		list = append(list, absolute(key, value))
	}
	return list
}
