// Package misuse has the checks of arguments that the exported functions of several packages share: nil
// contexts and datasets, registries without formats, empty paths, negative numbers. Each returns
// an error that names the function and the argument and says what to give, or nil.
package misuse

import (
	"context"
	"fmt"
	"reflect"

	"github.com/dsconv/dsconv/formats"
)

// Context returns an error if ctx is nil.
func Context(function string, ctx context.Context) error {
	if ctx == nil {
		return fmt.Errorf("%s: ctx is nil: give context.Background()", function)
	}
	return nil
}

// Nil returns an error if v, the value of the argument, is nil or a nil pointer in an interface.
func Nil(function, argument string, v any) error {
	if v == nil {
		return fmt.Errorf("%s: %s is nil", function, argument)
	}
	if r := reflect.ValueOf(v); r.Kind() == reflect.Pointer && r.IsNil() {
		return fmt.Errorf("%s: %s is a nil %T", function, argument, v)
	}
	return nil
}

// Dataset returns an error if ds, the value of the argument, is nil or has no Meta.
func Dataset(function, argument string, ds formats.Dataset) error {
	if err := Nil(function, argument, ds); err != nil {
		return err
	}
	if ds.Meta() == nil {
		return fmt.Errorf("%s: %s has no Meta: Meta must not return nil", function, argument)
	}
	return nil
}

// Registry returns an error if reg has no format, or a nil one.
func Registry(function string, reg formats.Registry) error {
	if len(reg) == 0 {
		return fmt.Errorf("%s: the registry has no formats: give dsconv.Formats()", function)
	}
	for i, f := range reg {
		if f == nil {
			return fmt.Errorf("%s: format %d of the registry is nil: give dsconv.Formats()", function, i)
		}
	}
	return nil
}

// Path returns an error if path, the value of the argument, is empty.
func Path(function, argument, path string) error {
	if path == "" {
		return fmt.Errorf("%s: %s is empty: give the path of a dataset", function, argument)
	}
	return nil
}

// Negative returns an error if n, the value of the field of the options, is negative.
func Negative[T int | int64 | float64](function, field string, n T) error {
	if n < 0 {
		return fmt.Errorf("%s: %s is %v: it must not be negative; 0 is the default", function, field, n)
	}
	return nil
}
