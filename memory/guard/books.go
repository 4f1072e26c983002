package guard

import (
	"unsafe"

	"github.com/strata-go/strata/memory"
)

// A record is what is known of one block. Records 0 to 2 are the anchors of the rings, so that
// the index 0, an anchor, also means none.
type record struct {
	addr       uintptr        // of the caller's first byte; stays when the memory is inner's again
	block      unsafe.Pointer // the same as a pointer; nil once gone, when it must not be used
	size       uintptr        // bytes, as requested
	front      uint32         // bytes of canary before the block
	back       uint32         // bytes of canary behind it
	serial     uint64         // number of the allocation, from 1
	allocSite  uint32
	freeSite   uint32
	next, prev uint32 // in the ring of state
	state      state
	busy       bool // inner is freeing or cutting the memory: its bytes are not looked at
	passed     bool // inner has the memory from another allocator, and does not own it
}

// state is where a record is; those with a ring are the index of its anchor.
type state uint8

const (
	live state = iota
	quarantined
	gone // inner has the memory back
	anchorCount
	spare = anchorCount
)

func (s state) String() string {
	return [...]string{"live", "in quarantine", "gone", "spare"}[s]
}

// total returns the bytes that inner was asked for.
func (r *record) total() uintptr { return uintptr(r.front) + r.size + uintptr(r.back) }

// start returns what inner handed out.
func (r *record) start() unsafe.Pointer { return unsafe.Add(r.block, -int(r.front)) }

func (r *record) bytes() []byte { return unsafe.Slice((*byte)(r.block), r.size) }

func (r *record) frontCanary() []byte { return unsafe.Slice((*byte)(r.start()), r.front) }

func (r *record) backCanary() []byte {
	return unsafe.Slice((*byte)(unsafe.Add(r.block, r.size)), r.back)
}

// paint writes both canaries.
func (r *record) paint() {
	fill(r.frontCanary(), &canaryPage)
	fill(r.backCanary(), &canaryPage)
}

// books holds all records: three rings in the order of arrival, and the sums over two of them.
type books struct {
	records   []record
	names     map[uintptr]uint32 // by addr, every record in a ring
	spare     uint32             // unused records, linked by next; 0 ends
	inUse     uint64             // bytes of live blocks, canaries included
	requested uint64             // bytes of live blocks
	held      uintptr            // bytes in quarantine, canaries included
	goneCount int
}

func newBooks() books {
	b := books{records: make([]record, anchorCount, 64), names: make(map[uintptr]uint32)}
	for s := range anchorCount {
		b.records[s] = record{state: s, next: uint32(s), prev: uint32(s)}
	}
	return b
}

// newRecord makes a record for p, in no ring.
func (b *books) newRecord(p unsafe.Pointer) uint32 {
	i := b.spare
	if i != 0 {
		b.spare = b.records[i].next
	} else {
		i = uint32(len(b.records))
		b.records = append(b.records, record{})
	}
	b.records[i] = record{addr: uintptr(p), block: p, state: spare}
	b.names[uintptr(p)] = i
	return i
}

// push puts record i at the end of the ring of s, as its newest.
func (b *books) push(s state, i uint32) {
	r, end := &b.records[i], &b.records[s]
	r.state, r.next, r.prev = s, uint32(s), end.prev
	b.records[end.prev].next = i
	end.prev = i
	b.count(r, 1)
}

// unlink takes record i out of its ring.
func (b *books) unlink(i uint32) {
	r := &b.records[i]
	b.records[r.prev].next = r.next
	b.records[r.next].prev = r.prev
	b.count(r, -1)
}

// count adds r to the sums of its ring, or takes it off.
func (b *books) count(r *record, sign int) {
	switch n := r.total(); r.state {
	case live:
		b.inUse += uint64(sign) * uint64(n)
		b.requested += uint64(sign) * uint64(r.size)
	case quarantined:
		b.held += uintptr(sign) * n
	case gone:
		b.goneCount += sign
	}
}

// forget drops record i, which is in the ring of those gone.
func (b *books) forget(i uint32) {
	b.unlink(i)
	delete(b.names, b.records[i].addr)
	b.records[i] = record{state: spare, next: b.spare}
	b.spare = i
}

// covering returns the record of a live or quarantined block that p points into, canaries
// included, or 0. Cost: proportional to those.
func (b *books) covering(p unsafe.Pointer) uint32 {
	for i := range b.records {
		r := &b.records[i]
		if r.block != nil && uintptr(p)-uintptr(r.start()) < r.total() {
			return uint32(i)
		}
	}
	return 0
}

// anyBlock returns the start of the newest live block that o owns, or of the newest such block in quarantine, or nil. It
// passes over the block of record but. Cost: proportional to the newer blocks, which o does not own.
func (b *books) anyBlock(o memory.Owner, but uint32) unsafe.Pointer {
	for _, s := range []state{live, quarantined} {
		for i := b.records[s].prev; i != uint32(s); i = b.records[i].prev {
			if start := b.records[i].start(); i != but && o.Owns(start) {
				return start
			}
		}
	}
	return nil
}
