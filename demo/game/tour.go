package game

import (
	"fmt"

	"github.com/strata-go/strata/demo/realm"
	"github.com/strata-go/strata/engine"
)

// A Tour is a flight that nobody steers: over the walls of a realm, past every sector of it, at the most that a
// spark can fly. Nothing hurts it. It is there to try what streams.
type Tour uint8

// The tours.
const (
	NoTour     Tour = iota
	TourRows        // two rows of sectors at a time, to the end of the realm and back; in each it turns about once
	TourZigzag      // the same way, but two thirds of a second back after each four thirds forth
)

var tourNames = [...]string{"", "rows", "zigzag"}

func (t Tour) String() string {
	if int(t) < len(tourNames) {
		return tourNames[t]
	}
	return fmt.Sprintf("Tour(%d)", uint8(t))
}

// ParseTour returns the tour of a name.
func ParseTour(name string) (Tour, error) {
	for t, n := range tourNames {
		if n == name && t > 0 {
			return Tour(t), nil
		}
	}
	return NoTour, fmt.Errorf("%.40q is no tour; allowed are rows and zigzag", name)
}

const (
	// TourSpeed is what haste taken five times and a dash whenever there is one come to, in units a second.
	TourSpeed  = 308
	tourEdge   = 400  // units that the tour keeps from the sides of the realm
	tourStride = 1148 // between two places of a row
	tourSway   = 140  // to each side of it
	tourForth  = 80   // ticks of a zig-zag
	tourBack   = 40
)

// A tourPath is the way of a tour through a realm, in legs of whole ticks.
type tourPath struct {
	kind Tour
	legs []tourLeg
	end  uint64 // ticks from one end of the way to the other
}

type tourLeg struct {
	from, to  vec
	begin, of uint64 // the tick in which it begins, and how many it takes
}

// newTour lays the way: from the start of the realm to its lower left corner, and up from there. It is a function of
// its arguments.
func newTour(kind Tour, start vec) *tourPath {
	if kind == NoTour {
		return nil
	}
	t := &tourPath{kind: kind}
	at := start
	add := func(to vec) {
		of := uint64(engine.Distance(at, to)*60/TourSpeed) + 1
		t.legs = append(t.legs, tourLeg{at, to, t.end, of})
		t.end += of
		at = to
	}
	// There sectors to be seen in two seconds have just been asked for, and are on their way.
	const about = (30*realm.SectorSize - 320 - 2*TourSpeed + 10) % realm.SectorSize
	const rows, places = realm.Sectors / 2, (realm.World-2*tourEdge)/tourStride + 1
	sway := uint32(1)
	for row := range rows {
		y := float32(realm.World - (2*row+1)*realm.SectorSize)
		turn := row*5%(places-4) + 2 // where it turns about, for a stride
		var line [places]vec
		for i := range line {
			x := tourEdge + i*tourStride
			if i == turn {
				x += about - x%realm.SectorSize
			}
			if row%2 == 1 {
				x = realm.World - x
			}
			sway = sway*1664525 + 1013904223
			if i == turn { // straight ahead
				line[i] = vec{float32(x), line[i-1][1]}
				continue
			}
			line[i] = vec{float32(x), y + float32(int(sway>>16)%(2*tourSway+1)-tourSway)}
		}
		for i, p := range line {
			add(p)
			if i == turn {
				add(line[i-1])
				add(p)
			}
		}
	}
	return t
}

// at returns where the tour is n ticks after the realm began, and how fast it flies.
func (t *tourPath) at(n uint64) (p, v vec) {
	p = t.place(n)
	return p, engine.Scale(t.place(n+1).Sub(p), 60)
}

func (t *tourPath) place(n uint64) vec {
	if t.kind == TourZigzag {
		round, r := n/(tourForth+tourBack), n%(tourForth+tourBack)
		n = round*(tourForth-tourBack) + min(r, 2*tourForth-r)
	}
	if n %= 2 * t.end; n >= t.end { // and back
		n = 2*t.end - 1 - n
	}
	lo, hi := 0, len(t.legs)
	for hi-lo > 1 {
		if mid := (lo + hi) / 2; t.legs[mid].begin <= n {
			lo = mid
		} else {
			hi = mid
		}
	}
	l := &t.legs[lo]
	return engine.Mix(l.from, l.to, float32(n-l.begin)/float32(l.of))
}

// fly puts the player where its tour is.
func (g *Game) fly() {
	p := &g.Player
	p.P, p.V = g.tour.at(g.Ticks - g.begun)
	p.Safe, p.Dash = 1, 0
}
