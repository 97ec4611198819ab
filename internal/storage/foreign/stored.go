package foreign

import (
	"fmt"

	"github.com/dsconv/dsconv/internal/guard"
)

// Stored calls use with the bytes at the place of sample i's designated image, in mapped memory that is valid
// until use returns.
func (d *Dataset) Stored(i int, use func(raw []byte) error) error {
	at, err := d.location(i)
	if err != nil {
		return err
	}
	return d.File(at.Shard, func(data []byte) error {
		if err := at.CheckIn(1+at.Shard, func(int) int64 { return int64(len(data)) }); err != nil {
			return err
		}
		return use(data[at.Offset : at.Offset+at.Length])
	})
}

// File calls use with the bytes of data file k as they lie there, in mapped memory that is valid until use returns.
func (d *Dataset) File(k int, use func(data []byte) error) error {
	if err := d.Gate.Enter(k); err != nil {
		return err
	}
	defer d.Gate.Leave(k)
	if k < 0 || k >= len(d.files) {
		return fmt.Errorf("%s: there is no file %d", d.Path, k)
	}
	data := d.files[k].Data
	return guard.Read(data, func() error { return use(data) })
}
