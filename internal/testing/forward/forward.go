//go:build linux && cgo

// Package forward installs a handler of SIGBUS as other libraries do, for tests: it calls the
// handler that it found.
package forward

/*
#include <signal.h>

static struct sigaction found;
static int calls;

static void forward(int sig, siginfo_t *info, void *context) {
  __atomic_add_fetch(&calls, 1, __ATOMIC_SEQ_CST);
  found.sa_sigaction(sig, info, context);
}

static int install(void) {
  struct sigaction ours = {.sa_sigaction = forward, .sa_flags = SA_SIGINFO | SA_ONSTACK};
  return sigaction(SIGBUS, &ours, &found);
}

static int count(void) { return __atomic_load_n(&calls, __ATOMIC_SEQ_CST); }
*/
import "C"

import "errors"

// Install makes the handler the first that is called.
func Install() error {
	if C.install() != 0 {
		return errors.New("cannot install the handler of SIGBUS")
	}
	return nil
}

// Calls is how often the handler was called.
func Calls() int { return int(C.count()) }
