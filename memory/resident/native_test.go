package resident

import (
	"encoding/binary"
	"slices"
	"testing"
)

// What malloc's words say is believed up to each of their bounds.
func TestFill_MallocsIsWhatIsWithinAllBounds(t *testing.T) {
	for _, c := range []struct {
		at    uint64
		words []uint64
		size  uint64
	}{
		{0x7f0010000000, []uint64{0, leastChunk | 2, 0, 0}, leastChunk},
		{0x7f0010000000, []uint64{0, 0x80000 | 2, 0, 0}, 0x80000}, // to the end of the mapping
		{0x7f0004000000, []uint64{1, 0, 0x21000, 0x21000}, 0x21000},
		{0x7f0004000000, []uint64{1, 0, 1, 0x1000}, 0x1000},
	} {
		f := fake(t, "native.smaps")
		f.touch(c.at, c.at+c.size)
		f.memory[c.at] = c.words
		if err := f.fill(new(Report)); err != nil || len(f.owners) != 1 || f.owners[0] != (owner{from: c.at, to: c.at + c.size, class: Native}) {
			t.Errorf("%#x: claimed %+v, %v", c.words, f.owners, err)
		}
	}
}

// To look at a page that is not resident would make it so; and within a chunk lies what the program wrote.
func TestFill_MallocsIsLookedForOnResidentPagesThatAreNobodys(t *testing.T) {
	const at = 0x7f0010000000
	f := fake(t, "native.smaps")
	f.memory[at] = []uint64{0, 0x20000 | 2, 0, 0}
	f.memory[at+0x10000] = []uint64{0, 0x40000 | 2, 0, 0} // within the one before
	f.memory[at+0x60000] = []uint64{0, 0x20000 | 2, 0, 0} // not resident
	f.memory[at+0x40000] = []uint64{0, 0x10000 | 2, 0, 0} // owned
	f.owners = owners{{from: at + 0x40000, to: at + 0x41000, class: Pages}}
	f.touch(at, at+0x50000)
	want := owners{{from: at, to: at + 0x20000, class: Native}, f.owners[0]}
	if err := f.fill(new(Report)); err != nil || !slices.Equal(f.owners, want) {
		t.Errorf("%+v, want %+v; %v", f.owners, want, err)
	}
}

// The panel of the process reads during play: an object for each page was 2,800 in a read.
func TestFill_APageAndAMappingAllocateNothing(t *testing.T) {
	f := fake(t, "native.smaps")
	m, flags := new(mapping), []byte("VmFlags: rd wr mr mw me ac sd nr nh ")
	if n := testing.AllocsPerRun(100, func() { f.chunk(0x7f0010000000, 0x7f0010010000) }); n != 0 {
		t.Errorf("a page: %v objects", n)
	}
	if n := testing.AllocsPerRun(100, func() { _, _ = m.field(flags) }); n != 0 || !m.noReserve || !m.noHugePage {
		t.Errorf("flags: %v objects; %+v", n, m)
	}
}

func TestFill_MallocIsNotLookedForBeyond4GiB(t *testing.T) {
	const chunk = 128 << 10
	for text, want := range map[string]uint64{
		"100000000-200000000 rw-p 00000000 00:00 0\nRss: 128 kB\n": chunk,
		"100000000-200001000 rw-p 00000000 00:00 0\nRss: 128 kB\n": 0,
	} {
		f := fakeOf([]byte(text + library))
		f.mapped = 1 << 40
		f.memory[0x100000000] = []uint64{0, chunk | 2, 0, 0}
		f.touch(0x100000000, 0x100000000+chunk)
		if r := f.report(t); r.Classes[Native].RSS != want || r.Classes[GoRuntime].RSS != chunk-want {
			t.Errorf("%s: %d bytes are malloc's, want %d", text, r.Classes[Native].RSS, want)
		}
	}
}

// On 32 bits words are of four bytes, and heaps lie at 1 MiB.
func TestNative_On32Bits(t *testing.T) {
	memory := map[uint64][4]uint32{0x10000: {0, 0x20000 | 2, 7, 7}, 0x100000: {9, 0, 0x1000, 0x2000}, 0x180000: {9, 0, 0x1000, 0x2000}, 0x200000: {9, 0, 1, 0x101000}}
	p := process{page: 4096, word: 4, peek: func(addr uint64, b []byte) bool {
		w, ok := memory[addr]
		for i := range len(b) / 4 {
			binary.NativeEndian.PutUint32(b[4*i:], w[i])
		}
		return ok && len(b) == 16
	}}
	const end = 1 << 30
	if n := p.chunk(0x10000, end); n != 0x20000 {
		t.Errorf("a chunk of %#x bytes", n)
	}
	for addr, want := range map[uint64]uint64{0x100000: 0x2000, 0x180000: 0, 0x200000: 0, 0x300000: 0} {
		if n := p.threadHeap(addr, end); n != want {
			t.Errorf("at %#x a heap of %#x bytes, want %#x", addr, n, want)
		}
	}
	const writable = 1 << 30
	for word, index := range map[uint64]uint64{4: heapIndex32, 8: heapIndex} {
		p.word, p.mapped = word, 100<<20
		known := p.mapped + index
		if got, want := p.foreign(writable), writable-known-roundingBytes-known>>roundingShift; got != want {
			t.Errorf("with words of %d bytes %d are foreign, want %d", word, got, want)
		}
		if got := p.foreign(known); got != 0 {
			t.Errorf("with words of %d bytes %d are foreign of what is known", word, got)
		}
	}
}

// Zeroed data begins on the page behind the last byte of the file's, and ends on that of its own last.
func TestClaimZeroed_IsWholePagesBehindTheFiles(t *testing.T) {
	const page, at = 4096, 0x7f0000000000
	for _, c := range []struct{ addr, inFile, inMemory, from, to uint64 }{
		{0, 0, 0, 0, 0},
		{0, 0, 1, 0, page},
		{0, 1, page, 0, 0}, // the rest of a page is the file's
		{0, page, page, 0, 0},
		{0, page, page + 1, page, 2 * page},
		{0, page, 2 * page, page, 2 * page},
		{0, page + 1, 2 * page, 0, 0},
		{0, page + 1, 2*page + 1, 2 * page, 3 * page},
		{16, page - 16, page - 15, page, 2 * page},
		{16, page - 15, page - 14, 0, 0},
		{0, 3 * page, 2 * page, 0, 0},
	} {
		p := process{page: page}
		p.claimZeroed(&mapping{from: at, name: "/a.so"}, []segment{{addr: 0x400123}, {addr: 0x400000 + c.addr, inFile: c.inFile, inMemory: c.inMemory}}, Libraries)
		var want owners
		if c.to > 0 {
			want = owners{{from: at + c.from, to: at + c.to, class: Libraries, name: "/a.so"}}
		}
		if !slices.Equal(p.owners, want) {
			t.Errorf("%+v: %+v, want %+v", c, p.owners, want)
		}
	}
}
