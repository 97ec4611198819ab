// Package value checks that values fit the fields of a schema.
package value
