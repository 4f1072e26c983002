package arena

import (
	"cmp"
	"errors"
	"fmt"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/page"
)

// Frames is a ring of N Linears, one for each frame. Advance moves to the next Linear and resets it. A block thus stays
// readable in its own frame and in the N-1 frames after it, for interpolation, motion blur, or a reader that is one
// frame behind.
//
//	frame:        k-2        k-1         k (current)
//	buffers:  | expired | readable | readable and writable |      N = 2: k-2 shares k's buffer
//
// Blocks belong to the caller until the N-th Advance after their allocation. They end earlier at Free, at a Rewind of
// the frame's arena, at Reset or Close, when a state without them is loaded, and when the source ends. A Frames belongs
// to one goroutine at a time. A Frames is closed after Close, and after its source has ended. In a closed Frames, Alloc
// fails with memory.ErrClosed; Resize, Advance, Reset, RunHooks and a Free of a block panic with a *memory.Misuse.
//
// The arena cannot distinguish a plain pointer into an expired frame from a pointer into the frame that reuses the
// buffer. A [Ref] detects that its object has expired.
//
// In builds with -tags memdebug, an access to an expired frame faults during the next frames, and a Free of its blocks
// panics with the age of the frame. For this NewFrames reserves up to [RestingFrames] additional buffers, as many as
// the source has address space for. Advance decommits the buffer that expires. Its addresses stay unused for as many
// frames as there are additional buffers. These builds commit no more memory than others. With page.Heap an access does
// not fault, but reads zeros.
//
// If a debug build (-tags memdebug or -race) does not decommit an expired buffer, it fills the buffer with 0xDD.
// Examples are builds with -race, the browser, and a source that refuses to decommit.
type Frames struct {
	// Invariants, verified by Check:
	//
	//	(1) each Linear passes its own Check
	//	(2) cur == &ring[frame mod len(ring)]
	//	(3) 1 <= n <= len(ring)
	//	(4) each Linear has the capacity of a buffer, or none

	cur   *Linear
	ring  []Linear // N, and those that rest
	frame uint64
	n     int
	bytes uintptr // of each buffer
	full  *error  // FramesConfig.Full
	id    uint32
	//lint:ignore U1000 it is there for its type
	owner invariant.Owner // makes go vet report copies, which would allocate the same bytes
}

// FramesConfig configures [NewFrames]. NewFrames refuses values out of range.
type FramesConfig struct {
	// Buffers is N, the number of frames that are readable at once, including the current one. The limit is 1024. 0
	// means 2. With 1, only the current frame is readable.
	Buffers int
	// Bytes is the capacity of each buffer in bytes. 0 means 1 MiB. NewFrames commits the buffer of frame 0. Each
	// other buffer is committed when its first frame begins.
	Bytes uintptr
	// Idle makes NewFrames commit nothing. Frame 0 has no capacity: until the first Advance, Alloc fails
	// unless size is 0.
	Idle bool
	// Full is the error of an Alloc that does not fit its buffer. It should wrap memory.ErrOutOfMemory. Nil means an
	// error that wraps it and names the size of the buffer.
	Full error
}

// maxBuffers bounds the metadata, a few hundred bytes of Go heap for a buffer. No program reads more frames back.
const maxBuffers = 1024

// NewFrames returns a Frames at frame 0, with buffers of src. If src is nil, it is page.Default(). If Buffers is out of
// range, the error wraps memory.ErrConfig. If src fails, the error wraps the error that page.NewCommitted returns. If
// NewFrames fails, it releases its reservations. If src cannot release one, its addresses stay reserved, and the error
// wraps that of src, too.
func NewFrames(src page.Source, cfg FramesConfig) (_ *Frames, err error) {
	cfg.Buffers = cmp.Or(cfg.Buffers, 2)
	cfg.Bytes = cmp.Or(cfg.Bytes, 1<<20)
	if cfg.Buffers < 0 || cfg.Buffers > maxBuffers {
		return nil, fmt.Errorf("arena: new Frames: Buffers %d: want 1 to %d: %w", cfg.Buffers, maxBuffers, memory.ErrConfig)
	}
	f := &Frames{ring: make([]Linear, cfg.Buffers+RestingFrames), n: cfg.Buffers, bytes: cfg.Bytes, full: &cfg.Full, id: rings.Add(1)}
	made := 0
	defer func() {
		if f.cur == nil { // also if the source panics, as in a function of OnSoft
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
			f.ring = f.ring[:i] // the source has no space for more
			break
		}
		if err != nil {
			return nil, fmt.Errorf("arena: new Frames, buffer %d of %d with %d bytes: %w", i, cfg.Buffers, cfg.Bytes, err)
		}
		if cfg.Full == nil {
			cfg.Full = fmt.Errorf("%s: no space in the frame's buffer of %d bytes; raise FramesConfig.Bytes: %w", f.ring[i].mem.NameOr("arena"), cfg.Bytes, memory.ErrOutOfMemory)
		}
		f.ring[i].full, f.ring[i].short = f.full, cfg.Full
		f.ring[i].member.join(f)
		made++
	}
	f.cur = &f.ring[0]
	return f, nil
}

