package ecs

import (
	"fmt"
	"iter"
	"strconv"
	"strings"
)

// maxRun is how many slots one word of a text can name: enough for a world that was emptied to be
// short, and few enough for a text to need no more memory than fifty times its length.
const maxRun = 64

// A slotRun is slots without an entity, in order up or down, and their generation.
type slotRun struct {
	from, to uint32
	gen      uint32
}

// add takes one more slot, or reports that it is not the next.
func (s *slotRun) add(index, gen uint32) bool {
	if gen != s.gen || max(s.from, s.to)-min(s.from, s.to) >= maxRun-1 {
		return false
	}
	up, down := index == s.to+1, index+1 == s.to
	if s.from < s.to && !up || s.from > s.to && !down || !up && !down {
		return false
	}
	s.to = index
	return true
}

// slots ranges over the slots in order.
func (s slotRun) slots() iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		for i := s.from; yield(i) && i != s.to; {
			if i < s.to {
				i++
			} else {
				i--
			}
		}
	}
}

func (s slotRun) String() string {
	if s.from == s.to {
		return fmt.Sprintf("%d:%d", s.from, s.gen)
	}
	return fmt.Sprintf("%d-%d:%d", s.from, s.to, s.gen)
}

// parseRun reads what String wrote.
func parseRun(text string) (s slotRun, err error) {
	slots, gen, _ := strings.Cut(text, ":")
	from, to, several := strings.Cut(slots, "-")
	if !several {
		to = from
	}
	for i, part := range []string{from, to, gen} {
		n, err := strconv.ParseUint(part, 10, 32)
		if err != nil {
			return s, fmt.Errorf("%q is neither \"slot:generation\" nor \"from-to:generation\"", clip(text))
		}
		*[]*uint32{&s.from, &s.to, &s.gen}[i] = uint32(n)
	}
	if s.from == 0 || s.to == 0 || max(s.from, s.to)-min(s.from, s.to) >= maxRun {
		return s, fmt.Errorf("%q: slots begin at 1, and one word names at most %d", clip(text), maxRun)
	}
	if s.gen&1 != 0 || s.gen == 0 {
		return s, fmt.Errorf("%q: the generation of a slot without an entity is even, from 2 on", clip(text))
	}
	return s, nil
}

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
		if i >= len(x.recs) { // as bringRun will make it
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

// A slotList writes slots as a member of that name, which is left out when there are none.
type slotList struct {
	j    *jsonWriter
	name string
	run  slotRun // from is 0 before the first
	n    int     // words written
}

func (l *slotList) add(index, gen uint32) error {
	if l.run.from == 0 {
		l.run = slotRun{index, index, gen}
		return nil
	}
	if l.run.add(index, gen) {
		return nil
	}
	last := l.run
	l.run = slotRun{index, index, gen}
	return l.write(last)
}

func (l *slotList) write(s slotRun) error {
	b := &l.j.buf
	switch {
	case l.n == 0:
		fmt.Fprintf(b, ",\n%q:[", l.name)
	case l.n%8 == 0: // a line of some eighty characters
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
	if l.run.from == 0 {
		return nil
	}
	err := l.write(l.run)
	l.j.buf.WriteByte(']')
	return err
}

// genPage is how many slots a page of generations has: a text that names one slot of each needs
// some hundred times its length.
const genPage = 256

// generations are those of the slots that a text names, living or not, in pages: a slot with a high
// number costs no more than one with a low one. They lie in the Go heap, 4 bytes a slot.
type generations struct {
	pages map[uint32]*[genPage]uint32
	n     uint32 // slots
	last  uint32 // the highest
}

// at returns the generation of a slot, 0 where the text does not name it.
func (g *generations) at(index uint32) uint32 {
	if p := g.pages[index/genPage]; p != nil {
		return p[index%genPage]
	}
	return 0
}

// set notes a slot, or reports that it was named before.
func (g *generations) set(index, gen uint32) bool {
	p := g.pages[index/genPage]
	if p == nil {
		p = new([genPage]uint32)
		g.pages[index/genPage] = p
	}
	if p[index%genPage] != 0 {
		return false
	}
	p[index%genPage] = gen
	g.n++
	g.last = max(g.last, index)
	return true
}

// missing returns the first slot below the highest that is not named, 0 where there is none.
func (g *generations) missing() uint32 {
	if g.n == g.last {
		return 0
	}
	i := uint32(1)
	for g.at(i) != 0 {
		i++
	}
	return i
}

// index reads the slots without an entity.
func (r *jsonReader) index() error {
	r.where = ""
	err := r.members(
		member{"next", true, func() error {
			n, err := r.number(uint64(r.w.ents.max) + 1)
			r.next = uint32(n)
			return err
		}},
		member{"free", false, func() error { return r.list(r.freeSlots) }},
		member{"vacant", false, func() error { return r.list(r.vacantSlots) }},
	)
	if err != nil {
		return err
	}
	if i := r.named.missing(); i != 0 {
		return fmt.Errorf("slot %d has no entity, and is neither free nor vacant", i)
	}
	if r.next <= r.used || r.next > r.named.last+1 {
		return fmt.Errorf("the next slot is %d: it must be from %d, behind those that are in use, to %d", r.next, r.used+1, r.named.last+1)
	}
	return nil
}

func (r *jsonReader) freeSlots() error {
	s, err := r.run()
	if err != nil {
		return err
	}
	if s.gen >= retiredGen {
		return fmt.Errorf("%q is worn out, and not free", s)
	}
	r.used = max(r.used, s.from, s.to)
	r.free = append(r.free, s)
	return nil
}

func (r *jsonReader) vacantSlots() error {
	s, err := r.run()
	if err == nil && s.gen != retiredGen && min(s.from, s.to) < r.next {
		err = fmt.Errorf("%q is in use, and neither free nor worn out", s)
	}
	return err
}

// run reads slots without an entity.
func (r *jsonReader) run() (s slotRun, err error) {
	text, err := r.text()
	if err == nil {
		s, err = parseRun(text)
	}
	if err != nil {
		return s, err
	}
	for i := range s.slots() {
		if err := r.slot(i, s.gen); err != nil {
			return s, err
		}
	}
	return s, nil
}
