package ecs

import (
	"errors"
	"fmt"
	"slices"

	"github.com/strata-go/strata/ecs/internal/jsonio"
)

// A draft is the description of an archetype that precedes its entities.
type draft struct {
	mask    mask
	picks   targetSet
	gone    mask
	since   *uint64
	idle    *uint64 // position in the idle tables of its variants
	sweep   *int64
	related bool          // any of the above except mask is set
	types   []*binaryType // of a binary file, in the order of its columns
}

// archetype reads an archetype with its entities.
func (r *reader) archetype() error {
	r.Where = fmt.Sprintf("archetype %d", len(r.from))
	r.from = append(r.from, r.Offset())
	var d draft
	var t *table
	number := func(n **uint64) func() error {
		return func() (err error) {
			*n, d.related = new(uint64), true
			**n, err = r.Number(1 << 53)
			return err
		}
	}
	err := r.Members(
		jsonio.Member{Name: "components", Must: true, Read: func() error { return r.List(func() error { return r.part(&d) }) }},
		jsonio.Member{Name: "targets", Read: func() error { return r.Object(func(name string) error { return r.target(&d, name) }) }},
		jsonio.Member{Name: "gone", Read: func() error { d.related = true; return r.List(func() error { return r.nameInto(&d.gone, &d.mask) }) }},
		jsonio.Member{Name: "since", Read: number(&d.since)},
		jsonio.Member{Name: "idle", Read: number(&d.idle)},
		jsonio.Member{Name: "sweep", Read: func() error {
			n, err := jsonio.Whole[int64](r.Reader)
			d.sweep, d.related = &n, true
			return err
		}},
		r.content(func(read func(*table) error) (err error) {
			if t, err = r.begin(&d); err != nil {
				return err
			}
			if t.idle {
				return errors.New("an idle archetype has no entities")
			}
			return read(t)
		}, &d),
	)
	if err == nil && t == nil {
		_, err = r.begin(&d)
	}
	return err
}

// content returns the member with the rows of an archetype.
func (r *reader) content(into func(read func(*table) error) error, d *draft) jsonio.Member {
	if r.binary == nil {
		return jsonio.Member{Name: "entities", Read: func() error { return into(r.entities) }}
	}
	return jsonio.Member{Name: "rows", Read: func() error {
		n, err := r.Number(1 << 32)
		if err != nil {
			return err
		}
		return into(func(t *table) error { return r.rows(t, d.types, n) })
	}}
}

// part reads the name of a component of an archetype.
func (r *reader) part(d *draft) error {
	if r.binary == nil {
		return r.nameInto(&d.mask, nil)
	}
	name, err := r.Text()
	if err != nil {
		return err
	}
	x := r.binary.types[name]
	if x == nil {
		return fmt.Errorf("type %q is not described", jsonio.Clip(name))
	}
	if slices.Contains(d.types, x) || x.c != nil && d.mask.has(x.c.id) {
		return fmt.Errorf("component %q occurs twice", jsonio.Clip(name))
	}
	if d.types = append(d.types, x); x.c != nil {
		d.mask = d.mask.with(maskBit(x.c.id))
	}
	return nil
}

// nameInto reads the name of a component and adds it to m. If from is not nil it must contain the component.
func (r *reader) nameInto(m, from *mask) error {
	name, err := r.Text()
	if err != nil {
		return err
	}
	c, err := r.component(name, from)
	if err != nil {
		return err
	}
	if m.has(c.id) {
		return fmt.Errorf("component %s occurs twice", c.name)
	}
	*m = m.with(maskBit(c.id))
	return nil
}

// target reads the target of a relation.
func (r *reader) target(d *draft, name string) error {
	d.related = true
	c, err := r.component(name, &d.mask)
	if err != nil {
		return err
	}
	if !r.into.relating.has(c.id) {
		return fmt.Errorf("component %s is not registered as a relation", c.name)
	}
	if _, twice := d.picks.find(c.id); twice || d.picks.n == MaxRelations {
		return fmt.Errorf("target %d, of %s: each relation has one target, and an entity at most %d", d.picks.n+1, c.name, MaxRelations)
	}
	text, err := r.Text()
	if err != nil {
		return err
	}
	var e Entity
	if err = e.UnmarshalText([]byte(text)); err == nil && e.IsZero() {
		err = fmt.Errorf("%q is never valid", text)
	}
	if err != nil {
		return fmt.Errorf("the target of %s: %w", c.name, err)
	}
	d.picks.set("ReadJSON", c.id, e)
	return nil
}

