package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/legible"
	"github.com/dsconv/dsconv/internal/unblocked"
)

// selectionHelp explains the arguments and flags that name samples, alike in all commands.
const selectionHelp = `Samples are named by keys, as arguments or in a file, and by --glob, --class and --split. Several
of one kind select what any of them names; several kinds select what all of them name. Names may be
given as dsconv ls prints them, also quoted ones. PATTERN of --glob is compared with keys, by the
rules of --include: see dsconv pack --help. What names nothing is an error.`

// selectionFlags are the flags that name samples.
func selectionFlags(flags ...cli.Flag) []cli.Flag {
	return append([]cli.Flag{
		&cli.StringFlag{Name: "keys-from", Usage: "`FILE` with one key per line, as dsconv ls prints them; - is standard input"},
		&cli.StringSliceFlag{Name: "glob", Usage: "samples whose keys match `PATTERN`, such as 'cat/*'; may be repeated"},
		&cli.StringSliceFlag{Name: "class", Usage: "samples of the class `NAME`; may be repeated", KeepSpace: true},
		&cli.StringSliceFlag{Name: "split", Usage: "samples of this `SPLIT`; may be repeated", KeepSpace: true},
	}, flags...)
}

// selection is what the arguments KEY... and the flags of selectionFlags name.
type selection struct {
	keys     []string  // as arguments
	keyFile  string    // "" is none
	in       io.Reader // the file "-"
	patterns []string
	filter   *formats.FileFilter // of patterns
	classes  []string
	splits   []string
}

// parseSelection returns what the flags and the arguments keys name.
func parseSelection(cc *cli.Context, c *console, keys []string) (*selection, error) {
	s := &selection{keys: keys, keyFile: cc.String("keys-from"), in: c.in, patterns: splitPatternFlag(cc, "glob"), classes: cc.StringSlice("class")}
	for _, name := range cc.StringSlice("split") {
		switch {
		case name != "", cc.Command.Name == "ls": // ls lists the samples without a split
			s.splits = append(s.splits, name)
		case cc.Command.Name != "unpack": // which then writes all
			return nil, usageErrorf("--split: the name is empty")
		}
	}
	if slices.Contains(keys, "") {
		return nil, usageErrorf("a KEY is empty: see dsconv %s --help", cc.Command.Name)
	}
	if cc.IsSet("keys-from") && s.keyFile == "" {
		return nil, usageErrorf("--keys-from: the name of the file is empty")
	}
	if s.keyFile != "" && s.keyFile != "-" {
		if _, err := os.Stat(s.keyFile); err != nil { // before it is said of the dataset
			return nil, fmt.Errorf("--keys-from: %w", err)
		}
	}
	for i, name := range s.classes {
		s.classes[i] = nameFrom(name)
	}
	var err error
	if s.filter, err = (formats.Patterns{Include: s.patterns}).Compile(); err != nil {
		return nil, usageErrorf("--glob: %w", err)
	}
	return s, nil
}

// nameFrom returns the name that text is: text itself, or what dsconv ls prints quoted as text.
func nameFrom(text string) string {
	if name := legible.Original(text); legible.Name(name) == text {
		return name
	}
	return text
}

func (s *selection) hasKeys() bool { return len(s.keys) > 0 || s.keyFile != "" }

// all reports whether nothing is named, so that a command which lists takes all samples.
func (s *selection) all() bool {
	return !s.hasKeys() && len(s.patterns)+len(s.classes)+len(s.splits) == 0
}

// chosenSamples are the selected samples of a dataset: one bit each.
type chosenSamples struct {
	bits  []uint64 // nil means all
	count int
}

func (c *chosenSamples) has(i int) bool { return c.bits == nil || c.bits[i>>6]&(1<<(i&63)) != 0 }

func (c *chosenSamples) set(i int) {
	if !c.has(i) {
		c.bits[i>>6] |= 1 << (i & 63)
		c.count++
	}
}

func (c *chosenSamples) drop(i int) {
	c.bits[i>>6] &^= 1 << (i & 63)
	c.count--
}

