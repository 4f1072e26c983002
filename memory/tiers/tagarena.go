package tiers

import (
	"fmt"
	"unsafe"

	"github.com/strata-go/strata/memory/internal/invariant"
)

// A TagArena allocates from the arena of the frame, or of the level, and counts the blocks under a tag. It always uses
// the current arena of Manager.Frame or Manager.Level, so a TagArena may be kept over frames and levels. Its blocks are
// valid as long as other blocks of that arena. Cost: the arena's own Alloc, a call, and a few additions.
//
// The statistics count the bytes allocated through the TagArena since the frame or the level began, but never more
// bytes than the arena has in use. TagArena.Free and TagArena.Resize change the statistics. Manager.Free and Rewind do
// not know the tag of a block: after them the statistics may be too high. Without [Config.Tags] the statistics are
// zero.
//
// A TagArena belongs to the game goroutine. The methods of a nil or zero TagArena panic with a *memory.Misuse.
type TagArena struct {
	tag   *Tag
	level bool
	begun uint64 // the frame that taken refers to
	taken Bumped
	owner invariant.Owner
}

// Bumped is memory that was allocated from an arena: the bytes, with padding, and the number of blocks.
type Bumped struct{ Bytes, Blocks uint64 }

// Frame returns the TagArena that allocates from the arena of the open frame. It is never nil, and all calls return the
// same TagArena. Outside a frame it cannot allocate, see [TagArena.Alloc].
func (t *Tag) Frame() *TagArena { t.of("Frame"); return &t.frame }

// Level returns the TagArena that allocates from the arena of the open level. It is never nil, and all calls return the
// same TagArena. Outside a level it cannot allocate, see [TagArena.Alloc].
func (t *Tag) Level() *TagArena { t.of("Level"); return &t.level }

// of returns the manager, or panics if there is none.
func (a *TagArena) of(op string) *Manager {
	if a == nil || a.tag == nil {
		panic(noTag("TagArena." + op))
	}
	return a.tag.m
}

// tier returns which one it is.
func (a *TagArena) tier() Tier {
	if a.level {
		return Level
	}
	return Frame
}

// used returns the bytes in use of the level, or of the frame that is open or was the last.
func (a *TagArena) used(m *Manager) uintptr {
	switch {
	case m.phase >= closing:
		return 0
	case a.level:
		return m.level.arena.Used()
	}
	return m.frame.ring.Current().Used()
}

// Taken returns the memory that was allocated through the TagArena since the frame or the level began. Between frames,
// the TagArena of the frame returns the memory of the last frame. Outside a level, the TagArena of the level returns
// zero. After Close, Taken returns zero. Blocks counts all allocations, also blocks that are already freed.
func (a *TagArena) Taken() Bumped {
	m := a.of("Taken")
	if !a.level && a.begun != m.frame.begun {
		return Bumped{}
	}
	return Bumped{Bytes: min(a.taken.Bytes, uint64(a.used(m))), Blocks: a.taken.Blocks}
}

// Alloc calls Alloc of the current arena. If memory is short, the error names the tag and wraps that of the arena. The
// TagArena of the frame can allocate only inside a frame, and that of the level only inside a level. Outside, debug
// builds panic with a *memory.Misuse; in other builds the error wraps memory.ErrClosed.
func (a *TagArena) Alloc(size, align uintptr) (p unsafe.Pointer, err error) {
	m := a.of("Alloc")
	a.owner.Touch()
	if a.level {
		l := m.Level()
		was := l.Used()
		if p, err = l.Alloc(size, align); err != nil {
			return nil, a.tag.named(err)
		}
		a.took(was, 1)
		return p, nil
	}
	f := m.Frame()
	was := f.Used()
	if p, err = f.Alloc(size, align); err != nil {
		return nil, a.tag.named(err)
	}
	a.took(was, 1)
	return p, nil
}

// Free is [Manager.Free] for blocks of the arena's tier. Free of nil does nothing. For any other address Free panics
// with a *memory.Misuse.
func (a *TagArena) Free(p unsafe.Pointer, size uintptr) {
	m := a.of("Free")
	if p == nil {
		return
	}
	a.owns(m, "TagArena.Free", p, size)
	was := a.used(m)
	m.Free(p, size)
	a.took(was, 0)
}

// Resize is [Manager.Resize] for blocks of the arena's tier. For any other address Resize panics with a *memory.Misuse.
func (a *TagArena) Resize(p unsafe.Pointer, oldSize, newSize uintptr) bool {
	m := a.of("Resize")
	a.owns(m, "TagArena.Resize", p, oldSize)
	was := a.used(m)
	ok := m.Resize(p, oldSize, newSize)
	a.took(was, 0)
	return ok
}

// owns panics if p does not lie in the tier.
func (a *TagArena) owns(m *Manager, op string, p unsafe.Pointer, size uintptr) {
	a.owner.Touch()
	if t, ok := m.tierOf(p); !ok {
		panic(m.misuse(op, p, size, m.foreign()))
	} else if t != a.tier() {
		panic(m.misuse(op, p, size, fmt.Sprintf("the block does not lie in the %s tier, but in %s", a.tier(), t)))
	}
}

// Owns reports whether p lies in the address space of the arena's tier. After Close the result is false.
func (a *TagArena) Owns(p unsafe.Pointer) bool {
	t, ok := a.of("Owns").tierOf(p)
	return ok && t == a.tier()
}

// took counts blocks, and the change of the arena's bytes in use since it had was.
func (a *TagArena) took(was uintptr, blocks uint64) {
	m := a.tag.m
	if !m.cfg.Tags {
		return
	}
	if !a.level && a.begun != m.frame.begun {
		a.begun, a.taken = m.frame.begun, Bumped{}
	}
	now := a.used(m)
	if now >= was {
		a.taken.Bytes += uint64(now - was)
	} else {
		a.taken.Bytes -= min(a.taken.Bytes, uint64(was-now)) // blocks of other tags may be freed through this one
	}
	a.taken.Bytes = min(a.taken.Bytes, uint64(now))
	a.taken.Blocks += blocks
}

// forgetTaken clears what the tags have taken from the level, which has ended.
func (m *Manager) forgetTaken() {
	for _, t := range m.tags {
		t.level.taken = Bumped{}
	}
}
