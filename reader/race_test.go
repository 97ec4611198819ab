//go:build race

package reader

// UnderRace says whether the tests run under -race.
const UnderRace = true