// choose returns the selected samples of a dataset. What names nothing in it is an error.
func (s *selection) choose(ds formats.Dataset) (*chosenSamples, error) {
	if s.all() {
		return &chosenSamples{count: ds.Len()}, nil
	}
	chosen := &chosenSamples{bits: make([]uint64, (ds.Len()+63)/64)}
	labels := newLabelReader(ds)
	wanted, err := s.classIndices(labels)
	if err := errors.Join(s.checkSplits(ds), err); err != nil {
		return nil, err
	}
	if err := s.chooseKeys(ds, chosen); err != nil {
		return nil, err
	}
	if err := s.filterOne(labels, wanted, chosen); err != nil {
		return nil, err
	}
	if unmatched := s.filter.Unmatched().Include; len(unmatched) > 0 {
		return nil, s.unmatchedError(unmatched[0], ds)
	}
	return chosen, nil
}

// chooseOne is choose where at least one sample must be selected.
func (s *selection) chooseOne(ds formats.Dataset) (*chosenSamples, error) {
	chosen, err := s.choose(ds)
	if err == nil && chosen.count == 0 && !s.all() {
		err = errors.New("no sample has all that was asked for: its key, class and split must each be one of those that are named")
	}
	return chosen, err
}

// chooser returns chooseOne as edits call it.
func (s *selection) chooser() func(formats.Dataset) (func(int) bool, error) {
	return func(ds formats.Dataset) (func(int) bool, error) {
		c, err := s.chooseOne(ds)
		if err != nil {
			return nil, err
		}
		return c.has, nil
	}
}

// chooseKeys selects the samples of the keys, or all if no keys are named.
func (s *selection) chooseKeys(ds formats.Dataset, chosen *chosenSamples) error {
	if !s.hasKeys() {
		for i := range ds.Len() {
			chosen.set(i)
		}
		return nil
	}
	for _, key := range s.keys {
		i, err := findKey(ds, nameFrom(key))
		if err != nil {
			return err
		}
		chosen.set(i)
	}
	if s.keyFile == "" {
		return nil
	}
	named := len(s.keys) > 0
	err := eachLine(s.keyFile, s.in, func(line int, text string) error {
		i, err := findKey(ds, nameFrom(text))
		if err != nil {
			return fmt.Errorf("%s, line %d: %w", s.keyFile, line, err)
		}
		named = true
		chosen.set(i)
		return nil
	})
	if err == nil && !named {
		return usageErrorf("no samples are named: --keys-from %s gives no keys", s.keyFile)
	}
	return err
}

