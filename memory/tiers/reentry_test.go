package tiers

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/gcpace"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/page"
	"github.com/strata-go/strata/memory/pool"
	"github.com/strata-go/strata/memory/remote"
)

var (
	programs     = flag.Int("programs", 250, "how many programs TestReentry_RandomPrograms runs")
	firstProgram = flag.Uint64("first-program", 1, "the seed of the first one")
)

// A reentry is a random program: every operation of the manager, its pools, workers, tags and
// Freers, called by the program and inside of every callback, some of which panic. It keeps a shadow
// of what lives, and verifies after each step of the program
//
//   - that Check is nil and the contents of the blocks are intact,
//   - that a border which is called inside of a callback is refused,
//   - that after EndLevel the level's memory is empty, and all that lives on is reported,
//   - that each hook runs once, and before the first reset of its EndLevel or Close,
//   - that Close completes at the second call, and releases everything.
type reentry struct {
	m       *Manager
	src     *memtest.Faulty
	r       *rand.Rand
	tag     *Tag
	freer   *remote.Freer
	blocks  []block
	objects []*pool.Pool[[3]int64]
	handles []memory.Handle[[3]int64] // of objects[0]

	depth    int    // of callbacks
	busy     int    // page sources and soft marks that are running
	left     int    // operations that callbacks may still make
	resting  bool   // callbacks do nothing
	inWorker bool   // a worker's operation is running
	border   string // the border that is running
	hooks    []*hook
	reset    bool // a pool was reset in the border
	resetOps bool // callbacks may have taken objects after the first reset of this border
	serial   byte
	fails    []string
}

// A block is live in slab, large or a worker's heap.
type block struct {
	p     unsafe.Pointer
	size  uintptr
	tier  Tier
	level uint64 // in which it was handed out; 0: outside
	paint byte
}

// A hook is one that was registered.
type hook struct {
	tier  Tier
	ran   int
	late  bool // registered inside of a border, on the arena itself
	level bool // it runs at EndLevel
}

func (s *reentry) failf(format string, args ...any) {
	if len(s.fails) < 5 {
		s.fails = append(s.fails, fmt.Sprintf(format, args...))
	}
}

// A reentrantSource calls operations out of Commit and Decommit.
type reentrantSource struct {
	*memtest.Faulty
	s *reentry
}

func (c reentrantSource) Commit(m page.Memory, off, size uintptr) error {
	c.s.inSource()
	return c.Faulty.Commit(m, off, size)
}

func (c reentrantSource) Decommit(m page.Memory, off, size uintptr) error {
	c.s.inSource()
	return c.Faulty.Decommit(m, off, size)
}

func (s *reentry) inSource() {
	if s.m != nil && !s.inWorker && !s.resting && s.r.IntN(4) == 0 {
		s.busy++
		s.callback("source", readers, false)
		s.busy--
	}
}

func newReentry(seed uint64) (*reentry, error) {
	s := &reentry{src: memtest.NewFaulty(), r: rand.New(rand.NewPCG(seed, 21)), left: 120}
	cfg := Config{Source: reentrantSource{s.src, s}, GC: gcpace.Config{Keep: true}, Tags: s.r.IntN(2) == 0, Workers: 1, SoftMark: 0.02, Scratch: 64 << 10,
		Reserve: [Count]uintptr{Static: 1 << 20, Frame: 1 << 20, Level: 1 << 20, Pools: 2 << 20, Slab: 1 << 20, Large: 1 << 20, Inbox: 1 << 20}}
	cfg.OnSoft = func(Tier, uintptr, uintptr) {
		s.busy++
		defer func() { s.busy-- }()
		s.callback("soft mark", readers, true)
	}
	m, err := New(cfg)
	if err != nil {
		return nil, err
	}
	if s.m = m; s.src.Reserved() != 1 {
		s.failf("%d reservations", s.src.Reserved())
	}
	s.tag, err = m.Tag("a")
	s.freer = m.NewFreer()
	return s, err
}

// callback is the body of every callback: some operations, and sometimes a panic.
func (s *reentry) callback(name string, ops []operation, mayPanic bool) {
	if s.resting || s.left <= 0 || s.depth >= 4 {
		return
	}
	s.depth++
	defer func() { s.depth-- }()
	s.resetOps = s.resetOps || s.reset
	for range s.r.IntN(3) {
		if s.left--; s.left > 0 {
			s.do(ops[s.r.IntN(len(ops))])
		}
	}
	if mayPanic && s.r.IntN(8) == 0 {
		panic(fmt.Errorf("%s: %w", name, errInjected))
	}
}

