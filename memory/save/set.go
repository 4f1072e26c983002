package save

import (
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
)

// A Set contains the States that a program saves, in a fixed order. These States are its parts. Add them while the
// program starts, then call Seal. The zero Set is empty. Only the goroutine to which the States belong may use the Set.
// A Set must not be copied after Seal, or after it has made a Slot.
//
// Add an allocator before the States whose data lies in its blocks. A Set for files must have no allocator. So a game
// with an ecs.World needs two Sets: one with the allocator for slots, and one without it for files.
type Set struct {
	parts  []part
	sealed bool
	busy   bool // a pass is running
	loads  uint64
	coder  Coder    // reused, so that no pass allocates
	rests  []func() // what Coder.Commit has got during the present load
}

// A part is a State with its name.
type part struct {
	name   string
	state  State
	blocks bool         // it may save the elements of containers; from Seal on
	boxed  reflect.Type // of its rows, if they have containers; from Seal on
}

// Add appends a State. If the Set is sealed, the name is empty or taken, or the state is nil, the error wraps
// memory.ErrConfig. If the state is a [Refuser] and CanSave returns an error, the error of Add wraps that error. After
// an error the Set is unchanged.
//
// Add also fails if something would be saved twice. The error then wraps memory.ErrConfig and names both parts. There
// are three cases: the state, or a State that it saves, equals one of an earlier part; two variables overlap; a State
// lies in a variable of [Value]. Add does not detect a variable that is a field of another State.
func (s *Set) Add(name string, state State) error {
	why := ""
	switch {
	case s.sealed:
		why = "the Set is sealed"
	case name == "":
		why = "a part needs a name"
	case state == nil || invariant.Nil(state):
		why = "the State is nil"
	}
	for i := range s.parts {
		if s.parts[i].name == name {
			why = "the name is taken"
		}
	}
	if why != "" {
		return fmt.Errorf("save: add %q: %s: %w", name, why, memory.ErrConfig)
	}
	if err := refused(name, state); err != nil {
		return err
	}
	added := part{name: name, state: state}
	for i := range s.parts {
		if err := twice(&s.parts[i], &added); err != nil {
			return fmt.Errorf("save: add %q: %w", name, err)
		}
	}
	s.parts = append(s.parts, added)
	return nil
}

func refused(name string, state State) error {
	if r, ok := state.(Refuser); ok {
		if err := r.CanSave(); err != nil {
			return fmt.Errorf("save: %q cannot be saved: %w", name, err)
		}
	}
	return nil
}

// Seal ends the list of parts: Add then fails. Seal calls CanSave of each part that is a [Refuser], and looks again for
// States that are saved twice. For example, a pool of the Set may have been added to a manager of the Set. If it finds
// errors, Seal returns an error that wraps all of them. The Set is then not sealed, even if it was sealed before. Seal
// may be called again.
func (s *Set) Seal() error {
	var errs []error
	for i := range s.parts {
		errs = append(errs, refused(s.parts[i].name, s.parts[i].state))
	}
	err := errors.Join(append(errs, s.allTwice())...)
	s.sealed = err == nil
	s.findBlocks()
	return err
}

// findBlocks finds out which parts may save the elements of containers: allocators, functions, and unknown States,
// which may save an allocator. Metadata saves no elements. But a function or an unknown State may then visit them, in
// any order.
func (s *Set) findBlocks() {
	visited := false
	for i := range s.parts {
		p := &s.parts[i]
		switch p.state.(type) {
		case *metadata, memory.Allocator:
		case *function:
			visited = true
		default:
			_, known := p.state.(Portable)
			visited = visited || !known
		}
	}
	for i := range s.parts {
		p := &s.parts[i]
		if t := rowType(p.state); t != nil && hasContainer(t) {
			p.boxed = t
		}
		switch p.state.(type) {
		case *metadata:
			p.blocks = visited
		case *function, memory.Allocator:
			p.blocks = true
		default:
			_, known := p.state.(Portable)
			p.blocks = !known
		}
	}
}

// Parts returns the number of parts.
func (s *Set) Parts() int { return len(s.parts) }

// ErrUnsealed is wrapped by the errors of methods that need a sealed Set, such as Save, Load, Write and Read.
var ErrUnsealed = errors.New("save: the Set is not sealed; call Seal first")

