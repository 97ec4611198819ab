package nonsense_test

import (
	"math"
	"reflect"
)

// nonsense returns values of type t that a caller should not have passed: nil, empty, negative, unknown. For a struct it
// returns the usual one with one field after the other replaced.
func (w *world) nonsense(t reflect.Type) []reflect.Value {
	switch t.Kind() {
	case reflect.String:
		return values(t, "", "nonsense", "../\xff")
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return values(t, -3, 0, 77)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return values(t, 0, 77)
	case reflect.Float32, reflect.Float64:
		return values(t, math.NaN(), math.Inf(1), -3.0)
	case reflect.Slice:
		return []reflect.Value{reflect.Zero(t), reflect.MakeSlice(t, 0, 0), reflect.MakeSlice(t, 1, 1)}
	case reflect.Struct:
		return w.nonsenseStructs(t)
	case reflect.Pointer, reflect.Interface, reflect.Func, reflect.Map, reflect.Chan, reflect.Array:
		if t == contextType {
			return nil
		}
		return []reflect.Value{reflect.Zero(t)}
	}
	return nil
}

func values[T any](t reflect.Type, list ...T) []reflect.Value {
	var out []reflect.Value
	for _, v := range list {
		out = append(out, reflect.ValueOf(v).Convert(t))
	}
	return out
}

func (w *world) nonsenseStructs(t reflect.Type) []reflect.Value {
	list := []reflect.Value{reflect.Zero(t)}
	for i := range t.NumField() {
		f := t.Field(i)
		if !f.IsExported() || f.Type == t {
			continue
		}
		for _, v := range w.nonsense(f.Type) {
			s := reflect.New(t).Elem()
			s.Set(w.usual(t))
			s.Field(i).Set(v)
			list = append(list, s)
		}
	}
	return list
}
