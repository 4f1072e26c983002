package game

import (
	"errors"
	"io/fs"
	"sync"
	"testing"

	"github.com/strata-go/strata/assets"
	"github.com/strata-go/strata/demo/goheap"
	"github.com/strata-go/strata/demo/realm"
	"github.com/strata-go/strata/demo/realm/manifest"
	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/tiers"
)

// A host is the least that a game needs: memory, a realm, and frames. It reads files at once, and no pictures.
type host struct {
	*Game
	m    *tiers.Manager
	hand func(*Game) engine.Input
	open bool // a frame is open
}

// small keeps the heap backing of race builds affordable.
func small() (m tiers.Config) {
	m.Reserve = [tiers.Count]uintptr{tiers.Static: 4 << 20, tiers.Frame: 4 << 20, tiers.Level: 16 << 20, tiers.Pools: 80 << 20,
		tiers.Slab: 4 << 20, tiers.Large: 8 << 20, tiers.Inbox: 8 << 20}
	m.SlabMax = SlabMax
	return m
}

// ample has space for full heat.
func ample() tiers.Config {
	m := small()
	m.Reserve[tiers.Static], m.Reserve[tiers.Frame], m.Reserve[tiers.Slab], m.Reserve[tiers.Large] = 24<<20, 8<<20, 16<<20, 64<<20
	return m
}

// newHost starts a game on a realm, or none if that is empty, with the autopilot at its hands.
func newHost(t testing.TB, cfg Config, m tiers.Config, realm string) *host {
	t.Helper()
	m.Tags, m.Workers = true, 1
	h := &host{hand: (*Game).Autopilot}
	var err error
	h.m, err = tiers.New(m)
	done(t, err)
	t.Cleanup(func() {
		if h.Game != nil {
			err = errors.Join(h.endFrame(), h.Game.Close())
		}
		if err := errors.Join(err, h.m.Close()); err != nil {
			t.Error(err)
		}
	})
	h.Game, err = New(h.m, cfg)
	done(t, err)
	if realm != "" {
		h.begin(t, realm)
	}
	return h
}

// newGame starts a game in small tiers on the first realm.
func newGame(t testing.TB, cfg Config) *host {
	t.Helper()
	return newHost(t, cfg, small(), "ember")
}

func done(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (h *host) begin(t testing.TB, name string) {
	t.Helper()
	file := "levels/" + name + ".json"
	data, err := fs.ReadFile(assets.FS(), file)
	done(t, err)
	l, err := manifest.Parse(file, data)
	done(t, err)
	done(t, h.m.BeginLevel())
	r := built(t, name)
	if h.cfg.Heap == nil {
		if _, err := h.m.Level().Alloc(realmBytes, 1); errors.Is(err, memory.ErrOutOfMemory) {
			r = realm.Bare(realm.Unknown(name))
		} else {
			done(t, err)
		}
	}
	done(t, h.Begin(l, r))
}

// realmBytes is what a realm takes of the level while it is built.
const realmBytes = 5_455_872

// realms are those that the tests play. A game only reads its realm, so each is built once.
var realms struct {
	sync.Mutex
	byName map[string]*realm.Realm
}

func built(t testing.TB, name string) *realm.Realm {
	t.Helper()
	realms.Lock()
	defer realms.Unlock()
	r := realms.byName[name]
	if r == nil {
		var data [2][]byte
		for i, file := range realm.Files(name) {
			var err error
			data[i], err = fs.ReadFile(assets.FS(), file)
			done(t, err)
		}
		b, err := realm.Open(goheap.Plain{}, name, data[0], data[1], nil)
		done(t, err)
		r, err = b.Wait()
		done(t, err)
		if realms.byName == nil {
			realms.byName = map[string]*realm.Realm{}
		}
		realms.byName[name] = r
	}
	return r
}

// end ends the realm, and returns what it leaks.
func (h *host) end(t testing.TB) tiers.Leaks {
	t.Helper()
	done(t, errors.Join(h.endFrame(), h.End()))
	leaks, err := h.m.EndLevel()
	done(t, err)
	return leaks
}

func (h *host) endFrame() error {
	if !h.open {
		return nil
	}
	h.open = false
	return h.m.EndFrame()
}

// frame is a frame with one tick. It stays open.
func (h *host) frame(t testing.TB, in engine.Input) {
	t.Helper()
	done(t, h.endFrame())
	done(t, h.m.BeginFrame())
	h.open = true
	done(t, h.Tick(&in))
}

// play plays n ticks.
func (h *host) play(t testing.TB, n uint64) {
	t.Helper()
	for range n {
		h.frame(t, h.hand(h.Game))
	}
}

// until plays until done says so, or for so many ticks of the game, and reports whether it was done.
func (h *host) until(t testing.TB, ticks uint64, done func(*Game) bool) bool {
	t.Helper()
	for h.Ticks < ticks {
		if h.play(t, 1); done(h.Game) {
			return true
		}
	}
	return false
}

func (h *host) check(t testing.TB) {
	t.Helper()
	if err := errors.Join(h.endFrame(), h.Check(), h.m.Check()); err != nil {
		t.Error(err)
	}
}

// hashes plays n ticks and returns the hash after each.
func (h *host) hashes(t testing.TB, n int) (all []uint64) {
	t.Helper()
	for range n {
		h.play(t, 1)
		all = append(all, h.Hash())
	}
	return all
}
