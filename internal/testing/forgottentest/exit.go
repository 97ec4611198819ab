// Package forgottentest fails the tests of a package that forgot to close something.
package forgottentest

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/dsconv/dsconv/internal/forgotten"
)

// Exit returns a function that ends the program of a TestMain: goleak.VerifyTestMain(m, goleak.Cleanup(forgottentest.Exit())).
// It names what is open, or was closed by the garbage collector alone, unless its description has one of the texts onPurpose.
func Exit(onPurpose ...string) func(code int) {
	return func(code int) {
		left := slices.DeleteFunc(append(forgotten.StillOpen(), forgotten.Closed()...), func(what string) bool {
			return slices.ContainsFunc(onPurpose, func(text string) bool { return strings.Contains(what, text) })
		})
		for _, what := range left {
			fmt.Fprintln(os.Stderr, "a test did not close:", what)
		}
		if code == 0 && len(left) > 0 {
			code = 1
		}
		os.Exit(code)
	}
}
