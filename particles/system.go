package particles

import (
	"errors"
	"fmt"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/page"
)

// Config sizes a System. The zero Config means the defaults.
type Config struct {
	// Capacity is the most particles alive at once, from 1 to 1<<24. 0 means 131,072. It
	// costs address space; memory follows the particles. A system that refuses the address
	// space is asked for half.
	Capacity int
	// MaxKinds is the most kinds, from 1 to 256. 0 means 32. Each costs 1.3 KiB.
	MaxKinds int
	// Seed begins the random sequence. 0 means a fixed one.
	Seed uint64
}

const (
	defaultCapacity = 1 << 17
	maxCapacity     = 1 << 24
	defaultKinds    = 32
	maxKinds        = 256
)

// A System holds particles in columns off the Go heap: row i of every column is particle i.
//
//	x     | 0 1 2 ... n-1 | free | not yet committed | guard
//	y     | 0 1 2 ... n-1 | free | not yet committed | guard
//	...                   ^n     ^room               ^max
//
// A dead particle's row is taken by the last one, so rows have no lasting order. One
// goroutine at a time. After Close only Close, Check and what tells figures may be called;
// everything else panics with a *memory.Misuse. A System whose source has ended is closed, too.
//
// Invariants, verified by Check:
//
//	(1) n <= room <= max, and every column is committed for room rows
//	(2) n <= peak, and emitted >= n
//	(3) every kind < len(kinds), and alive counts the kinds
//	(4) 0 < left <= life, for life == 1/inv
type System struct {
	n int
	columns

	kinds []Kind
	looks []look
	alive [maxKinds]uint32
	steps [maxKinds]step // of the Update under way

	bounds Bounds
	rng    random
	seed0  random
	dead   [blockRows]uint16 // rows of the block under way that have died, in order
	closed bool

	peak     int
	emitted  uint64
	dropped  uint64
	failures uint64
}

// Bounds is the rectangle off whose sides kinds with Bounce bounce.
type Bounds struct{ MinX, MinY, MaxX, MaxY float32 }

// New reserves the columns from src; nil means page.Default(). Nothing is committed yet.
// The error names the field of cfg that is wrong and wraps memory.ErrConfig, or wraps what src
// returned, and nothing is kept.
func New(src page.Source, cfg Config) (_ *System, err error) {
	if cfg.Capacity == 0 {
		cfg.Capacity = defaultCapacity
	}
	if cfg.MaxKinds == 0 {
		cfg.MaxKinds = defaultKinds
	}
	if cfg.Seed == 0 {
		cfg.Seed = defaultSeed
	}
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
	defer func() { // also where the source panics
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

// Len returns how many particles live.
func (s *System) Len() int { return s.n }

// Capacity returns the most particles that may live at once.
func (s *System) Capacity() int { return s.max }

// Motion returns the columns of positions and velocities, for forces that a Kind does not
// know: a vortex, a magnet. Entries may be changed. The slices are valid until the next
// Emit, Update, Reset, Trim or Close.
func (s *System) Motion() (x, y, vx, vy []float32) {
	s.open("Motion")
	return s.x[:s.n:s.n], s.y[:s.n:s.n], s.vx[:s.n:s.n], s.vy[:s.n:s.n]
}

// SetBounds says where kinds with Bounce bounce. The zero Bounds lets everything through.
// A rectangle that is empty or not finite panics with a *memory.Misuse.
func (s *System) SetBounds(b Bounds) {
	s.open("SetBounds")
	if (b != Bounds{}) && (!(b.MinX < b.MaxX && b.MinY < b.MaxY) || !finite(b.MinX, b.MinY, b.MaxX, b.MaxY)) {
		panic(&memory.Misuse{Package: "particles", Op: "SetBounds", Reason: fmt.Sprintf("%+v is not a rectangle", b)})
	}
	s.bounds = b
}

// Reserve commits memory for n particles ahead of time, so that no frame pays for it. The
// error wraps memory.ErrTooLarge beyond the capacity, or is what the source returned, and
// nothing has changed. After it a refused growth is tried again.
func (s *System) Reserve(n int) error {
	s.open("Reserve")
	if n > s.max {
		return fmt.Errorf("particles: reserve %d of at most %d particles: %w", n, s.max, memory.ErrTooLarge)
	}
	s.refused = false
	if n <= s.room {
		return nil
	}
	if err := s.commit(n); err != nil {
		s.failures++
		return fmt.Errorf("particles: reserve %d particles: %w", n, err)
	}
	return nil
}

// Reset removes every particle and begins the random sequence again. Kinds, bounds,
// statistics and committed memory stay; a refused growth is tried again. Its cost does not
// depend on the number of particles.
func (s *System) Reset() {
	s.open("Reset")
	s.n, s.rng, s.refused = 0, s.seed0, false
	clear(s.alive[:])
}

// Trim gives back the memory behind rows that are free.
func (s *System) Trim() error {
	s.open("Trim")
	return s.shrink(s.n)
}

// Close gives back the columns. A second Close does nothing; one that failed may be
// repeated.
func (s *System) Close() error {
	s.shut()
	return s.release()
}

// shut puts the books into the state of a closed system and touches no column.
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

// Stats is a snapshot of a System's books.
//
// These equations hold:
//
//	Alive <= Peak, Alive <= Room <= Capacity
//	Memory.Live == Alive, Memory.Allocs == Emitted, Memory.Failures == Failures
type Stats struct {
	Alive    int
	Peak     int // most alive at once since New
	Room     int // rows that are committed
	Capacity int
	Kinds    int
	Emitted  uint64 // since New
	Dropped  uint64 // not emitted for want of room, since New
	Failures uint64 // growths refused by the budget or the system, since New
	Memory   memory.Stats
}

// Stats returns the books. It allocates nothing.
func (s *System) Stats() Stats {
	m := s.columns.stats()
	m.InUse, m.Peak = uint64(s.n)*rowBytes, uint64(s.peak)*rowBytes
	m.Live, m.Allocs, m.Frees, m.Failures = uint64(s.n), s.emitted, s.emitted-uint64(s.n), s.failures
	return Stats{
		Alive: s.n, Peak: s.peak, Room: s.room, Capacity: s.max, Kinds: len(s.kinds),
		Emitted: s.emitted, Dropped: s.dropped, Failures: s.failures, Memory: m,
	}
}