// ready commits the buffer l, which has no capacity.
//
//go:noinline
func (f *Frames) ready(l *Linear) {
	if err := l.mem.Ensure(f.bytes); err == nil {
		l.limit, l.full = f.bytes, f.full
	} else if l.base != nil {
		l.short = err
		l.full = &l.short
	}
}

// Current returns the arena of the current frame, for [New], [MakeSlice] and marks. This arena must not be used after
// the next Advance or the load of a state. In debug builds Alloc, New, MakeSlice, Resize, Mark and OnReset panic with a
// *memory.Misuse if their arena is that of an older frame. A hook may use the arena of its frame. If the ring is
// closed, Current returns a closed arena.
func (f *Frames) Current() *Linear { return f.cur }

// Frame returns the number of the current frame. The first frame is 0, and each Advance that begins a frame
// adds 1.
func (f *Frames) Frame() uint64 { return f.frame }

// Buffers returns N, the number of frames that are readable at once, including the current one.
func (f *Frames) Buffers() int { return f.n }

// At returns the bytes in use of a readable frame, from its first block. The parameter age is the number of calls of
// Advance since that frame was current, from 0 to N-1. The frame expires after N-age more calls of Advance. The bytes
// may be read until then, or until Reset, Close, the load of a state or the end of the source. For an empty frame At
// returns an empty slice that is not nil.
//
// If the frame has expired or does not exist, or the ring is closed, At returns nil. In debug builds (-tags memdebug
// or -race) At panics with a *memory.Misuse instead. For single objects of older frames use a [Ref]. Cost: constant.
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
		return fmt.Sprintf("%d frames before this one: the frame is still to come", age)
	case age >= f.n:
		return fmt.Sprintf("a frame %d frames old has expired; it stays readable for %d", age, f.n-1)
	}
	return fmt.Sprintf("this is frame %d, and there was none %d frames before it", f.frame, age)
}

// Alloc allocates from the arena of the current frame, as [Linear.Alloc], and returns its errors. If the buffer of the
// frame is not committed (see [Frames.Advance] and FramesConfig.Idle), only a block of size 0 fits.
func (f *Frames) Alloc(size, align uintptr) (unsafe.Pointer, error) { return f.cur.Alloc(size, align) }

// Free frees a block of the current frame, as [Linear.Free], and panics as Linear.Free does. If p is nil, or a block of
// an older frame that is still readable, Free does nothing. If p lies in no frame, or a check of Linear.Free fails in
// its frame, Free panics with a *memory.Misuse. If p points into an expired frame, Free panics while the addresses of
// that frame are unused (see [RestingFrames]). After that time Free treats p as a pointer into the frame that reuses
// the buffer.
func (f *Frames) Free(p unsafe.Pointer, size uintptr) {
	if p == nil {
		return
	}
	if f.isCurrent("Free", p, size) {
		f.cur.Free(p, size)
	}
}

// Resize changes the size of the newest block of the current frame in place, as [Linear.Resize]. Resize returns false
// for a block of an older frame that is still readable. Misuse panics as in Free. A nil p panics, too.
func (f *Frames) Resize(p unsafe.Pointer, oldSize, newSize uintptr) bool {
	return f.isCurrent("Resize", p, oldSize) && f.cur.Resize(p, oldSize, newSize)
}

// isCurrent reports whether p lies in the buffer of this frame. It panics if p can be no block of a readable frame.
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
		for i := range f.ring { // a block of size 0 may be at the end of a full buffer
			if age := f.age(i); age < uint64(f.n) && f.ring[i].Live(p) {
				return age == 0
			}
		}
	}
	panic(misuse(op, p, size, "the block does not lie in any frame of this ring"))
}

// mayBeOld panics if p can be no block in the buffer of the frame age frames ago.
func (f *Frames) mayBeOld(op string, l *Linear, age uint64, p unsafe.Pointer, size uintptr) {
	l.open(op, p, size)
	if age >= uint64(f.n) {
		panic(misuse(op, p, size, fmt.Sprintf("the block is %d frames old, and a frame stays readable for %d: it has expired", age, f.n-1)))
	}
	if why := l.whyNot(uintptr(p)-uintptr(l.base), size); why != "" {
		panic(misuse(op, p, size, fmt.Sprintf("in the frame %d before this one: %s", age, why)))
	}
}

// age returns the number of frames since buffer i was the current one, at least.
func (f *Frames) age(i int) uint64 {
	n := uint64(len(f.ring))
	return (f.frame%n + n - uint64(i)) % n
}

