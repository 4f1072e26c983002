package ground

import "fmt"

// What is seen at a time, in units each way from the player.
const (
	viewX = 320
	viewY = 180
)

// How a Plan decides, in ticks of a sixtieth of a second and units a second.
const (
	tickRate = 60
	horizon  = 2.0 // seconds: what is seen later is not wanted yet
	crawl    = 160 // nothing is thought further away in time than at this speed
	linger   = 4 * tickRate
	soon     = 0.3              // seconds: what is seen sooner drives out anything that is not wanted,
	idle     = 2 * tickRate     // and other things what has not been wanted for so long
	keep     = 1600             // units: what is nearer, and there, stays while the player moves
	slow     = 40               // units a second: slower is rest
	give     = tickRate * 3 / 2 // what is asked for, and not there, lingers shorter,
	early    = 4                // and hardly at all where the player has turned his back on it, further than
	behind   = 1.5 * horizon    // that many seconds, unless
	calm     = 3 * tickRate     // he turned about less than this before: he may do it again
	again    = 2 * tickRate     // asked again this soon after it was let go, a sector has thrashed
)

// A Sector is a column and a row of a realm.
type Sector struct{ X, Y uint8 }

// SectorOf returns the sector of an index.
func SectorOf(i int) Sector { return Sector{uint8(i % Sectors), uint8(i / Sectors)} }

// Index numbers the sectors row by row, from 0.
func (s Sector) Index() int { return int(s.Y)*Sectors + int(s.X) }

// A Wanted sector will be seen in ETA seconds, 0 if it is seen now.
type Wanted struct {
	Sector
	ETA float32
}

// AllSectors is the number of sectors of a realm.
const AllSectors = Sectors * Sectors

const (
	absent uint8 = iota
	asked
	ready
)

// A Plan says which sectors' pictures should be there, each tick anew, and which may go. It decides by place and
// velocity alone and does nothing itself: who holds the pictures asks for what Want lists, says Ready when one is
// there, and lets go, or cancels, what Drop lists.
//
// Sectors asked for and there, together, are never more than the budget has room for. Half of the room is for
// what is wanted; the rest lets what is no longer wanted linger, so that turning about asks for nothing twice. Five
// seconds after the player has come to rest, what is asked for or there is a function of the place.
//
// A Plan belongs to one goroutine. It holds no pointer into the Go heap but its own; nothing allocates. Cost: about a
// microsecond a tick.
type Plan struct {
	room, most int    // sectors: at all, and wanted
	held       int    // asked for or there
	tick, rest uint32 // of the latter how many in a row the player has hardly moved
	x, y       float32
	hx, hy     float32 // velocity when the player turned last
	turn, wild uint32  // ticks: that of the last turn, and until when turns count as a zig-zag
	state      [AllSectors]uint8
	wanted     [AllSectors]uint32 // tick at which it was last wanted; the first is 1
	left       [AllSectors]uint32 // tick at which it was last let go, 0 if never
	seen       [AllSectors]uint32 // tick at which it came into view without its picture, 0 if it did not
	eta        [AllSectors]float32

	list  [AllSectors]Wanted // of this tick, the soonest first
	want  [AllSectors]Wanted // of those, not there
	nWant int
	drop  [AllSectors]Sector
	nDrop int
	leads [(2 + 8) * tickRate]uint32 // sectors that came, by their lead in ticks
	stats PlanStats
}

// PlanStats counts since Reset.
type PlanStats struct {
	Asked, Again       uint64  // sectors asked for; of these, within two seconds of being let go
	Dropped, Cancelled uint64  // let go; of these, before they were there
	Ready              uint64  // came
	Held, Peak         int     // sectors asked for or there, now and at most
	SeenSeconds        float64 // of all sectors in view, each by itself
	SoftSeconds        float64 // of these, without their picture
	LeadSum            float64 // seconds until seen less seconds until there, over those that came; negative if seen first
	LeadMedian         float32 // to a sixtieth of a second, within 2 and -8 seconds
	LeadWorst          float32
}

// Thrash is the part of what was asked for that had only just been let go.
func (s PlanStats) Thrash() float64 { return float64(s.Again) / max(float64(s.Asked), 1) }

