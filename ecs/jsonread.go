package ecs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/strata-go/strata/memory"
)

// ReadJSON fills a world without entities from what [World.WriteJSON] wrote. Every Entity, and
// those in the values of components, names afterwards what it named then: index and generation are
// those of the text, also where w had entities before, of which somebody may hold one.
//
// The component types of the text must be registered, by the same names, and as relations where
// they are; their order does not matter. In a new world of the same Config with the same types,
// registered in the same order, [World.Hash] is what it was, and whatever is done then does the
// same, Entity by Entity. In a world that knows archetypes already, as after Reset, the new ones
// come behind them, so that the order of iteration and Hash may differ.
//
// What the text does not say of a value stays zero, as does null; of a field that is there twice the last
// counts. It is an error where a component is missing or
// not known, a field is not known, an entity is there twice or beyond Config.MaxEntities, where the
// target of a relation is not alive and not named as gone, or a slot below the highest is missing;
// so are another version, a text that is cut short or goes on behind its end, more than 65,536 blanks in a
// row outside of strings, a reader that returns nothing a hundred times, and memory that runs out, which wraps [memory.ErrOutOfMemory]. An error says the line and the byte. Nothing has changed
// then, but that chunks without rows have gone back to the allocator.
//
// Observers are told of all entities, as created by a batch, when everything is read. Resources,
// events, commands that wait and observers stay as they are. The world is locked meanwhile, and
// empty for an UnmarshalJSON that looks at it. It panics with a [*memory.Misuse] where w is locked
// or closed.
//
// Cost: some 3 µs and 15 Go allocations per entity and component. Beside the world it holds 4 bytes
// of Go memory per slot, 12 for each run of free slots, and the text of the longest value.
func (w *World) ReadJSON(in io.Reader) error {
	const op = "ReadJSON"
	w.mutable(op)
	if in == nil {
		panic(&memory.Misuse{Package: "ecs", Op: op, Reason: "there is nothing to read from"})
	}
	if w.ents.live > 0 {
		return fmt.Errorf("ecs: ReadJSON: the world has %d entities; call Reset first", w.ents.live)
	}
	for _, t := range w.tables {
		w.dropChunks(t, 0)
	}
	w.settle()
	if err := w.readText(in); err != nil {
		return fmt.Errorf("ecs: ReadJSON: %w", err)
	}
	if w.observed != 0 {
		for _, t := range w.tables { // an observer may spawn into the first, which was told by then
			w.tellBatch(span{t: t, left: t.rows()})
		}
	}
	return nil
}

// readText reads into a world of its own, which nobody sees, and takes it over when all is well.
func (w *World) readText(in io.Reader) error {
	w.beginText()
	defer w.endText()
	r := jsonReader{w: w, into: w.newDraft(), named: generations{pages: make(map[uint32]*[genPage]uint32)}}
	defer func() { w.discard(r.into) }()
	r.in.r = in
	r.dec = json.NewDecoder(&r.in)
	r.dec.DisallowUnknownFields()
	err := r.document()
	if err == nil {
		err = r.settleTargets()
	}
	if err == nil {
		err = w.indexFor(r.named.last)
	}
	if err != nil {
		return r.at(err)
	}
	w.adopt(&r)
	r.into = nil
	return nil
}

// A jsonReader reads one text.
type jsonReader struct {
	w     *World // that is to have it
	into  *World // what was read so far, but for the index
	in    lineReader
	dec   *json.Decoder
	named generations
	next  uint32    // see entityIndex.bump
	used  uint32    // the highest slot that is alive or free
	free  []slotRun // in order
	cells [MaxComponents]scratch
	from  []int64  // where in the text the archetypes of into begin
	aimed []*table // those with targets, by since once all are read
	gone  []mask   // of these, the relations whose target is not alive
	since uint64   // of the next one where the text does not say
	where string   // what is read, for errors
}

// at says where err is.
func (r *jsonReader) at(err error) error {
	waiting := 0
	if rest, ok := r.dec.Buffered().(*bytes.Reader); ok {
		text, _ := io.ReadAll(rest)
		waiting = bytes.Count(text, []byte("\n"))
	}
	if r.where != "" {
		err = fmt.Errorf("%s: %w", r.where, err)
	}
	return fmt.Errorf("line %d, byte %d: %w", r.in.lines-waiting+1, r.dec.InputOffset(), err)
}

func (r *jsonReader) document() error {
	r.next = 1
	err := r.members(
		member{"strata/ecs", true, r.version},
		member{"archetypes", true, func() error { return r.list(r.archetype) }},
		member{"index", true, r.index},
	)
	if err != nil {
		return err
	}
	t, err := r.dec.Token()
	if err == io.EOF {
		return r.after(nil)
	}
	if err = r.after(err); err == nil {
		err = fmt.Errorf("%v behind the end of the text", t)
	}
	return err
}

func (r *jsonReader) version() error {
	v, err := whole[uint64](r)
	if err != nil {
		return err
	}
	if v != jsonVersion {
		return fmt.Errorf("the text has version %d; this reads version %d", v, jsonVersion)
	}
	return nil
}
