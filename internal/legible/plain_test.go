package legible

import (
	"testing"

	"github.com/dsconv/dsconv/formats"
)

func TestCheckPlain(t *testing.T) {
	for _, c := range []struct {
		kind formats.Kind
		data string
		ok   bool
	}{
		{formats.Text, "größer", true},
		{formats.Text, "", true},
		{formats.Text, "gr\xf6\xdfer", false},
		{formats.JSON, `{"a": [1, "x"]}`, true},
		{formats.JSON, "null", true},
		{formats.JSON, "", false},
		{formats.JSON, `{"a": `, false},
		{formats.JSON, "\"gr\xf6\"", false},
		{formats.JSON, "\ufeff1", true},
		{formats.JSON, `{"a": NaN, "b": [-Infinity, Infinity], "c": "NaN \" NaN"}`, true},
		{formats.JSON, `{"a": nan}`, false},
		{formats.JSON, `{NaN: 1}`, false},
		{formats.Bytes, "\xff", true},
		{formats.Array, "\xff", true},
	} {
		if err := CheckPlain(c.kind, []byte(c.data)); (err == nil) != c.ok {
			t.Errorf("%s %q: %v", c.kind, c.data, err)
		}
	}
}
