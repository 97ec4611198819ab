package kernels

import (
	"bytes"
	"crypto/sha256"
	"debug/elf"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
)

var names = []string{Store, CanaryFill, CanaryCheck}

// The cubins are those of the sources: without this a change of a kernel would be tested on the CPU and run nowhere.
func TestCubinsAreOfTheseSources(t *testing.T) {
	var record struct{ Sources map[string]string }
	data, err := cubins.ReadFile("cubins/record.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &record); err != nil {
		t.Fatal(err)
	}
	if len(record.Sources) != 2 {
		t.Fatalf("cubins/record.json has %d sources, want kernels.cu and kernels.h", len(record.Sources))
	}
	for name, want := range record.Sources {
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if sum := sha256.Sum256(source); hex.EncodeToString(sum[:]) != want {
			t.Errorf("%s has changed: run make cubins", name)
		}
	}
}

// Each cubin is for its architecture and has every kernel.
func TestCubinsHaveTheKernels(t *testing.T) {
	for _, a := range architectures {
		image, err := Image(a/10, a%10)
		if err != nil {
			t.Fatal(err)
		}
		image[20] = byte(elf.EV_CURRENT) // NVIDIA counts versions of its own there
		f, err := elf.NewFile(bytes.NewReader(image))
		if err != nil {
			t.Fatalf("sm_%d: %v", a, err)
		}
		if f.Machine != 190 { // NVIDIA CUDA
			t.Errorf("sm_%d: a file for machine %s", a, f.Machine)
		}
		if got := architectureOf(image); got != a {
			t.Errorf("sm_%d: compiled for sm_%d", a, got)
		}
		symbols, err := f.Symbols()
		if err != nil {
			t.Fatalf("sm_%d: %v", a, err)
		}
		for _, name := range names {
			if !has(symbols, name) {
				t.Errorf("sm_%d: no kernel %s", a, name)
			}
		}
	}
}

// A kernel's threads keep nearly all that they work with in registers, few enough that two blocks fit a multiprocessor: its 65536
// registers are what limits that.
func TestKernelsFitTheirRegisters(t *testing.T) {
	const frame, registers = 0x11, 0x2f // attributes of .nv.info: bytes of memory that spilled ones take; registers
	for _, a := range architectures {
		image, err := Image(a/10, a%10)
		if err != nil {
			t.Fatal(err)
		}
		image[20] = byte(elf.EV_CURRENT)
		f, err := elf.NewFile(bytes.NewReader(image))
		if err != nil {
			t.Fatalf("sm_%d: %v", a, err)
		}
		info, err := f.Section(".nv.info").Data()
		if err != nil {
			t.Fatal(err)
		}
		counts := map[byte][]uint32{}
		for len(info) >= 4 {
			attribute, size := info[1], 0
			if info[0] == 4 { // with a value: a symbol and a number
				size = int(binary.LittleEndian.Uint16(info[2:]))
				if size == 8 {
					counts[attribute] = append(counts[attribute], binary.LittleEndian.Uint32(info[8:]))
				}
			}
			info = info[4+size:]
		}
		if len(counts[registers]) < len(names) || slices.Max(counts[registers]) > 65536/threads/2 || slices.Max(counts[frame]) > 16 {
			t.Errorf("sm_%d: registers %d, bytes of spilled ones %d", a, counts[registers], counts[frame])
		}
		t.Logf("sm_%d: registers %d", a, counts[registers])
	}
}

// architectureOf reads the flags of an ELF header: NVIDIA moved the number up by a byte for sm_100.
func architectureOf(image []byte) int {
	const abiVersion, flags = 8, 48
	if image[abiVersion] < 8 {
		return int(image[flags])
	}
	return int(image[flags+1])
}

func has(symbols []elf.Symbol, name string) bool {
	for _, s := range symbols {
		if s.Name == name && elf.ST_TYPE(s.Info) == elf.STT_FUNC && elf.ST_BIND(s.Info) == elf.STB_GLOBAL {
			return true
		}
	}
	return false
}

func TestEachGPUGetsTheNearestImage(t *testing.T) {
	for _, c := range []struct{ major, minor, want int }{ // want 0 is PTX
		{7, 5, 75},
		{8, 0, 80},
		{8, 6, 86},
		{8, 7, 86},
		{8, 9, 89},
		{9, 0, 90},
		{10, 0, 100},
		{10, 1, 100},
		{10, 3, 103},
		{11, 0, 0},
		{12, 0, 120},
		{12, 1, 120},
		{13, 0, 0},
	} {
		image, err := Image(c.major, c.minor)
		if err != nil {
			t.Fatal(err)
		}
		if c.want == 0 {
			checkPTX(t, image)
		} else if got := architectureOf(image); got != c.want {
			t.Errorf("compute capability %d.%d gets the cubin of sm_%d, want sm_%d", c.major, c.minor, got, c.want)
		}
	}
	if _, err := Image(7, 0); err == nil || !strings.Contains(err.Error(), "7.5 at least") {
		t.Errorf("an old GPU: %v", err)
	}
}

func checkPTX(t *testing.T, image []byte) {
	t.Helper()
	if !bytes.Contains(image, []byte(".target sm_75\n")) || image[len(image)-1] != 0 {
		t.Error("not the PTX, which ends with a zero byte")
	}
	for _, name := range names {
		if !bytes.Contains(image, []byte(".entry "+name+"(")) {
			t.Errorf("the PTX has no kernel %s", name)
		}
	}
}
