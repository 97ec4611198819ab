package staging

import "github.com/dsconv/dsconv/formats"

// MadeUp is a Stage without a folder, to which rows can be appended.
func MadeUp(m formats.Meta) *Stage { return &Stage{Meta: m, rows: newRowLog(&m)} }
