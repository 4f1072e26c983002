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

	"github.com/strata-go/strata/memory"
)

// jsonVersion is that of the format below. What another version wrote is refused.
const jsonVersion = 1

// flushBytes is how much text waits before it is written.
const flushBytes = 32 << 10

// WriteJSON writes the entities as a text for people, and for [World.ReadJSON]: one entity in a
// line, components by their names, values as encoding/json writes them.
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
// All is there in the order in which the world goes through it, and members are in this order:
//
//	strata/ecs  the version, 1
//	archetypes  all that are known; those without entities are there for their place in the order
//	  components  names, as World.Name says them
//	  targets     what each of the relations aims at
//	  gone        those relations whose target is not alive any more
//	  since       when the archetype became one of its targets, where that is not behind the one before
//	  idle        it has no targets, and is used again, the highest number first
//	  sweep       new targets to come before those without entities are looked for
//	  entities    in order: slot and generation, and each component of the archetype
//	index       slots without an entity, as "slot:generation" or "from-to:generation"
//	  next        the first slot that was not used yet
//	  free        slots to be used again, the first one first
//	  vacant      other slots that have a generation: used before a Reset, or worn out
//
// A component of [World.RegisterSize] is its bytes in hexadecimal digits. Everything else is what
// encoding/json makes of its type, by MarshalJSON, MarshalText and tags. What it cannot write is an
// error, NaN, infinities and complex numbers: give a type that has some a MarshalJSON and
// UnmarshalJSON. So is a field that it would leave out: export it, or tag it json:"-" where it may
// be lost. So are two fields of a value that have one name, as where one is in an embedded struct; two
// types of one name; and a name that is not UTF-8. Errors name entity and component; out has a part of
// the text then. No error are its other ways: text that is not UTF-8 is bent to be so, what is in an
// interface comes back as a map or a float64, omitempty takes the sign of a zero and an empty slice for
// none, and what two values point at each has for itself.
//
// Not written are resources, events, commands that wait, observers, and when what was written: to
// ChangedSince all that is read is new.
//
// The world is locked until it returns, so that a MarshalJSON can change nothing. It panics with a
// [*memory.Misuse] in a parallel pass, from within the allocator, and where w is closed; queries
// and loops may be under way. Cost: some 350 ns per entity and component; it holds 32 KiB of text
// and the longest line, and allocates nothing per entity but what a type's own methods do.
func (w *World) WriteJSON(out io.Writer) error {
	const op = "WriteJSON"
	w.unclosed(op)
	if w.asking {
		w.refuse(op)
	}
	if out == nil {
		panic(&memory.Misuse{Package: "ecs", Op: op, Reason: "there is nothing to write to"})
	}
	w.beginText()
	defer w.endText()
	j := jsonWriter{w: w, out: out, idle: make(map[*table]int)}
	j.enc = json.NewEncoder(&j.buf)
	j.enc.SetEscapeHTML(false)
	if err := j.world(); err != nil {
		return fmt.Errorf("ecs: WriteJSON: %w", err)
	}
	return nil
}

// beginText locks the world while it is written or read; endText is deferred.
func (w *World) beginText() {
	w.open++
	w.fills++
	w.texts++
}

func (w *World) endText() {
	w.open--
	w.fills--
	w.texts--
}

// A jsonWriter writes one world.
type jsonWriter struct {
	w     *World
	out   io.Writer
	buf   bytes.Buffer
	enc   *json.Encoder // into buf
	keys  [MaxComponents][]byte
	idle  map[*table]int // where they are among those of their kin
	since uint64         // of the archetype with targets before, and one
}

func (j *jsonWriter) world() error {
	for _, k := range j.w.kins {
		for i, t := range k.idle {
			j.idle[t] = i
		}
	}
	fmt.Fprintf(&j.buf, `{"strata/ecs":%d,"archetypes":[`, jsonVersion)
	for i, t := range j.w.tables {
		if i > 0 {
			j.buf.WriteByte(',')
		}
		if err := j.archetype(t); err != nil {
			return err
		}
	}
	j.buf.WriteString("\n],\"index\":{")
	if err := j.index(&j.w.ents); err != nil {
		return err
	}
	j.buf.WriteString("}}\n")
	return j.flush()
}

// flush writes what waits.
func (j *jsonWriter) flush() error {
	n, err := j.out.Write(j.buf.Bytes())
	if err == nil && n < j.buf.Len() {
		err = io.ErrShortWrite
	}
	j.buf.Reset()
	if err != nil {
		return err
	}
	return j.ended()
}

// ended is an error where the allocator has ended, and the rows with it.
func (j *jsonWriter) ended() error {
	if j.w.open >= closedMark {
		return memory.ErrClosed
	}
	return nil
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
	if t.kin != nil {
		j.kin(t)
	}
	if err := j.entities(t); err != nil {
		return err
	}
	j.buf.WriteByte('}')
	return nil
}

// kin writes the books of an archetype with relations.
func (j *jsonWriter) kin(t *table) {
	if t.idle {
		fmt.Fprintf(&j.buf, `,"idle":%d`, j.idle[t])
	} else {
		var gone [][]byte
		sep := `,"targets":{`
		for i, id := range t.kin.relations {
			key, target := j.keys[id], t.targets[i&(MaxRelations-1)]
			j.buf.WriteString(sep)
			j.buf.Write(key)
			j.buf.WriteString(quote(target))
			if sep = ","; j.w.ents.find(target) == nil {
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
	if t == t.kin.tables[0] {
		fmt.Fprintf(&j.buf, `,"sweep":%d`, t.kin.credit)
	}
}

// quote returns an entity as JSON.
func quote(e Entity) string { return `"` + string(e.appendText(nil)) + `"` }

// key returns the name of a component as JSON, and a colon. It refuses a name that is another one's
// too, and a type of which something would be lost.
func (j *jsonWriter) key(id ID) ([]byte, error) {
	if j.keys[id] != nil {
		return j.keys[id], nil
	}
	c := j.w.comps[id]
	if first, _ := j.w.ID(c.name); first != id {
		return nil, fmt.Errorf("two component types have the name %s", c.name)
	}
	if !utf8.ValidString(c.name) {
		return nil, fmt.Errorf("the name of component %q is not UTF-8", c.name)
	}
	if c.typ != nil {
		if why := lost(c.typ, nil); why != "" {
			return nil, fmt.Errorf("component %s: %s; export it, tag it json:\"-\" where it may be lost, or give the type MarshalJSON and UnmarshalJSON", c.name, why)
		}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(c.name); err != nil {
		return nil, err
	}
	key := b.Bytes()
	key[len(key)-1] = ':' // in place of the line's end
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
		for row, e := range j.w.entitiesFrom(loc, t.rowsIn(k)) {
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
		if err := j.value(j.w.comps[id], loc); err != nil {
			return fmt.Errorf("entity %v, component %s: %w", e, j.w.comps[id].name, err)
		}
	}
	j.buf.WriteByte('}')
	if j.buf.Len() < flushBytes {
		return nil
	}
	return j.flush()
}

func (j *jsonWriter) value(c *component, loc uint32) error {
	p := j.w.cell(loc, c.id, c.size)
	if c.typ == nil {
		b := append(j.buf.AvailableBuffer(), '"')
		b = hex.AppendEncode(b, unsafe.Slice((*byte)(p), c.size))
		j.buf.Write(append(b, '"'))
		return nil
	}
	if err := j.enc.Encode(reflect.NewAt(c.typ, p).Interface()); err != nil {
		return err
	}
	j.buf.Truncate(j.buf.Len() - 1) // the line's end
	return j.ended()
}
