package edit_test

import (
	"os"
	"testing"

	"github.com/dsconv/dsconv/internal/testing/formatcheck"
)

func TestMain(m *testing.M) { os.Exit(formatcheck.OwnCache{M: m}.Run()) }