// do makes an operation. What it panics with is a misuse, or came out of a callback.
func (s *reentry) do(op operation) {
	depth, busy, inWorker := s.depth, s.busy, s.inWorker
	defer func() {
		r := recover()
		s.depth, s.busy, s.inWorker = depth, busy, inWorker
		if r == nil {
			return
		}
		if err, ok := r.(error); !ok || !errors.Is(err, errInjected) && !isMisuse(err) {
			panic(r)
		} else if isMisuse(err) && strings.Contains(err.Error(), "corrupt") {
			s.failf("%v", err)
		}
	}()
	op(s)
}

// atBorder runs a border, which is refused inside of callbacks and otherwise ends in after.
func (s *reentry) atBorder(name string, call func() error, after func()) {
	nested := s.border != "" || s.busy > 0
	if !nested {
		s.border, s.reset, s.resetOps = name, false, false
		defer func() { s.border = "" }()
	}
	err := call()
	switch {
	case nested && !errors.Is(err, ErrOrder) && !(name == "Close" && err == nil && s.m.phase == closed):
		s.failf("%s inside of %q: %v", name, s.border, err)
	case err == nil && !nested:
		after()
	}
}

// ended verifies what EndLevel says and leaves.
func (s *reentry) ended(leaks Leaks, level uint64) {
	var want [Count]uint64
	for _, b := range s.blocks {
		if b.level == level {
			want[b.tier]++
		}
	}
	got := [Count]uint64{Slab: leaks.Tiers[Slab].Blocks, Large: leaks.Tiers[Large].Blocks, Inbox: leaks.Tiers[Inbox].Blocks}
	if !invariant.Exact {
		got[Slab], want[Slab] = 0, 0
	}
	if got != want {
		s.failf("EndLevel reports %v, of level %d live %v: %s", got, level, want, leaks)
	}
	for i, p := range s.objects {
		row := uint64(0)
		for _, l := range leaks.Pools {
			if l.Pool == p.Name() && l.AfterReset {
				row += l.Blocks
			}
		}
		if n := p.Stats().Live; n != row || n > 0 && (!s.resetOps || !leaks.Any()) {
			s.failf("%d objects are left in pool %d: %s", n, i, leaks)
		}
	}
	if n := s.m.level.arena.Used(); n != 0 || s.m.Static() != nil {
		s.failf("the level leaves %d bytes, static %v", n, s.m.Static())
	}
	if s.handles = s.handles[:0]; len(s.objects) > 0 && s.objects[0].Stats().Live > 0 {
		s.objects[0].Reset()
	}
	s.hooksRan(true)
}

// hooksRan verifies that the hooks which are due have run once.
func (s *reentry) hooksRan(level bool) {
	keep := s.hooks[:0]
	for _, h := range s.hooks {
		switch {
		case h.ran > 1 || h.ran == 0 && (!level || h.level):
			s.failf("a hook of %s ran %d times", h.tier, h.ran)
		case h.ran == 0:
			keep = append(keep, h)
		}
	}
	s.hooks = keep
}

// verify is made after each step of the program.
func (s *reentry) verify() {
	s.resting = true
	defer func() { s.resting = false }()
	if err := s.m.Check(); err != nil {
		s.failf("Check: %v", err)
	}
	if s.m.phase >= closing {
		return
	}
	for _, b := range s.blocks {
		if first, last := (*byte)(b.p), (*byte)(unsafe.Add(b.p, b.size-1)); *first != b.paint || *last != b.paint {
			s.failf("a block of %s has changed", b.tier)
		}
	}
}

// end ends what is in use and closes the manager. A hook of the first Close may begin a task.
func (s *reentry) end() {
	var errs []error
	for range 2 {
		for n := 0; n < 50 && (s.m.phase&inFrame != 0 || s.m.Worker(0).inTask()); n++ { // their callbacks may panic
			s.do(func(s *reentry) { _ = s.m.EndFrame() })
			s.do(func(s *reentry) { _ = s.m.Worker(0).EndTask() })
		}
		s.do(func(s *reentry) {
			s.atBorder("Close", func() error { err := s.m.Close(); errs = append(errs, err); return err }, func() {})
		})
	}
	if s.m.phase != closed || s.src.Reserved() != 0 {
		s.failf("after two calls of Close the phase is %d, and %d reservations are held: %v", s.m.phase, s.src.Reserved(), errs)
	}
	s.hooksRan(false)
}

// A program whose callbacks do everything, at every moment, leaves what the shadow says.
func TestReentry_RandomPrograms(t *testing.T) {
	failed, ran := 0, 0
	for seed := *firstProgram; seed < *firstProgram+uint64(*programs) && failed < 5; seed++ {
		s, err := newReentry(seed)
		must(t, err)
		for range 60 {
			s.do(operations[s.r.IntN(len(operations))])
			s.verify()
			if len(s.fails) > 0 || s.m.phase == closed {
				break
			}
		}
		ran++
		if s.end(); len(s.fails) > 0 {
			failed++
			t.Errorf("-first-program %d -programs 1: %s", seed, strings.Join(s.fails, "\n"))
		}
	}
	t.Logf("%d programs ran", ran)
}
