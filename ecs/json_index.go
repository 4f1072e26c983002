package ecs

import (
	"fmt"

	"github.com/strata-go/strata/ecs/internal/jsonio"
)

// index writes the slots without an entity.
func (j *jsonWriter) index(x *entityIndex) error {
	fmt.Fprintf(&j.buf, `"next":%d`, x.bump)
	list := slotList{j: j, name: "free"}
	for i := x.free; i != 0; i = x.at(i).loc {
		if err := list.add(i, x.at(i).gen); err != nil {
			return err
		}
	}
	if err := list.end(); err != nil {
		return err
	}
	list = slotList{j: j, name: "vacant"}
	for i, r := range x.recs[:cap(x.recs)] {
		gen := r.gen
		if i >= len(x.recs) { // extendRecords will vacate it
			gen += gen & 1
		}
		if i == 0 || uint32(i) < x.bump && gen != retiredGen || gen == 0 {
			continue
		}
		if err := list.add(uint32(i), gen); err != nil {
			return err
		}
	}
	return list.end()
}

// A slotList writes slots as an array member. It writes nothing if there are none.
type slotList struct {
	j    *jsonWriter
	name string
	run  jsonio.SlotRun // not yet written; From is 0 before the first slot
	n    int            // runs written
}

func (l *slotList) add(index, gen uint32) error {
	if l.run.From == 0 {
		l.run = jsonio.SlotRun{From: index, To: index, Gen: gen}
		return nil
	}
	if l.run.Add(index, gen) {
		return nil
	}
	last := l.run
	l.run = jsonio.SlotRun{From: index, To: index, Gen: gen}
	return l.write(last)
}

func (l *slotList) write(s jsonio.SlotRun) error {
	b := &l.j.buf
	switch {
	case l.n == 0:
		fmt.Fprintf(b, ",\n%q:[", l.name)
	case l.n%8 == 0: // lines of some eighty characters
		b.WriteString(",\n")
	default:
		b.WriteByte(',')
	}
	l.n++
	fmt.Fprintf(b, "%q", s)
	if b.Len() < flushBytes {
		return nil
	}
	return l.j.flush()
}

func (l *slotList) end() error {
	if l.run.From == 0 {
		return nil
	}
	err := l.write(l.run)
	l.j.buf.WriteByte(']')
	return err
}

// index reads the slots without an entity.
func (r *reader) index() error {
	r.Where = ""
	err := r.Members(
		jsonio.Member{Name: "next", Must: true, Read: func() error {
			n, err := jsonio.Whole[uint64](r.Reader)
			if most := uint64(r.w.store.index.max); err == nil && n > most+1 {
				return fmt.Errorf("the next slot is %d, above Config.MaxEntities, %d: %w", n, most, ErrLimit)
			}
			r.next = uint32(n)
			return err
		}},
		jsonio.Member{Name: "free", Read: func() error { return r.List(r.freeSlots) }},
		jsonio.Member{Name: "vacant", Read: func() error { return r.List(r.vacantSlots) }},
	)
	if err != nil {
		return err
	}
	if i := r.named.Missing(); i != 0 {
		return fmt.Errorf("slot %d has no entity, and is neither free nor vacant", i)
	}
	if r.next <= r.used || r.next > r.named.Last()+1 {
		return fmt.Errorf("the next slot is %d; it must be from %d, one above the slots in use, to %d", r.next, r.used+1, r.named.Last()+1)
	}
	return nil
}

func (r *reader) freeSlots() error {
	s, err := r.run()
	if err != nil {
		return err
	}
	if s.Gen >= retiredGen {
		return fmt.Errorf("%q is retired and cannot be free", s)
	}
	r.used = max(r.used, s.From, s.To)
	r.free = append(r.free, s)
	return nil
}

func (r *reader) vacantSlots() error {
	s, err := r.run()
	if err == nil && s.Gen != retiredGen && min(s.From, s.To) < r.next {
		err = fmt.Errorf("%q is below the next slot, and neither free nor retired", s)
	}
	return err
}

// run reads one run of slots without an entity.
func (r *reader) run() (s jsonio.SlotRun, err error) {
	text, err := r.Text()
	if err == nil {
		s, err = jsonio.ParseRun(text)
	}
	if err != nil {
		return s, err
	}
	for i := range s.Slots() {
		if err := r.slot(i, s.Gen); err != nil {
			return s, err
		}
	}
	return s, nil
}
