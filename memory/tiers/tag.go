package tiers

import (
	"errors"
	"fmt"
	"unicode"
	"unicode/utf8"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/align"
	"github.com/strata-go/strata/memory/internal/invariant"
)

const (
	// MaxTags is the largest number of tags of a manager.
	MaxTags = 255
	// MaxTagName is the largest length of a tag's name in bytes.
	MaxTagName = 48
)

// A Tag attributes memory to a subsystem, such as "ai" or "audio". Tag.Alloc allocates from the manager's slab and
// large tiers, as Manager.Alloc does. The tag's statistics count the block until it is freed, regardless of which
// code frees or resizes the block. Memory of the other tiers is counted under a tag through [Tag.Frame], [Tag.Level],
// [Worker.Tag], [Tag.AddPool] and [NewPoolIn].
//
// A tagged block is like every other block of the manager: not zeroed, and valid until it is freed. If it is a leak,
// EndLevel reports it, as described at [Manager.Alloc]. With [Config.Tags] the manager keeps an entry with the tag and
// the size of each tagged block. So Free and Resize check the size of a tagged block to the byte, also in slab.
// Do not free or resize a tagged block through the tier's own allocator, such as Slab(): its entry would become stale.
// With a stale entry, the tag's statistics are wrong, and a later Free of the address may report a wrong size. Check
// reports a stale entry if no live block is at the address.
//
// If memory is short, the errors of Tag.Alloc contain the tag's name and wrap the errors of the tier.
//
// Without [Config.Tags] a tag allocates blocks, but its statistics are 0. A Tag belongs to the game
// goroutine. After Close of the manager, Tag.Alloc fails with memory.ErrClosed, Tag.Free of a block panics, and the
// tag's statistics have no bytes in use. The methods of a nil or zero Tag panic with a *memory.Misuse.
//
// Cost: Tag.Alloc and Tag.Free together take about 25 ns more than Manager.Alloc and Manager.Free, see BenchmarkTag.
// The entries of tagged blocks are in the Go heap, and their memory is kept until Close. For slab they take 8 bytes for
// each KiB. A KiB that has ever contained a tagged block takes about 4 to 8 bytes more for each block that fits into
// it. For large the entries take up to a sixtieth of the tier. For an untagged block Alloc costs nothing more; Free
// costs a call and a table look-up more.
type Tag struct {
	m       *Manager
	name    string
	id      uint8  // from 1
	peak    uint64 // highest bytes in use in slab and large together
	frame   TagArena
	level   TagArena
	full    error     // frameTier.full with the name, or nil
	atLevel tagCounts // in slab when the level began, for builds that cannot tell its blocks
	owner   invariant.Owner
}

