package container

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/arena"
	"github.com/strata-go/strata/memory/compose"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/memory/slab"
	"github.com/strata-go/strata/memory/tlsf"
)

// A judge is an allocator that notes what its Free and Resize refused for the sake of a size.
type judge struct {
	memory.Allocator
	memory.Baser
	memory.StatsReporter
	memory.Sizer
	r      memory.Resizer
	probes bool
	wrong  []string
}

func (j *judge) note(op string, f func()) {
	defer func() {
		if v := recover(); v != nil {
			if m, ok := v.(*memory.Misuse); ok && strings.Contains(m.Reason, "size") && !j.probes {
				j.wrong = append(j.wrong, op+": "+m.Error())
			}
			panic(v)
		}
	}()
	f()
}

func (j *judge) Free(p unsafe.Pointer, size uintptr) {
	j.note("Free", func() { j.Allocator.Free(p, size) })
}

// Resize from a size to the same one is the question whether the size is right.
func (j *judge) Resize(p unsafe.Pointer, oldSize, newSize uintptr) (ok bool) {
	j.probes = oldSize == newSize
	defer func() { j.probes = false }()
	j.note("Resize", func() { ok = j.r.Resize(p, oldSize, newSize) })
	return ok
}

// headerAllocators are one that keeps requests to the byte and one that rounds them to classes.
func headerAllocators(t *testing.T) map[string]*judge {
	h, err := tlsf.New(nil, tlsf.Config{Reserve: 1 << 20, Granule: 16})
	memtest.Opened(t, h, err)
	s, err := slab.New(nil, slab.Config{Reserve: 4 << 20, MaxSize: 16 << 10})
	memtest.Opened(t, s, err)
	return map[string]*judge{
		"tlsf": {Allocator: h, Baser: h, StatsReporter: h, Sizer: h, r: h},
		"slab": {Allocator: s, Baser: s, StatsReporter: s, Sizer: s, r: s},
	}
}

// A headed container is one as the test of its header sees it.
type headed struct {
	header []byte
	check  func() error
	free   func()
	grow   func() error
}

func header[T any](p *T) []byte { return unsafe.Slice((*byte)(unsafe.Pointer(p)), unsafe.Sizeof(*p)) }

// containers make one of n elements each. What fails ends the test.
var containers = map[string]func(t *testing.T, sp *Space, n int) headed{
	"Vec": func(t *testing.T, sp *Space, n int) headed {
		var v Vec[uint64]
		for i := range n {
			must(t, v.Append(sp, uint64(i)))
		}
		return headed{header(&v), func() error { return v.Check(sp) }, func() { v.Free(sp) }, func() error { return v.Reserve(sp, 1000) }}
	},
	"Vec, exact": func(t *testing.T, sp *Space, n int) headed {
		var v Vec[[3]byte]
		must(t, errors.Join(v.Reserve(sp, n), v.SetLen(sp, n/2)))
		return headed{header(&v), func() error { return v.Check(sp) }, func() { v.Free(sp) }, func() error { return v.Shrink(sp) }}
	},
	"Ring": func(t *testing.T, sp *Space, n int) headed {
		var r Ring[uint32]
		for i := range n {
			must(t, r.PushBack(sp, uint32(i)))
		}
		return headed{header(&r), func() error { return r.Check(sp) }, func() { r.Free(sp) }, func() error { return r.Reserve(sp, 1000) }}
	},
	"Map": func(t *testing.T, sp *Space, n int) headed {
		m := NewMap[uint32, uint32](9)
		for i := range n {
			must(t, m.Set(sp, uint32(i), 1))
		}
		return headed{header(&m), func() error { return m.Check(sp) }, func() { m.Free(sp) }, func() error { return m.Reserve(sp, 1000) }}
	},
	"Strings": func(t *testing.T, sp *Space, n int) headed {
		s := NewStrings(5)
		for i := range n {
			_, err := s.Intern(sp, fmt.Sprint(strings.Repeat("y", i%9*150), i))
			must(t, err)
		}
		return headed{header(&s), func() error { return s.Check(sp) }, func() { s.Free(sp) }, func() error { _, err := s.Intern(sp, "one more"); return err }}
	},
}

// Each bit of each field of each header is flipped. The allocator gets no wrong size from Free or from
// growth: these panic with a Misuse of this package, or the bit is harmless. Check names what is not.
func TestContainers_AFlippedHeaderNeverPassesAWrongSize(t *testing.T) {
	testenv.Long(t)
	for name, a := range headerAllocators(t) {
		sp := space(t, a)
		for _, n := range []int{0, 1, 5, 40} {
			for what, build := range containers {
				bits := 8 * len(build(t, sp, n).header)
				a.Allocator.(memory.Resetter).Reset()
				for bit := range bits {
					if testenv.Short() && bits > 1000 && bit%9 != n%9 {
						continue // Strings have 6,000
					}
					if step := testenv.Step(3); bits > 1000 && bit%step != n%step {
						continue
					}
					for _, grow := range []bool{false, true} {
						if grow && what == "Strings" {
							continue // a new text is written where the header says: nothing else knows the place
						}
						flipHeader(t, a, sp, name+", "+what, what, n, bit, grow)
					}
				}
			}
		}
	}
}

