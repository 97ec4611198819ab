//go:build cgo && deadcode

package main

// init tells the deadcode tool which functions C calls; see scripts/deadcode.
func init() {
	dsconv_call(nil, nil)
	dsconv_free(nil)
	dsconv_order(0, 0, 0, nil, nil, 0)
	dsconv_part(0, 0, nil, 0)
	dsconv_shapes(0, 0, nil, 0)
	dsconv_pick(0, 0, 0, 0, nil)
	dsconv_drop(0)
	dsconv_labels(0, nil, 0)
	dsconv_numbers(nil, 0, 0, nil)
	dsconv_start(0, 0, 0, nil, 0, nil, 0, nil, 0, nil)
	dsconv_next(0, nil, 0, nil, nil)
	dsconv_stop(0)
	dsconv_transform(0, nil, 0, 0, 0, 0, 0, nil)
	dsconv_tables(0, 0, nil, 0)
	dsconv_rest(0, 0, nil, 0, nil)
	dsconv_erasures(0, 0, nil, 0, nil, 0)
	dsconv_device(0, 0, nil)
}
