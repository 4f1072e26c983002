// Package tour flies a spark over a realm by a fixed path, to test streaming. The path leads over all walls, at the
// speed of a fast player, and brings every sector into view.
//
// A [Path] is a function of its [Kind], its places and the tick. It draws nothing and reads no clock.
package tour

import (
	"fmt"

	"github.com/go-gl/mathgl/mgl32"

	"github.com/strata-go/strata/demo/realm"
	"github.com/strata-go/strata/engine"
)

type vec = mgl32.Vec2

// A Kind selects a tour.
type Kind uint8

// The tours.
const (
	None   Kind = iota // no tour
	Rows               // along rows that are two sectors high; in each row the spark flies back once
	Zigzag             // the same path, but after each 80 ticks forward the spark flies 40 ticks back
)

var names = [...]string{"", "rows", "zigzag"}

// String returns the name that Parse accepts. For None it returns "", and for an unknown kind its number.
func (k Kind) String() string {
	if int(k) < len(names) {
		return names[k]
	}
	return fmt.Sprintf("Kind(%d)", uint8(k))
}

// Parse returns the tour with this name, which is rows or zigzag. For any other name, also for "", Parse returns an
// error that lists the allowed names.
func Parse(name string) (Kind, error) {
	for k, n := range names {
		if n == name && k > 0 {
			return Kind(k), nil
		}
	}
	return None, fmt.Errorf("%.40q is no tour; allowed are rows and zigzag", name)
}

const (
	// Speed is the speed of a tour, in units a second. Legs take whole ticks, so that a tour is slightly slower. A
	// player who has taken the gift of haste twice and dashes whenever possible has this speed on average.
	Speed   = 308
	edge    = 400  // units between the path and the sides of the realm
	stride  = 1148 // units between two places of a row
	sway    = 140  // units to each side of a row
	forward = 80   // ticks of a zigzag
	back    = 40
)

// A Path is the flight of a tour through a realm. It consists of straight legs of whole ticks. A Path does not change
// after it was made.
type Path struct {
	kind Kind
	legs []leg
	end  uint64 // ticks from the first place to the last
}

type leg struct {
	from, to     vec
	begin, ticks uint64 // its first tick, and its duration
}

// New returns the path of a tour. The path leads from start to the lower left corner of the realm, and then upward, row
// by row. For None, New returns nil: the methods of a nil Path panic.
func New(kind Kind, start vec) *Path {
	if kind == None {
		return nil
	}
	p := &Path{kind: kind}
	at := start
	// Near this place sectors that become visible in two seconds have just been requested.
	const about = (30*realm.SectorSize - 320 - 2*Speed + 10) % realm.SectorSize
	const rows, places = realm.Sectors / 2, (realm.World-2*edge)/stride + 1
	chance := uint32(1)
	for row := range rows {
		y := float32(realm.World - (2*row+1)*realm.SectorSize)
		turn := row*5%(places-4) + 2 // the place at which the path turns about, for one stride
		var line [places]vec
		for i := range line {
			x := edge + i*stride
			if i == turn {
				x += about - x%realm.SectorSize
			}
			if row%2 == 1 {
				x = realm.World - x
			}
			chance = chance*1664525 + 1013904223
			if i == turn { // straight ahead
				line[i] = vec{float32(x), line[i-1][1]}
				continue
			}
			line[i] = vec{float32(x), y + float32(int(chance>>16)%(2*sway+1)-sway)}
		}
		for i, to := range line {
			at = p.add(at, to)
			if i == turn {
				at = p.add(p.add(at, line[i-1]), to)
			}
		}
	}
	return p
}

// Through returns a path from start through places, in their order. places must not be empty: otherwise [Path.At]
// panics.
func Through(start vec, places ...vec) *Path {
	p := &Path{kind: Rows}
	for _, to := range places {
		start = p.add(start, to)
	}
	return p
}

// add appends a leg and returns its end.
func (p *Path) add(from, to vec) vec {
	ticks := uint64(engine.Distance(from, to)*60/Speed) + 1
	p.legs = append(p.legs, leg{from, to, p.end, ticks})
	p.end += ticks
	return to
}

// End returns the number of ticks that a path of Rows takes from the start to the last place. A path of Zigzag takes
// about three times as long.
func (p *Path) End() uint64 { return p.end }

// At returns the position n ticks after the start, and the velocity in units a second. After the last place the path
// goes back to the start through the same places, and then begins again.
func (p *Path) At(n uint64) (at, v vec) {
	at = p.place(n)
	return at, engine.Scale(p.place(n+1).Sub(at), 60)
}

func (p *Path) place(n uint64) vec {
	if p.kind == Zigzag {
		round, r := n/(forward+back), n%(forward+back)
		n = round*(forward-back) + min(r, 2*forward-r)
	}
	if n %= 2 * p.end; n >= p.end { // and back
		n = 2*p.end - 1 - n
	}
	lo, hi := 0, len(p.legs)
	for hi-lo > 1 {
		if mid := (lo + hi) / 2; p.legs[mid].begin <= n {
			lo = mid
		} else {
			hi = mid
		}
	}
	l := &p.legs[lo]
	return engine.Mix(l.from, l.to, float32(n-l.begin)/float32(l.ticks))
}