// Advance begins the next frame. If N frames are readable (see [Frames.Buffers]), the oldest of them expires: its hooks
// run, newest first, and its blocks are freed. If a hook panics, no frame begins or expires, and the next Advance runs
// the remaining hooks. Advance panics with a *memory.Misuse if the ring is closed, or if a hook of the frame that
// expires is running. If a hook or a commit ends the source, the ring is closed afterwards. Cost: constant, plus the
// hooks.
//
// Advance commits the buffer of the new frame when the buffer is first used. Builds with -tags memdebug commit it again
// whenever they have decommitted it. If the commit fails, the new frame has no capacity, and Alloc fails with the error
// of the commit. The next frame with this buffer tries the commit again.
//
// The commit may call the function of page.Limit.OnSoft. If that function panics, Advance panics with the same value
// and no frame begins. An Advance that the function calls panics with a *memory.Misuse.
func (f *Frames) Advance() {
	if RestingFrames > 0 {
		f.advanceResting()
		return
	}
	f.ring[(f.frame+1)%uint64(len(f.ring))].reset("Advance", f)
}

// Reset runs the hooks of all frames and frees their blocks, beginning with the oldest frame. All Refs expire. The
// frame number does not change. If a hook of a frame panics, the older frames are reset already, and another Reset
// continues with the frame of the hook. A hook that calls Advance must not register itself for the new frame:
// otherwise Reset, RunHooks and Close do not end. Reset panics with a *memory.Misuse if the ring is closed or one
// of its hooks is running.
func (f *Frames) Reset() {
	f.cur.open("Reset", nil, 0)
	f.resetAll("Reset")
}

// resetAll resets the buffers that are open, beginning with the oldest frame.
func (f *Frames) resetAll(op string) {
	f.oldestFirst(op, func(l *Linear) { l.reset(op, nil) })
}

// oldestFirst calls visit, which runs hooks, for each open buffer. A hook may call Advance: then the buffer of the new
// frame comes last.
func (f *Frames) oldestFirst(op string, visit func(l *Linear)) {
	for i := range f.ring {
		f.ring[i].idle(op)
	}
	for at := f.frame + 1; at <= f.frame+uint64(len(f.ring)); at++ {
		if l := &f.ring[at%uint64(len(f.ring))]; l.base != nil {
			visit(l)
		}
	}
}

// RunHooks runs the hooks of all frames, beginning with the oldest frame, and frees nothing. See [Linear.RunHooks].
// RunHooks panics with a *memory.Misuse if the ring is closed or one of its hooks is running.
func (f *Frames) RunHooks() {
	f.cur.open("RunHooks", nil, 0)
	f.oldestFirst("RunHooks", func(l *Linear) { l.runHooks("RunHooks", 0) })
}

// Busy reports whether a hook of one of the frames is running. While it runs, Reset, RunHooks and Close panic. An
// Advance that frees the frame of the hook panics, too.
func (f *Frames) Busy() bool {
	for i := range f.ring {
		if f.ring[i].busy {
			return true
		}
	}
	return false
}

// Owns reports whether p lies in one of the buffers. p need not be in a live block. If the memory has been released
// or the source has ended, Owns returns false.
func (f *Frames) Owns(p unsafe.Pointer) bool {
	for i := range f.ring {
		if f.ring[i].Owns(p) {
			return true
		}
	}
	return false
}

// Close runs all hooks and frees all blocks, beginning with the oldest frame, and closes every buffer, as
// [Linear.Close]. Close also fails if the function of page.Limit.OnSoft calls it during an Advance. If Close returns an
// error or a hook panics, Close can be retried. After an error some buffers may be closed: call only Close then. Close
// panics with a *memory.Misuse if one of the hooks is running. After a Close that succeeded, and after the source has
// ended, Close does nothing and returns nil.
func (f *Frames) Close() error {
	f.resetAll("Close")
	var errs []error
	for i := range f.ring {
		errs = append(errs, f.ring[i].Close())
	}
	return errors.Join(errs...)
}

// Stats returns the sums over the buffers, as [Linear.Stats]. InUse counts all readable frames. Peak is the sum of
// the buffers' peaks, an upper bound of the high-water mark.
func (f *Frames) Stats() memory.Stats {
	var s memory.Stats
	for i := range f.ring {
		s = s.Add(f.ring[i].Stats())
	}
	return s
}

// Check returns the errors in the metadata, or nil.
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
			errs = append(errs, fmt.Errorf("arena: buffer %d has a capacity of %d bytes instead of %d", i, l.limit, f.bytes))
		}
	}
	if f.n < 1 || f.n > len(f.ring) {
		errs = append(errs, fmt.Errorf("arena: %d frames are readable in a ring of %d", f.n, len(f.ring)))
	}
	return errors.Join(errs...)
}
