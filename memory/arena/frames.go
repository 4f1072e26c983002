package arena

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/page"
)

// Frames is a ring of N Linears, one per frame. Advance moves to the next one and resets
// it, so what a frame allocates stays readable for the N-1 frames that follow: double
// buffering for interpolation, motion blur, or a reader that runs one frame behind.
//
//	frame:        k-2        k-1         k (current)
//	buffers:  | expired | readable | readable and writable |      N = 2: k-2 shares k's buffer
//
// Blocks belong to the caller until N Advances later, or Reset or Close. One goroutine at
// a time. After Close every Alloc fails with memory.ErrClosed.
//
// A plain pointer into an expired frame is not told from one into the frame that took its
// buffer; a [Ref] is. Builds with -tags memdebug reserve [RestingFrames] buffers more, as far as
// the source has room for them: an expired buffer is decommitted and its addresses rest for as
// many frames, in which a stale pointer faults and a stale Free is refused with the age of its
// frame. No more is committed than otherwise; a frame whose buffer the system refuses has no
// room. Over page.Heap nothing can fault and a stale pointer reads zeros; with -race, and where
// there was no room, nothing rests and the expired buffer is filled with 0xDD.
//
// Invariants, verified by Check:
//
//	(1) each Linear passes its own Check
//	(2) cur == &ring[frame mod len(ring)]
//	(3) 1 <= n <= len(ring)
//	(4) each Linear has the room of a buffer, or none
type Frames struct {
	cur   *Linear
	ring  []Linear // N, and those that rest
	frame uint64
	n     int
	bytes uintptr // of each buffer
	id    uint32
	//lint:ignore U1000 it is there for its type
	owner invariant.Owner // names copies, which would hand out the same bytes
}

// FramesConfig configures NewFrames.
type FramesConfig struct {
	// Buffers is N, at most 1024. 0 means 2; 1 is a plain per-frame scratch.
	Buffers int
	// Bytes is the capacity of each buffer. 0 means 1 MiB. That of frame 0 is committed by New, the
	// others when their first frames begin. A buffer is committed as a whole: an Alloc that could
	// commit a step would be a call, which costs more than all the rest of it.
	Bytes uintptr
	// Idle has New commit nothing: frame 0 has no room, and what is asked of it fails with
	// memory.ErrOutOfMemory; the first Advance begins the first frame that can be used.
	Idle bool
}

// maxBuffers bounds the books, a few hundred bytes of Go heap a buffer: more frames than this
// nobody looks back.
const maxBuffers = 1024

// NewFrames takes N blocks from src; nil means page.Default(). The ring starts at frame 0.
// The error wraps memory.ErrConfig, or what src returned, and nothing is kept.
func NewFrames(src page.Source, cfg FramesConfig) (_ *Frames, err error) {
	if cfg.Buffers == 0 {
		cfg.Buffers = 2
	}
	if cfg.Bytes == 0 {
		cfg.Bytes = 1 << 20
	}
	if cfg.Buffers < 0 || cfg.Buffers > maxBuffers {
		return nil, fmt.Errorf("arena: new Frames: Buffers %d: want 1 to %d: %w", cfg.Buffers, maxBuffers, memory.ErrConfig)
	}
	f := &Frames{ring: make([]Linear, cfg.Buffers+RestingFrames), n: cfg.Buffers, bytes: cfg.Bytes, id: rings.Add(1)}
	made := 0
	defer func() {
		if f.cur == nil { // also where the source panics, as in the callback at a soft mark
			f.ring = f.ring[:made]
			err = errors.Join(err, f.Close())
		}
	}()
	for i := range f.ring {
		usable := uintptr(0)
		if i == 0 && !cfg.Idle {
			usable = cfg.Bytes
		}
		err := f.ring[i].init(src, cfg.Bytes, cfg.Bytes, usable, 0)
		if err != nil && i >= cfg.Buffers {
			f.ring = f.ring[:i] // the source has no room for more
			break
		}
		if err != nil {
			return nil, fmt.Errorf("arena: new Frames, buffer %d of %d with %d bytes: %w", i, cfg.Buffers, cfg.Bytes, err)
		}
		made++
	}
	f.cur = &f.ring[0]
	return f, nil
}