// begin creates the table of a draft.
func (r *reader) begin(d *draft) (*table, error) {
	s := r.into
	if d.mask.empty() && len(r.from) == 1 && !d.related {
		return s.tables[0], nil
	}
	k := key{mask: d.mask}
	relations := d.mask.and(s.relating)
	if relations.empty() && d.related {
		return nil, errors.New("it has members of relations, but no component is a relation")
	}
	n := 0
	for id := range relations.ids() {
		target, ok := d.picks.find(id)
		switch {
		case n == MaxRelations:
			return nil, fmt.Errorf("%d relations; an entity has at most %d", n+1, MaxRelations)
		case !ok && d.idle == nil:
			return nil, fmt.Errorf("relation %s has no target", s.comps[id].name)
		case ok && d.idle != nil:
			return nil, fmt.Errorf("relation %s of an idle archetype has a target", s.comps[id].name)
		}
		k.targets[n] = target
		n++
	}
	if t := s.lookup(&k); t != nil && d.idle == nil {
		if r.merged() {
			if !relations.empty() {
				r.takeSince(d)
			}
			return t, nil
		}
		return nil, errors.New("the archetype occurs twice; the one without components must be first")
	}
	t, err := s.draftTable(k)
	if err != nil {
		return nil, err
	}
	if t.variants != nil {
		err = r.relate(t, d)
	} else {
		s.name(t)
	}
	return t, err
}

// draftTable adds an empty table, and its variants if it is the first one.
func (s *store) draftTable(k key) (t *table, err error) {
	f := s.variants[k.mask]
	ofKin := k.mask.any(&s.relating)
	if f != nil {
		t = f.tables[0].sibling()
	} else if t, err = newTable(k.mask, s.comps, &s.directory, ofKin); err != nil {
		return nil, err
	}
	if ofKin && f == nil {
		f = newVariants(k.mask.and(s.relating))
		s.variants[k.mask] = f
	}
	if s.enlist(t); ofKin {
		f.tables = append(f.tables, t)
		t.variants, t.targets = f, k.targets
	}
	return t, nil
}

// relate applies the relation members of a draft to its table. Until all are read, since of an idle
// table is its position.
func (r *reader) relate(t *table, d *draft) error {
	f := t.variants
	if d.sweep != nil {
		if len(f.tables) > 1 && r.merged() {
			d.sweep = nil
		} else if len(f.tables) > 1 {
			return errors.New("\"sweep\" is allowed only in the first archetype with the same components")
		}
	}
	if d.sweep != nil {
		if *d.sweep < -1<<31 || *d.sweep > 1<<30 {
			return fmt.Errorf("\"sweep\" is %d, which is out of range", *d.sweep)
		}
		f.sweepIn = int(*d.sweep)
	}
	if d.idle != nil {
		if d.since != nil || !d.gone.empty() {
			return errors.New("an idle archetype has neither \"since\" nor \"gone\"")
		}
		t.idle, t.since = true, *d.idle
		f.idle = append(f.idle, t)
		return nil
	}
	t.since = r.takeSince(d)
	r.into.name(t)
	r.targeted, r.gone, r.place = append(r.targeted, t), append(r.gone, d.gone), append(r.place, len(r.from)-1)
	return nil
}

// takeSince returns when an archetype got its targets.
func (r *reader) takeSince(d *draft) uint64 {
	since := r.since
	if d.since != nil {
		since = *d.since
	}
	r.since = since + 1
	return since
}

// merged reports whether a dropped component may have made two archetypes one.
func (r *reader) merged() bool { return r.binary != nil && r.binary.merged }

// settleTargets verifies what depends on the whole text: targets, their order and the reuse of tables.
func (r *reader) settleTargets() error {
	for i, t := range r.targeted {
		if err := r.targets(t, r.gone[i]); err != nil {
			r.Where = fmt.Sprintf("archetype %d, after byte %d", r.place[i], r.from[r.place[i]])
			return err
		}
	}
	r.Where = ""
	slices.SortStableFunc(r.targeted, bySince)
	for i := 1; i < len(r.targeted); i++ {
		if r.targeted[i-1].since == r.targeted[i].since {
			return fmt.Errorf("two archetypes have \"since\" %d", r.targeted[i].since)
		}
	}
	for _, t := range r.into.tables {
		if t.variants == nil || t != t.variants.tables[0] {
			continue
		}
		f := t.variants
		slices.SortFunc(f.idle, bySince)
		for i, t := range f.idle {
			if r.merged() {
				t.since = uint64(i)
			}
			if t.since != uint64(i) {
				return fmt.Errorf("%d archetypes of %v are idle; their numbers must start at 0 without gaps, but one is %d", len(f.idle), names(t.mask, r.into.comps), t.since)
			}
		}
		if n := len(f.tables); f.sweepIn < -n || f.sweepIn > n+sweepAfter {
			return fmt.Errorf("\"sweep\" of %v is %d; it must be from %d to %d", names(t.mask, r.into.comps), f.sweepIn, -n, n+sweepAfter)
		}
	}
	return nil
}

// targets compares the targets of t with the slots that the text names.
func (r *reader) targets(t *table, gone mask) error {
	for i, id := range t.variants.relations {
		e, dead := t.targets[i&(MaxRelations-1)], gone.has(id)
		gen := r.named.At(e.index)
		if name := r.into.comps[id].name; !dead && gen != e.gen {
			return fmt.Errorf("the target %s of %s is stale and not listed in \"gone\"", quote(e), name)
		} else if dead && gen <= e.gen {
			return fmt.Errorf("the target %s of %s is listed in \"gone\" and not stale", quote(e), name)
		}
	}
	return nil
}