// Soft is the part of what was in view that had no picture.
func (s PlanStats) Soft() float64 { return s.SoftSeconds / max(s.SeenSeconds, 1e-9) }

// Lead is the mean lead in seconds.
func (s PlanStats) Lead() float64 { return s.LeadSum / max(float64(s.Ready), 1) }

// Reset forgets all, and sets the bytes that pictures may take. It panics if there is no room for one.
func (p *Plan) Reset(budget int) {
	if budget < Bytes {
		panic(fmt.Sprintf("ground: a budget of %d bytes has no room for a sector's %d", budget, Bytes))
	}
	*p = Plan{room: min(budget/Bytes, AllSectors)}
	p.most = max(p.room/2, min(p.room, 6)) // six are in view at most
}

// Tick decides anew for a player at (x, y) with a velocity in units a second. Call it sixty times a second of play.
func (p *Plan) Tick(x, y, vx, vy float32) {
	p.tick++
	p.nWant, p.nDrop = 0, 0
	if p.rest++; !(vx*vx+vy*vy < slow*slow) {
		p.rest = 0
	}
	p.steer(vx, vy)
	n := p.rank(x, y, vx, vy)
	for i := range n {
		p.wanted[p.list[i].Index()] = p.tick
	}
	p.expire()
	for i := range n {
		p.ask(p.list[i])
	}
	p.stats.Held, p.stats.Peak = p.held, max(p.stats.Peak, p.held)
}

// steer notes when the player turns by more than some 70 degrees, and whether he does that all the time.
func (p *Plan) steer(vx, vy float32) {
	dot, v, h := vx*p.hx+vy*p.hy, vx*vx+vy*vy, p.hx*p.hx+p.hy*p.hy
	if dot > 0 && dot*dot > 0.1*v*h {
		return
	}
	p.hx, p.hy = vx, vy
	if p.tick-p.turn < calm {
		p.wild = p.tick + calm
	}
	p.turn = p.tick
}

// rank lists the sectors that will be seen within the horizon, as many as may be wanted, and returns how many.
func (p *Plan) rank(x, y, vx, vy float32) (n int) {
	far := max(sqrt(vx*vx+vy*vy), crawl) * horizon
	if !(x >= 0 && x <= Sectors*SectorSize && y >= 0 && y <= Sectors*SectorSize && far < Sectors*SectorSize) {
		far = crawl * horizon // also where something is not a number
		vx, vy = 0, 0
		x, y = inWorld(x), inWorld(y)
	}
	p.x, p.y = x, y
	x0, x1 := sectorOf(x-viewX-far), sectorOf(x+viewX+far)
	y0, y1 := sectorOf(y-viewY-far), sectorOf(y+viewY+far)
	for sy := y0; sy <= y1; sy++ {
		for sx := x0; sx <= x1; sx++ {
			dx := apart(float32(sx*SectorSize), x, viewX)
			dy := apart(float32(sy*SectorSize), y, viewY)
			w := Wanted{Sector{uint8(sx), uint8(sy)}, 0}
			if d := sqrt(dx*dx + dy*dy); d > 0 {
				w.ETA = d / max((vx*dx+vy*dy)/d, crawl)
			}
			i := w.Index()
			p.eta[i] = w.ETA
			p.look(i, w.ETA == 0)
			if w.ETA >= horizon {
				continue
			}
			k := n
			for k > 0 && p.list[k-1].ETA > w.ETA { // equals stay in the order of rows and columns
				p.list[k] = p.list[k-1]
				k--
			}
			p.list[k] = w
			n++
		}
	}
	return min(n, p.most)
}

// look counts what is seen.
func (p *Plan) look(i int, inView bool) {
	if !inView {
		p.seen[i] = 0
		return
	}
	p.stats.SeenSeconds += 1.0 / tickRate
	if p.state[i] != ready {
		p.stats.SoftSeconds += 1.0 / tickRate
		if p.seen[i] == 0 {
			p.seen[i] = p.tick
		}
	}
}

func inWorld(v float32) float32 {
	if !(v >= 0) {
		return 0
	}
	return min(v, Sectors*SectorSize)
}

func sectorOf(v float32) int { return min(max(int(v)/SectorSize, 0), Sectors-1) }