// ready commits the buffer l, which has no room.
//
//go:noinline
func (f *Frames) ready(l *Linear) {
	if l.mem.Ensure(f.bytes) == nil {
		l.limit = f.bytes
	}
}

// Current returns the arena of this frame, for [New], [MakeSlice] and marks. It is valid
// until the next Advance.
func (f *Frames) Current() *Linear { return f.cur }

// Frame counts the Advances since New.
func (f *Frames) Frame() uint64 { return f.frame }

// Buffers returns N.
func (f *Frames) Buffers() int { return f.n }

// At returns the bytes that a frame has in use, from its first block on: of this frame where age is
// 0, and of the one age frames before it up to N-1. They are there to be read, until that frame
// expires, N-age Advances from now, or Reset or Close; an empty frame's are empty and not nil. Of a
// frame that has expired, that is yet to come or that never was, and after Close, it returns nil,
// and in debug builds panics with a *memory.Misuse that says which. Single objects of older frames
// are better kept as a [Ref]. Cost: constant.
func (f *Frames) At(age int) []byte {
	if age < 0 || age >= f.n || uint64(age) > f.frame || f.cur.base == nil {
		if invariant.Debug {
			panic(misuse("At", nil, 0, f.whyNotAt(age)))
		}
		return nil
	}
	l := &f.ring[(f.frame-uint64(age))%uint64(len(f.ring))]
	return unsafe.Slice((*byte)(l.base), l.Used())
}

func (f *Frames) whyNotAt(age int) string {
	switch {
	case f.cur.base == nil:
		return "the arena is closed"
	case age < 0:
		return fmt.Sprintf("the frame %d frames before this one is yet to come", age)
	case age >= f.n:
		return fmt.Sprintf("a frame %d frames old has expired; it stays readable for %d", age, f.n-1)
	}
	return fmt.Sprintf("this is frame %d, and there was none %d frames before it", f.frame, age)
}

// Alloc allocates from this frame's arena, as [Linear.Alloc].
func (f *Frames) Alloc(size, align uintptr) (unsafe.Pointer, error) { return f.cur.Alloc(size, align) }

// Free gives back the newest block of this frame, as [Linear.Free]. A block of an older frame
// that is still readable stays there, and what could not be one panics with a *memory.Misuse,
// as does a block of an expired frame where its buffer rests (see [Frames]). Where it does
// not, a stale pointer is taken for what lies there now.
func (f *Frames) Free(p unsafe.Pointer, size uintptr) {
	if p == nil {
		return
	}
	if f.isCurrent("Free", p, size) {
		f.cur.Free(p, size)
	}
}

// Resize changes the size of the newest block of this frame in place, as [Linear.Resize]. It is
// false for a block of an older frame that is still readable; misuse panics as in Free.
func (f *Frames) Resize(p unsafe.Pointer, oldSize, newSize uintptr) bool {
	return f.isCurrent("Resize", p, oldSize) && f.cur.Resize(p, oldSize, newSize)
}

// isCurrent reports whether p lies in the buffer of this frame, and panics where it can be no
// block of a readable one.
func (f *Frames) isCurrent(op string, p unsafe.Pointer, size uintptr) bool {
	for i := range f.ring {
		if l := &f.ring[i]; l.Owns(p) {
			age := f.age(i)
			if age > 0 {
				f.mayBeOld(op, l, age, p, size)
			}
			return age == 0
		}
	}
	f.cur.open(op, p, size)
	if size == 0 {
		for i := range f.ring { // a block of no bytes may stand behind the last byte of a full buffer
			if age := f.age(i); age < uint64(f.n) && f.ring[i].Live(p) {
				return age == 0
			}
		}
	}
	panic(misuse(op, p, size, "the block does not lie in any frame of this ring"))
}

// mayBeOld panics where p can be no block in the buffer of the frame age frames ago.
func (f *Frames) mayBeOld(op string, l *Linear, age uint64, p unsafe.Pointer, size uintptr) {
	l.open(op, p, size)
	if age >= uint64(f.n) {
		panic(misuse(op, p, size, fmt.Sprintf("the block is %d frames old, and a frame stays readable for %d: it has expired", age, f.n-1)))
	}
	if why := l.whyNot(uintptr(p)-uintptr(l.base), size); why != "" {
		panic(misuse(op, p, size, fmt.Sprintf("in the frame %d before this one: %s", age, why)))
	}
}

