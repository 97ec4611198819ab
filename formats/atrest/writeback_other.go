//go:build !linux

package atrest

import "os"

func startWriteback(*os.File, int64, int64) {}