// Size returns how many bytes the present state takes in a slot of [Set.NewSlot]. In a slot of [Set.NewCanonical] it
// may take another number. The error wraps [ErrUnsealed], [ErrBusy], or another error of a part, with the part's name.
//
// In two cases the error wraps memory.ErrConfig. The rows of a world lie in an allocator that is no earlier part. Or a
// part has values with containers, and no part up to this one can save the elements: see [Coder.Elements]. Load returns
// both errors for every slot, Save only for a slot of NewSlot.
func (s *Set) Size() (int, error) { return s.measure(false) }

func (s *Set) measure(canonical bool) (int, error) {
	if !s.sealed {
		return 0, ErrUnsealed
	}
	return s.run(measuring, canonical, nil)
}

// Save copies the present state into the slot. It replaces the state that the slot had.
//
// The error wraps [ErrUnsealed], [ErrForeign], or the error of a part, with the part's name, such as [ErrBusy] or
// memory.ErrClosed. If the slot is too small, the error is a *memory.Exhausted with the bytes that are needed. After
// these errors the slot is unchanged. If a State visits more or fewer bytes than in the pass that counts bytes, the
// error wraps [ErrLayout], and the slot is empty.
//
// A successful Save allocates only if a State allocates, or if there are more parts and calls of [Coder.BeginContent],
// or more calls of [Coder.Covers], than in any pass before.
func (s *Set) Save(slot *Slot) error { return s.save(slot, false) }

// SaveHash is [Set.Save], and returns [Hash] of the bytes of the slot. It hashes the bytes while it copies them. In a
// slot of [Set.NewCanonical], equal states have equal hashes, with the exceptions listed there. After an error the hash
// is 0.
func (s *Set) SaveHash(slot *Slot) (uint64, error) {
	if err := s.save(slot, true); err != nil {
		return 0, err
	}
	return s.coder.hash(slot.buf), nil
}

func (s *Set) save(slot *Slot, hashing bool) error {
	if err := s.owns(slot); err != nil {
		return err
	}
	n, err := s.measure(slot.canonical)
	if err != nil {
		return err
	}
	if n > cap(slot.buf) {
		return &memory.Exhausted{Op: "save: slot", Need: uintptr(n), Have: uintptr(cap(slot.buf)), Limit: uintptr(cap(slot.buf))}
	}
	slot.buf, slot.full = slot.buf[:n], false
	s.coder.hashing = hashing
	if _, err := s.run(saving, slot.canonical, slot.buf); err != nil {
		return err // a State that visits other bytes than it was measured to have
	}
	slot.full = true
	return nil
}

// Load replaces the present state by that of the slot. The slot is unchanged, and can be loaded any number of times. If
// Load returns an error, all values and live blocks are unchanged. There are two exceptions. If a State breaks its
// contract, and panics or fails in the loading pass (see [Coder.Loading]), the result is a mixture of both states. If a
// page source ends during this pass, the result is such a mixture, too.
//
// Load commits the memory that it needs before it decommits other memory. A budget must have space for both at once. A
// Load that fails decommits this memory again, unless a State passes no function to [Coder.Commit].
//
// A function of page.Limit.OnSoft that runs during Load may use the parts. A Load that fails keeps the function's
// changes, and a Load that succeeds replaces them.
//
// The error wraps [ErrUnsealed], [ErrForeign], [ErrEmpty], or the error of a part, with the part's name, such as
// [ErrLayout], [ErrBusy], memory.ErrClosed or memory.ErrOutOfMemory. If the parts have at least the memory and the
// metadata that they had when they were saved, Load does not allocate.
func (s *Set) Load(slot *Slot) error {
	if err := s.owns(slot); err != nil {
		return err
	}
	if !slot.full {
		return ErrEmpty
	}
	return s.load(slot.canonical, slot.buf)
}

// Loads returns how often the present state was replaced by Load, by [Set.Read], or by a [History]. A failed call
// counts if it may have changed the state. Code that keeps data outside of the Set stores this number after each load
// of its own. If the number differs later, other code has loaded a state. See engine.Rewind.
func (s *Set) Loads() uint64 { return s.loads }

// fits bounds how often a state is fitted: see [Coder.Commit].
const fits = 4

var errAgain = fmt.Errorf("save: load: %w: memory that is committed for one part is decommitted for another", memory.ErrOutOfMemory)

