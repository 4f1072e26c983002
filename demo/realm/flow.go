package realm

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/tiers"
)

// Lanes is the number of lanes of a [Flow]. Each lane has a [Field] of its own, which leads to its own place.
const Lanes = 3

// Ahead is the number of ticks from the request of a [Field] to its use. Refresh is the least number of ticks after
// which a field to the same node is requested again, because the crowd has moved.
const (
	Ahead   = 8
	Refresh = 20
)

const (
	searchBytes = Window * Window * unsafe.Sizeof(entry{})
	crowdBytes  = Window * Window
)

// errSearch is a search of a saved state that failed.
var errSearch = fmt.Errorf("realm: no space for a search: %w", memory.ErrOutOfMemory)

// A Hunt determines the fields. Flow.Update calls its methods, on the game goroutine.
type Hunt interface {
	// Goal returns the node to which a lane should lead, as [Realm.Node] numbers it, or -1 if the lane needs no new
	// field. In a [Bare] realm it must return -1.
	Goal(lane int) int32
	// Count writes the number of enemies, at most 255, in each node of a window. The entry into[y*Window+x] is for node
	// (x0+x, y0+y). All Window*Window entries are 0 before the call. Paths avoid nodes with many enemies.
	Count(x0, y0 int32, into []uint8)
}

// A Flow computes fields (see [Field]) on a goroutine of its own, which owns a worker of the manager. A field that is
// requested at tick t is used at tick t+Ahead exactly. If necessary Update waits for the worker, so that nothing
// depends on the worker's speed. The game allocates the buffers of a search, and the worker frees them after the
// search. The worker allocates the blocks of a field, its tiles. The game frees them when a newer field replaces the
// field.
//
//	game:    Tag.Alloc buffers --> worker: search, Worker.Alloc tiles --> game: At ... Manager.Free
//	         | <--- NewFreer ------- buffers         tiles --- inbox ---> worker
//
// All methods belong to the game goroutine.
//
// Invariants, verified by Check:
//
//	(1) each requested field is due at most Ahead ticks after the tick of the last Update
//	(2) the tiles of fields are the worker's blocks
type Flow struct {
	mem   flowMemory
	ask   chan job
	done  chan result
	ended chan struct{}
	tick  uint64
	lanes [Lanes]lane

	results [Lanes]result // that Rest has taken from done before they are due
	early   int           // of these
}

// A lane is one of the fields, and what is on its way to take its place.
type lane struct {
	field Field
	there bool
	due   uint64 // when what was asked for is used; 0 when nothing was
	asked uint64 // the tick in which it was, or the last one
	next  int32  // the node that what is due leads to
	crowd uint64 // the sum of the count that it goes by
}

type job struct {
	r     *Realm
	nodes unsafe.Pointer
	crowd unsafe.Pointer
	node  int32       // the one that leads to
	saved *savedField // of a file, in place of a search
}

type result struct {
	field Field
	err   error
}

// NewFlow starts the goroutine of a Flow. The goroutine owns worker k of m: nothing else may use this worker. The
// blocks are attributed to the tag "paths". NewFlow returns the error of [tiers.Manager.Tag], and panics if m has no
// worker k. Close the flow before m.
func NewFlow(m *tiers.Manager, k int) (*Flow, error) {
	mem, err := newInTiers(m, k)
	if err != nil {
		return nil, err
	}
	return newFlow(mem), nil
}

// NewFlowIn starts the goroutine of a Flow whose blocks come from mem. mem must be safe for concurrent use.
func NewFlowIn(mem memory.Allocator) *Flow { return newFlow(anywhere{mem}) }

func newFlow(mem flowMemory) *Flow {
	f := &Flow{mem: mem, ask: make(chan job, Lanes), done: make(chan result, Lanes), ended: make(chan struct{})}
	go f.work(f.ask)
	return f
}

func (f *Flow) work(ask <-chan job) {
	defer close(f.ended)
	for j := range ask {
		var res result
		if j.saved != nil {
			res.err = j.saved.restore(&res.field, f.mem.worker())
			f.done <- res
			continue
		}
		crowd := unsafe.Slice((*uint8)(j.crowd), crowdBytes)
		res.err = j.r.fill(&res.field, f.mem.worker(), unsafe.Slice((*entry)(j.nodes), Window*Window), crowd, j.node)
		f.mem.giveBack(j.nodes, searchBytes)
		f.mem.giveBack(j.crowd, crowdBytes)
		res.err = errors.Join(res.err, f.mem.flush())
		f.done <- res
	}
	f.mem.end()
}

// Node looks at the node in which p lies and at its eight neighbours. Node returns the number of the nearest of them
// that has links, row*Coarse+column. If none has links, Node returns -1.
func (r *Realm) Node(p vec) int32 {
	if r.clear == nil {
		return -1
	}
	return int32(r.node(p))
}

