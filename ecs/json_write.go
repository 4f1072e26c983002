package ecs

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"unicode/utf8"
	"unsafe"

	"github.com/strata-go/strata/ecs/internal/jsonio"
	"github.com/strata-go/strata/memory"
)

// jsonVersion is the version of the text format. ReadJSON rejects every other version.
const jsonVersion = 1

// flushBytes is the size at which buffered text is written.
const flushBytes = 32 << 10

// WriteJSON writes all entities to out as text that people can read and [World.ReadJSON] can load. Each entity takes
// one line. A component is written as its name and its value in the form of encoding/json.
//
//	{"strata/ecs":1,"archetypes":[
//	{"components":[],"entities":[
//	{"entity":"1:1"}
//	]},
//	{"components":["game.Position","game.ChildOf"],"targets":{"game.ChildOf":"1:1"},"sweep":7,"entities":[
//	{"entity":"2:1","game.Position":{"X":1,"Y":2.5},"game.ChildOf":{}},
//	{"entity":"4:3","game.Position":{"X":3,"Y":0},"game.ChildOf":{}}
//	]}
//	],"index":{"next":5,"free":["3:2"]}}
//
// Archetypes and entities are in iteration order. Members of an object are in this order:
//
//	strata/ecs  the version, 1
//	archetypes  all archetypes; empty ones are listed because their position matters
//	  components  names, as returned by World.Name
//	  targets     the target of each relation
//	  gone        the relations whose target is stale
//	  since       how often archetypes got targets before; omitted if 0 in the first, or 1 more than in the one before
//	  idle        the archetype waits to be reused for other targets; the highest idle is reused first
//	  sweep       how many targets may be added before archetypes with stale targets are searched
//	  entities    slot and generation of each entity, and its components
//	index       slots without an entity, as "slot:generation" or "from-to:generation"
//	  next        the first slot not used since New or Reset
//	  free        slots to be reused, in order
//	  vacant      other slots with a generation: used before a Reset, or retired
//
// A component of [World.RegisterSize] is written as hexadecimal digits. Other components are encoded by
// encoding/json, which respects MarshalJSON, MarshalText and tags.
//
// The checks of types also cover archetypes without entities. WriteJSON returns an error if this would be lost:
//   - A value that encoding/json cannot encode, such as NaN, an infinity or a complex number. Give
//     the type MarshalJSON and UnmarshalJSON.
//   - An unexported field. Export it, or tag it json:"-" to omit it.
//   - Two fields of a value with the same name in the text, such as a field of an embedded struct.
//   - Fields of a struct whose text an embedded MarshalJSON or MarshalText writes.
//   - A name in a json tag that encoding/json rejects.
//   - A component of an archetype with a name that is not UTF-8, or with the name of another component type.
//
// Further losses of encoding/json are not detected. Strings become valid UTF-8. Interface values are
// read back as maps, slices, strings and float64. The option omitempty drops the sign of a zero and
// the difference between nil and an empty slice. Shared pointers are written as separate values.
//
// The error names the component, and also the entity if the value cannot be encoded. Other errors wrap the error of out,
// [io.ErrShortWrite], or [memory.ErrClosed] if the world closed itself. When WriteJSON fails, a part of the text may
// have been written.
//
// Resources, events, pending commands, observers and ticks are not written. After ReadJSON,
// ChangedSince reports all components as new.
//
// The world is locked during the call; open queries and loops are allowed. WriteJSON panics with a [*memory.Misuse] if
// out is nil or w is closed, in a parallel run, and while the world calls its allocator or Config.Pages.
//
// Cost: some 450 to 700 ns per entity and component. WriteJSON calls out.Write about once per 32 KiB. Per entity it
// allocates only what encoding/json and the methods of component types allocate.
func (w *World) WriteJSON(out io.Writer) error {
	const op = "WriteJSON"
	w.beginWrite(op, out)
	defer w.guard.endText()
	j := jsonWriter{w: w, out: out, idle: make(map[*table]int)}
	j.enc = json.NewEncoder(&j.buf)
	j.enc.SetEscapeHTML(false)
	if err := j.world(); err != nil {
		return fmt.Errorf("ecs: %s: %w", op, err)
	}
	return nil
}