// age returns how many frames ago buffer i was the current one, at least.
func (f *Frames) age(i int) uint64 {
	n := uint64(len(f.ring))
	return (f.frame%n + n - uint64(i)) % n
}

// Advance begins the next frame: the oldest buffer's hooks run, newest first, and its blocks
// are freed. Where a hook panics the frame has not changed and the next Advance runs the hooks
// that are left. From a hook of that buffer, and after Close, it panics with a *memory.Misuse.
// A buffer that is used for the first time is committed; if that is refused the frame has no room,
// and the next one that uses the buffer asks again. Cost: constant, plus the hooks.
func (f *Frames) Advance() {
	if RestingFrames > 0 {
		f.advanceResting()
		return
	}
	f.ring[(f.frame+1)%uint64(len(f.ring))].reset("Advance", f)
}

// Reset frees the blocks of every frame, those of the oldest first; every Ref expires. The
// frame stays the same. Where a hook panics the older frames have been reset, and another Reset
// does the rest.
func (f *Frames) Reset() {
	f.cur.open("Reset", nil, 0)
	f.resetAll("Reset")
}

// resetAll resets the buffers that are open, from the oldest frame on.
func (f *Frames) resetAll(op string) {
	for i := range f.ring {
		f.ring[i].idle(op)
	}
	for i := range f.ring {
		if l := &f.ring[(f.frame+1+uint64(i))%uint64(len(f.ring))]; l.base != nil {
			l.reset(op, nil)
		}
	}
}

// RunHooks runs the hooks of every frame, those of the oldest first, and frees nothing; see
// [Linear.RunHooks].
func (f *Frames) RunHooks() {
	f.cur.open("RunHooks", nil, 0)
	for i := range f.ring {
		f.ring[i].idle("RunHooks")
	}
	for i := range f.ring {
		if l := &f.ring[(f.frame+1+uint64(i))%uint64(len(f.ring))]; l.base != nil {
			l.runHooks("RunHooks", 0)
		}
	}
}

// Busy reports whether a hook of one of the frames is running: Advance of that frame, Reset and
// Close are refused then.
func (f *Frames) Busy() bool {
	for i := range f.ring {
		if f.ring[i].busy {
			return true
		}
	}
	return false
}

// Owns reports whether p lies in one of the buffers.
func (f *Frames) Owns(p unsafe.Pointer) bool {
	for i := range f.ring {
		if f.ring[i].Owns(p) {
			return true
		}
	}
	return false
}

// Close runs all hooks, those of the oldest frame first, and closes every buffer, as
// [Linear.Close]. A second Close does nothing; one that fails or panics may be repeated.
func (f *Frames) Close() error {
	f.resetAll("Close")
	var errs []error
	for i := range f.ring {
		errs = append(errs, f.ring[i].Close())
	}
	return errors.Join(errs...)
}

// Stats sums the buffers: InUse is what is readable now, Peak the sum of the buffers' peaks.
func (f *Frames) Stats() memory.Stats {
	var s memory.Stats
	for i := range f.ring {
		s = s.Add(f.ring[i].Stats())
	}
	return s
}

// Check verifies the invariants.
func (f *Frames) Check() error {
	var errs []error
	for i := range f.ring {
		errs = append(errs, f.ring[i].Check())
	}
	if at := f.frame % uint64(len(f.ring)); f.cur != &f.ring[at] {
		errs = append(errs, fmt.Errorf("arena: frame %d does not use buffer %d", f.frame, at))
	}
	for i := range f.ring {
		if l := &f.ring[i]; l.limit != 0 && l.limit != f.bytes {
			errs = append(errs, fmt.Errorf("arena: buffer %d has room for %d bytes of %d", i, l.limit, f.bytes))
		}
	}
	if f.n < 1 || f.n > len(f.ring) {
		errs = append(errs, fmt.Errorf("arena: %d frames are readable in a ring of %d", f.n, len(f.ring)))
	}
	return errors.Join(errs...)
}