// Update puts the fields that were requested [Ahead] ticks ago into use, and waits for them if necessary. Call it once
// a tick, with the ticks in order and from 1. Each tick Update looks at one lane, in turn. It requests a new field if
// the lane has none, or if h.Goal returns another node than the goal of the field. It also does so if [Refresh] ticks
// have passed since the last request. A lane has at most one request in flight. Update returns the number of requests,
// 0 or 1.
//
// If there is no memory for a search or a field, that lane keeps its field. The error then wraps the error of the
// allocator, such as memory.ErrOutOfMemory. The other lanes are updated all the same.
func (f *Flow) Update(tick uint64, r *Realm, h Hunt) (asked int, err error) {
	f.tick = tick
	for k := range f.lanes { // in the order in which they were asked for
		if l := &f.lanes[k]; l.due != 0 && tick >= l.due {
			err = errors.Join(err, f.take(l))
		}
	}
	for k := range f.lanes {
		l := &f.lanes[k]
		if l.due != 0 || tick%Lanes != uint64(k) { // one a tick: the worker has the others to do
			continue
		}
		node := h.Goal(k)
		if node < 0 || l.there && node == l.field.Node && tick < l.asked+Refresh {
			continue
		}
		if lendErr := f.lend(l, r, h, node); lendErr != nil {
			err = errors.Join(err, fmt.Errorf("realm: no space for a search: %w", lendErr))
			continue
		}
		asked++
	}
	return asked, err
}

// lend gives the worker what it needs for a field of a lane.
func (f *Flow) lend(l *lane, r *Realm, h Hunt, node int32) error {
	nodes, err := f.mem.game().Alloc(searchBytes, unsafe.Alignof(entry{}))
	if err != nil {
		return err
	}
	crowd, err := f.mem.game().Alloc(crowdBytes, 8)
	if err != nil {
		f.mem.game().Free(nodes, searchBytes)
		return err
	}
	count := unsafe.Slice((*uint8)(crowd), crowdBytes)
	clear(count)
	x0, y0 := window(node)
	h.Count(x0, y0, count)
	l.due, l.asked, l.next, l.crowd = f.tick+Ahead, f.tick, node, sum(sumBasis, count)
	f.ask <- job{r: r, nodes: nodes, crowd: crowd, node: node}
	return nil
}

// take waits for the worker and puts its field in the place of the last one.
func (f *Flow) take(l *lane) error {
	res := f.next()
	l.due, l.crowd = 0, 0
	if res.err != nil {
		res.field.release(f.mem) // there is one if only the flush has failed
		return res.err
	}
	f.drop(l)
	l.field, l.there = res.field, true
	return nil
}

func (f *Flow) drop(l *lane) {
	l.field.release(f.mem)
	l.field, l.there = Field{}, false
}

// Field returns the present field of lane k, from 0 to Lanes-1, or nil if there is none. The field is valid until the
// next Update, Reset, Close or load of a state.
func (f *Flow) Field(k int) *Field {
	if l := &f.lanes[k]; l.there {
		return &l.field
	}
	return nil
}

// Each calls visit with numbers that, together with the realm, determine the fields. Use it for a hash.
func (f *Flow) Each(visit func(uint64)) {
	for k := range f.lanes {
		l := &f.lanes[k]
		visit(l.due)
		visit(l.asked)
		if l.due != 0 {
			visit(uint64(l.next))
			visit(l.crowd)
		}
		if l.there {
			visit(uint64(l.field.Node))
			visit(l.field.Sum)
		}
	}
}

// Reset waits for the worker and frees all fields. Call it before the level of the realm ends, because the worker reads
// the realm. It returns the errors of results that were not used, except those that wrap memory.ErrOutOfMemory.
func (f *Flow) Reset() error {
	var err error
	for k := range f.lanes { // each waits for one of those that were asked for, whichever it is
		l := &f.lanes[k]
		if l.due != 0 {
			err = errors.Join(err, beside(memory.ErrOutOfMemory, f.take(l)))
		}
	}
	for k := range f.lanes {
		f.drop(&f.lanes[k])
		f.lanes[k] = lane{}
	}
	return err
}

// beside returns those of joined errors that are not a target.
func beside(target, err error) (others error) {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		if errors.Is(err, target) {
			return nil
		}
		return err
	}
	for _, e := range joined.Unwrap() {
		others = errors.Join(others, beside(target, e))
	}
	return others
}

// Close does what Reset does, returns its error and ends the goroutine, also after an error. Do not use the Flow
// afterwards: Update might wait forever. A second Close returns nil and does nothing.
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

// Check verifies the invariants and returns the first that is broken, or nil.
func (f *Flow) Check() error {
	for k := range f.lanes {
		l := &f.lanes[k]
		if l.due > f.tick+Ahead {
			return fmt.Errorf("realm: invariant 1: due at %d, in tick %d", l.due, f.tick)
		}
		for _, t := range l.field.tiles {
			if t != nil && !f.mem.made(unsafe.Pointer(t)) {
				return errors.New("realm: invariant 2: a tile is no block of the worker's")
			}
		}
	}
	return nil
}