// beginWrite panics unless the world may be written to out now, and locks it.
func (w *World) beginWrite(op string, out io.Writer) {
	w.guard.mustBeOpen(op)
	if w.guard.allocating {
		w.guard.refuse(op)
	}
	if out == nil {
		panic(&memory.Misuse{Package: "ecs", Op: op, Reason: "the writer is nil"})
	}
	w.guard.beginText()
}

// beginText locks the world while it is written or read; endText is deferred.
func (g *guard) beginText() {
	g.locked++
	g.fills++
	g.texts++
}

func (g *guard) endText() {
	g.locked--
	g.fills--
	g.texts--
}

// stillOpen returns an error if the allocator was closed, and with it all rows.
func (g *guard) stillOpen() error {
	if g.closed() {
		return memory.ErrClosed
	}
	return nil
}

// A jsonWriter writes one world.
type jsonWriter struct {
	w     *World
	out   io.Writer
	buf   bytes.Buffer
	enc   *json.Encoder         // writes to buf
	keys  [MaxComponents][]byte // quoted names with a colon
	idle  map[*table]int        // positions in the idle tables of their variants
	since uint64                // the default of the next "since"

	binary bool // the head of WriteBinary: types, and numbers of rows instead of entities
}

func (j *jsonWriter) world() error {
	for _, k := range j.w.store.variants {
		for i, t := range k.idle {
			j.idle[t] = i
		}
	}
	if j.binary {
		fmt.Fprintf(&j.buf, `{"strata/ecs.binary":%d,`, binaryVersion)
		if err := j.types(); err != nil {
			return err
		}
	} else {
		fmt.Fprintf(&j.buf, `{"strata/ecs":%d,`, jsonVersion)
	}
	j.buf.WriteString(`"archetypes":[`)
	for i, t := range j.w.store.tables {
		if i > 0 {
			j.buf.WriteByte(',')
		}
		if err := j.archetype(t); err != nil {
			return err
		}
	}
	j.buf.WriteString("\n],\"index\":{")
	if err := j.index(&j.w.store.index); err != nil {
		return err
	}
	j.buf.WriteString("}}\n")
	return j.flush()
}

// flush writes the buffered text.
func (j *jsonWriter) flush() error {
	n, err := j.out.Write(j.buf.Bytes())
	if err == nil && n < j.buf.Len() {
		err = io.ErrShortWrite
	}
	j.buf.Reset()
	if err != nil {
		return err
	}
	return j.w.guard.stillOpen()
}

func (j *jsonWriter) archetype(t *table) error {
	j.buf.WriteString("\n{\"components\":[")
	sep := ""
	for id := range t.mask.ids() {
		key, err := j.key(id)
		if err != nil {
			return err
		}
		j.buf.WriteString(sep)
		j.buf.Write(key[:len(key)-1])
		sep = ","
	}
	j.buf.WriteByte(']')
	if t.variants != nil {
		j.relations(t)
	}
	if j.binary {
		if n := t.rows(); n > 0 {
			fmt.Fprintf(&j.buf, `,"rows":%d`, n)
		}
	} else if err := j.entities(t); err != nil {
		return err
	}
	j.buf.WriteByte('}')
	return nil
}

