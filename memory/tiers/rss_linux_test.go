package tiers

import (
	"os"
	"path/filepath"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory/pool"
)

func TestRSS_IsTheSecondFieldInPages(t *testing.T) {
	page := uint64(os.Getpagesize())
	for text, want := range map[string]uint64{
		"100 25 3 4 5 6 7\n": 25 * page, "1 1234567890 9\n": 1234567890 * page, "7 0 1\n": 0, "": 0, "12": 0,
	} {
		name := filepath.Join(t.TempDir(), "statm")
		must(t, os.WriteFile(name, []byte(text), 0o600))
		f, err := os.Open(name)
		must(t, err)
		r := rssReader{file: f, page: page}
		if got := r.read(); got != want {
			t.Errorf("%q: %d bytes, want %d", text, got, want)
		}
		r.close()
		r.close()
		if r.file != nil || r.read() != 0 {
			t.Error("a closed reader reads")
		}
	}
	var r rssReader
	r.open()
	defer r.close()
	if got := r.read(); got < 1<<20 || got%page != 0 {
		t.Errorf("this process has %d resident bytes", got)
	}
}

// knownMemory returns a manager, and a function that returns what its tiers are taken to have resident.
func knownMemory(t *testing.T) (m *Manager, known func() uint64) {
	t.Helper()
	m = newManager(t, small())
	name := filepath.Join(t.TempDir(), "statm")
	must(t, os.WriteFile(name, []byte("1 1000000\n"), 0o600))
	f, err := os.Open(name)
	must(t, err)
	m.rss.close()
	m.rss = rssReader{file: f, page: uint64(os.Getpagesize())}
	return m, func() uint64 {
		var s Snapshot
		m.Snapshot(&s)
		return s.RSS - s.Untracked - (s.Go.Total - s.Go.Released)
	}
}

// Memory that a tier has freed stays resident until it is decommitted: a game that unloads is no growth of Untracked.
func TestSnapshot_FreedMemoryIsNoPartOfUntracked(t *testing.T) {
	m, known := knownMemory(t)
	b, err := pool.NewBlocks(m.PoolSource(), pool.BlocksConfig{Size: 16 << 10, Capacity: 64})
	must(t, err)
	m.AddPool("blocks", b)
	must(t, m.BeginLevel())
	must(t, m.BeginFrame())
	none, mark := known(), m.Level().Mark()
	var slots, blocks [64]unsafe.Pointer
	for i := range slots {
		slots[i], blocks[i] = alloc(t, b, 16<<10), alloc(t, m, 16<<10)
	}
	alloc(t, m.Level(), 1<<20)
	alloc(t, m.Frame(), 100<<10)
	full := known()
	if want := none + 3<<20 + 100<<10; full < want || full > want+512<<10 {
		t.Errorf("%d bytes before the blocks, %d with them; want about %d", none, full, want)
	}
	m.Level().Rewind(mark)
	for i := range slots {
		b.Put(slots[i])
		m.Free(blocks[i], 16<<10)
	}
	if freed := known(); freed != full {
		t.Errorf("%d bytes, all freed %d", full, freed)
	}
	must(t, b.Trim())
	if trimmed := known(); trimmed+1<<20 != full {
		t.Errorf("%d bytes, without the MiB of the pool %d", full, trimmed)
	}
	must(t, m.NextFrame())
	must(t, m.NextFrame())
	large := m.Stats(Large).Committed // of which EndFrame returns some
	if expired := known(); expired+large-m.Stats(Large).Committed+1<<20 != full {
		t.Errorf("%d bytes, %d when the frame has expired, and Large has returned %d", full, expired, large-m.Stats(Large).Committed)
	}
}

// A pool that grows beside one that shrinks takes new memory, though the bytes in use of the tier stay.
func TestSnapshot_APoolThatShrinksKeepsItsPages(t *testing.T) {
	const size, n = 16 << 10, 64
	m, known := knownMemory(t)
	var pools [2]*pool.Blocks
	for i := range pools {
		var err error
		pools[i], err = pool.NewBlocks(m.PoolSource(), pool.BlocksConfig{Size: size, Capacity: n})
		must(t, err)
		m.AddPool("blocks", pools[i])
	}
	var slots [n]unsafe.Pointer
	for i := range slots {
		slots[i] = alloc(t, pools[0], size)
	}
	before := known()
	for i := range slots {
		pools[0].Put(slots[i])
		alloc(t, pools[1], size)
		if got, want := known()-before, uint64(i+1)*size; got != want {
			t.Fatalf("%d bytes more than before, want %d", got, want)
		}
	}
	must(t, pools[0].Trim())
	if got := known(); got != before {
		t.Errorf("%d bytes after Trim, want %d", got, before)
	}
}

// A block that is rewound before the next Snapshot has taken memory, and each frame buffer has its own.
func TestSnapshot_MemoryOfFrameAndLevelStays(t *testing.T) {
	m, known := knownMemory(t)
	must(t, m.BeginLevel())
	must(t, m.NextFrame())
	before, mark := known(), m.Level().Mark()
	alloc(t, m.Level(), 1<<20)
	m.Level().Rewind(mark)
	if got := known(); got != before+1<<20 {
		t.Errorf("%d bytes more after a MiB of the level, rewound", got-before)
	}
	alloc(t, m.Frame(), 100<<10)
	for range 3 { // a frame for the other buffer
		must(t, m.NextFrame())
	}
	alloc(t, m.Frame(), 100<<10)
	if got := known(); got != before+1<<20+200<<10 {
		t.Errorf("%d bytes more, want a MiB of the level and 200 KiB of two frame buffers", got-before)
	}
	must(t, m.EndFrame())
	_, err := m.EndLevel()
	must(t, err)
}
