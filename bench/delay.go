package bench

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/dsconv/dsconv/bench/internal/slowed"
	"github.com/dsconv/dsconv/formats"
)

// Delay is how much longer the stages of each image take: a stand-in for slow disks, code and devices. Workers
// sleep in Read, Decode, Augment and Collate, the loop in Transfer.
type Delay struct {
	Read, Decode, Augment, Collate, Transfer time.Duration
}

// maxDelay is the longest delay of an image.
const maxDelay = 10 * time.Second

// stages are the delays by their names.
func (d *Delay) stages() []struct {
	name string
	time *time.Duration
} {
	return []struct {
		name string
		time *time.Duration
	}{{"read", &d.Read}, {"decode", &d.Decode}, {"augment", &d.Augment}, {"collate", &d.Collate}, {"transfer", &d.Transfer}}
}

// ParseDelay reads "read=1ms" or several such delays: "read=1ms,transfer=50us". "" is none.
func ParseDelay(text string) (d Delay, err error) {
	if text == "" {
		return d, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		at := d.stage(name)
		if at == nil {
			return Delay{}, fmt.Errorf("delay %q: write read, decode, augment, collate or transfer and the time of an image, such as read=1ms", part)
		}
		if *at, err = time.ParseDuration(value); err != nil || *at <= 0 || *at > maxDelay {
			return Delay{}, fmt.Errorf("delay %q: write a time up to %v, such as %s=1ms or %s=50us", part, maxDelay, name, name)
		}
	}
	return d, nil
}

// stage is the delay of that name, nil if there is none.
func (d *Delay) stage(name string) *time.Duration {
	for _, s := range d.stages() {
		if s.name == name {
			return s.time
		}
	}
	return nil
}

// String is what ParseDelay reads.
func (d Delay) String() string {
	var list []string
	for _, s := range d.stages() {
		if *s.time != 0 {
			list = append(list, fmt.Sprintf("%s=%v", s.name, *s.time))
		}
	}
	return strings.Join(list, ",")
}

// MarshalText implements encoding.TextMarshaler.
func (d Delay) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (d *Delay) UnmarshalText(text []byte) (err error) {
	*d, err = ParseDelay(string(text))
	return err
}

// check returns an error for a delay that is negative or too long.
func (d Delay) check() error {
	for _, s := range d.stages() {
		if *s.time < 0 || *s.time > maxDelay {
			return fmt.Errorf("delay of %s %v: it must be from 0 to %v", s.name, *s.time, maxDelay)
		}
	}
	return nil
}

// slow delays a dataset as o says, until ctx ends.
func (o *Options) slow(ctx context.Context, ds formats.Dataset) formats.Dataset {
	d := &o.Delay
	return slowed.Wrap(ds, slowed.Config{
		Read: d.Read, Decode: d.Decode, Augment: d.Augment, Collate: d.Collate, BytesPerSecond: o.LimitRead,
	}, ctx.Done())
}
