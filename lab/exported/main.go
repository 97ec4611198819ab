// Command exported fails if a package exports a name that nothing outside it uses: it could be unexported or deleted.
//
//	go run ./lab/exported ROOT
//
// in a workspace (go.work) of the three modules.
//
// A use is one in another package or its tests, in an example of the package (example*_test.go), in a program under
// examples/ or lab/, or a mention in README.md or docs/ (reader.Loader; a field or method as reader.Loader.Close). These count as
// used without one: methods that an interface asks for, fields with a tag (reflection reads them), types that appear
// in what is used, and all constants of a type that is used, because half an enum helps nobody.
package main

import (
	"cmp"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const module = "github.com/dsconv/dsconv"

func main() {
	log.SetFlags(0)
	root, err := filepath.Abs(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	found := newSurvey(root)
	// A name may be used with cgo alone, or only without.
	for cgo, modules := range map[string][]string{"CGO_ENABLED=1": {"./...", "./examples/...", "./lab/..."}, "CGO_ENABLED=0": {"./..."}} {
		if err := found.load(cgo, modules); err != nil {
			log.Fatal(err)
		}
	}
	if err := found.readDocs(root); err != nil {
		log.Fatal(err)
	}
	found.follow()
	unused := found.unused()
	for _, n := range unused {
		fmt.Println(n)
	}
	if len(unused) > 0 {
		log.Fatalf("%d exported names that no other package, example or document uses: unexport or delete them", len(unused))
	}
}

// name is one exported name of a package. Builds may declare it in different files.
type name struct {
	pkg, label, file string
	line             int
	used             bool
	leads            []string // where the names that come with it are declared: types that appear in it, constants of a type
}

func (n *name) String() string {
	return fmt.Sprintf("%s: %s (%s:%d)", strings.TrimPrefix(n.pkg, module+"/"), n.label, filepath.Base(n.file), n.line)
}

// survey collects the exported names of the module's packages and marks those that are used.
type survey struct {
	root  string           // the repository
	names map[string]*name // by package and label
	at    map[string]*name // by the position of the declaration, which is the same in every build and test
}

func newSurvey(root string) *survey {
	return &survey{root: root, names: map[string]*name{}, at: map[string]*name{}}
}

// follow marks what comes with names that are used, until there is no more.
func (s *survey) follow() {
	for changed := true; changed; {
		changed = false
		for _, n := range s.names {
			if !n.used {
				continue
			}
			for _, key := range n.leads {
				if other := s.at[key]; other != nil && !other.used {
					other.used, changed = true, true
				}
			}
		}
	}
}

func (s *survey) unused() []*name {
	var list []*name
	for _, n := range s.names {
		if !n.used {
			list = append(list, n)
		}
	}
	slices.SortFunc(list, func(a, b *name) int {
		return cmp.Or(cmp.Compare(a.pkg, b.pkg), cmp.Compare(a.file, b.file), cmp.Compare(a.line, b.line), cmp.Compare(a.label, b.label))
	})
	return list
}
