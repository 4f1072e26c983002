package realm

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/tiers"
)

// Window is how many nodes a field spans each way: 5,120 units.
const Window = 160

// A Field says which way leads to the middle of a window: a direction for each node.
type Field struct {
	X0, Y0 int32 // the window's first node
	Dirs   [Window * Window]uint8
}

const fieldBytes = unsafe.Sizeof(Field{})

// At returns the direction to go from a place; 0 where there is none, as outside of the window.
func (f *Field) At(p vec) uint8 {
	x, y := uint(int32(p[0])/CoarseSize-f.X0), uint(int32(p[1])/CoarseSize-f.Y0)
	if x >= Window || y >= Window {
		return 0
	}
	return f.Dirs[y*Window+x]
}

// Ahead is how many ticks lie between asking for a field and using it.
const Ahead = 8

const booksBytes = Window * Window * unsafe.Sizeof(entry{})

// errLent says that the game had no room for a search's books.
var errLent = errors.New("realm: no room for a search")

// A Flow computes fields on a goroutine of its own, a worker of the manager's. What is asked for at
// tick t is used at tick t+Ahead exactly, waiting for the worker if need be, so that nothing depends
// on how fast it is. Blocks go both ways through inboxes: the game lends the books of a search,
// which the worker sends home when it is done; the worker makes the field, which the game sends home
// when there is a newer one.
//
//	game:    Large.Alloc books --> worker: search, Worker.Alloc field --> game: At ... Manager.Free
//	         | <--- NewFreer ------------------------- books              field --- inbox ---> worker
//
// All methods belong to the game goroutine.
//
// Invariants, verified by Check:
//
//	(1) due is 0 or lies at most Ahead ticks ahead of the tick that Update was given last
//	(2) field is nil or the worker's block
type Flow struct {
	mem   ground
	ask   chan job
	done  chan result
	ended chan struct{}

	field  *Field
	due    uint64 // when what was asked for is used; 0 when nothing was
	node   int32  // that field leads to, or the one that is due
	tick   uint64
	failed int
}

type job struct {
	r     *Realm
	books unsafe.Pointer
	node  int32 // the one that leads to
}

type result struct {
	field *Field
	err   error
}

// NewFlow starts the goroutine that owns worker k of m, which nobody else uses. Close it before m.
func NewFlow(m *tiers.Manager, k int) *Flow {
	return newFlow(&inTiers{m: m, w: m.Worker(k), freer: m.NewFreer()})
}

// NewFlowIn starts the goroutine with blocks of an allocator that any goroutine may use.
func NewFlowIn(mem memory.Allocator) *Flow { return newFlow(anywhere{mem}) }

func newFlow(mem ground) *Flow {
	f := &Flow{mem: mem, ask: make(chan job, 1), done: make(chan result, 1), ended: make(chan struct{})}
	go f.work(f.ask)
	return f
}

func (f *Flow) work(ask <-chan job) {
	defer close(f.ended)
	for j := range ask {
		field, err := f.compute(j)
		f.mem.home(j.books, booksBytes)
		f.done <- result{field, errors.Join(err, f.mem.flush())}
	}
	f.mem.end()
}

func (f *Flow) compute(j job) (*Field, error) {
	p, err := f.mem.worker().Alloc(fieldBytes, unsafe.Alignof(Field{}))
	if err != nil {
		return nil, err
	}
	field := (*Field)(p)
	j.r.fill(field, unsafe.Slice((*entry)(j.books), Window*Window), j.node)
	return field, nil
}

// fill makes a field: the ways to a node, from all about it.
func (r *Realm) fill(f *Field, books []entry, node int32) {
	x, y := int(node)%Coarse, int(node)/Coarse
	s := search{r: r, books: books, w: Window, h: Window}
	s.x0 = min(max(x-Window/2, 0), Coarse-Window)
	s.y0 = min(max(y-Window/2, 0), Coarse-Window)
	s.run(x, y)
	f.X0, f.Y0 = int32(s.x0), int32(s.y0)
	s.lead(f.Dirs[:])
}

// Node returns the number of the node that ways to a place lead to, or -1.
func (r *Realm) Node(p vec) int32 {
	if r.clear == nil {
		return -1
	}
	return int32(r.node(p))
}

// Update is called once a tick, with the ticks in order and from 1: it takes the field that is due
// in this tick, and asks for one to a node where none is on its way and the last led elsewhere. It reports whether it asked.
// The error says that there was no room, for the game or for the worker, and wraps
// memory.ErrOutOfMemory then: the field stays as it was.
func (f *Flow) Update(tick uint64, r *Realm, node int32) (asked bool, err error) {
	f.tick = tick
	if f.due != 0 && tick >= f.due {
		err = f.take()
	}
	if f.due != 0 || node < 0 || f.field != nil && node == f.node {
		return false, err
	}
	books, lendErr := f.mem.game().Alloc(booksBytes, unsafe.Alignof(entry{}))
	if lendErr != nil {
		return false, errors.Join(err, fmt.Errorf("%w: %w", errLent, lendErr))
	}
	f.ask <- job{r, books, node}
	f.due, f.node = tick+Ahead, node
	return true, err
}

// take waits for the worker and puts its field in the place of the last one.
func (f *Flow) take() error {
	res := <-f.done
	f.due = 0
	if res.err != nil {
		f.failed++
		return res.err
	}
	f.drop()
	f.field = res.field
	return nil
}

func (f *Flow) drop() {
	if f.field != nil {
		f.mem.Free(unsafe.Pointer(f.field), fieldBytes)
		f.field = nil
	}
}

// Field returns the field in use, or nil. It is valid until the next Update or Reset.
func (f *Flow) Field() *Field { return f.field }

// Due returns the tick in which what is on its way will be used, or 0.
func (f *Flow) Due() uint64 { return f.due }

// Node returns the node that the field in use leads to, or the one that is on its way; the field is a
// function of it and of the realm. It is of no use where there is neither.
func (f *Flow) Node() int32 { return f.node }

// Reset waits for the worker and gives everything back: before the level ends whose realm it reads.
func (f *Flow) Reset() error {
	var err error
	if f.due != 0 {
		err = f.take()
	}
	f.drop()
	if errors.Is(err, memory.ErrOutOfMemory) {
		err = nil
	}
	return err
}

// Close resets and ends the goroutine. Closing again does nothing.
func (f *Flow) Close() error {
	if f.ask == nil {
		return nil
	}
	err := f.Reset()
	close(f.ask)
	f.ask = nil
	<-f.ended
	return err
}

// Check verifies the invariants.
func (f *Flow) Check() error {
	if f.due > f.tick+Ahead {
		return fmt.Errorf("realm: invariant 1: due at %d, in tick %d", f.due, f.tick)
	}
	if f.field != nil && !f.mem.made(unsafe.Pointer(f.field)) {
		return errors.New("realm: invariant 2: the field is no block of the worker's")
	}
	return nil
}
