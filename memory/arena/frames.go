package arena

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/strata-go/strata/memory"
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
// a time.
//
// Invariants, verified by Check:
//
//	(1) each Linear passes its own Check
//	(2) cur == &ring[frame mod N]
type Frames struct {
	cur   *Linear
	ring  []Linear
	frame uint64
}

// FramesConfig configures NewFrames.
type FramesConfig struct {
	// Buffers is N. 0 means 2; 1 is a plain per-frame scratch.
	Buffers int
	// Bytes is the capacity of each buffer. 0 means 1 MiB.
	Bytes uintptr
}

// NewFrames takes N blocks from src; nil means page.Default(). The ring starts at frame 0.
func NewFrames(src page.Source, cfg FramesConfig) (*Frames, error) {
	if cfg.Buffers == 0 {
		cfg.Buffers = 2
	}
	if cfg.Bytes == 0 {
		cfg.Bytes = 1 << 20
	}
	if cfg.Buffers < 0 {
		return nil, fmt.Errorf("arena: new Frames: %d buffers; at least 1 is needed", cfg.Buffers)
	}
	f := &Frames{ring: make([]Linear, cfg.Buffers)}
	for i := range f.ring {
		if err := f.ring[i].init(src, cfg.Bytes, cfg.Bytes, 0); err != nil {
			return nil, errors.Join(fmt.Errorf("arena: new Frames, buffer %d of %d with %d bytes: %w", i, cfg.Buffers, cfg.Bytes, err), f.Close())
		}
	}
	f.cur = &f.ring[0]
	return f, nil
}

// Current returns the arena of this frame, for [New], [MakeSlice] and marks. It is valid
// until the next Advance.
func (f *Frames) Current() *Linear { return f.cur }

// Frame counts the Advances since New.
func (f *Frames) Frame() uint64 { return f.frame }

// Buffers returns N.
func (f *Frames) Buffers() int { return len(f.ring) }

// Alloc allocates from this frame's arena, as [Linear.Alloc].
func (f *Frames) Alloc(size, align uintptr) (unsafe.Pointer, error) { return f.cur.Alloc(size, align) }

// Free gives back the newest block of its frame, as [Linear.Free].
func (f *Frames) Free(p unsafe.Pointer, size uintptr) {
	if p == nil {
		return
	}
	for i := range f.ring {
		if l := &f.ring[i]; l.Owns(p) {
			l.Free(p, size)
			return
		}
	}
	panic(f.cur.misuse("Free", p, size, "the block does not lie in any frame of this ring"))
}

// Advance begins the next frame: the oldest buffer's hooks run, newest first, and its blocks
// are freed. Cost: constant, plus the hooks.
func (f *Frames) Advance() {
	f.frame++
	f.cur = &f.ring[f.frame%uint64(len(f.ring))]
	f.cur.Reset()
}

// Reset frees the blocks of every frame; every Ref expires.
func (f *Frames) Reset() {
	for range f.ring {
		f.Advance()
	}
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

// Close closes every buffer. A second Close does nothing.
func (f *Frames) Close() error {
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
	if f.cur != &f.ring[f.frame%uint64(len(f.ring))] {
		errs = append(errs, fmt.Errorf("arena: frame %d does not use buffer %d", f.frame, f.frame%uint64(len(f.ring))))
	}
	return errors.Join(errs...)
}
