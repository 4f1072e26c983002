package main

import (
	"bytes"
	"slices"
	"unsafe"

	"github.com/strata-go/strata/memory/plan"
)

// planned models package plan: buffers are gathered until there is a set, which is then
// planned, verified, written, read and carried out. One step is one buffer.
type planned struct {
	s    *segment
	set  []plan.Buffer
	size int // of the next set
}

func openPlan(s *segment) model { return &planned{s: s, size: 1 + s.n(40)} }

func (m *planned) step() {
	birth := m.s.n(24)
	m.set = append(m.set, plan.Buffer{
		ID: uint32(len(m.set)), Size: m.s.size(8 << 10), Align: m.s.align(4096), Birth: birth, Death: birth + 1 + m.s.n(8),
	})
	if len(m.set) < m.size {
		return
	}
	m.s.note("Fast of buffers", 0, uint64(len(m.set)), 0)
	p, err := plan.Fast(m.set)
	m.s.must("Fast", err)
	m.inspect(p)
	if m.s.one(64) {
		m.exact(p)
	}
	if m.s.one(4) {
		m.wire(p)
		m.carryOut(p)
	}
	m.set, m.size = m.set[:0], 1+m.s.n(40)
}

// inspect verifies a plan without the plan's own Verify.
func (m *planned) inspect(p *plan.Plan) {
	m.s.must("Verify", p.Verify())
	if p.Len() != len(m.set) {
		m.s.failf("%d buffers planned, want %d", p.Len(), len(m.set))
	}
	for i, b := range m.set {
		off := p.Offset(b.ID)
		if off%b.Align != 0 || off+b.Size > p.Total() {
			m.s.failf("%+v lies at %d of %d", b, off, p.Total())
		}
		for _, c := range m.set[:i] {
			at := p.Offset(c.ID)
			if b.Birth < c.Death && c.Birth < b.Death && off < at+c.Size && at < off+b.Size {
				m.s.failf("%+v at %d and %+v at %d live together and overlap", b, off, c, at)
			}
		}
	}
	if load := m.load(); p.Bound() < load || p.Total() < load || p.Bound() > p.Total() {
		m.s.failf("the largest load is %d; the plan says bound %d, total %d", load, p.Bound(), p.Total())
	}
}

// load is the largest sum of sizes that live at one moment, unrounded.
func (m *planned) load() (most uintptr) {
	for now := range 32 {
		sum := uintptr(0)
		for _, b := range m.set {
			if b.Birth <= now && now < b.Death {
				sum += b.Size
			}
		}
		most = max(most, sum)
	}
	return most
}

func (m *planned) exact(fast *plan.Plan) {
	m.s.note("Exact of buffers", 0, uint64(len(m.set)), 0)
	p, _, err := plan.Exact(m.set, plan.Limits{Steps: 2000})
	m.s.must("Exact", err)
	m.inspect(p)
	if p.Total() > fast.Total() {
		m.s.failf("Exact takes %d bytes, Fast %d", p.Total(), fast.Total())
	}
}

// wire writes the plan and reads it back, whole and damaged.
func (m *planned) wire(p *plan.Plan) {
	file, err := p.MarshalBinary()
	m.s.must("MarshalBinary", err)
	q, err := plan.Read(bytes.NewReader(file))
	m.s.must("Read", err)
	if again, _ := q.MarshalBinary(); !bytes.Equal(again, file) {
		m.s.failf("a plan that was read writes another file")
	}
	hurt := slices.Clone(file)
	hurt[m.s.n(len(hurt))] ^= 1 << m.s.n(8)
	if _, err := plan.Read(bytes.NewReader(hurt)); err == nil {
		m.s.failf("a damaged file is read as a plan")
	}
	if _, err := plan.Read(bytes.NewReader(file[:m.s.n(len(file))])); err == nil {
		m.s.failf("a file cut short is read as a plan")
	}
}

// carryOut goes through the moments of a plan in an arena; every buffer must hold at its death
// what it was filled with at its birth.
func (m *planned) carryOut(p *plan.Plan) {
	a, err := plan.New(nil, p)
	m.s.must("New", err)
	bytesOf := func(b plan.Buffer) place { return place{unsafe.Slice((*byte)(a.Get(b.ID)), b.Size), uint64(b.ID)} }
	a.Begin(0)
	for now := range 33 {
		for _, b := range m.set {
			if b.Death == now+1 && b.Birth <= now && b.Birth != now && b.Size > 0 {
				m.alive(b, bytesOf(b))
			}
		}
		a.Advance(now)
		for _, b := range m.set {
			if b.Birth == now && b.Size > 0 {
				if uintptr(a.Get(b.ID))%b.Align != 0 || !a.Owns(a.Get(b.ID)) {
					m.s.failf("%+v is at %p", b, a.Get(b.ID))
				}
				bytesOf(b).fill()
			}
		}
		for _, b := range m.set {
			if b.Birth <= now && now < b.Death && b.Size > 0 {
				m.alive(b, bytesOf(b))
			}
		}
	}
	m.s.must("Check", a.Check())
	m.s.must("Close", a.Close())
	m.s.must("Close again", a.Close())
}

func (m *planned) alive(b plan.Buffer, p place) {
	if off, ok := p.intact(); !ok {
		m.s.failf("byte %d of %+v has changed while it lives", off, b)
	}
}

func (m *planned) check()  {}
func (m *planned) finish() {}
