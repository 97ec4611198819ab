// Package inmemory holds some samples of a dataset in memory, as stored or decoded, and gives them in the place
// of all: a dataset that takes no time to read.
package inmemory
