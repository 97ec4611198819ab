package nvjpeg

import (
	"errors"
	"fmt"
)

// errNotFound is in the chain of Open's error if there is no nvJPEG that can be used.
var errNotFound = errors.New("no nvJPEG can be used")

// Status is a result of nvJPEG other than success. It is the error of a call, wrapped with what the call was for.
type Status int

// The results.
const (
	NotInitialized             Status = 1
	InvalidParameter           Status = 2
	BadJPEG                    Status = 3
	JPEGNotSupported           Status = 4
	AllocatorFailure           Status = 5
	ExecutionFailed            Status = 6
	ArchMismatch               Status = 7
	InternalError              Status = 8
	ImplementationNotSupported Status = 9
	IncompleteBitstream        Status = 10
)

var statusNames = []string{
	"SUCCESS", "NOT_INITIALIZED", "INVALID_PARAMETER", "BAD_JPEG", "JPEG_NOT_SUPPORTED", "ALLOCATOR_FAILURE", "EXECUTION_FAILED",
	"ARCH_MISMATCH", "INTERNAL_ERROR", "IMPLEMENTATION_NOT_SUPPORTED", "INCOMPLETE_BITSTREAM",
}

// String is the name in nvjpeg.h without its prefix, such as "BAD_JPEG".
func (s Status) String() string {
	if s >= 0 && int(s) < len(statusNames) {
		return statusNames[s]
	}
	return fmt.Sprintf("STATUS_%d", int(s))
}

func (s Status) Error() string { return fmt.Sprintf("nvJPEG: %s (%d)", s.String(), int(s)) }
