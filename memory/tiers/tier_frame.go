package tiers

import (
	"fmt"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/arena"
	"github.com/strata-go/strata/memory/internal/align"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/page"
)

var frameRow = row{
	Info: Info{
		Name: "frame", Text: "blocks of one frame; freed when it expires, N frames later",
		Color: 0x5ad1ff, Reserve: 8 << 20, Freed: FrameEnd, Hooks: FrameEnd, Planned: true,
	},
	state: func(m *Manager) state { return &m.frame },
	space: func(c *Config) uintptr {
		// Builds whose expired frames rest, see arena.RestingFrames, have space for those, too.
		each := c.Reserve[Frame]/uintptr(max(c.Frames, 1)) + page.BaseAlign
		return align.Up(c.Reserve[Frame]+arena.RestingFrames*each, regionBytes)
	},
	least: func(c *Config) uintptr {
		return align.Up(uintptr(c.Frames)*(page.BaseAlign+page.Granule), regionBytes)
	},
	hooksIn: inFrame,
	ownSoft: true, // a buffer is committed as a whole: see tellSoft
}

// frameTier has the ring of frame arenas.
//
// Invariants, verified by check:
//
//	(1) ring is at frame begun
//	(2) cur is the ring's current arena inside a frame, and shut outside
type frameTier struct {
	basic
	ring  *arena.Frames
	cur   *arena.Linear
	shut  *arena.Linear // closed: nothing can be allocated outside a frame
	begun uint64        // frames
	full  error         // of an Alloc that does not fit
	tight bool          // at the last tellSoft the frame had used more than the soft mark of its buffer
}

var errFrame = fmt.Errorf("tiers: Frame outside a frame or after Close; NextFrame or BeginFrame first: %w", memory.ErrClosed)

// Frame returns the arena of the open frame. The arena may be used until EndFrame; its blocks stay readable for
// Config.Frames-1 more frames. Call Frame in each frame. In a later frame, Alloc of an arena that was kept succeeds,
// but its blocks are overwritten early. In debug builds (-tags memdebug or -race) such an Alloc panics with a
// *memory.Misuse.
//
// If a block does not fit, the error wraps memory.ErrOutOfMemory and names the buffer's size. Outside a frame, Frame
// returns a closed arena, whose Alloc fails with an error that wraps memory.ErrClosed. In debug builds Frame panics
// with a *memory.Misuse instead.
func (m *Manager) Frame() *arena.Linear {
	if invariant.Debug && m.phase&inFrame == 0 {
		panic(m.outside("Frame", "a frame; NextFrame or BeginFrame first"))
	}
	return m.frame.cur
}

// Frames returns the ring of frame arenas, for [arena.RefTo], [arena.Ref.Get] and [arena.Frames.At]. After Close the
// ring is closed.
func (m *Manager) Frames() *arena.Frames { return m.frame.ring }

func (f *frameTier) build(m *Manager) (err error) {
	size, err := m.cfg.perFrame()
	if err != nil {
		return err
	}
	if f.shut, err = arena.NewLinear(page.Heap(), arena.LinearConfig{Bytes: page.Granule, Closed: errFrame}); err != nil {
		return err
	}
	f.cur = f.shut
	if err = f.shut.Close(); err != nil {
		return err
	}
	by, advice := "reservation", m.cfg.advice(Frame)
	help := advice.Reserve
	if m.cfg.Budget[Frame]/uintptr(m.cfg.Frames) < m.cfg.Reserve[Frame]/uintptr(m.cfg.Frames)-page.BaseAlign {
		by, help = "budget", advice.Budget
	}
	f.full = fmt.Errorf("tiers: frame: %s: no space in the frame's buffer of %d bytes, one of %d; %s: %w", by, size, m.cfg.Frames, help, memory.ErrOutOfMemory)
	f.ring, err = arena.NewFrames(m.limits[Frame], arena.FramesConfig{Buffers: m.cfg.Frames, Bytes: size, Idle: true, Full: f.full})
	return err
}

// perFrame returns the capacity of a frame buffer: an equal share of the budget, less the gap between
// buffers.
func (c *Config) perFrame() (uintptr, error) {
	n := uintptr(c.Frames)
	share := c.Budget[Frame] / n
	if space := c.Reserve[Frame] / n; space > page.BaseAlign {
		share = min(share, space-page.BaseAlign)
	} else {
		share = 0
	}
	if share < page.Granule {
		return 0, fmt.Errorf("tiers: Budget[frame] %d of Reserve[frame] %d: want at least %d and %d for each of %d buffers: %w",
			c.Budget[Frame], c.Reserve[Frame], page.Granule, page.BaseAlign+page.Granule, n, memory.ErrConfig)
	}
	return align.Down(share, page.Granule), nil
}

// begin makes the oldest arena the current one. Hooks of the frame that expires run before it is reset.
func (f *frameTier) begin() {
	f.cur = f.ring.Current()
	f.begun++
}

// tellSoft calls Config.OnSoft if this frame used more of its buffer than the soft mark and the frame before
// did not. It calls OnSoft once for a frame: if OnSoft panics each time, the frame can still end.
func (f *frameTier) tellSoft(m *Manager) {
	used := f.cur.Used()
	size := used + f.cur.Available()
	was := f.tight
	f.tight = used > m.cfg.softMark(size)
	if f.tight && !was && m.cfg.OnSoft != nil {
		m.onSoft(Frame, used, size)
	}
}

// inUse returns the bytes of this frame's own buffer, for History.
func (f *frameTier) inUse() uintptr { return f.cur.Used() }

// touched returns seen or, if it is more, the peak of all buffers: they are decommitted at Close.
func (f *frameTier) touched(seen uint64) uint64 { return max(seen, f.ring.Stats().Peak) }

func (f *frameTier) free(_ *Manager, _ string, p unsafe.Pointer, size uintptr, known bool) (live bool) {
	if live = f.ring.Live(p); live && known {
		f.ring.Free(p, size)
	}
	return live
}

// resize enlarges no block of a frame that is over.
func (f *frameTier) resize(m *Manager, p unsafe.Pointer, oldSize, newSize uintptr) (ok, live bool) {
	switch {
	case !f.ring.Live(p):
		return false, false
	case m.phase&inFrame == 0 && newSize > oldSize:
		f.ring.Resize(p, oldSize, oldSize)
		return false, true
	}
	return f.ring.Resize(p, oldSize, newSize), true
}

func (f *frameTier) stats(*Manager) stats { return f.ring.Stats() }

func (f *frameTier) check(c *checker) {
	c.Join(f.ring.Check())
	if f.ring.Frame() != f.begun {
		c.Add("the frame arenas are at frame %d, the manager at %d", f.ring.Frame(), f.begun)
	}
	want := f.shut
	if c.m.phase&inFrame != 0 {
		want = f.ring.Current()
	}
	if f.cur != want {
		c.Add("in phase %d the arena of the frame is %p, want %p", c.m.phase, f.cur, want)
	}
}

func (f *frameTier) addHook(hook func()) { f.cur.OnReset(hook) }

// runHooks runs no hooks if the program has closed the arena: Close of the ring runs those of the other frames.
func (f *frameTier) runHooks() {
	if f.ring.Current().Base() != nil {
		f.ring.RunHooks()
	}
}

func (f *frameTier) close(e *ending, stage stage) {
	if stage == closeArenas && f.ring != nil {
		e.add("a hook of a frame's arena", f.ring.Close)
	}
}
