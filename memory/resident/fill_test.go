package resident

import (
	"bytes"
	"encoding/binary"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/strata-go/strata/memory/tiers"
)

var update = flag.Bool("update", false, "write the golden tables anew")

const kib = 1 << 10

// faked is a process of which everything is told here: pages holds what pagemap says of its
// addresses, and memory what is written there.
type faked struct {
	process
	present map[uint64]uint64 // entries by page number
	memory  map[uint64][]uint64
	files   map[string][]segment
}

func fake(t testing.TB, file string) *faked {
	text, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	return fakeOf(text)
}

func fakeOf(smaps []byte) *faked {
	f := &faked{present: map[uint64]uint64{}, memory: map[uint64][]uint64{}, files: map[string][]segment{}}
	f.process = process{smaps: smaps, exe: "/opt/game", page: 4096, word: 8,
		pagemap: func(first uint64, entries []uint64) error {
			for i := range entries {
				entries[i] = f.present[first+uint64(i)]
			}
			return nil
		},
		peek: func(addr uint64, b []byte) bool {
			for i, w := range f.memory[addr] {
				binary.NativeEndian.PutUint64(b[8*i:], w)
			}
			return f.memory[addr] != nil
		},
		header: func(m *mapping) []segment { return f.files[m.name] },
	}
	return f
}

// touch makes pages resident.
func (f *faked) touch(from, to uint64) {
	for ; from < to; from += f.page {
		f.present[from/f.page] = pagePresent | pageExclusive
	}
}

func (f *faked) report(t testing.TB) *Report {
	t.Helper()
	var r Report
	if err := f.fill(&r); err != nil {
		t.Fatal(err)
	}
	if err := r.Check(); err != nil {
		t.Error(err)
	}
	return &r
}

// wantKiB compares the classes; those that are not named must be empty.
func wantKiB(t *testing.T, r *Report, want map[Class]uint64) {
	t.Helper()
	for c, u := range r.Classes {
		if u.RSS != want[Class(c)]*kib {
			t.Errorf("%v has %d KiB, want %d", Class(c), u.RSS/kib, want[Class(c)])
		}
	}
}

