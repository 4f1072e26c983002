package ecs

import (
	"errors"
	"fmt"
	"slices"
)

// A draft is what a text says of an archetype before its entities.
type draft struct {
	mask    mask
	picks   picks
	gone    mask
	since   *uint64
	idle    *uint64 // its place in the idle tables of its kin
	sweep   *int64
	related bool // any of these is there
}

// archetype reads an archetype with its entities.
func (r *jsonReader) archetype() error {
	r.where = fmt.Sprintf("archetype %d", len(r.from))
	r.from = append(r.from, r.dec.InputOffset())
	var d draft
	var t *table
	number := func(n **uint64) func() error {
		return func() (err error) {
			*n, d.related = new(uint64), true
			**n, err = r.number(1 << 53)
			return err
		}
	}
	err := r.members(
		member{"components", true, func() error { return r.list(func() error { return r.nameInto(&d.mask, nil) }) }},
		member{"targets", false, func() error { return r.object(func(name string) error { return r.target(&d, name) }) }},
		member{"gone", false, func() error { d.related = true; return r.list(func() error { return r.nameInto(&d.gone, &d.mask) }) }},
		member{"since", false, number(&d.since)},
		member{"idle", false, number(&d.idle)},
		member{"sweep", false, func() error {
			n, err := whole[int64](r)
			d.sweep, d.related = &n, true
			return err
		}},
		member{"entities", false, func() (err error) {
			if t, err = r.begin(&d); err != nil {
				return err
			}
			if t.idle {
				return errors.New("it is idle, and has entities")
			}
			return r.entities(t)
		}},
	)
	if err == nil && t == nil {
		_, err = r.begin(&d)
	}
	return err
}

// nameInto reads the name of a component, one of those in from where that is not nil, into m.
func (r *jsonReader) nameInto(m, from *mask) error {
	name, err := r.text()
	if err != nil {
		return err
	}
	c, err := r.component(name, from)
	if err != nil {
		return err
	}
	if m.has(c.id) {
		return fmt.Errorf("component %s is there twice", c.name)
	}
	*m = m.with(maskBit(c.id))
	return nil
}

// target reads the target of a relation.
func (r *jsonReader) target(d *draft, name string) error {
	d.related = true
	c, err := r.component(name, &d.mask)
	if err != nil {
		return err
	}
	if !r.into.relating.has(c.id) {
		return fmt.Errorf("component %s is registered without a target", c.name)
	}
	if _, twice := d.picks.find(c.id); twice || d.picks.n == MaxRelations {
		return fmt.Errorf("target %d, of %s: an entity has one for each relation, and at most %d", d.picks.n+1, c.name, MaxRelations)
	}
	text, err := r.text()
	if err != nil {
		return err
	}
	var e Entity
	if err = e.UnmarshalText([]byte(text)); err == nil && e.IsZero() {
		err = fmt.Errorf("%q is never alive", text)
	}
	if err != nil {
		return fmt.Errorf("the target of %s: %w", c.name, err)
	}
	d.picks.set("ReadJSON", c.id, e)
	return nil
}

// begin makes the table of a draft.
func (r *jsonReader) begin(d *draft) (*table, error) {
	s := r.into
	if d.mask.empty() && len(r.from) == 1 && !d.related {
		return s.tables[0], nil
	}
	k := key{mask: d.mask}
	relations := d.mask.and(s.relating)
	if relations.empty() && d.related {
		return nil, errors.New("it has targets, or books of them, and none of its components is a relation")
	}
	n := 0
	for id := range relations.ids() {
		target, ok := d.picks.find(id)
		switch {
		case n == MaxRelations:
			return nil, fmt.Errorf("%d relations, where an entity has at most %d", n+1, MaxRelations)
		case !ok && d.idle == nil:
			return nil, fmt.Errorf("relation %s has no target", s.comps[id].name)
		case ok && d.idle != nil:
			return nil, fmt.Errorf("relation %s has a target, and the archetype is idle", s.comps[id].name)
		}
		k.targets[n] = target
		n++
	}
	if t := s.byKey[k]; t != nil && d.idle == nil {
		return nil, errors.New("the archetype is there twice; that without components comes first")
	}
	t, err := s.draftTable(k)
	if err != nil {
		return nil, err
	}
	if t.kin != nil {
		err = r.relate(t, d)
	} else {
		s.byKey[k] = t
	}
	return t, err
}

