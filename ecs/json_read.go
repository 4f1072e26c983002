package ecs

import (
	"fmt"
	"io"

	"github.com/strata-go/strata/ecs/internal/jsonio"
	"github.com/strata-go/strata/memory"
)

// ReadJSON loads the output of [World.WriteJSON] into a world without entities. Index and generation of each entity
// come from the text. So each Entity, also an Entity in a component, names the same entity as in the world that was
// written. An Entity from before a Reset of w may name a new entity.
//
// All component types of the text must be registered, with the same names, in any order. Relations must be registered
// as relations. Both worlds have the same [World.Hash] if the text omits no value and w has the Config of the written
// world and its types in the same order. Further operations on both worlds then have the same results, Entity by
// Entity. Archetypes that w has already, for example after Reset, are dropped.
//
// Fields that the text omits or gives as null are zero. If a field occurs twice, encoding/json decodes both values into
// the field, in order. If the text has more elements than an array of a component, the rest is dropped.
//
// If w has entities, ReadJSON returns an error and reads nothing. Every other error names the line and the byte in the
// text. The only exception is an observer that closes the allocator after the text was read. ReadJSON also fails if:
//   - the text has another version, is truncated, has more text after its end, or is not in the form of WriteJSON;
//   - a value does not fit its component;
//   - a component or a field is unknown, or a component is missing;
//   - two component types of w have the same name, and the text contains this name;
//   - an entity occurs twice, or its slot is above Config.MaxEntities ([ErrLimit]);
//   - a slot below the highest one has neither an entity nor an entry in the text's index;
//   - the target of a relation is stale, but the list `gone` of the text lacks the relation;
//   - the reader fails, or returns nothing 100 times ([io.ErrNoProgress]);
//   - the text has more than 65,536 consecutive blanks outside of strings;
//   - the allocator or Config.Pages fails, for example with [memory.ErrOutOfMemory];
//   - w closes itself, because the allocator or Config.Pages is closed ([memory.ErrClosed]).
//
// On error w is unchanged, except that its empty chunks may have been freed and that it may have closed itself.
//
// Observers are called after everything is read, as for entities created by a batch. Then those of [World.OnLoad] are
// called. Resources, events, pending commands and observers are unchanged.
//
// The world is locked during the call. An UnmarshalJSON method that reads the world finds no entities. ReadJSON
// panics with a [*memory.Misuse] if in is nil, or if w is locked or closed.
//
// Cost: some 3 µs and 15 Go allocations per entity and component. During the call ReadJSON uses 4 bytes of Go memory
// per slot, 12 per run of free slots, and the text of the longest value.
func (w *World) ReadJSON(in io.Reader) error {
	const op = "ReadJSON"
	w.guard.mutable(op)
	if in == nil {
		panic(&memory.Misuse{Package: "ecs", Op: op, Reason: "the reader is nil"})
	}
	return w.load(op, func() error { return w.readText(in, nil) })
}

// load reads into a world without entities, and then tells the observers.
func (w *World) load(op string, read func() error) error {
	if w.store.index.live > 0 {
		return fmt.Errorf("ecs: %s: the world has %d entities; call Reset first", op, w.store.index.live)
	}
	for _, t := range w.store.tables {
		w.store.dropChunks(t, 0)
	}
	w.store.freePending()
	w.guard.beginText()
	err := func() error { defer w.guard.endText(); return read() }()
	if err != nil {
		return fmt.Errorf("ecs: %s: %w", op, err)
	}
	if w.observers.observed != 0 {
		for _, t := range w.store.tables { // the first is notified before an observer can spawn into it
			if err := w.observers.notifyBatch(span{t: t, left: t.rows()}); err != nil {
				return fmt.Errorf("ecs: %s: %w", op, err)
			}
		}
	}
	if err := w.observers.notifyLoad(); err != nil {
		return fmt.Errorf("ecs: %s: %w", op, err)
	}
	return nil
}

// readText reads into a draft, and adopts it if there was no error. With rows, the text is the head of a binary file.
func (w *World) readText(in io.Reader, rows *binaryRows) error {
	r := reader{w: w, binary: rows, into: w.store.newDraft(), Reader: jsonio.NewReader(in, w.guard.stillOpen)}
	defer func() { w.store.discard(r.into) }()
	err := r.document()
	if err == nil {
		err = r.settleTargets()
	}
	if err == nil {
		err = w.store.index.indexFor(r.named.Last())
	}
	if err != nil {
		return r.At(err)
	}
	w.store.adopt(&r)
	r.into = nil
	return nil
}

// A reader reads one text or one binary file.
type reader struct {
	*jsonio.Reader
	w        *World // the destination
	binary   *binaryRows
	into     *store // the draft: what was read so far, except for the index
	named    jsonio.Generations
	next     uint32           // becomes entityIndex.bump
	used     uint32           // the highest slot that is alive or free
	free     []jsonio.SlotRun // in order
	cells    [MaxComponents]scratch
	from     []int64  // offsets of the archetypes in the text
	targeted []*table // tables with targets; sorted by since at the end
	gone     []mask   // for each of targeted, the relations with a stale target
	place    []int    // for each of targeted, the number of its archetype in the text
	since    uint64   // the default of the next "since"
}

func (r *reader) document() error {
	r.next = 1
	start := []jsonio.Member{{Name: "strata/ecs", Must: true, Read: func() error { return r.version(jsonVersion) }}}
	if r.binary != nil {
		start = []jsonio.Member{{Name: "strata/ecs.binary", Must: true, Read: func() error { return r.version(binaryVersion) }}, {Name: "types", Must: true, Read: r.types}}
	}
	err := r.Members(append(start,
		jsonio.Member{Name: "archetypes", Must: true, Read: func() error { return r.List(r.archetype) }},
		jsonio.Member{Name: "index", Must: true, Read: r.index},
	)...)
	if err == nil && r.binary != nil && len(r.binary.rest) > 0 {
		err = fmt.Errorf("%d bytes of rows belong to no archetype", len(r.binary.rest))
	}
	if err != nil {
		return err
	}
	return r.End()
}

func (r *reader) version(want uint64) error {
	v, err := jsonio.Whole[uint64](r.Reader)
	if err != nil {
		return err
	}
	if v != want {
		return fmt.Errorf("the text has version %d, not %d", v, want)
	}
	return nil
}
