//go:build !race

package trainer

const underRace = false