// Tag returns the tag with the given name. If there is no such tag, Tag makes one. Call Tag when the game starts, and
// keep the result. A name is printable UTF-8 of 1 to MaxTagName bytes. For any other name the error wraps
// memory.ErrConfig. After Close the error wraps memory.ErrClosed. If there are MaxTags tags already, the error wraps
// neither of the two. Cost: proportional to the number of tags.
func (m *Manager) Tag(name string) (*Tag, error) {
	m.made("Tag")
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

// of returns the manager, or panics if the tag has none.
func (t *Tag) of(op string) *Manager {
	if t == nil || t.m == nil {
		panic(noTag(op))
	}
	return t.m
}

func noTag(op string) *memory.Misuse {
	return &memory.Misuse{Package: "tiers", Op: op, Reason: "the tag is nil or zero; Manager.Tag returns one"}
}

// Alloc is [Manager.Alloc] for a block that counts under the tag.
func (t *Tag) Alloc(size, align uintptr) (unsafe.Pointer, error) {
	m := t.of("Alloc")
	t.owner.Touch()
	if !m.cfg.Tags {
		p, err := m.slab.front.Alloc(size, align)
		if err != nil {
			err = t.named(err)
		}
		return p, err
	}
	p, err := m.allocRecorded(t.id, size, align)
	if err != nil {
		if refused(err) {
			m.tagCountsFor(size)[t.id].failures++
		}
		return nil, t.named(err)
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

// named adds the name of the tag to an error that memory is short. For a frame that is full it makes one error for all
// calls: the frame may be full in every frame.
func (t *Tag) named(err error) error {
	switch {
	case !refused(err):
		return err
	case err != t.m.frame.full:
		return fmt.Errorf("tiers: tag %q: %w", t.name, err)
	case t.full == nil:
		t.full = fmt.Errorf("tiers: tag %q: %w", t.name, err)
	}
	return t.full
}

// tagCountsFor returns the counts of the tier that serves requests of a size.
func (m *Manager) tagCountsFor(size uintptr) []tagCounts {
	if size <= align.Up(m.cfg.SlabMax, 1<<placeShift) {
		return m.slab.notes.counts
	}
	return m.large.notes.counts
}

// refused reports whether an error counts as a failure in Stats.
func refused(err error) bool {
	return errors.Is(err, memory.ErrOutOfMemory) || errors.Is(err, memory.ErrTooLarge)
}

// taggedBytes returns the bytes in use under a tag in slab and large.
func (m *Manager) taggedBytes(id uint8) uint64 {
	return m.slab.notes.counts[id].used + m.large.notes.counts[id].used
}

// Free is [Manager.Free]. It frees any block of the manager, also one of another tag. The free counts for the tag under
// which the block was allocated. For blocks of Frame and Level see [TagArena].
func (t *Tag) Free(p unsafe.Pointer, size uintptr) { t.of("Free").Free(p, size) }

// FreeAny is [Manager.FreeAny]. It frees blocks with any tag or none.
func (t *Tag) FreeAny(p unsafe.Pointer) { t.of("FreeAny").FreeAny(p) }

// Resize is [Manager.Resize]: it never moves the block. If [memory.Grow] with this Tag must move the block, it allocates
// the new block from this Tag.
func (t *Tag) Resize(p unsafe.Pointer, oldSize, newSize uintptr) bool {
	return t.of("Resize").Resize(p, oldSize, newSize)
}

// SizeOf is [Manager.SizeOf]. It accepts blocks with any tag or none.
func (t *Tag) SizeOf(p unsafe.Pointer) uintptr { return t.of("SizeOf").SizeOf(p) }

// Owns is [Manager.Owns]: it reports whether p lies in a tier of the manager, regardless of the tag.
func (t *Tag) Owns(p unsafe.Pointer) bool { return t.of("Owns").Owns(p) }

// Base is [Manager.Base], the address from which the offsets of all blocks of the manager count. After Close it is nil.
func (t *Tag) Base() unsafe.Pointer { return t.of("Base").Base() }

// Extent is [Manager.Extent], the size in bytes of the address space of all tiers. After Close it is 0.
func (t *Tag) Extent() uintptr { return t.of("Extent").Extent() }

func (m *Manager) otherSize(op string, p unsafe.Pointer, size uintptr, tag uint8, noted uintptr) *memory.Misuse {
	return m.misuse(op, p, size, fmt.Sprintf("wrong size: the block, of tag %q, was requested with %d bytes, not %d; or it was freed past the manager, and this is another one",
		m.tags[tag-1].name, noted, size))
}

// allocRecorded is Alloc under a tag or 0, with what Config.Trace and SampleBytes record.
func (m *Manager) allocRecorded(tag uint8, size, align uintptr) (unsafe.Pointer, error) {
	p, err := m.slab.heap.Alloc(size, align)
	if err == nil && (m.recorder != nil || m.sampler != nil) {
		t, _ := m.tierOf(p)
		m.recorder.alloc(t, 0, p, size, align)
		m.sampler.alloc(t, tag, p, size)
	}
	return p, err
}

func (m *Manager) allocUntagged(size, align uintptr) (unsafe.Pointer, error) {
	return m.allocRecorded(0, size, align)
}