// relations writes the targets of an archetype and what decides about their reuse.
func (j *jsonWriter) relations(t *table) {
	if t.idle {
		fmt.Fprintf(&j.buf, `,"idle":%d`, j.idle[t])
	} else {
		var gone [][]byte
		sep := `,"targets":{`
		for i, id := range t.variants.relations {
			key, target := j.keys[id], t.targets[i&(MaxRelations-1)]
			j.buf.WriteString(sep)
			j.buf.Write(key)
			j.buf.WriteString(quote(target))
			if sep = ","; j.w.store.index.find(target) == nil {
				gone = append(gone, key[:len(key)-1])
			}
		}
		j.buf.WriteByte('}')
		if len(gone) > 0 {
			j.buf.WriteString(`,"gone":[`)
			j.buf.Write(bytes.Join(gone, []byte(",")))
			j.buf.WriteByte(']')
		}
		if t.since != j.since {
			fmt.Fprintf(&j.buf, `,"since":%d`, t.since)
		}
		j.since = t.since + 1
	}
	if t == t.variants.tables[0] {
		fmt.Fprintf(&j.buf, `,"sweep":%d`, t.variants.sweepIn)
	}
}

// quote returns an entity as JSON.
func quote(e Entity) string { return `"` + string(e.appendText(nil)) + `"` }

// onlyOne returns an error if another component type has the name of this one.
func (w *World) onlyOne(id ID) error {
	name := w.store.comps[id].name
	for other, c := range w.store.comps {
		if c.name == name && c.owner == nil && ID(other) != id {
			return fmt.Errorf("two component types have the name %s", name)
		}
	}
	return nil
}

// key returns the name of a component as JSON with a colon. The error says why the type cannot be written.
func (j *jsonWriter) key(id ID) ([]byte, error) {
	if j.keys[id] != nil {
		return j.keys[id], nil
	}
	c := j.w.store.comps[id]
	if err := j.w.onlyOne(id); err != nil {
		return nil, err
	}
	if !utf8.ValidString(c.name) {
		return nil, fmt.Errorf("the name of component %q is not UTF-8", c.name)
	}
	if c.typ != nil && !j.binary {
		if why := jsonio.Lossy(c.typ); why != "" {
			return nil, fmt.Errorf("component %s: %s; export it, tag it json:\"-\" to omit it, or give the type MarshalJSON and UnmarshalJSON", c.name, why)
		}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(c.name); err != nil {
		return nil, err
	}
	key := b.Bytes()
	key[len(key)-1] = ':' // replaces the newline
	j.keys[id] = key
	return key, nil
}

func (j *jsonWriter) entities(t *table) error {
	if t.tailN == 0 {
		return nil
	}
	j.buf.WriteString(`,"entities":[`)
	for k := range t.used() {
		loc := t.chunks[k].number << rowBits
		for row, e := range j.w.store.entitiesFrom(loc, t.rowsIn(k)) {
			if k+row > 0 {
				j.buf.WriteByte(',')
			}
			if err := j.entity(t, e, loc+uint32(row)); err != nil {
				return err
			}
		}
	}
	j.buf.WriteString("\n]")
	return nil
}

func (j *jsonWriter) entity(t *table, e Entity, loc uint32) error {
	b := append(j.buf.AvailableBuffer(), "\n{\"entity\":\""...)
	j.buf.Write(append(e.appendText(b), '"'))
	for id := range t.mask.ids() {
		j.buf.WriteByte(',')
		j.buf.Write(j.keys[id])
		if err := j.value(j.w.store.comps[id], loc); err != nil {
			return fmt.Errorf("entity %v, component %s: %w", e, j.w.store.comps[id].name, err)
		}
	}
	j.buf.WriteByte('}')
	if j.buf.Len() < flushBytes {
		return nil
	}
	return j.flush()
}

func (j *jsonWriter) value(c *component, loc uint32) error {
	p := j.w.store.cell(loc, c.id, c.size)
	if c.typ == nil {
		b := append(j.buf.AvailableBuffer(), '"')
		b = hex.AppendEncode(b, unsafe.Slice((*byte)(p), c.size))
		j.buf.Write(append(b, '"'))
		return nil
	}
	if err := j.enc.Encode(reflect.NewAt(c.typ, p).Interface()); err != nil {
		return err
	}
	j.buf.Truncate(j.buf.Len() - 1) // the newline
	return j.w.guard.stillOpen()
}
