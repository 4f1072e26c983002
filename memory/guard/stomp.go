package guard

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/align"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/page"
)

// A Stomp gives every block its own pages, with inaccessible pages around them. An access after the block and its
// padding faults at once, in the line of the access. So does an access through a dangling pointer to a freed block.
// Canaries show only writes, and only later.
//
//	place                                                 place
//	  | no access | no access ... FD FD | block          | no access | ...
//	              committed granules; the block ends where they do
//
// With StompConfig.Front the block lies at the start of its pages, and accesses before the block fault. A canary
// fills the side that does not fault, and the padding after a block. Free, Check and Close verify the canaries.
//
// The pages of a freed block are returned to the source at once. If the source refuses to take them back, they stay
// accessible (see [Stomp.Kept]). The place of a freed block, its address range, stays vacant as long as possible, so
// that dangling pointers fault. Alloc makes a new place as long as the reservation and StompConfig.Blocks allow it.
// Then Alloc reuses the smallest vacant place that is large enough. A place with refused pages must have exactly as
// many pages as the block needs. If no vacant place fits, Alloc replaces the vacant places at the end of the used
// addresses by a new place. If memory is the Go heap (-race, -asan, the browser), no access faults, but the canaries
// and all other checks work.
//
// A block costs at least two pages of address space and one page of memory, where a page has at least 16 KiB. It also
// costs two system calls and, on Linux, two of the 65,530 mappings of a process. A Stomp is therefore for tests and
// for one suspected type, not for a whole game.
//
// Blocks are filled with 0xCD. A Stomp belongs to one goroutine at a time. After Close, or after the source has ended,
// Alloc and Trim fail with memory.ErrClosed. SizeOf, and a Free or FreeAny of a block, panic with a *memory.Misuse.
type Stomp struct {
	// Invariants, verified by Check in this order:
	//
	//	(1) slots lie in address order within the reservation, without overlap, and end at next
	//	(2) the statistics are the sums over the slots that are live
	//	(3) the queue has the slots that are not live, each once; kept is the sum over some
	//	(4) every canary is intact
	src   page.Source
	mem   page.Memory
	unit  uintptr // bytes of a page of src
	cfg   StompConfig
	slots []slot
	names map[uintptr]uint32 // live and dead blocks by address
	queue []uint32           // vacant slots, the one that is vacant longest first
	next  uintptr            // bytes of the reservation in slots
	kept  uintptr            // bytes of vacant slots that the source refused

	stats   memory.Stats
	sites   sites
	gone    bool    // closed, but for the memory that the source refused
	found   []error // by a Close in which the source panicked, for the next one
	growing bool    // the source is committing, and may call a function of OnSoft
	unlink  func()
	owner   invariant.Owner
}

// A slot is a run of pages between two that are never committed.
type slot struct {
	off, span uintptr // bytes from the base, and whole pages of them
	room      uintptr // whole pages, span at most: what the block has committed
	at, size  uintptr // the block, from the base
	allocSite uint32
	freeSite  uint32
	live      bool
	kept      bool // vacant, and the source refused the pages
}

// StompConfig configures [NewStomp]. NewStomp refuses values out of range.
type StompConfig struct {
	// Reserve is the address space in bytes, at least three pages of the source. 0 means 4 GiB, or 256 MiB on 32-bit
	// systems and in the browser. If the system refuses, NewStomp halves the reservation, down to the space of one
	// block. In the browser NewStomp cannot ask and does not halve. There the error for more than 1 GiB wraps
	// memory.ErrConfig.
	Reserve uintptr
	// Blocks is the largest number of places for live and freed blocks, from 1 to 2^20. 0 means 16,000. A freed block
	// keeps its place, and so its call sites, until the place is reused or removed.
	Blocks int
	// Front puts the block at the start of its pages instead of at the end.
	Front bool
	// Frames is the number of callers in a call site, from 1 to 16. 0 means 8.
	Frames int
}

