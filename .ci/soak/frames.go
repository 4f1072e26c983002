package main

import (
	"unsafe"

	"github.com/strata-go/strata/memory/arena"
)

// frames models arena.Frames: a ring of shadows, of which Advance ends the oldest.
type frames struct {
	s      *segment
	f      *arena.Frames
	bytes  uintptr
	ring   []*shadow
	frame  uint64
	ran    int // hooks that ran since
	owed   []int
	allocs uint64
	frees  uint64
}

func openFrames(s *segment) model {
	n, bytes := 1+s.n(4), capacity(s)
	f, err := arena.NewFrames(nil, arena.FramesConfig{Buffers: n, Bytes: bytes})
	s.must("NewFrames", err)
	m := &frames{s: s, f: f, bytes: bytes, ring: make([]*shadow, n), owed: make([]int, n)}
	for i := range m.ring {
		m.ring[i] = newShadow(s, 0)
		m.ring[i].taken = m.ring[0].taken
	}
	return m
}

func (m *frames) step() {
	switch roll := m.s.n(1000); {
	case roll < 10:
		m.advance()
	case roll < 12:
		m.f.Current().OnReset(func() { m.ran++ })
		m.owed[m.slot()]++
	case roll < 16:
		alien := new([16]byte)
		m.s.refused("a foreign pointer", m.f.Stats, func() { m.f.Free(unsafe.Pointer(alien), 16) })
	case roll == 16 && m.s.one(50):
		m.reset()
	case roll < 300:
		m.free()
	default:
		m.alloc()
	}
}

func (m *frames) slot() int { return int(m.frame % uint64(len(m.ring))) }

func (m *frames) alloc() {
	now := m.ring[m.slot()]
	size, align := max(m.s.size(1024), 1), m.s.align(256)
	m.s.note("Alloc size align", 0, uint64(size), uint64(align))
	before := m.f.Current().Used()
	p, err := m.f.Alloc(size, align)
	if err == nil {
		now.born(p, size, align)
		m.allocs++
	} else if before+size+align <= m.bytes {
		m.s.failf("Alloc(%d, %d) with %d of %d bytes in use: %v", size, align, before, m.bytes, err)
	}
}

// free takes the newest block of the current frame back.
func (m *frames) free() {
	now := m.ring[m.slot()]
	if len(now.live) == 0 {
		return
	}
	b, before := now.live[len(now.live)-1], m.f.Stats()
	m.s.note("Free newest p size id", uintptr(b.p), uint64(b.size), b.id)
	now.verify(b)
	m.f.Free(b.p, b.size)
	if after := m.f.Stats(); after.Live == before.Live-1 {
		now.taken.drop(b.p, b.size)
		now.live = now.live[:len(now.live)-1]
		m.frees++
	} else if after != before {
		m.s.failf("%v was freed: the books went from %+v to %+v", b, before, after)
	}
}

// advance verifies that every frame but the oldest is readable, and ends that one.
func (m *frames) advance() {
	m.s.note("Advance", 0, m.frame, 0)
	if m.s.one(8) {
		for _, sh := range m.ring {
			sh.verifyAll()
		}
	}
	m.frame++
	m.die(m.slot())
	want := m.ran + m.owed[m.slot()]
	m.owed[m.slot()] = 0
	m.f.Advance()
	if m.ran != want || m.f.Frame() != m.frame {
		m.s.failf("frame %d, want %d; %d hooks ran, want %d", m.f.Frame(), m.frame, m.ran, want)
	}
}

func (m *frames) die(slot int) {
	m.frees += uint64(len(m.ring[slot].live))
	m.ring[slot].diesAll(0)
}

func (m *frames) reset() {
	m.s.note("Reset", 0, 0, 0)
	want := m.ran
	for i := range m.ring {
		m.die(i)
		want += m.owed[i]
		m.owed[i] = 0
	}
	if m.f.Reset(); m.ran != want {
		m.s.failf("%d hooks ran, want %d", m.ran, want)
	}
	m.frame = m.f.Frame()
}

func (m *frames) check() {
	m.s.must("Check", m.f.Check())
	var live, requested uint64
	for _, sh := range m.ring {
		sh.verifyAll()
		live += uint64(len(sh.live))
		for _, b := range sh.live {
			requested += uint64(b.size)
		}
	}
	if st := m.f.Stats(); st.Live != live || st.Allocs != m.allocs || st.Frees != m.frees || st.InUse < requested ||
		st.InUse > st.Committed || st.Peak < st.InUse {
		m.s.failf("%d live of %d bytes, %d allocated, %d freed; the books say %+v", live, requested, m.allocs, m.frees, st)
	}
}

func (m *frames) finish() {
	m.reset()
	m.check()
	closing(m.s, m.f)
}
