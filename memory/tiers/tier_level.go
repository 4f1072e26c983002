package tiers

import (
	"fmt"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/arena"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/page"
)

var levelRow = row{
	Info: Info{
		Name: "level", Text: "blocks of one level; freed at EndLevel",
		Color: 0x8be36b, Reserve: 64 << 20, Freed: LevelEnd, Hooks: LevelEnd,
	},
	state: func(m *Manager) state { return &m.level },
	// A block of no bytes may start at the end of a full arena. With a region more that address is the level's.
	space:   func(c *Config) uintptr { return c.Reserve[Level] + regionBytes },
	hooksIn: inLevel,
}

// levelTier has the arena of the level.
//
// Invariants, verified by check:
//
//	(1) cur is arena inside a level, and shut outside
//	(2) outside a level arena has nothing in use
type levelTier struct {
	basic
	arena *arena.Growing
	cur   *arena.Growing
	shut  *arena.Growing // closed: nothing can be allocated outside a level
	begun uint64         // levels
}

var errLevel = fmt.Errorf("tiers: Level outside a level or after Close; BeginLevel first: %w", memory.ErrClosed)

// Level returns the arena of the level. The arena and its blocks are valid until EndLevel or Close. Outside a level,
// Level returns a closed arena, whose Alloc fails with an error that wraps memory.ErrClosed. In debug builds Level
// panics with a *memory.Misuse instead.
func (m *Manager) Level() *arena.Growing {
	if invariant.Debug && m.phase&inLevel == 0 {
		panic(m.outside("Level", "a level; BeginLevel first"))
	}
	return m.level.cur
}

func (l *levelTier) build(m *Manager) (err error) {
	if l.shut, err = arena.NewGrowing(page.Heap(), arena.GrowingConfig{Reserve: page.Granule, Step: page.Granule, Closed: errLevel}); err != nil {
		return err
	}
	l.cur = l.shut
	if err = l.shut.Close(); err != nil {
		return err
	}
	l.arena, err = arena.NewGrowing(m.limits[Level], arena.GrowingConfig{Reserve: m.cfg.Reserve[Level]})
	return err
}

func (l *levelTier) free(_ *Manager, _ string, p unsafe.Pointer, size uintptr, known bool) (live bool) {
	if live = l.arena.Live(p); live && known {
		l.arena.Free(p, size)
	}
	return live
}

func (l *levelTier) resize(_ *Manager, p unsafe.Pointer, oldSize, newSize uintptr) (ok, live bool) {
	if !l.arena.Live(p) {
		return false, false
	}
	return l.arena.Resize(p, oldSize, newSize), true
}

func (l *levelTier) stats(*Manager) stats { return l.arena.Stats() }

// touched returns seen or, if it is more, the peak: the arena is decommitted at Close.
func (l *levelTier) touched(seen uint64) uint64 { return max(seen, l.arena.Stats().Peak) }

func (l *levelTier) check(c *checker) {
	c.Join(l.arena.Check())
	want := l.arena
	if c.m.phase&inLevel == 0 {
		if want = l.shut; l.arena.Used() > 0 {
			c.Add("there is no level, but its arena has %d bytes in use", l.arena.Used())
		}
	}
	if l.cur != want {
		c.Add("in phase %d the arena of the level is %p, want %p", c.m.phase, l.cur, want)
	}
}

func (l *levelTier) addHook(f func()) { l.cur.OnReset(f) }

// runHooks runs no hooks if the program has closed the arena: its Close has run them.
func (l *levelTier) runHooks() {
	if l.arena.Base() != nil {
		l.arena.RunHooks()
	}
}

// end runs the hooks that hooks of other tiers and resets of pools have registered.
func (l *levelTier) end(*Manager) error { l.runHooks(); return nil }
func (l *levelTier) reset()             { l.arena.Reset() }

func (l *levelTier) close(e *ending, stage stage) {
	if stage == closeArenas && l.arena != nil {
		e.add("a hook of the level's arena", l.arena.Close)
	}
}
