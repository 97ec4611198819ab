// Package slowed makes a dataset slower on purpose: a stand-in for slow disks and slow code, whose effect on an
// epoch is then measured like that of real ones.
package slowed