// eachLine calls yield for each line of the file that is not empty; "-" is standard input.
func eachLine(name string, in io.Reader, yield func(line int, text string) error) error {
	if name != "-" {
		f, err := unblocked.OpenNamed(name)
		if err != nil {
			return err
		}
		defer f.Close()
		in = f
	}
	lines := bufio.NewScanner(in)
	for n := 1; lines.Scan(); n++ {
		if lines.Text() == "" {
			continue
		}
		if err := yield(n, lines.Text()); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	return nil
}

// findKey returns the index of the sample with the key. Its error says what may have been meant.
func findKey(ds formats.Dataset, key string) (int, error) {
	i, err := formats.Find(ds, key)
	if errors.Is(err, formats.ErrKey) {
		err = fmt.Errorf("%w%s", err, similarKey(ds, key))
	}
	return i, err
}

// similarKey returns the end of an error about a key that ds lacks: what may have been meant; "" if nothing
// is near.
func similarKey(ds formats.Dataset, key string) string {
	if stem := strings.TrimSuffix(key, path.Ext(key)); stem != key {
		if _, err := formats.Find(ds, stem); err == nil {
			return fmt.Sprintf("; did you mean %s? Keys have no extension", printable(stem))
		}
	}
	at := func(i int) string {
		in, err := ds.Info(i)
		if err != nil {
			return ""
		}
		return in.Key
	}
	folder := strings.TrimSuffix(key, "/") + "/"
	if i := sort.Search(ds.Len(), func(i int) bool { return at(i) >= folder }); i < ds.Len() && strings.HasPrefix(at(i), folder) {
		return fmt.Sprintf("; it is a folder: --glob %s names what is in it", shellWord(printable(folder)))
	}
	i := sort.Search(ds.Len(), func(i int) bool { return at(i) >= key })
	for _, near := range []int{i, i - 1} {
		if near >= 0 && near < ds.Len() && path.Dir(at(near)) == path.Dir(key) && path.Dir(key) != "." {
			return fmt.Sprintf("; the nearest one is %s", printable(at(near)))
		}
	}
	return ""
}

// filterOne drops from to what the splits, patterns and classes, whose indices are wanted, do not name.
func (s *selection) filterOne(labels *labelReader, wanted map[int64]bool, to *chosenSamples) error {
	if len(s.splits)+len(s.patterns)+len(s.classes) == 0 {
		return nil
	}
	for i := range labels.ds.Len() {
		if !to.has(i) {
			continue
		}
		in, err := labels.ds.Info(i)
		if err != nil {
			return err
		}
		ok := len(s.splits) == 0 || slices.Contains(s.splits, in.Split)
		ok = ok && (len(s.patterns) == 0 || s.filter.IncludesFile(in.Key))
		if ok && len(s.classes) > 0 {
			if ok, err = labels.hasAny(i, &in, wanted); err != nil {
				return err
			}
		}
		if !ok {
			to.drop(i)
		}
	}
	return nil
}

// classIndices returns the indices of the named classes.
func (s *selection) classIndices(labels *labelReader) (map[int64]bool, error) {
	wanted := map[int64]bool{}
	for _, name := range s.classes {
		x, known := labels.classIndex(name)
		if !known {
			return nil, unknownClassError("--class "+shellWord(printable(name)), name, labels.ds.Meta())
		}
		wanted[x] = true
	}
	return wanted, nil
}

// unknownClassError is the error about a class that the dataset lacks. what is what named it.
func unknownClassError(what, name string, m *formats.Meta) error {
	l := m.Schema.LabelIndex()
	if l < 0 || m.Schema[l].Kind == formats.Number {
		return usageErrorf("%s: the dataset's labels are no classes", what)
	}
	classes := m.Schema[l].Classes
	if len(classes) == 0 {
		return usageErrorf("%s: the dataset's classes have no names: give an index, from 0", what)
	}
	hint := ""
	if i := slices.IndexFunc(classes, func(c string) bool { return strings.EqualFold(strings.TrimSpace(c), strings.TrimSpace(name)) }); i >= 0 {
		hint = fmt.Sprintf("; did you mean %s?", printable(classes[i]))
	}
	return usageErrorf("%s: unknown class; the dataset has the classes %s%s", what, shortList(classes, maxLines), hint)
}

func (s *selection) checkSplits(ds formats.Dataset) error {
	var names []string
	for _, split := range ds.Meta().Splits {
		names = append(names, split.Name)
	}
	for _, name := range s.splits {
		switch {
		case names == nil:
			return usageErrorf("--split %s: the dataset has no splits", name)
		case name != "" && !slices.Contains(names, name):
			return usageErrorf("--split %s: unknown split; the dataset has the splits %s", name, printable(strings.Join(names, ", ")))
		}
	}
	return nil
}

// unmatchedError is the error about a pattern that matches no key.
func (s *selection) unmatchedError(pattern string, ds formats.Dataset) error {
	what := "no key"
	if s.hasKeys() || len(s.splits) > 0 {
		what = "no key of the samples that are named otherwise"
	}
	if ds.Len() > 0 {
		if in, err := ds.Info(0); err == nil {
			return fmt.Errorf("--glob %s matches %s; a key is for instance %s", strconv.Quote(pattern), what, printable(in.Key))
		}
	}
	return fmt.Errorf("--glob %s matches %s", strconv.Quote(pattern), what)
}
