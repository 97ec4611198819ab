// Package random has the random numbers of a Loader: draws that depend on seed, epoch and sample alone,
// never on which worker draws.
package random
