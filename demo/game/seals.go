package game

import (
	"fmt"

	"github.com/strata-go/strata/demo/realm"
	"github.com/strata-go/strata/engine"
)

// A Seal keeps the heart of a realm closed. In the phase Fighting, shots, sparks, mines and the beam damage it, and
// also the player who stays on it. Guards defend it.
type Seal struct {
	P      vec
	HP     int16
	Waves  uint8 // waves of guards that it has called
	Woken  bool  // its first guards have come
	Broken bool
	Flash  float32 // 1 when hit, fades
}

// A Siege is the fight for the seals and the heart.
type Siege struct {
	// Invariants:
	//
	//	(9) Broken is the number of broken seals
	//	(10) Goal is a seal that is not broken, or the heart if all are

	Seals  [realm.Seals]Seal
	Broken int     // number of broken seals
	Goal   int     // the place to go to next: the number of a seal, or realm.Heart
	Woken  bool    // the warden has come
	shock  float32 // radius of the ring of a broken seal, which kills the horde; 0 for none
	center vec     // of the ring
}

// SealRadius is the seals' radius in units.
const SealRadius = 24

const (
	sealHull   = 260
	sealWaves  = 3
	wakeReach  = 560 // from where on guards come
	heartReach = 420
)

// SealMost returns the hull of an undamaged seal in this round.
func (g *Game) SealMost() int16 { return sealHull + sealHull*int16(min(g.Round, 20))/4 }

func (s *Siege) reset(g *Game) {
	*s = Siege{center: s.center}
	for i := range s.Seals {
		s.Seals[i] = Seal{P: vec(g.Realm.Info.Seals[i]), HP: g.SealMost()}
	}
	s.aimAt(vec(g.Realm.Info.Start))
}

// aimAt sets the goal: the nearest seal that is not broken, or the heart.
func (s *Siege) aimAt(from vec) {
	best := float32(1e12)
	s.Goal = realm.Heart
	for i := range s.Seals {
		if d := engine.LengthSquared(s.Seals[i].P.Sub(from)); !s.Seals[i].Broken && d < best {
			best, s.Goal = d, i
		}
	}
}

func (s *Siege) check() error {
	broken := 0
	for i := range s.Seals {
		if s.Seals[i].Broken {
			broken++
		}
	}
	if broken != s.Broken {
		return fmt.Errorf("game: invariant 9: %d seals are broken, %d are counted", broken, s.Broken)
	}
	if uint(s.Goal) > realm.Heart || s.Goal == realm.Heart != (broken == realm.Seals) || s.Goal != realm.Heart && s.Seals[s.Goal].Broken {
		return fmt.Errorf("game: invariant 10: the goal is %d with %d broken seals", s.Goal, broken)
	}
	return nil
}

// GoalAt returns the place that the player should go to next: a seal, the heart, or the portal.
func (g *Game) GoalAt() vec {
	if g.Phase == Opened || g.Phase == Leaving {
		return g.PortalAt
	}
	return g.Realm.Place(g.Goal)
}

// sealAt returns a seal that is not broken and that a disc touches, or -1.
func (s *Siege) sealAt(p vec, radius float32) int {
	reach := SealRadius + radius
	for i := range s.Seals {
		if x := &s.Seals[i]; !x.Broken && engine.LengthSquared(p.Sub(x.P)) < mul(reach, reach) {
			return i
		}
	}
	return -1
}

// crack damages a seal, which calls guards in waves.
func (s *Siege) crack(g *Game, i int, damage int16) {
	x := &s.Seals[i]
	if x.Broken || g.Phase != Fighting {
		return
	}
	x.HP -= damage
	x.Flash = 1
	if x.HP <= 0 {
		s.shatter(g, i)
		return
	}
	if most := g.SealMost(); int(x.Waves) < sealWaves && int(x.HP) < int(most)*(sealWaves-int(x.Waves))/(sealWaves+1) {
		x.Waves++
		s.garrison(g, i, 8+2*int(x.Waves)+2*g.Round)
		g.Shake(3)
	}
}

// garrison announces n guards around a seal.
func (s *Siege) garrison(g *Game, i, n int) {
	at := s.Seals[i].P
	for k := range n {
		kind := guardOf(k)
		dir := engine.Heading(mul(float32(k), 6.2831855/float32(n)) + g.rng.Range(0, 0.4))
		g.cast.announce(g, kind, g.Realm.Open(engine.MulAdd(at, dir, g.rng.Range(70, 170)), breeds[kind].radius), uint8(i)+1)
	}
}

func (s *Siege) shatter(g *Game, i int) {
	x := &s.Seals[i]
	x.Broken, x.HP = true, 0
	s.Broken++
	g.freeze = 4
	g.Shake(12)
	g.popups.add(g, x.P, g.win(5000))
	g.fx.shatterSeal(x.P)
	s.ripple(x.P)
	g.cast.spill(g, x.P, 30)
	s.aimAt(x.P)
}

// The ring that a broken seal sends out: how fast, and how far.
const (
	rippleSpeed = 900
	rippleReach = 640
)

// ripple starts a ring that kills all enemies but wardens.
func (s *Siege) ripple(at vec) { s.shock, s.center = 1, at }

// spread grows the ring, and ends it.
func (s *Siege) spread() {
	if s.shock > 0 {
		if s.shock += rippleSpeed * step; s.shock > rippleReach {
			s.shock = 0
		}
	}
}

// Ripple returns the centre and the radius of a growing ring, which kills all enemies inside it but wardens. A seal
// sends out a ring when it breaks, and the heart when the warden is announced. If there is no ring, radius is 0.
func (s *Siege) Ripple() (at vec, radius float32) { return s.center, s.shock }

// Title returns the title of the realm.
func (g *Game) Title() string { return g.Realm.Info.Title }

// watch wakes what the player comes near to. A seal is damaged while the player is on it.
func (s *Siege) watch(g *Game) {
	for i := range s.Seals {
		x := &s.Seals[i]
		x.Flash = max(0, x.Flash-mul(step, 5))
		if x.Broken {
			continue
		}
		d := engine.LengthSquared(g.Player.P.Sub(x.P))
		if !x.Woken && d < wakeReach*wakeReach {
			x.Woken = true
			s.garrison(g, i, 10+3*s.Broken+2*g.Round)
		}
		if d < SealRadius*SealRadius && g.Player.Alive && g.age()%6 == 0 {
			s.crack(g, i, 2)
		}
	}
	heart := g.Realm.Place(realm.Heart)
	if s.Broken == realm.Seals && !s.Woken && engine.LengthSquared(g.Player.P.Sub(heart)) < heartReach*heartReach {
		s.Woken = true
		g.cast.announce(g, realm.Warden, g.Realm.Open(heart, 24), postHeart)
		s.ripple(heart)
		g.Shake(8)
	}
}
