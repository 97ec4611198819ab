package tfrecord

import (
	"testing"

	"github.com/dsconv/dsconv/internal/testing/forgottentest"
)

// What a test forgets to close fails, except where formattest forgets on purpose.
func TestMain(m *testing.M) { forgottentest.Exit("orgotten")(m.Run()) }