// apart is how far the view has to move along an axis until it touches a sector that begins at from.
func apart(from, at, half float32) float32 {
	switch {
	case from > at+half:
		return from - at - half
	case from+SectorSize < at-half:
		return from + SectorSize - at + half
	}
	return 0
}

// expire lets go of what has not been wanted for long enough: at once if it is far, else only when the player rests, so
// that what decides in the end is the place.
func (p *Plan) expire() {
	for i, s := range p.state {
		if s == absent || p.wanted[i] == p.tick {
			continue
		}
		age := p.tick - p.wanted[i]
		if s == asked && (age >= give || age >= early && p.tick > p.wild && p.away(i) > behind*crawl) || s == ready && age >= linger && (p.away(i) > keep || p.rest >= linger) {
			p.leave(i)
		}
	}
}

// away is how far a sector is from the view.
func (p *Plan) away(i int) float32 {
	dx := apart(float32(i%Sectors*SectorSize), p.x, viewX)
	dy := apart(float32(i/Sectors*SectorSize), p.y, viewY)
	return sqrt(dx*dx + dy*dy)
}

func (p *Plan) leave(i int) {
	p.stats.Dropped++
	if p.state[i] == asked {
		p.stats.Cancelled++
	}
	p.state[i], p.left[i] = absent, p.tick
	p.held--
	p.drop[p.nDrop] = SectorOf(i)
	p.nDrop++
}

// ask takes up a wanted sector and makes room for it: the farthest that is not wanted goes.
func (p *Plan) ask(w Wanted) {
	i := w.Index()
	if p.state[i] == absent {
		if p.held == p.room {
			k := p.farthest() // there is one: fewer are wanted than there is room for
			if w.ETA > soon && (p.away(k) < p.away(i) || p.tick-p.wanted[k] < idle) {
				return // no use: k would be asked for again first
			}
			p.leave(k)
		}
		p.state[i] = asked
		p.held++
		p.stats.Asked++
		if p.left[i] != 0 && p.tick-p.left[i] < again {
			p.stats.Again++
		}
	}
	if p.state[i] == asked {
		p.want[p.nWant] = w
		p.nWant++
	}
}

// farthest returns the sector, of those held and not wanted, that is farthest from the view.
func (p *Plan) farthest() int {
	best, far := -1, float32(-1)
	for k, s := range p.state {
		if s != absent && p.wanted[k] != p.tick {
			if d := p.away(k); d > far {
				best, far = k, d
			}
		}
	}
	return best
}

// Want returns the sectors to ask for, or to go on with, the soonest seen first. A sector that was in it and is in
// neither list now may wait. It is valid until the next Tick.
func (p *Plan) Want() []Wanted { return p.want[:p.nWant] }

// Drop returns the sectors to let go, or to cancel, in this tick: each is told once. It is valid until the next Tick.
func (p *Plan) Drop() []Sector { return p.drop[:p.nDrop] }

// Ready says that a sector's picture is there, and reports whether it is still held; if not it was dropped, and must be
// let go.
func (p *Plan) Ready(s Sector) bool {
	if s.X >= Sectors || s.Y >= Sectors || p.state[s.Index()] == absent {
		return false
	}
	i := s.Index()
	if p.state[i] == ready {
		return true
	}
	p.state[i] = ready
	lead := p.eta[i]
	if p.seen[i] != 0 {
		lead = -float32(p.tick-p.seen[i]) / tickRate
	}
	p.stats.Ready++
	p.stats.LeadSum += float64(lead)
	p.leads[int(min(max(lead*tickRate+8*tickRate, 0), float32(len(p.leads)-1)))]++
	p.stats.LeadWorst = min(p.stats.LeadWorst, lead)
	return true
}

// Shown reports whether a sector's picture is there.
func (p *Plan) Shown(s Sector) bool {
	return s.X < Sectors && s.Y < Sectors && p.state[s.Index()] == ready
}

// Stats returns the counters.
func (p *Plan) Stats() PlanStats {
	s := p.stats
	sum := uint64(0)
	for i, n := range p.leads {
		if sum += uint64(n); n > 0 && sum > s.Ready/2 {
			s.LeadMedian = float32(i-8*tickRate) / tickRate
			break
		}
	}
	return s
}
