package session

import (
	"testing"

	"github.com/strata-go/strata/demo/game"
	"github.com/strata-go/strata/demo/ground"
	"github.com/strata-go/strata/memory/memtest/testenv"
)

// standing returns how many props stand on the sectors in view of a place, having verified where.
func (s *Session) standing(t *testing.T, at vec) (n int) {
	t.Helper()
	for _, x := range inView(at) {
		for _, p := range s.Ground.Props(x) {
			if int(p.P[0])/ground.SectorSize != int(x.X) || int(p.P[1])/ground.SectorSize != int(x.Y) || s.Game.Realm.Solid(p.P) {
				t.Errorf("a prop of sector %v stands at %v", x, p.P)
			}
			n++
		}
	}
	return n
}

func TestProps_ComeAndGoWithTheirSector(t *testing.T) {
	testenv.Long(t)
	s := newSession(t, Config{Game: game.Config{Seed: 7}, View: newLooker(t), GroundBytes: 8 * ground.Bytes})
	play(t, s, 1)
	total := 0
	for _, at := range under[:4-testenv.Step(2)] {
		still(t, s, at, func() bool { return s.allShown(at) })
		total += s.standing(t, at)
	}
	if total == 0 {
		t.Fatal("nothing stands anywhere")
	}
	for i, list := range s.Ground.props.of {
		if x := (ground.Sector{X: uint8(i % ground.Sectors), Y: uint8(i / ground.Sectors)}); list != nil && !s.Ground.Shown(x) {
			t.Errorf("the props of sector %v, which is not there, stand", x)
		}
	}
	if err := s.EndFrame(); err != nil {
		t.Fatal(err)
	}
	a := s.Ground.props.a
	if st := a.Stats(); st.InUse == 0 || a.Check() != nil {
		t.Errorf("%+v, %v", st, a.Check())
	}
	s.Flow.Go("tide")
	still(t, s, under[0], func() bool { return s.Flow.Level() != nil && s.Flow.Level().Name == "tide" })
	if st := a.Stats(); st.Allocs == 0 || st.Allocs-st.Frees > 24 { // tide's first sectors at most
		t.Errorf("of another realm: %+v", st)
	}
}

func TestProps_WithoutRoomTheGroundIsBareAndCounted(t *testing.T) {
	testenv.Long(t)
	s := newSession(t, Config{Game: game.Config{Seed: 7}, View: newLooker(t), GroundBytes: 8 * ground.Bytes})
	s.Ground.props.a = nil // as props.init leaves it if the pools tier is full
	play(t, s, 1)
	still(t, s, under[0], func() bool { return s.allShown(under[0]) })
	if n := s.standing(t, under[0]); n != 0 || s.Ground.PropsLost() == 0 {
		t.Errorf("%d props, %d sectors lost theirs", n, s.Ground.PropsLost())
	}
	check(t, s)
}