// NewStomp returns a Stomp with a reservation of src; nothing is committed. If src is nil, it is page.Default(). If a
// field is out of range, or src is an interface with a nil pointer, the error wraps memory.ErrConfig. If src fails, the
// error wraps the error of src.
func NewStomp(src page.Source, cfg StompConfig) (*Stomp, error) {
	src = cmp.Or(src, page.Default())
	cfg.Reserve = cmp.Or(cfg.Reserve, defaultStomp())
	cfg.Blocks = cmp.Or(cfg.Blocks, 16_000)
	cfg.Frames = cmp.Or(cfg.Frames, 8)
	if cfg.Blocks < 1 || cfg.Blocks > 1<<20 {
		return nil, fmt.Errorf("guard: new Stomp: Blocks %d: want 1 to %d: %w", cfg.Blocks, 1<<20, memory.ErrConfig)
	}
	if cfg.Frames < 0 || cfg.Frames > maxFrames {
		return nil, fmt.Errorf("guard: new Stomp: Frames %d: want 1 to %d: %w", cfg.Frames, maxFrames, memory.ErrConfig)
	}
	if invariant.Nil(src) {
		return nil, fmt.Errorf("guard: new Stomp: the source is a nil %T: want a page source, or no value for page.Default: %w", src, memory.ErrConfig)
	}
	unit := page.SizeOf(src)
	if cfg.Reserve < 3*unit {
		return nil, fmt.Errorf("guard: new Stomp: Reserve %d: want at least %d, for one block: %w", cfg.Reserve, 3*unit, memory.ErrConfig)
	}
	s := &Stomp{src: src, unit: unit, cfg: cfg, sites: newSites(), names: map[uintptr]uint32{}}
	var err error
	if s.mem, err = page.Reserve(src, cfg.Reserve, 3*unit); err != nil {
		return nil, fmt.Errorf("guard: new Stomp of %d bytes: %w", cfg.Reserve, err)
	}
	if w, ok := src.(page.Watched); ok {
		if s.unlink = w.Watch(func() { s.mem, s.unlink = page.Memory{}, nil; s.end() }); s.unlink == nil {
			return nil, fmt.Errorf("guard: new Stomp of %d bytes: %w", cfg.Reserve, memory.ErrClosed)
		}
	}
	return s, nil
}

func defaultStomp() uintptr {
	if runtime.GOARCH == "wasm" { // whose memory is a Go heap of 4 GiB at most
		return 256 << 20
	}
	return 256 << 20 << (4 * (^uintptr(0) >> 63))
}

// Alloc returns a block of size bytes, aligned to al, on its own pages and filled with 0xCD. If size is 0, the block
// has pages and an address, but no bytes. If the alignment is invalid, the error is memory.ErrAlign. If the block would
// not even fit an empty reservation, the error is memory.ErrTooLarge. If StompConfig.Blocks or the free part of the
// reservation is exhausted, the error wraps memory.ErrOutOfMemory. If the source fails, the error wraps the source's
// error.
//
// The source may call a function within Alloc, as page.Limit.OnSoft does. This function may free blocks. If it calls
// Alloc, that call panics with a *memory.Misuse. Cost: a system call and a stack trace.
func (s *Stomp) Alloc(size, al uintptr) (unsafe.Pointer, error) {
	if s.gone {
		return nil, memory.ErrClosed
	}
	if !align.Valid(al) {
		return nil, memory.ErrAlign
	}
	s.owner.Touch()
	if s.growing {
		panic(s.misuse("Alloc", nil, size, "the Stomp is committing: a function of OnSoft must not allocate from it"))
	}
	room := align.Up(max(size, 1), s.unit)
	if room < size || room > s.mem.Size-2*s.unit {
		s.stats.Failures++
		return nil, memory.ErrTooLarge
	}
	i, err := s.take(room)
	if err != nil {
		s.stats.Failures++
		return nil, err
	}
	x := &s.slots[i]
	x.at, x.size = x.off, size
	if !s.cfg.Front {
		x.at = align.Down(x.off+room-size, al)
		if size == 0 { // the end is not the slot's
			x.at = align.Down(x.off+room-1, al)
		}
	}
	x.allocSite, x.freeSite, x.live = s.sites.caller(s.cfg.Frames), 0, true
	s.names[x.at] = i
	s.count(x, 1)
	s.stats.Allocs++
	s.stats.Peak = max(s.stats.Peak, s.stats.InUse)
	fill(s.bytes(x.off, x.off+room), &canaryPage)
	fill(s.bytes(x.at, x.at+size), &freshPage)
	return unsafe.Add(s.mem.Base, x.at), nil
}

