//go:build !linux

package cache

import (
	"errors"
	"os"
)

// There is no cache on other systems: Open and Free fail with errors.ErrUnsupported.

func attach(Config) (*os.File, error) { return nil, errors.ErrUnsupported }

func release(*os.File, string) error { return errors.ErrUnsupported }

func removeStale(Config) {}

func forget([]byte) {}

func allocate(*os.File, int64, int64) error { return errors.ErrUnsupported }

func freeMemory() (int64, error) { return 0, errors.ErrUnsupported }

// FreeSpace is what the file system of a folder has left for this user.
func FreeSpace(string) (int64, error) { return 0, errors.ErrUnsupported }

func sizeOf(int) (int64, error) { return 0, errors.ErrUnsupported }
