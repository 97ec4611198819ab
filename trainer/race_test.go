//go:build race

package trainer

const underRace = true