// draftTable adds an empty table, and a kin where it is the first of one.
func (w *World) draftTable(k key) (t *table, err error) {
	f := w.kins[k.mask]
	ofKin := k.mask.any(&w.relating)
	if f != nil {
		t = f.tables[0].sibling()
	} else if t, err = newTable(k.mask, w.comps, &w.directory, ofKin); err != nil {
		return nil, err
	}
	if ofKin && f == nil {
		f = &kin{relations: slices.Collect(k.mask.and(w.relating).ids()), credit: sweepAfter}
		w.kins[k.mask] = f
	}
	if w.enlist(t); ofKin {
		f.tables = append(f.tables, t)
		t.kin, t.targets = f, k.targets
	}
	return t, nil
}

// relate keeps the books of relations of a table. Idle ones have their place in since until all are read.
func (r *jsonReader) relate(t *table, d *draft) error {
	f := t.kin
	if d.sweep != nil {
		if len(f.tables) > 1 {
			return errors.New("\"sweep\" is said of the first archetype with its components")
		}
		if *d.sweep < -1<<31 || *d.sweep > 1<<30 {
			return fmt.Errorf("the next sweep is in %d targets", *d.sweep)
		}
		f.credit = int(*d.sweep)
	}
	if d.idle != nil {
		if d.since != nil || !d.gone.empty() {
			return errors.New("it is idle, and has targets")
		}
		t.idle, t.since = true, *d.idle
		f.idle = append(f.idle, t)
		return nil
	}
	if t.since = r.since; d.since != nil {
		t.since = *d.since
	}
	r.since = t.since + 1
	r.into.byKey[t.key()] = t
	r.aimed, r.gone = append(r.aimed, t), append(r.gone, d.gone)
	return nil
}

// settleTargets says what is wrong with books that can be judged when all is read, and orders them.
func (r *jsonReader) settleTargets() error {
	for i, t := range r.aimed {
		if err := r.targets(t, r.gone[i]); err != nil {
			r.where = fmt.Sprintf("archetype %d, behind byte %d", t.index, r.from[t.index])
			return err
		}
	}
	r.where = ""
	slices.SortStableFunc(r.aimed, bySince)
	for i := 1; i < len(r.aimed); i++ {
		if r.aimed[i-1].since == r.aimed[i].since {
			return fmt.Errorf("two archetypes have targets since %d", r.aimed[i].since)
		}
	}
	for _, t := range r.into.tables {
		if t.kin == nil || t != t.kin.tables[0] {
			continue
		}
		f := t.kin
		slices.SortFunc(f.idle, bySince)
		for i, t := range f.idle {
			if t.since != uint64(i) {
				return fmt.Errorf("%d archetypes of %v are idle: they are numbered from 0 on, and one is %d", len(f.idle), names(t.mask, r.into.comps), t.since)
			}
		}
		if n := len(f.tables); f.credit < -n || f.credit > n+sweepAfter {
			return fmt.Errorf("the next sweep of %v is in %d targets: it must be from %d to %d", names(t.mask, r.into.comps), f.credit, -n, n+sweepAfter)
		}
	}
	return nil
}

// targets compares those of t with the slots that the text names.
func (r *jsonReader) targets(t *table, gone mask) error {
	for i, id := range t.kin.relations {
		e, dead := t.targets[i&(MaxRelations-1)], gone.has(id)
		gen := r.named.at(e.index)
		if name := r.into.comps[id].name; !dead && gen != e.gen {
			return fmt.Errorf("the target %s of %s is not alive; where that is so, it must be named in \"gone\"", quote(e), name)
		} else if dead && gen <= e.gen {
			return fmt.Errorf("the target %s of %s is named in \"gone\", and may yet live", quote(e), name)
		}
	}
	return nil
}