func flipHeader(t *testing.T, a *judge, sp *Space, name, what string, n, bit int, grow bool) {
	t.Helper()
	defer a.Allocator.(memory.Resetter).Reset()
	c := containers[what](t, sp, n)
	blocks := a.Stats().Live
	c.header[bit/8] ^= 1 << (bit % 8)
	named := c.check()
	a.wrong = nil
	err := ended(func() {
		if grow {
			_ = c.grow()
		} else {
			c.free()
		}
	})
	if len(a.wrong) > 0 {
		t.Errorf("%s of %d, bit %d, growth %t: the allocator gets a wrong size: %v", name, n, bit, grow, a.wrong)
	}
	var m *memory.Misuse
	switch {
	case err == nil:
		if named == nil && !grow && a.Stats().Live >= blocks && blocks > 0 && len(containersBlocks(c)) > 0 {
			t.Errorf("%s of %d, bit %d: Check names nothing, and Free frees nothing", name, n, bit)
		}
	case !errors.As(err, &m):
		t.Errorf("%s of %d, bit %d, growth %t: %v", name, n, bit, grow, err)
	case named == nil:
		t.Errorf("%s of %d, bit %d, growth %t: %v, which Check does not name", name, n, bit, grow, err)
	}
}

// containersBlocks returns the header, if any byte of it is set: such a container has a block.
func containersBlocks(c headed) []byte {
	for _, b := range c.header {
		if b != 0 {
			return c.header
		}
	}
	return nil
}

// ended runs f and returns what it panics with, as an error.
func ended(f func()) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if v := recover(); v != nil {
			var ok bool
			if err, ok = v.(error); !ok {
				err = fmt.Errorf("panic: %v", v)
			}
		}
	}()
	f()
	return nil
}

// In compositions that do not know sizes, and in arenas, containers work as they do elsewhere.
func TestSpace_AllocatorsThatDoNotKnowSizesAreNotAccused(t *testing.T) {
	g, err := arena.NewGrowing(nil, arena.GrowingConfig{Reserve: 1 << 20})
	memtest.Opened(t, g, err)
	l, err := compose.NewLocked(g, nil)
	must(t, err)
	for name, a := range map[string]memory.Allocator{"arena": g, "Locked": l} {
		sp := space(t, a)
		for what, build := range containers {
			c := build(t, sp, 40)
			must(t, errors.Join(c.check(), c.grow(), c.check()))
			if err := ended(c.free); err != nil {
				t.Errorf("%s, %s: Free: %v", name, what, err)
			}
		}
	}
}

// A Baser that does not tell how far its blocks reach is no Space: Check could not tell a sound
// container from a broken one.
func TestIn_WantsAKnownExtent(t *testing.T) {
	h, _ := heap(t)
	type base struct {
		memory.Allocator
		memory.Baser
	}
	for name, a := range map[string]memory.Allocator{
		"no Extent, no Stats": base{h, h},
		"an Extent of 0":      extended{base{h, h}, 0},
		"all there is":        extended{base{h, h}, ^uintptr(0)},
		"beyond the end":      extended{base{h, h}, -uintptr(h.Base())},
	} {
		if sp, err := In(a); sp != nil || !errors.Is(err, ErrNoBase) || !strings.Contains(err.Error(), "bytes from its Base: want 1 to ") {
			t.Errorf("%s: %v, %v; want ErrNoBase", name, sp != nil, err)
		}
	}
	for _, a := range []memory.Allocator{extended{base{h, h}, 32 << 20}, extended{base{h, h}, -uintptr(h.Base()) - 1}} {
		sp := space(t, a)
		var v Vec[int]
		must(t, errors.Join(v.Append(sp, 1), v.Check(sp)))
		v.Free(sp)
	}
}

type extended struct {
	memory.Allocator
	extent uintptr
}

func (e extended) Base() unsafe.Pointer { return e.Allocator.(memory.Baser).Base() }
func (e extended) Extent() uintptr      { return e.extent }

// What a header says that cannot be is named with its size and offset, and Check names it too.
func TestVec_FreeOfAFlippedCapNamesTheHeader(t *testing.T) {
	for name, a := range headerAllocators(t) {
		sp := space(t, a)
		var v Vec[uint64]
		must(t, v.Reserve(sp, 100))
		v.cap ^= 1 << 5 // 68
		if err := v.Check(sp); err == nil || !strings.Contains(err.Error(), "elements: 544 bytes at offset") {
			t.Errorf("%s: %v", name, err)
		}
		for _, f := range []func(){func() { v.Free(sp) }, func() { _ = v.Reserve(sp, 1000) }} {
			memtest.Misuse(t, f, "container.Space", "the header of the container says that it has 544 bytes at offset")
		}
		v.cap ^= 1 << 5
		must(t, v.Check(sp))
		v.Free(sp)
	}
}

// A container that is missing here is in none of the tests over all containers.
func TestContainers_EachTypeIsInTheTable(t *testing.T) {
	files, err := filepath.Glob("*.go")
	must(t, err)
	found := 0
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := os.ReadFile(name)
		must(t, err)
		for _, m := range checkMethod.FindAllStringSubmatch(string(text), -1) {
			if found++; containers[m[1]] == nil {
				t.Errorf("%s: the table of containers has no %s", name, m[1])
			}
		}
	}
	if found < 4 {
		t.Errorf("%d containers with a Check: the test looks at the wrong thing", found)
	}
}

// checkMethod matches the declaration of a container's Check.
var checkMethod = regexp.MustCompile(`func \(\w+ \*([A-Z]\w*)(?:\[[^\]]*\])?\) Check\(\w+ \*Space`)
