//go:build linux

package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// plain has a dataset's images without the dataset: its files, mapped once more, and where in them
// each read's image lies. Touching them takes the time of the machine's memory and page tables,
// whatever the format and the code.
type plain struct {
	files  [][]byte
	places []place // in the order of the reads
}

// place is where an image lies in the files.
type place struct {
	offset       int64
	file, length int32
}

func (p *plain) bytes(k int) []byte {
	at := p.places[k]
	return p.files[at.file][at.offset : at.offset+int64(at.length)]
}

func (p *plain) close() (err error) {
	if p == nil {
		return nil
	}
	for _, b := range p.files {
		err = errors.Join(err, unix.Munmap(b))
	}
	return err
}

// mapPlain maps the files in which the slices lie, by what the kernel says of the process's memory.
func mapPlain(slicesOfFiles [][]byte) (*plain, error) {
	areas, err := mappedAreas()
	if err != nil {
		return nil, err
	}
	p := &plain{places: make([]place, len(slicesOfFiles))}
	numbers := map[string]int32{}
	for k, b := range slicesOfFiles {
		address := uint64(uintptr(unsafe.Pointer(unsafe.SliceData(b))))
		n, _ := slices.BinarySearchFunc(areas, address, func(a area, address uint64) int {
			if a.to <= address {
				return -1
			}
			return 1
		})
		if n == len(areas) || areas[n].from > address || !strings.HasPrefix(areas[n].path, "/") {
			return nil, errors.Join(fmt.Errorf("read %d: its image is not in a mapped file", k), p.close())
		}
		a := areas[n]
		if _, ok := numbers[a.path]; !ok {
			numbers[a.path] = int32(len(p.files))
			if err := p.mapFile(a.path); err != nil {
				return nil, errors.Join(err, p.close())
			}
		}
		p.places[k] = place{offset: int64(address - a.from + a.offset), file: numbers[a.path], length: int32(len(b))}
	}
	return p, nil
}

func (p *plain) mapFile(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return err
	}
	b, err := unix.Mmap(int(f.Fd()), 0, int(st.Size()), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return fmt.Errorf("map %s: %w", path, err)
	}
	p.files = append(p.files, b)
	return nil
}

// area is a range of the process's addresses.
type area struct {
	from, to, offset uint64
	path             string
}

// mappedAreas reads /proc/self/maps, which is in the order of the addresses.
func mappedAreas() (areas []area, err error) {
	f, err := os.Open("/proc/self/maps")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		var a area
		var skip string
		if _, err := fmt.Sscanf(s.Text(), "%x-%x %s %x %s %s", &a.from, &a.to, &skip, &a.offset, &skip, &skip); err != nil {
			return nil, fmt.Errorf("/proc/self/maps: %q: %w", s.Text(), err)
		}
		if _, path, ok := strings.Cut(s.Text(), "/"); ok {
			a.path = "/" + path
		}
		areas = append(areas, a)
	}
	return areas, nil
}
