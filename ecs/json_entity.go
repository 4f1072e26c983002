package ecs

import (
	"encoding/hex"
	"fmt"
	"reflect"
	"unsafe"

	"github.com/strata-go/strata/ecs/internal/jsonio"
	"github.com/strata-go/strata/memory/layout"
)

// entities reads the rows of t.
func (r *reader) entities(t *table) error {
	return r.List(func() error {
		r.Where = ""
		return r.entity(t)
	})
}

func (r *reader) entity(t *table) error {
	if err := r.Delim('{'); err != nil {
		return err
	}
	name, err := r.Text()
	if err == nil && name != "entity" {
		err = fmt.Errorf("%q instead of \"entity\"", jsonio.Clip(name))
	}
	if err != nil {
		return err
	}
	e, err := r.newEntity()
	if err != nil {
		return err
	}
	r.Where = "entity " + quote(e)
	loc, err := r.row(t, e)
	if err != nil {
		return err
	}
	var has mask
	for r.More() {
		if name, err = r.Text(); err != nil {
			return err
		}
		c, err := r.component(name, &t.mask)
		if err == nil && has.has(c.id) {
			err = fmt.Errorf("component %s occurs twice", c.name)
		}
		if err != nil {
			return err
		}
		has = has.with(maskBit(c.id))
		if err = r.value(c, loc); err != nil {
			return fmt.Errorf("component %s: %w", c.name, err)
		}
	}
	if err = r.Delim('}'); err != nil {
		return err
	}
	if lacks := t.mask.without(has); !lacks.empty() {
		return fmt.Errorf("component %s is missing", names(lacks, r.into.comps)[0])
	}
	return nil
}

// newEntity reads an entity that the text has not named before.
func (r *reader) newEntity() (e Entity, err error) {
	name, err := r.Text()
	if err == nil {
		err = e.UnmarshalText([]byte(name))
	}
	if err != nil {
		return e, err
	}
	return e, r.add(e)
}

// possible reports whether e may ever be valid.
func (e Entity) possible() bool { return e.index != 0 && e.gen%2 != 0 && e.gen <= lastGen }

// add records an entity that the text has not named before.
func (r *reader) add(e Entity) error {
	if !e.possible() {
		return fmt.Errorf("%s is never valid: slots begin at 1, and generations are odd and end at %d", quote(e), uint32(lastGen))
	}
	r.used = max(r.used, e.index)
	return r.slot(e.index, e.gen)
}

// slot records that the text names a slot.
func (r *reader) slot(index, gen uint32) error {
	if index > r.w.store.index.max {
		return fmt.Errorf("slot %d is above Config.MaxEntities, %d: %w", index, r.w.store.index.max, ErrLimit)
	}
	if !r.named.Set(index, gen) {
		return fmt.Errorf("slot %d occurs twice", index)
	}
	return nil
}

// row appends a row for e to t. Its cells are not initialized.
func (r *reader) row(t *table, e Entity) (loc uint32, err error) {
	if t.tailN == t.limit {
		if err := r.After(r.into.grow(t)); err != nil {
			return 0, err
		}
	}
	row := t.tailN
	t.tailN++
	*entityAt(t.tailBase, row) = e
	return t.tailLoc + row, nil
}

// component returns the component type with a name. If m is not nil it must contain the type.
func (r *reader) component(name string, m *mask) (*component, error) {
	if r.binary != nil {
		switch x := r.binary.types[name]; {
		case x == nil:
			return nil, fmt.Errorf("type %q is not described", jsonio.Clip(name))
		case x.c == nil:
			return nil, fmt.Errorf("%w: Dropped has the relation %q, which cannot be dropped", layout.ErrMigration, jsonio.Clip(name))
		case m != nil && !m.has(x.c.id):
			return nil, fmt.Errorf("component %s does not belong to the archetype", x.c.name)
		default:
			return x.c, nil
		}
	}
	c, err := r.registered(name)
	if err == nil && m != nil && !m.has(c.id) {
		err = fmt.Errorf("component %s does not belong to the archetype", c.name)
	}
	return c, err
}

// registered returns the only component type of the world with a name.
func (r *reader) registered(name string) (*component, error) {
	for i, c := range r.into.comps {
		if c.name != name || c.owner != nil {
			continue
		}
		for _, other := range r.into.comps[i+1:] {
			if other.name == name && other.owner == nil {
				return nil, fmt.Errorf("two component types have the name %s", name)
			}
		}
		return c, nil
	}
	return nil, fmt.Errorf("component %q is not registered", jsonio.Clip(name))
}

// A scratch is a variable that values of one component type are decoded into.
type scratch struct {
	v    reflect.Value
	any  any // the address of v, for Decode
	addr unsafe.Pointer
}

// value reads a value into its cell.
func (r *reader) value(c *component, loc uint32) error {
	p := r.into.cell(loc, c.id, c.size)
	if c.typ == nil {
		text, err := r.Text()
		if err != nil {
			return err
		}
		if len(text) != hex.EncodedLen(int(c.size)) {
			return fmt.Errorf("%d characters; %d bytes have %d hexadecimal digits", len(text), c.size, 2*c.size)
		}
		_, err = hex.Decode(unsafe.Slice((*byte)(p), c.size), []byte(text))
		return err
	}
	s := &r.cells[c.id]
	if s.any == nil {
		v := reflect.New(c.typ)
		*s = scratch{v: v.Elem(), any: v.Interface(), addr: v.UnsafePointer()}
	}
	s.v.SetZero()
	if err := r.Decode(s.any); err != nil {
		return err
	}
	if c.pointerful {
		c.copyCells(p, s.addr, 1)
	} else {
		copyBytes(p, s.addr, c.size)
	}
	return nil
}