func (s *Set) load(canonical bool, buf []byte) error {
	if s.busy {
		return s.begin()
	}
	defer s.rest()
	err := fit(func() (again bool, err error) {
		_, err = s.run(fitting, canonical, buf)
		return s.coder.again, err
	})
	if err != nil {
		return err
	}
	s.loads++
	_, err = s.run(loading, canonical, buf)
	return err
}

// fit makes fitting passes until none commits memory.
func fit(pass func() (again bool, err error)) error {
	for range fits {
		if again, err := pass(); err != nil || !again {
			return err
		}
	}
	return errAgain
}

// rest ends a load, also if a function of the program has panicked. A fitting pass changes nothing but memory that the
// States hide until the load. So a load that is refused has nothing else to undo. If s is busy, another load is running.
func (s *Set) rest() {
	if s.busy || len(s.rests) == 0 {
		return
	}
	last := len(s.rests) - 1
	f := s.rests[last]
	s.rests[last] = nil
	s.rests = s.rests[:last]
	defer s.rest() // also if f panics
	f()
}

// begin begins a pass. The caller defers end.
func (s *Set) begin() error {
	if s.busy {
		return fmt.Errorf("%w: a pass of the Set is running: a State, or a function that it calls, uses the Set", ErrBusy)
	}
	s.busy = true
	return nil
}

// end ends a pass. The Coder must keep neither the memory of a slot nor the yield of Scan: the slot may be dropped.
func (s *Set) end() { s.busy, s.coder.buf, s.coder.yield = false, nil, nil }

func (s *Set) owns(slot *Slot) error {
	switch {
	case !s.sealed:
		return ErrUnsealed
	case slot == nil || slot.set != s:
		return ErrForeign
	}
	return nil
}

// run makes one pass over all parts and returns the bytes. Each part is preceded by its length.
func (s *Set) run(p pass, canonical bool, buf []byte) (int, error) {
	if err := s.begin(); err != nil {
		return 0, err
	}
	defer s.end()
	c := &s.coder
	*c = Coder{pass: p, canonical: canonical, buf: buf, yield: c.yield, lengths: c.lengths, covered: c.covered[:0],
		hashing: c.hashing && p == saving, set: s, lanes: start}
	if p == measuring {
		c.lengths = c.lengths[:0]
	}
	for i := range s.parts {
		s.runPart(c, &s.parts[i])
		if c.err != nil {
			return 0, c.err
		}
	}
	if p > saving && c.at != len(buf) {
		return 0, fmt.Errorf("save: %d bytes of %d belong to no part: %w", len(buf)-c.at, len(buf), ErrLayout)
	}
	return c.at, nil
}

func (s *Set) runPart(c *Coder, p *part) {
	c.Enter(p.name)
	defer c.Leave()
	c.blocks = c.blocks || p.blocks
	head, whole := c.at, c.buf
	c.noted = 0
	i, length := c.beginLength()
	if c.Saving() {
		c.Word(length)
	} else {
		c.at += 8
		n := uint64(0)
		if c.at <= len(c.buf) {
			n = binary.LittleEndian.Uint64(c.buf[head:])
		}
		if n%8 != 0 || c.at > len(c.buf) || n > uint64(len(c.buf)-c.at) {
			c.Differs("the part has %d bytes, the state has %d left", n, len(whole)-head)
			return
		}
		c.buf = c.buf[:c.at+int(n)]
	}
	if p.state.SaveState(c); p.boxed != nil {
		c.Elements(p.boxed)
	}
	if c.Saving() {
		c.endLength(i, c.at-head-8)
	} else if c.at != len(c.buf) {
		c.Differs("%d bytes of %d were visited%s", c.at-head-8, len(c.buf)-head-8, c.advice())
	}
	c.buf = whole
}

// Metadata returns a State that saves an allocator without the contents of its blocks. The allocator must not be nil.
// Use Metadata if another State saves these contents itself, as an ecs.World saves its chunks. The elements of containers
// in the world are no part of its chunks: if they lie in the allocator, add the allocator itself. Debug builds save the
// contents, too. A Set with such a part cannot be written to a file.
func Metadata(of State) State { return &metadata{of} }

type metadata struct{ of State }

// States yields the allocator.
func (m *metadata) States(yield func(State) bool) { yield(m.of) }

func (m *metadata) SaveState(c *Coder) {
	was := c.bare
	c.bare = true
	m.of.SaveState(c)
	c.bare = was
}

func (m *metadata) CanSave() error {
	if r, ok := m.of.(Refuser); ok {
		return r.CanSave()
	}
	return nil
}
