package tiers

import (
	"fmt"
	"unsafe"

	"github.com/strata-go/strata/memory/internal/invariant"
)

// A TagArena is the arena of the frame, or of the level, as a tag has it: it allocates from the
// arena that Manager.Frame or Level returns at that moment, and counts. It is for the frames and
// levels to come, too; what it hands out lives and dies with its arena, and what it costs is the
// arena's own Alloc, a call, and some additions.
//
// Its figures are what was asked of it since the frame or the level began, and never more bytes
// than the arena has in use. Arenas do not know whose a block is: what was given back through the
// TagArena is taken off, what was given back through the manager or rewound by a mark is not,
// until all that is left is less.
//
// A nil or zero TagArena panics with a *memory.Misuse.
type TagArena struct {
	tag   *Tag
	level bool
	begun uint64 // the frame that taken speaks of
	taken Bumped
	owner invariant.Owner
}

// Bumped is what was taken from an arena: bytes with their padding, and the number of blocks.
type Bumped struct{ Bytes, Blocks uint64 }

// Frame returns the tag's way to the arena of the frame.
func (t *Tag) Frame() *TagArena { t.of("Frame"); return &t.frame }

// Level returns the tag's way to the arena of the level.
func (t *Tag) Level() *TagArena { t.of("Level"); return &t.level }

// of returns the manager, or panics where there is none.
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

// used returns what the arena has in use: of the frame that is open or was the last, of the level.
func (a *TagArena) used(m *Manager) uintptr {
	switch {
	case m.phase >= closing:
		return 0
	case a.level:
		return m.level.arena.Used()
	}
	return m.frame.ring.Current().Used()
}

// Taken returns what was taken since the frame, or the level, began: of the frame that is open or,
// between frames, of the last one; outside a level nothing. Blocks are those that were handed out,
// whatever became of them.
func (a *TagArena) Taken() Bumped {
	m := a.of("Taken")
	if !a.level && a.begun != m.frame.begun {
		return Bumped{}
	}
	return Bumped{Bytes: min(a.taken.Bytes, uint64(a.used(m))), Blocks: a.taken.Blocks}
}

// Alloc is Alloc of the arena: its errors, and in debug builds its panic outside of a frame or
// level.
func (a *TagArena) Alloc(size, align uintptr) (p unsafe.Pointer, err error) {
	m := a.of("Alloc")
	a.owner.Touch()
	if a.level {
		l := m.Level()
		was := l.Used()
		if p, err = l.Alloc(size, align); err == nil {
			a.took(was, 1)
		}
		return p, err
	}
	f := m.Frame()
	was := f.Used()
	if p, err = f.Alloc(size, align); err == nil {
		a.took(was, 1)
	}
	return p, err
}

// Free is Manager.Free for blocks of the tier; others panic with a *memory.Misuse.
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

// Resize is Manager.Resize for blocks of the tier; others panic with a *memory.Misuse.
func (a *TagArena) Resize(p unsafe.Pointer, oldSize, newSize uintptr) bool {
	m := a.of("Resize")
	a.owns(m, "TagArena.Resize", p, oldSize)
	was := a.used(m)
	ok := m.Resize(p, oldSize, newSize)
	a.took(was, 0)
	return ok
}

// owns panics where p does not lie in the tier.
func (a *TagArena) owns(m *Manager, op string, p unsafe.Pointer, size uintptr) {
	a.owner.Touch()
	if t, ok := m.tierOf(p); !ok {
		panic(m.misuse(op, p, size, m.foreign()))
	} else if t != a.tier() {
		panic(m.misuse(op, p, size, fmt.Sprintf("the block does not lie in the %s tier, but in %s", a.tier(), t)))
	}
}

// Owns reports whether p lies in the frame tier, or in the level's.
func (a *TagArena) Owns(p unsafe.Pointer) bool {
	t, ok := a.of("Owns").tierOf(p)
	return ok && t == a.tier()
}

// took counts blocks, and what the arena has in use more or less than it had.
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
		a.taken.Bytes -= min(a.taken.Bytes, uint64(was-now)) // others have given back blocks of this tag, and it some of theirs
	}
	a.taken.Bytes = min(a.taken.Bytes, uint64(now))
	a.taken.Blocks += blocks
}

// forgetTaken counts nothing as taken from the level: it has ended.
func (m *Manager) forgetTaken() {
	for _, t := range m.tags {
		t.level.taken = Bumped{}
	}
}