// take commits room bytes for a block: behind the last slot, as long as there is address space
// and a slot to be had, and then in the tightest vacant slot, of those the one vacant longest.
func (s *Stomp) take(room uintptr) (uint32, error) {
	need := room + 2*s.unit // a page in front, and one behind the last
	if fresh := s.next+need <= s.mem.Size && len(s.slots) < s.cfg.Blocks; fresh {
		off := s.next + s.unit
		if err := s.commit(off, room); err != nil {
			return 0, err
		}
		s.slots = append(s.slots, slot{off: off, span: room, room: room})
		s.next = off + room
		return uint32(len(s.slots) - 1), nil
	}
	best := -1
	for k, i := range s.queue {
		x := &s.slots[i]
		fits := x.span >= room && (!x.kept || x.room == room)
		if fits && (best < 0 || x.span < s.slots[s.queue[best]].span) {
			best = k
		}
	}
	if best < 0 {
		return s.recut(room)
	}
	i := s.queue[best]
	if err := s.commitAgain(&s.slots[i], room); err != nil {
		return 0, err
	}
	s.queue = slices.Delete(s.queue, best, best+1)
	delete(s.names, s.slots[i].at)
	return i, nil
}

// commitAgain makes room bytes of a vacant slot accessible.
func (s *Stomp) commitAgain(x *slot, room uintptr) error {
	if !x.kept {
		if err := s.commit(x.off, room); err != nil {
			return err
		}
		x.room = room
		return nil
	}
	x.kept = false
	s.kept -= x.room
	return nil
}

// commit makes room bytes at off accessible. Whom the source calls in the midst of it may free blocks,
// and close s: the pages are kept for the next Close then.
func (s *Stomp) commit(off, room uintptr) error {
	s.growing = true
	defer func() { s.growing = false }()
	if err := s.src.Commit(s.mem, off, room); err != nil {
		return fmt.Errorf("guard: stomp: %w", err)
	}
	if !s.gone {
		return nil
	}
	if s.mem.Base != nil {
		s.slots = append(s.slots, slot{off: off, span: room, room: room, kept: true})
		s.kept += room
	}
	return memory.ErrClosed
}

// recut drops the slots at the end of the reservation that are all vacant, so that others of
// another size can be cut there.
func (s *Stomp) recut(room uintptr) (uint32, error) {
	keep := len(s.slots)
	for keep > 0 && !s.slots[keep-1].live && !s.slots[keep-1].kept {
		keep--
	}
	end := uintptr(0)
	if keep > 0 {
		end = s.slots[keep-1].off + s.slots[keep-1].span
	}
	if keep == len(s.slots) || end+room+2*s.unit > s.mem.Size {
		return 0, &memory.Exhausted{Op: "guard: stomp", Need: room, Have: s.mem.Size - s.next, Limit: s.mem.Size}
	}
	for _, x := range s.slots[keep:] {
		delete(s.names, x.at)
	}
	kept := s.queue[:0]
	for _, i := range s.queue {
		if int(i) < keep {
			kept = append(kept, i)
		}
	}
	s.slots, s.queue, s.next = s.slots[:keep], kept, end
	return s.take(room)
}

// count adds x to the sums over live slots, or takes it off.
func (s *Stomp) count(x *slot, sign int) {
	s.stats.Live += uint64(sign)
	s.stats.InUse += uint64(sign) * uint64(x.room)
	s.stats.Requested += uint64(sign) * uint64(x.size)
}

func (s *Stomp) bytes(from, to uintptr) []byte {
	return unsafe.Slice((*byte)(unsafe.Add(s.mem.Base, from)), to-from)
}