// golden compares the table with the file of that name.
func golden(t *testing.T, r *Report, file string) {
	t.Helper()
	var b bytes.Buffer
	if err := r.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("testdata", file)
	if *update {
		if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(b.Bytes(), want) {
		t.Errorf("%v, the table is\n%s\nwant\n%s", err, b.Bytes(), want)
	}
}

// A program without C: a tier and another reservation share a mapping, and zeroed data lies behind
// the file's.
func TestFill_AProgramAlone(t *testing.T) {
	f := fake(t, "static.smaps")
	f.object = 0xd93c001000
	f.mapped = 4<<20 + 2<<20 - 32<<10 // what there is but for the table of arenas, and rounding
	f.files["/opt/game"] = []segment{{0, 0x400000, 0x100000, 0x100000}, {0x100000, 0x500000, 0x10000, 0x3f800}}
	f.owners = f.owners.claim(owner{from: 0x7f0000010000, to: 0x7f0000080000, class: Tiers, tier: tiers.Slab})
	f.owners = f.owners.claim(owner{from: 0x7f0000000000, to: 0x7f0000200000, class: Pages})
	f.touch(0x7f0000000000, 0x7f0000100000)
	r := f.report(t)
	wantKiB(t, r, map[Class]uint64{Code: 600 + 64 + 100, GoHeap: 2048, Tiers: 448, Pages: 1024 - 448, GoRuntime: 56,
		Files: 128, Driver: 256, Stacks: 16, Libraries: 8})
	if r.Tiers[tiers.Slab].RSS != 448*kib || r.Named || r.Mappings != 12 || r.RSS != 4300*kib || len(r.Suspects) != 0 {
		t.Errorf("%+v", r)
	}
	if u := r.Classes[Code]; u.Pss != 464*kib || u.Shared != 600*kib || u.Private != 164*kib || u.Dirty != 140*kib {
		t.Errorf("code: %+v", u)
	}
	golden(t, r, "static.txt")
}

// What is more than the runtime has mapped is not its own, and so much of it is unexplained.
func TestFill_WhatIsForeignAmongGosMappingsIsUnexplained(t *testing.T) {
	f := fake(t, "static.smaps")
	f.object = 0xd93c001000
	f.owners = f.owners.claim(owner{from: 0x7f0000000000, to: 0x7f0000200000, class: Pages})
	f.mapped = 5 << 20 // 1 MiB, less rounding and zeroed data whose file cannot be read
	r := f.report(t)
	if u := r.Classes[Unexplained].RSS; u != 156*kib || len(r.Suspects) != 2 || r.Suspects[0].RSS != 100*kib || r.Suspects[1].From != 0x7f0040000000 {
		t.Errorf("%d KiB are unexplained, of %+v", u/kib, r.Suspects)
	}
	f.mapped = 7 << 20
	if u := f.report(t).Classes[Unexplained].RSS; u != 0 {
		t.Errorf("%d KiB are unexplained where nothing is foreign", u/kib)
	}
}

// Reserved memory is not the runtime's, and nobody has listed it.
func TestFill_WhatNobodyHasListedIsUnexplained(t *testing.T) {
	f := fake(t, "static.smaps")
	f.object, f.mapped = 0xd93c001000, 7<<20
	r := f.report(t)
	if u := r.Classes[Unexplained].RSS; u != 1024*kib || len(r.Suspects) != 1 || r.Suspects[0].Perm != "rw-p" || r.Suspects[0].From != 0x7f0000000000 {
		t.Errorf("%d KiB are unexplained, of %+v", u/kib, r.Suspects)
	}
	golden(t, r, "strange.txt")
}

func TestFill_TheKernelsNamesCount(t *testing.T) {
	r := fake(t, "named.smaps").report(t)
	wantKiB(t, r, map[Class]uint64{Code: 600, GoHeap: 1000, GoRuntime: 56, Unexplained: 340, Stacks: 12, Native: 512})
	if !r.Named || len(r.Suspects) != 2 || r.Suspects[1].Name != "[anon: somebody]" {
		t.Errorf("named: %t, %+v", r.Named, r.Suspects)
	}
}

// With C libraries their memory lies among Go's: glibc has written what is its own. One mapping
// holds 128 KiB of Go's books, two chunks, and 64 KiB more.
func TestFill_AProgramWithCLibraries(t *testing.T) {
	f := fake(t, "native.smaps")
	f.exe = "/opt/game (deleted)"
	f.object = 0x328258000000
	f.mapped = 4<<20 + 192<<10
	f.files["/usr/lib/libgreat.so.1.2"] = []segment{{0, 0, 0x100000, 0x100000}, {0x100000, 0x100000, 0x1000, 0x8001}}
	f.memory[0x7f0004000000] = []uint64{0x7f0004000030, 0, 0x20000, 0x21000}
	f.memory[0x7f0010020000] = []uint64{0, 0x10000 | 2, 0, 0}
	f.memory[0x7f0010030000] = []uint64{0, 0x40000 | 2, 0, 0}
	f.touch(0x7f0004000000, 0x7f0004021000)
	f.touch(0x7f0010000000, 0x7f0010040000)
	f.touch(0x7f0010070000, 0x7f001007b000)
	f.touch(0x7f0020101000, 0x7f002010b000)
	r := f.report(t)
	// Of 64 KiB behind the library 32 are its own and resident, and 8 of the others.
	wantKiB(t, r, map[Class]uint64{Code: 600, GoHeap: 3000, Native: 700 + 92 + 128 + 200, GoRuntime: 172 + 8, Stacks: 12, Libraries: 804 + 32, Driver: 64})
	if len(r.Libraries) != 1 || r.Libraries[0].RSS != 836*kib || r.Libraries[0].Pss != (104+32)*kib {
		t.Errorf("%+v", r.Libraries)
	}
	golden(t, r, "native.txt")
}

func TestFill_WhatOnlyLooksLikeMallocIsNot(t *testing.T) {
	for _, words := range [][]uint64{
		{1, 0x40000 | 2, 0, 0}, {0, 0x40000 | 3, 0, 0}, {0, 0x40000, 0, 0}, {0, 0x8000 | 2, 0, 0}, {0, 0x40100 | 2, 0, 0},
		{0, 0x90000 | 2, 0, 0}, {0, ^uint64(7) | 2, 0, 0},
	} {
		f := fake(t, "native.smaps")
		f.touch(0x7f0010000000, 0x7f0010080000)
		f.memory[0x7f0010000000] = words
		if err := f.fill(new(Report)); err != nil || len(f.owners) != 0 {
			t.Errorf("%#x: claimed %+v, %v", words, f.owners, err)
		}
	}
	for _, words := range [][]uint64{{0, 0, 0x20000, 0x21000}, {1, 0, 0, 0x21000}, {1, 0, 0x22000, 0x21000}, {1, 0, 0x20000, 0x22000}, {1, 0, 0x20000, 0x20100}} {
		f := fake(t, "native.smaps")
		f.touch(0x7f0004000000, 0x7f0004021000)
		f.memory[0x7f0004000000] = words
		if r := f.report(t); r.Classes[Unexplained].RSS < 92*kib {
			t.Errorf("%#x is taken for the heap of a thread", words)
		}
	}
}

// A manager on page.Heap lies within the Go heap.
func TestFill_TiersWithinTheGoHeap(t *testing.T) {
	f := fake(t, "static.smaps")
	f.object, f.mapped = 0xd93c001000, 7<<20
	f.owners = f.owners.claim(owner{from: 0xd93c100000, to: 0xd93c300000, class: Tiers, tier: tiers.Pools})
	f.touch(0xd93c000000, 0xd93c200000)
	if r := f.report(t); r.Tiers[tiers.Pools].RSS != 1024*kib || r.Classes[GoHeap].RSS != 1024*kib {
		t.Errorf("pools %+v, Go heap %+v", r.Tiers[tiers.Pools], r.Classes[GoHeap])
	}
}

func TestCut_ThePageOfZerosIsNotResident(t *testing.T) {
	f := fakeOf([]byte("1000000-1100000 rw-p 00000000 00:00 0 \nRss: 64 kB\nVmFlags: nr\n"))
	f.owners = owners{{from: 0x1000000, to: 0x1080000, class: Tiers, tier: tiers.Frame}, {from: 0x1080000, to: 0x1100000, class: Tiers, tier: tiers.Level}}
	f.touch(0x1000000, 0x1008000)
	f.touch(0x10f8000, 0x1100000)
	for n := uint64(0x1010); n < 0x1080; n++ {
		f.present[n] = pagePresent // read, never written
	}
	if r := f.report(t); r.Tiers[tiers.Frame].RSS != 32*kib || r.Tiers[tiers.Level].RSS != 32*kib {
		t.Errorf("frame %d KiB, level %d KiB", r.Tiers[tiers.Frame].RSS/kib, r.Tiers[tiers.Level].RSS/kib)
	}
}

func TestCut_PagesOf64KiB(t *testing.T) {
	f := fakeOf([]byte("1000000-1100000 rw-p 00000000 00:00 0 \nRss: 256 kB\nVmFlags: nr\n"))
	f.page = 64 << 10
	f.owners = owners{{from: 0x1000000, to: 0x1080000, class: Tiers, tier: tiers.Frame}, {from: 0x1080000, to: 0x1100000, class: Tiers, tier: tiers.Level}}
	f.touch(0x1000000, 0x1030000)
	f.touch(0x1080000, 0x1090000)
	if r := f.report(t); r.Tiers[tiers.Frame].RSS != 192*kib || r.Tiers[tiers.Level].RSS != 64*kib {
		t.Errorf("frame %d KiB, level %d KiB", r.Tiers[tiers.Frame].RSS/kib, r.Tiers[tiers.Level].RSS/kib)
	}
}

// Pages that went or came between smaps and pagemap move the border between two, not the sum.
func TestCut_WhatChangedMeanwhileDoesNotChangeTheSum(t *testing.T) {
	for _, touched := range []uint64{0, 0x1001000, 0x1100000} {
		f := fakeOf([]byte("1000000-1100000 rw-p 00000000 00:00 0 \nRss: 64 kB\nVmFlags: nr\n"))
		f.owners = owners{{from: 0x1000000, to: 0x1080000, class: Tiers, tier: tiers.Frame}, {from: 0x1080000, to: 0x1100000, class: Pages}}
		f.touch(0x1000000, touched)
		if r := f.report(t); r.RSS != 64*kib {
			t.Errorf("%d KiB", r.RSS/kib)
		}
	}
}

func TestFill_APagemapThatCannotBeReadIsAnError(t *testing.T) {
	f := fake(t, "static.smaps")
	f.owners = owners{{from: 0x7f0000010000, to: 0x7f0000080000, class: Tiers}}
	denied := errors.New("denied")
	f.process.pagemap = func(uint64, []uint64) error { return denied }
	if err := f.fill(new(Report)); !errors.Is(err, denied) || !strings.Contains(err.Error(), "which pages of [0x7f0000000000, 0x7f0000100000)") {
		t.Error(err)
	}
}

func TestClaim_WhoComesFirstKeepsWhatIsHis(t *testing.T) {
	const n = 200
	var all owners
	var model [n]Class
	for i := range model {
		model[i] = Count
	}
	seed := uint64(1)
	random := func(below uint64) uint64 {
		seed = seed*6364136223846793005 + 1442695040888963407
		return seed >> 33 % below
	}
	for range 60 {
		from, c := random(n), Class(random(Count))
		to := from + random(n-from+1)/4
		all = all.claim(owner{from: from, to: to, class: c})
		for i := from; i < to; i++ {
			if model[i] == Count {
				model[i] = c
			}
		}
		for i := range model {
			got := Class(Count)
			if in := all.within(uint64(i), uint64(i)+1); len(in) == 1 {
				got = in[0].class
			} else if len(in) > 1 {
				t.Fatalf("%d have %d", len(in), i)
			}
			if got != model[i] {
				t.Fatalf("%d is %v's, want %v", i, got, model[i])
			}
		}
	}
	if !slices.IsSortedFunc(all, func(a, b owner) int { return int(a.from) - int(b.from) }) {
		t.Error("out of order")
	}
}

func TestUsage_TakeLosesNothing(t *testing.T) {
	whole := Usage{RSS: 1 << 52, Pss: 1<<52 - 3, Private: 1 << 51, Shared: 1 << 51, Dirty: 12345}
	left, sum := whole, Usage{}
	for _, n := range []uint64{0, 1, 1 << 40, 1 << 51, 1 << 60} {
		sum.add(left.take(n))
	}
	if sum != whole || left != (Usage{}) {
		t.Errorf("%+v and %+v are left of %+v", sum, left, whole)
	}
	half := Usage{RSS: 100, Pss: 50, Private: 20, Shared: 80, Dirty: 10}
	if got := half.take(50); got != (Usage{50, 25, 10, 40, 5}) {
		t.Errorf("half is %+v", got)
	}
}
