// Package python gives the command what it runs of the Python package, which users of the bare
// program do not have.
package python

import (
	"embed"
	"path"
	"strings"
)

//go:embed src/dsconv/_parity/*.py
var sources embed.FS

// Parity is the source of each module of dsconv._parity by its name: "parity" and "parity.serve"
// and so on.
func Parity() (map[string]string, error) {
	const folder = "src/dsconv/_parity"
	files, err := sources.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	modules := map[string]string{}
	for _, f := range files {
		text, err := sources.ReadFile(path.Join(folder, f.Name()))
		if err != nil {
			return nil, err
		}
		name := "parity." + strings.TrimSuffix(f.Name(), ".py")
		modules[strings.TrimSuffix(name, ".__init__")] = string(text)
	}
	return modules, nil
}
