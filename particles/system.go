package particles

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/page"
	"github.com/strata-go/strata/memory/save"
)

// Config sizes a System. A field of 0 selects its default. If a value is out of range, New returns an error.
type Config struct {
	// Capacity is the maximum number of live particles, from 1 to 1<<24. 0 means 131,072. Capacity costs address space.
	// Memory is committed as particles are emitted. If the operating system refuses the address space, New reserves
	// less, down to space for 4,096 particles. System.Capacity returns the result.
	Capacity int
	// MaxKinds is the maximum number of kinds, from 1 to 256. 0 means 32. For each kind that is allowed, New allocates
	// 1.4 KiB of the Go heap.
	MaxKinds int
	// Seed is the seed of the random numbers. 0 means a fixed seed, the same in each program.
	Seed uint64
}

const (
	defaultCapacity = 1 << 17
	maxCapacity     = 1 << 24
	defaultKinds    = 32
	maxKinds        = 256
)

// A System contains particles in columns in memory of a page source: row i of every column is particle i. The last
// row replaces a dead row, so the order of rows changes.
//
// A System is for one goroutine at a time. After Close, or after the source of the System is closed, only Close, Check,
// Stats, Len, Capacity, Count, Kind, Hash, SaveState and CanWrite may be called. All other methods panic with a
// *memory.Misuse.
type System struct {
	// Invariants, verified by Check:
	//
	//	(1) n <= usable <= max, and every column is committed for the usable rows
	//	(2) n <= peak, and emitted >= n
	//	(3) every kind < len(kinds), and alive counts the kinds
	//	(4) 0 < left <= life, for life == 1/inv

	n int // live particles: rows 0 to n-1
	columns

	kinds []Kind
	looks []look
	alive [maxKinds]uint32
	steps [maxKinds]step // of the running Update

	bounds Bounds
	rng    random
	seed0  random
	dead   [blockRows]uint16 // dead rows of the current block, in ascending order
	closed bool

	peak     int
	emitted  uint64
	dropped  uint64
	failures uint64
}

// Bounds is a rectangle, in units of the world. If a Kind has a Bounce, its particles are reflected at the sides of
// the rectangle.
type Bounds struct{ MinX, MinY, MaxX, MaxY float32 }

// New reserves the columns from src, and commits nothing. A nil src means page.Default(). If cfg is invalid, the error
// wraps memory.ErrConfig and names the field. If src cannot reserve the columns, the error wraps that of page.Reserve.
// After an error nothing stays reserved, unless src fails to release the columns; the error includes that failure.
// Close the System before you close src.
func New(src page.Source, cfg Config) (_ *System, err error) {
	cfg.Capacity = cmp.Or(cfg.Capacity, defaultCapacity)
	cfg.MaxKinds = cmp.Or(cfg.MaxKinds, defaultKinds)
	cfg.Seed = cmp.Or(cfg.Seed, defaultSeed)
	if cfg.Capacity < 1 || cfg.Capacity > maxCapacity {
		return nil, fmt.Errorf("particles: new System: Capacity %d: want 1 to %d: %w", cfg.Capacity, maxCapacity, memory.ErrConfig)
	}
	if cfg.MaxKinds < 1 || cfg.MaxKinds > maxKinds {
		return nil, fmt.Errorf("particles: new System: MaxKinds %d: want 1 to %d: %w", cfg.MaxKinds, maxKinds, memory.ErrConfig)
	}
	s := &System{
		kinds: make([]Kind, 0, cfg.MaxKinds),
		looks: make([]look, 0, cfg.MaxKinds),
		rng:   random(cfg.Seed), seed0: random(cfg.Seed),
	}
	made := false
	defer func() { // also if the source panics
		if !made {
			err = errors.Join(err, s.release())
		}
	}()
	if err := s.reserve(src, cfg.Capacity); err != nil {
		return nil, fmt.Errorf("particles: new System of %d particles: %w", cfg.Capacity, err)
	}
	s.watch(s.shut)
	made = true
	return s, nil
}

// Len returns the number of live particles. After Close, or after the source is closed, Len returns 0.
func (s *System) Len() int { return s.n }

// Capacity returns the maximum number of live particles: Config.Capacity, or less if the operating system refused so
// much address space. After Close, or after the source is closed, Capacity returns 0.
func (s *System) Capacity() int { return s.max }

// Motion returns the columns of positions and velocities, for forces that a Kind does not have, such as a vortex or a
// magnet. Each column has one entry per live particle. The caller may change the entries. The slices are valid until
// the next Emit, Burst, EmitRate, Update, Reset, Trim or Close. They also end when a saved state is loaded, and when
// the source is closed.
func (s *System) Motion() (x, y, vx, vy []float32) {
	s.open("Motion")
	return s.x[:s.n:s.n], s.y[:s.n:s.n], s.vx[:s.n:s.n], s.vy[:s.n:s.n]
}

// SetBounds sets the rectangle that reflects particles. Only kinds with a Bounce are reflected. With the zero Bounds
// no particle is reflected. If any other rectangle is empty or not finite, SetBounds panics with a *memory.Misuse.
func (s *System) SetBounds(b Bounds) {
	s.open("SetBounds")
	if (b != Bounds{}) && (!(b.MinX < b.MaxX && b.MinY < b.MaxY) || !finite(b.MinX, b.MinY, b.MaxX, b.MaxY)) {
		panic(&memory.Misuse{Package: "particles", Op: "SetBounds", Reason: fmt.Sprintf("%+v is not a rectangle", b)})
	}
	s.bounds = b
}

