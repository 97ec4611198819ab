package augment

import (
	"fmt"
	"reflect"
)

// plainOps returns ops with the value in place of each pointer to one, for an op is recognized by its
// type. An op that is nil is an error.
func plainOps(ops []Op) ([]Op, error) {
	plain := make([]Op, len(ops))
	for i, o := range ops {
		v := reflect.ValueOf(o)
		if o == nil || v.Kind() == reflect.Pointer && v.IsNil() {
			return nil, fmt.Errorf("transform %d of %d is nil (%T): leave it out, or give its value", i+1, len(ops), o)
		}
		if v.Kind() == reflect.Pointer {
			if value, ok := v.Elem().Interface().(Op); ok {
				o = value
			}
		}
		if a, ok := o.(RandomApply); ok {
			inner, err := plainOps(a.Ops)
			if err != nil {
				return nil, fmt.Errorf("apply: %w", err)
			}
			a.Ops = inner
			o = a
		}
		plain[i] = o
	}
	return plain, nil
}

// checkOp is o's Check, a panic of which is an error.
func checkOp(o Op, channels int) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%s: panic in Check: %v", text(o), p)
		}
	}()
	return o.Check(channels)
}

// text is the text of o, also of one that is nil or whose String panics.
func text(o Op) (s string) {
	if o == nil {
		return "nil"
	}
	defer func() {
		if recover() != nil {
			s = fmt.Sprintf("%T", o)
		}
	}()
	return o.String()
}
