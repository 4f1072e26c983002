package jsonio

import (
	"fmt"
	"iter"
	"strconv"
	"strings"
)

// maxRun is the largest number of slots in a SlotRun. An emptied world has a short text, and no
// text makes the reader allocate more than fifty times its length.
const maxRun = 64

// A SlotRun is consecutive slots without an entity, ascending or descending, of one generation.
type SlotRun struct {
	From, To uint32
	Gen      uint32
}

// Add appends a slot and returns true. It returns false if the slot does not continue the run, has another
// generation, or would be the 65th.
func (s *SlotRun) Add(index, gen uint32) bool {
	if gen != s.Gen || max(s.From, s.To)-min(s.From, s.To) >= maxRun-1 {
		return false
	}
	up, down := index == s.To+1, index+1 == s.To
	if s.From < s.To && !up || s.From > s.To && !down || !up && !down {
		return false
	}
	s.To = index
	return true
}

// Slots ranges over the slots in order.
func (s SlotRun) Slots() iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		for i := s.From; yield(i) && i != s.To; {
			if i < s.To {
				i++
			} else {
				i--
			}
		}
	}
}

// String returns "slot:generation" or "from-to:generation".
func (s SlotRun) String() string {
	if s.From == s.To {
		return fmt.Sprintf("%d:%d", s.From, s.Gen)
	}
	return fmt.Sprintf("%d-%d:%d", s.From, s.To, s.Gen)
}

// ParseRun reads the result of String. It also accepts leading zeros, and "5-5:2" for "5:2". It returns an error for any
// other text, for slot 0, for more than 64 slots, and for an odd generation or 0.
func ParseRun(text string) (s SlotRun, err error) {
	slots, gen, _ := strings.Cut(text, ":")
	from, to, several := strings.Cut(slots, "-")
	if !several {
		to = from
	}
	for i, part := range []string{from, to, gen} {
		n, err := strconv.ParseUint(part, 10, 32)
		if err != nil {
			return s, fmt.Errorf("%q is neither \"slot:generation\" nor \"from-to:generation\"", Clip(text))
		}
		*[]*uint32{&s.From, &s.To, &s.Gen}[i] = uint32(n)
	}
	if s.From == 0 || s.To == 0 || max(s.From, s.To)-min(s.From, s.To) >= maxRun {
		return s, fmt.Errorf("%q: slots begin at 1, and a run has at most %d", Clip(text), maxRun)
	}
	if s.Gen&1 != 0 || s.Gen == 0 {
		return s, fmt.Errorf("%q: the generation of a slot without an entity is even and not 0", Clip(text))
	}
	return s, nil
}

// genPage is the number of slots in a page of Generations, and genPages the number of pages in a directory. A text that
// names one slot of each page allocates a hundred times its length.
const (
	genPage  = 256
	genPages = 1024
)

// Generations maps slots to their generations. Pages of 1 KiB and directories of 1024 pointers are allocated in the Go
// heap for the first slot that they have. Slots start at 1, and generations are not 0.
type Generations struct {
	dirs []*[genPages]*[genPage]uint32
	n    uint32 // slots
	last uint32 // the highest

	page *[genPage]uint32 // that of the last Set, or nil
	at   uint32           // its number
}

// Last returns the highest slot that was added, or 0.
func (g *Generations) Last() uint32 { return g.last }

// At returns the generation of a slot, or 0 if the slot was not added.
func (g *Generations) At(index uint32) uint32 {
	if n := int(index / genPage / genPages); n < len(g.dirs) && g.dirs[n] != nil {
		if p := g.dirs[n][index/genPage%genPages]; p != nil {
			return p[index%genPage]
		}
	}
	return 0
}

// Set adds a slot and returns true. If the slot was added before, Set changes nothing and returns false. Slots of the
// same page in turn are faster.
func (g *Generations) Set(index, gen uint32) bool {
	if g.page == nil || g.at != index/genPage {
		g.turn(index / genPage)
	}
	slot := &g.page[index%genPage]
	if *slot != 0 {
		return false
	}
	*slot = gen
	g.n++
	g.last = max(g.last, index)
	return true
}

// turn makes a page that of the next Set.
func (g *Generations) turn(number uint32) {
	n := int(number / genPages)
	if n >= len(g.dirs) {
		g.dirs = append(g.dirs, make([]*[genPages]*[genPage]uint32, n+1-len(g.dirs))...)
	}
	if g.dirs[n] == nil {
		g.dirs[n] = new([genPages]*[genPage]uint32)
	}
	p := &g.dirs[n][number%genPages]
	if *p == nil {
		*p = new([genPage]uint32)
	}
	g.page, g.at = *p, number
}

// Missing returns the first slot below the highest that was not added, or 0.
func (g *Generations) Missing() uint32 {
	if g.n == g.last {
		return 0
	}
	i := uint32(1)
	for g.At(i) != 0 {
		i++
	}
	return i
}