// Reserve commits memory for n particles in total. Emit then commits nothing as long as at most n particles are alive,
// until the next Trim or load of a state. If n is at most Stats.Rows, Reserve commits nothing. After the source has
// refused memory to Emit, Emit does not ask again. A Reserve with n up to Capacity makes Emit ask again, even if this
// Reserve fails.
//
// If n exceeds Capacity, the error wraps memory.ErrTooLarge. If the source refuses, the error wraps the error of the
// source. If the function of page.Limit.OnSoft closes the System or its source during Reserve, the error wraps
// memory.ErrClosed. After an error no rows are added. The function of OnSoft must not call Reserve for more than
// Stats.Rows: Reserve may then panic with a *memory.Misuse.
func (s *System) Reserve(n int) error {
	s.open("Reserve")
	if n > s.max {
		return fmt.Errorf("particles: reserve %d of at most %d particles: %w", n, s.max, memory.ErrTooLarge)
	}
	s.refused = false
	if n <= s.usable {
		return nil
	}
	if err := s.commit(n); err != nil {
		s.failures++
		return fmt.Errorf("particles: reserve %d particles: %w", n, err)
	}
	return nil
}

// Reset removes all particles and restarts the random numbers from the seed. Reset keeps kinds, bounds, committed
// memory, and the statistics that count since New. If the source has refused a commit, Emit asks the source again after
// Reset. The cost of Reset does not depend on the number of particles.
func (s *System) Reset() {
	s.open("Reset")
	s.n, s.rng, s.refused = 0, s.seed0, false
	clear(s.alive[:])
}

// Trim decommits the memory of unused rows, in whole pages of the source. If the source cannot decommit, the error
// wraps each error of the source, and Emit commits the rows again before it uses them. If the source has refused memory
// to Emit, Emit asks again after Trim. Trim never changes particles. If the function of page.Limit.OnSoft calls Trim
// during a commit of this System, Trim does nothing and returns nil.
func (s *System) Trim() error {
	s.open("Trim")
	return s.shrink(s.n)
}

// Close releases the columns and ends all particles. If the source cannot release the columns, the error wraps each
// error of the source, and Close can be called again. The System is closed even after an error. Close also fails if
// the function of page.Limit.OnSoft calls it during a commit of this System. After a Close without an error, further
// calls of Close do nothing.
func (s *System) Close() error {
	s.shut()
	return s.release()
}

// shut sets the metadata of a closed system and touches no column.
func (s *System) shut() {
	s.n, s.closed = 0, true
	clear(s.alive[:])
	s.vacate()
}

func (s *System) open(op string) {
	if s.closed {
		misuseClosed(op)
	}
}

//go:noinline
func misuseClosed(op string) {
	panic(&memory.Misuse{Package: "particles", Op: op, Reason: "the system is closed"})
}

// Stats are the statistics of a System. These equations hold:
//
//	Alive <= Peak, Alive <= Rows <= Capacity
//	Memory.Live == Alive, Memory.Allocs == Emitted, Memory.Failures == Failures
type Stats struct {
	Alive    int          // live particles
	Peak     int          // high-water mark of Alive since New
	Rows     int          // committed rows, with a particle or without
	Capacity int          // see System.Capacity
	Kinds    int          // registered kinds
	Emitted  uint64       // particles emitted since New
	Dropped  uint64       // particles not emitted since New: no capacity, or no memory
	Failures uint64       // since New: commits for Emit and Reserve that failed, at least in part
	Memory   memory.Stats // in bytes; a particle counts as one allocation
}

// Stats returns the statistics. It allocates nothing.
func (s *System) Stats() Stats {
	m := s.columns.stats()
	m.InUse, m.Peak = uint64(s.n)*rowBytes, uint64(s.peak)*rowBytes
	m.Live, m.Allocs, m.Frees, m.Failures = uint64(s.n), s.emitted, s.emitted-uint64(s.n), s.failures
	return Stats{
		Alive: s.n, Peak: s.peak, Rows: s.usable, Capacity: s.max, Kinds: len(s.kinds),
		Emitted: s.emitted, Dropped: s.dropped, Failures: s.failures, Memory: m,
	}
}

// A member is a System as a pool of a tiers.Manager.
type member struct{ *System }

func (m member) Stats() memory.Stats { return m.System.Stats().Memory }

// States yields the System. So a save.Set detects that it would save the System twice.
func (m member) States(yield func(save.State) bool) { yield(m.System) }

// Pool returns the System as a pool, for AddPool and RemovePool of a tiers.Manager or a tiers.Tag. Build the System on
// the manager's PoolSource. The pool's Stats is [Stats].Memory. The manager then resets the System in EndLevel, and
// closes it in Close. Manager.Check verifies the System, and a save.Set with the manager saves it: do not add the
// System to the Set, too. All calls of Pool return equal values.
func (s *System) Pool() interface {
	memory.StatsReporter
	Reset()
	Close() error
} {
	return member{s}
}
