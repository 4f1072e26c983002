package tiers

import (
	"errors"
	"fmt"
	"unicode"
	"unicode/utf8"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
)

const (
	// MaxTags is how many tags a manager can have: a tag is a byte in the books of a block.
	MaxTags = 255
	// MaxTagName is how many bytes a tag's name may have: it is a column in a table.
	MaxTagName = 48
)

// A Tag is the second axis of the books. A tier says how long memory lives, a tag says who has it:
// "ai", "audio", "level 3". It allocates from the manager's slab and large tiers as Manager.Alloc
// does, and its books follow the block from there, whoever frees it, and however: through the tag,
// through another one, by Manager.Free and FreeAny, which know the address alone, through a Freer
// from another goroutine, or resized by any of them.
//
// A block under a tag is the manager's like every other: unzeroed, valid until it is freed, told
// of by EndLevel where it outlives its level. The size given to Free is held to the byte, in slab,
// too. It must not be freed through the tier's own allocator, as Slab returns it: the tag would go
// on counting it, as Check says while the address is nobody's, until the manager frees what lies
// there next or a tag hands it out; and whoever got it without a tag in between would be held to
// the size that the tag knows.
//
// The memory of the other tiers is counted under a tag by [Tag.Frame] and [Tag.Level], by
// [Worker.Tag], and for pools by [Tag.AddPool] and [NewPoolIn].
//
// Without [Config.Tags] a tag passes everything on and its figures are 0: a program need not be
// written twice. One goroutine, the game's. After Close its Alloc fails with memory.ErrClosed and
// its Free panics, as the manager's; the figures have counts but no bytes. The nil and the zero
// Tag panic with a *memory.Misuse.
//
// Cost: an Alloc and its Free together take some 17 ns more than the manager's, see BenchmarkTag, and
// a note 4 to 8 bytes of the Go heap for each live block of slab and 8 for each KiB of it, and up to
// the 60th part of large. What has no tag costs nothing to allocate, and a look at a table to free.
type Tag struct {
	m        *Manager
	name     string
	id       uint8  // from 1
	peak     uint64 // highest bytes in use in slab and large together
	failures uint64
	frame    TagArena
	level    TagArena
	atLevel  tagCounts // in slab when the level began, for builds that cannot tell its blocks
	owner    invariant.Owner
}

// Tag returns the tag of that name, and makes it where there is none: call it when the game
// starts, and keep what it returns. A name has 1 to MaxTagName bytes, printable. Up to MaxTags can
// be made; the error says what is wrong with the name and wraps memory.ErrConfig, or says that there
// are too many, or wraps memory.ErrClosed after Close. Cost: proportional to the tags.
func (m *Manager) Tag(name string) (*Tag, error) {
	if m.phase >= closing {
		return nil, fmt.Errorf("tiers: tag %q: %w", name, memory.ErrClosed)
	}
	m.owner.Touch()
	for _, t := range m.tags {
		if t.name == name {
			return t, nil
		}
	}
	if err := badTagName(name); err != nil {
		return nil, fmt.Errorf("tiers: tag %.60q: %w: %w", name, err, memory.ErrConfig)
	}
	if len(m.tags) == MaxTags {
		return nil, fmt.Errorf("tiers: tag %q: there are %d tags already, and no more are possible", name, MaxTags)
	}
	t := &Tag{m: m, name: name, id: uint8(len(m.tags) + 1)}
	t.frame.tag, t.level.tag, t.level.level = t, t, true
	reach(&m.slab.notes.counts, t.id)
	reach(&m.large.notes.counts, t.id)
	m.tags = append(m.tags, t)
	return t, nil
}

func badTagName(name string) error {
	switch {
	case name == "":
		return errors.New("a tag needs a name")
	case len(name) > MaxTagName:
		return fmt.Errorf("the name has %d bytes; allowed are %d", len(name), MaxTagName)
	case !utf8.ValidString(name):
		return errors.New("the name is not UTF-8")
	}
	for _, r := range name {
		if !unicode.IsPrint(r) {
			return fmt.Errorf("the name has %q, which cannot be printed", r)
		}
	}
	return nil
}

// Name returns the tag's name.
func (t *Tag) Name() string { t.of("Name"); return t.name }

// of returns the manager, or panics where the tag has none.
func (t *Tag) of(op string) *Manager {
	if t == nil || t.m == nil {
		panic(noTag(op))
	}
	return t.m
}

func noTag(op string) *memory.Misuse {
	return &memory.Misuse{Package: "tiers", Op: op, Reason: "the tag is nil or zero; Manager.Tag returns one"}
}

// Alloc is Manager.Alloc, counted under the tag.
func (t *Tag) Alloc(size, align uintptr) (unsafe.Pointer, error) {
	m := t.of("Alloc")
	t.owner.Touch()
	p, err := m.slab.heap.Alloc(size, align)
	if !m.cfg.Tags {
		return p, err
	}
	if err != nil {
		if refused(err) {
			t.failures++
		}
		return nil, err
	}
	if m.route[(uintptr(p)-uintptr(m.base))>>regionShift] == routeSlab {
		class := m.slab.heap.SizeOf(p)
		m.slab.notes.add(t.id, p, class, size)
	} else {
		m.large.notes.add(t.id, p, size)
	}
	t.peak = max(t.peak, m.taggedBytes(t.id))
	return p, nil
}

// refused reports whether an error is for want of memory, which Stats counts.
func refused(err error) bool {
	return errors.Is(err, memory.ErrOutOfMemory) || errors.Is(err, memory.ErrTooLarge)
}

// taggedBytes returns the bytes in use under a tag in slab and large.
func (m *Manager) taggedBytes(id uint8) uint64 {
	return m.slab.notes.counts[id].used + m.large.notes.counts[id].used
}

// Free is Manager.Free: it frees any block of the manager's, for the tag that it is of.
func (t *Tag) Free(p unsafe.Pointer, size uintptr) { t.of("Free").Free(p, size) }

// FreeAny is Manager.FreeAny.
func (t *Tag) FreeAny(p unsafe.Pointer) { t.of("FreeAny").FreeAny(p) }

// Resize is Manager.Resize. [memory.Grow] on a tag moves what cannot stay to a block of this tag.
func (t *Tag) Resize(p unsafe.Pointer, oldSize, newSize uintptr) bool {
	return t.of("Resize").Resize(p, oldSize, newSize)
}

// SizeOf is Manager.SizeOf.
func (t *Tag) SizeOf(p unsafe.Pointer) uintptr { return t.of("SizeOf").SizeOf(p) }

// Owns is Manager.Owns.
func (t *Tag) Owns(p unsafe.Pointer) bool { return t.of("Owns").Owns(p) }

// Base is Manager.Base.
func (t *Tag) Base() unsafe.Pointer { return t.of("Base").Base() }

// Extent is Manager.Extent.
func (t *Tag) Extent() uintptr { return t.of("Extent").Extent() }

func (m *Manager) otherSize(op string, p unsafe.Pointer, size uintptr, tag uint8, noted uintptr) *memory.Misuse {
	return m.misuse(op, p, size, fmt.Sprintf("wrong size: the block, of tag %q, was requested with %d bytes, not %d; or it was freed past the manager, and this is another one",
		m.tags[tag-1].name, noted, size))
}
