package game

import (
	"testing"

	"github.com/strata-go/strata/demo/realm"
)

// What is drawn is looked at once: the batches of one drawing show the same, and only a second drawing without a tick
// in between looks again.
func TestBuild_OneDrawingHasOneLook(t *testing.T) {
	s := newStage(t)
	s.clear()
	id := s.enemy(realm.Drifter, 100, 0)
	s.frame(t, idle(s.Game))
	pos, _, _, _ := s.cast.enemies.Get(id)
	seen := func() (p vec) {
		s.EachSeen(func(e *Seen) { p = e.P })
		return p
	}
	first := pos.P
	pos.P = off(150, 0)
	for _, c := range []struct {
		pass Pass
		want vec
	}{{Sprites, first}, {Sparks, first}, {Signs, first}, {Sprites, off(150, 0)}, {Sparks, off(150, 0)}} {
		if s.Build(c.pass) == nil {
			t.Fatal("there is no space for a drawing")
		}
		if got := seen(); got != c.want {
			t.Errorf("pass %d shows the enemy at %v, want %v", c.pass, got, c.want)
		}
	}
}

// Enemies are drawn from the top of the screen down, those of one line in the order of the columns.
func TestEachSeen_IsSortedFromTheTopDown(t *testing.T) {
	s := newStage(t)
	s.clear()
	for k := range 300 {
		s.enemy(realm.Drifter, float32(k), float32(k*k%600)-300)
	}
	s.Player.Safe = 9
	s.frame(t, idle(s.Game))
	n, last := 0, vec{}
	s.EachSeen(func(e *Seen) {
		if n++; uint32(e.P[1]) < uint32(last[1]) {
			t.Errorf("the %d-th is at %v, after %v", n, e.P, last)
		}
		last = e.P
	})
	if n != 300 {
		t.Errorf("%d of 300 are seen", n)
	}
}

func TestEachSeen_TellsWhatAnEnemyIsLike(t *testing.T) {
	s := newStage(t)
	s.clear()
	id := s.enemy(realm.Lancer, 100, 0)
	for _, err := range []error{s.cast.ignite(s.Game, id), s.cast.chill(s.Game, id), s.cast.elite.Add(id, Elite{}), s.cast.shielded.Add(id, Shielded{HP: 3})} {
		done(t, err)
	}
	s.enemy(realm.Swarm, 100, 50)
	s.frame(t, idle(s.Game))
	_, _, e, _ := s.cast.enemies.Get(id)
	e.State, e.Flash = lancerTell, 0.5
	done(t, s.sight.look(s.Game))
	n := 0
	s.EachSeen(func(x *Seen) {
		n++
		is := x.Kind == realm.Lancer
		if x.Burning != is || x.Chilled != is || x.Elite != is || x.Shielded != is || x.Tells != is || (x.Flash == 0.5) != is || (len(s.Marks(x)) == 2) != is || s.Ribbon(x).Count == 0 {
			t.Errorf("%+v, %d marks, trail %+v", *x, len(s.Marks(x)), s.Ribbon(x))
		}
		if is && (x.Angle != e.Angle || x.Aim != e.Aim || x.Phase != e.Phase) {
			t.Errorf("seen as %+v, is %+v", *x, *e)
		}
	})
	if n != 2 || s.Statuses() != [StatusKinds]int{1, 1, 1, 1} {
		t.Errorf("%d are seen, %v", n, s.Statuses())
	}
}

func TestInSight_WideEnemiesAreSeenFromFurtherAway(t *testing.T) {
	for _, c := range []struct {
		d    vec
		kind realm.Enemy
		want bool
	}{
		{vec{470, 0}, realm.Drifter, true}, {vec{-471, 0}, realm.Drifter, false}, {vec{0, -330}, realm.Swarm, true}, {vec{0, 331}, realm.Swarm, false},
		{vec{-720, 0}, realm.Lancer, true}, {vec{721, 0}, realm.Lancer, false}, {vec{0, 580}, realm.Warden, true}, {vec{0, -581}, realm.Warden, false},
	} {
		if got := inSight(c.d, c.kind); got != c.want {
			t.Errorf("%v at %v: %v", c.kind, c.d, got)
		}
	}
}

func TestGame_BossIsTheWardenWithTheMostHull(t *testing.T) {
	s := newStage(t)
	s.clear()
	s.enemy(realm.Drifter, 9, 9)
	if share, ok := s.Boss(); ok || share != 0 {
		t.Errorf("without a warden %v, %v", share, ok)
	}
	for _, hp := range []int16{75, 225, 150} {
		_, _, e, _ := s.cast.enemies.Get(s.enemy(realm.Warden, 300, 0))
		e.HP = hp
	}
	if share, ok := s.Boss(); !ok || share != 0.75 {
		t.Errorf("of 75, 225 and 150 of 300 the most is %v, %v", share, ok)
	}
	s.cast.announce(s.Game, realm.Swarm, middle, 0)
	if s.Enemies() != 5 || s.Entities() != 4 {
		t.Errorf("%d enemies, %d entities", s.Enemies(), s.Entities())
	}
}

// The buffers of the passes lie over each other where they are not needed at once.
func TestGame_PassesSaveRoom(t *testing.T) {
	s := newStage(t)
	if taken, side := s.Saved(); taken != 0 || side != 0 {
		t.Errorf("before the first realm %d and %d bytes", taken, side)
	}
	s.clear()
	var want uint64
	for b := range s.Passes().Plan().All() {
		want += uint64(b.Size)
	}
	if taken, side := s.Saved(); taken == 0 || taken >= side || side != want {
		t.Errorf("%d bytes are taken, %d side by side, want %d", taken, side, want)
	}
}
