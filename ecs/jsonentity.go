package ecs

import (
	"encoding/hex"
	"fmt"
	"reflect"
	"unsafe"
)

// entities reads the rows of t.
func (r *jsonReader) entities(t *table) error {
	return r.list(func() error {
		r.where = ""
		return r.entity(t)
	})
}

func (r *jsonReader) entity(t *table) error {
	if err := r.delim('{'); err != nil {
		return err
	}
	name, err := r.text()
	if err == nil && name != "entity" {
		err = fmt.Errorf("%q where \"entity\" is due", clip(name))
	}
	if err != nil {
		return err
	}
	e, err := r.born()
	if err != nil {
		return err
	}
	r.where = "entity " + quote(e)
	loc, err := r.row(t, e)
	if err != nil {
		return err
	}
	var has mask
	for r.dec.More() {
		if name, err = r.text(); err != nil {
			return err
		}
		c, err := r.component(name, &t.mask)
		if err == nil && has.has(c.id) {
			err = fmt.Errorf("component %s is there twice", c.name)
		}
		if err != nil {
			return err
		}
		has = has.with(maskBit(c.id))
		if err = r.value(c, loc); err != nil {
			return fmt.Errorf("component %s: %w", c.name, err)
		}
	}
	if err = r.delim('}'); err != nil {
		return err
	}
	if lacks := t.mask.without(has); !lacks.empty() {
		return fmt.Errorf("component %s is missing", names(lacks, r.into.comps)[0])
	}
	return nil
}

// born reads an entity that no line before was about.
func (r *jsonReader) born() (e Entity, err error) {
	name, err := r.text()
	if err == nil {
		err = e.UnmarshalText([]byte(name))
	}
	if err != nil {
		return e, err
	}
	if e.IsZero() || e.gen > lastGen {
		return e, fmt.Errorf("%q is never alive: slots begin at 1, and generations end at %d", name, uint32(lastGen))
	}
	if err = r.slot(e.index, e.gen); err == nil {
		r.used = max(r.used, e.index)
	}
	return e, err
}

// slot notes a slot that the text names.
func (r *jsonReader) slot(index, gen uint32) error {
	if index > r.w.ents.max {
		return fmt.Errorf("slot %d is beyond the %d of Config.MaxEntities", index, r.w.ents.max)
	}
	if !r.named.set(index, gen) {
		return fmt.Errorf("slot %d is there twice", index)
	}
	return nil
}

// row appends a row for e to t. Its cells hold old bytes.
func (r *jsonReader) row(t *table, e Entity) (loc uint32, err error) {
	if t.tailN == t.limit {
		if err := r.after(r.into.grow(t)); err != nil {
			return 0, err
		}
	}
	row := t.tailN
	t.tailN++
	*entityAt(t.tailBase, row) = e
	return t.tailLoc + row, nil
}

// component returns the component type of a name, which must be one of those in m where that is not nil.
func (r *jsonReader) component(name string, m *mask) (*component, error) {
	for i, c := range r.into.comps {
		if c.name != name || c.of != nil {
			continue
		}
		if m != nil && !m.has(c.id) {
			return nil, fmt.Errorf("component %s is none of its archetype", c.name)
		}
		for _, other := range r.into.comps[i+1:] {
			if other.name == name && other.of == nil {
				return nil, fmt.Errorf("two component types have the name %s", name)
			}
		}
		return c, nil
	}
	return nil, fmt.Errorf("component %q is not registered", clip(name))
}

// A scratch is where values of one component type are read to, and copied into their cell from.
type scratch struct {
	v    reflect.Value
	any  any // a pointer to it
	room unsafe.Pointer
}

// value reads a value into its cell.
func (r *jsonReader) value(c *component, loc uint32) error {
	p := r.into.cell(loc, c.id, c.size)
	if c.typ == nil {
		text, err := r.text()
		if err != nil {
			return err
		}
		if len(text) != hex.EncodedLen(int(c.size)) {
			return fmt.Errorf("%d characters where %d bytes have %d hexadecimal digits", len(text), c.size, 2*c.size)
		}
		_, err = hex.Decode(unsafe.Slice((*byte)(p), c.size), []byte(text))
		return err
	}
	s := &r.cells[c.id]
	if s.any == nil {
		v := reflect.New(c.typ)
		*s = scratch{v: v.Elem(), any: v.Interface(), room: v.UnsafePointer()}
	}
	s.v.SetZero()
	if err := r.decode(s.any); err != nil {
		return err
	}
	if c.pointerful {
		c.copyCells(p, s.room, 1)
	} else {
		copyBytes(p, s.room, c.size)
	}
	return nil
}
