package numpy_test

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/numpy"
)

// npy is an .npy file with that header.
func npy(descr, shape, content string) string {
	h := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }\n", descr, shape)
	return "\x93NUMPY\x01\x00" + string(binary.LittleEndian.AppendUint16(nil, uint16(len(h)))) + h + content
}

// member is a file of an archive.
type member struct {
	name, content string
	method        uint16
}

func npz(t testing.TB, members ...member) []byte {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for _, m := range members {
		h := &zip.FileHeader{Name: m.name + ".npy", Method: m.method}
		w, err := z.CreateHeader(h)
		if err == nil {
			_, err = w.Write([]byte(m.content))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	_ = z.Close()
	return out.Bytes()
}

// claims changes the sizes that the directory of an archive of one member has.
func claims(b []byte, packed, size uint32) []byte {
	at := bytes.Index(b, []byte("PK\x01\x02"))
	binary.LittleEndian.PutUint32(b[at+20:], packed)
	binary.LittleEndian.PutUint32(b[at+24:], size)
	return b
}

var (
	images = npy("|u1", "2, 2, 2", "abcdefgh")
	labels = npy("|u1", "2,", "\x00\x01")
)

func write(t testing.TB, name string, b []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func fails(t *testing.T, path, why string) {
	t.Helper()
	ds, err := numpy.Format{}.Open(path)
	if err == nil {
		_ = ds.Close()
	}
	if err == nil || !strings.Contains(err.Error(), why) || !strings.Contains(err.Error(), path) {
		t.Errorf("error %v, want one with %q", err, why)
	}
}

func TestHostileArrays(t *testing.T) {
	for name, c := range map[string]struct{ file, why string }{
		"objects":          {npy("|O", "2, 2, 2", "abcdefgh"), "objects"},
		"floats":           {npy("<f4", "1, 1, 1", "abcd"), "astype('uint8')"},
		"int64":            {npy("<i8", "1, 1, 1", "abcdefgh"), "astype"},
		"big-endian":       {npy(">u2", "1, 1, 1", "ab"), "astype"},
		"records":          {"\x93NUMPY\x01\x00\x3e\x00{'descr': [('a','<i8')], 'fortran_order': False, 'shape': (1,)}\n", "records"},
		"flat":             {npy("|u1", "2, 4", "abcdefgh"), "reshape"},
		"many channels":    {npy("|u1", "1, 5, 1, 5", "abcdefghijklmnopqrstuvwxy"), "reshape"},
		"truncated":        {images[:len(images)-1], "truncated"},
		"longer":           {images + "x", "damaged"},
		"overflow":         {npy("|u1", "4294967296, 65536, 65536", ""), "truncated"},
		"no pixels":        {npy("|u1", "5, 0, 2", ""), "shape"},
		"no images":        {npy("|u1", "0, 2, 2", ""), "0 images"},
		"header truncated": {images[:20], "truncated"},
		"in Fortran order": {strings.Replace(images, "False", "True ", 1), "ascontiguousarray"},
	} {
		t.Run(name, func(t *testing.T) { fails(t, write(t, "a.npy", []byte(c.file)), c.why) })
	}
}

func TestHostileArchives(t *testing.T) {
	x := member{name: "x", content: images}
	packed := member{name: "x", content: images, method: zip.Deflate}
	for name, c := range map[string]struct {
		file []byte
		why  string
	}{
		"not an archive":  {[]byte("PK\x03\x04 and no more"), "not an .npz"},
		"other names":     {npz(t, member{name: "weights", content: images}), "--map image=NAME"},
		"two of a name":   {npz(t, x, x), "two arrays"},
		"two of a role":   {npz(t, x, member{name: "images", content: images}), "--map image="},
		"labels of a few": {npz(t, x, member{name: "y", content: npy("|u1", "1,", "a")}), "2 images and 1 labels"},
		"labels of texts": {npz(t, x, member{name: "y", content: npy("<U1", "2,", "aaaabbbb")}), "<U1"},
		"multi-hot of 2":  {npz(t, x, member{name: "y", content: npy("|u1", "2, 2", "\x00\x01\x02\x00")}), "0 or 1"},
		"negative labels": {npz(t, x, member{name: "y", content: npy("|i1", "2,", "\xf0\x01")}), "label -16"},
		"labels of 2**63": {npz(t, x, member{name: "y", content: npy("<u8", "2,", strings.Repeat("\xff", 16))}), "no label"},
		"one split":       {npz(t, member{name: "x_train", content: images}, member{name: "x_test", content: images}, member{name: "y_test", content: labels}), "no array y"},
		"beyond the file": {claims(npz(t, x), 1<<30, 1<<30), "ends before"},
		"two sizes":       {claims(npz(t, x), 8, 9), "sizes differ"},
		"bomb":            {claims(npz(t, packed), 40, 1<<31), "cannot contain"},
		"beyond 1 GiB":    {claims(append(make([]byte, 4<<20), npz(t, packed)...), 4<<20, 2<<30), "ends before"},
		"fewer bytes":     {claims(npz(t, packed), uint32(len(deflated(t))), 2000), "decompressed"},
		"more bytes":      {claims(npz(t, packed), uint32(len(deflated(t))), 20), "more bytes"},
		"wrong checksum":  {flipped(npz(t, packed)), "checksum"},
		"unknown method":  {method(npz(t, x), 12), "method 12"},
		"encrypted":       {encrypted(npz(t, x)), "encrypted"},
	} {
		t.Run(name, func(t *testing.T) { fails(t, write(t, "a.npz", c.file), c.why) })
	}
}

// deflated is as long as the compressed images are.
func deflated(t *testing.T) []byte {
	b := npz(t, member{name: "x", content: images, method: zip.Deflate})
	at := bytes.Index(b, []byte("PK\x01\x02"))
	return make([]byte, binary.LittleEndian.Uint32(b[at+20:]))
}

func directory(b []byte) []byte { return b[bytes.LastIndex(b, []byte("PK\x01\x02")):] }

func flipped(b []byte) []byte {
	directory(b)[16] ^= 1
	return b
}

func method(b []byte, m byte) []byte {
	directory(b)[10] = m
	return b
}

func encrypted(b []byte) []byte {
	directory(b)[8] |= 1
	return b
}

// TestMaps: arrays of other names, a file of labels, and more labels.
func TestMaps(t *testing.T) {
	path := write(t, "a.npz", npz(t, member{name: "pixels_train", content: images}, member{name: "fine_train", content: labels}, member{name: "coarse_train", content: labels}))
	for name, c := range map[string]struct {
		m    map[string]string
		want string
	}{
		"names":       {map[string]string{"image": "pixels", "label": "fine", "coarse": "coarse"}, "image label coarse"},
		"with split":  {map[string]string{"image": "pixels_train", "label": "coarse_train"}, "image label"},
		"a file":      {map[string]string{"image": "pixels", "label": "far.npy"}, "image label"},
		"no such":     {map[string]string{"image": "pixels", "label": "middle"}, "!no array middle"},
		"no file":     {map[string]string{"image": "pixels", "label": "none.npy"}, "!no such file"},
		"not images":  {map[string]string{"image": "y"}, "!no array is named"},
		"label first": {map[string]string{"image": "pixels", "label": "far.npy", "coarse": "coarse"}, "image label coarse"},
	} {
		if err := os.WriteFile(filepath.Join(filepath.Dir(path), "far.npy"), []byte(labels), 0o644); err != nil {
			t.Fatal(err)
		}
		ds, err := numpy.Format{}.OpenWith(t.Context(), path, formats.ReadOptions{Map: c.m})
		if err != nil {
			if why, ok := strings.CutPrefix(c.want, "!"); !ok || !strings.Contains(err.Error(), why) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if got := strings.Join(ds.Meta().Schema.Names(), " "); got != c.want || ds.Meta().Recipe["map"] == "" {
			t.Errorf("%s: fields %s, recipe %v", name, got, ds.Meta().Recipe)
		}
		_ = ds.Close()
	}
}

// TestFolders: a folder of arrays is a dataset if it has images and labels by their names.
func TestFolders(t *testing.T) {
	path := write(t, "train_images.npy", []byte(images))
	dir := filepath.Dir(path)
	if (numpy.Format{}).Match(dir) {
		t.Error("a folder of images without labels matches")
	}
	if err := os.WriteFile(filepath.Join(dir, "train_labels.npy"), []byte(labels), 0o644); err != nil {
		t.Fatal(err)
	}
	if !(numpy.Format{}).Match(dir) || !(numpy.Format{}).Match(path) || (numpy.Format{}).Match(filepath.Join(dir, "none.npy")) {
		t.Error("the folder or the file does not match, or what is not there does")
	}
	for _, p := range []string{dir, path} {
		ds, err := numpy.Format{}.Open(p)
		if err != nil {
			t.Fatal(err)
		}
		if in, err := ds.Info(1); err != nil || in.Key != "train/00001" || in.Label != 1 {
			t.Errorf("%s: %+v, %v", p, in, err)
		}
		_ = ds.Close()
	}
	if err := os.WriteFile(filepath.Join(dir, "labels.json"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if (numpy.Format{}).Match(dir) {
		t.Error("a folder that dsconv unpack wrote matches")
	}
	if _, err := (numpy.Format{}).Open(dir + "/none.npz"); !errors.Is(err, formats.ErrNotDataset) {
		t.Errorf("nothing there: %v", err)
	}
}

func FuzzArchive(f *testing.F) {
	f.Add(npz(f, member{name: "x", content: images}, member{name: "y", content: labels}))
	f.Add(npz(f, member{name: "x", content: images, method: zip.Deflate}))
	f.Add([]byte(images))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, name := range []string{"a.npz", "a.npy"} {
			ds, err := numpy.Format{}.Open(write(t, name, b))
			if err != nil {
				continue
			}
			var s formats.Sample
			for i := range min(ds.Len(), 100) {
				if err := ds.Read(i, &s); err != nil {
					t.Fatal(err)
				}
			}
			_ = ds.Close()
		}
	})
}

// TestManyClasses: a row of zeros that compresses to nothing does not become the names of as many classes.
func TestManyClasses(t *testing.T) {
	const n = formats.MaxClasses + 1
	wide := npy("|u1", fmt.Sprintf("2, %d", n), strings.Repeat("\x00", 2*n))
	fails(t, write(t, "x.npz", npz(t, member{"images", images, zip.Deflate}, member{"labels", wide, zip.Deflate})), "the limit is")
}
