package ground

import "fmt"

// The view, in units each way from the player.
const (
	viewX = 320
	viewY = 180
)

// How a Plan decides, in ticks of a sixtieth of a second and units a second.
const (
	tickRate = 60
	horizon  = 2.0              // seconds: sectors seen later are not wanted yet
	crawl    = 160              // units a second: the least speed for estimates of time
	linger   = 4 * tickRate     // loaded sectors stay so long after they were last wanted
	soon     = 0.3              // seconds: sectors seen sooner replace any that is not wanted,
	idle     = 2 * tickRate     // others replace only sectors not wanted for so long
	keep     = 1600             // units: nearer loaded sectors stay while the player moves
	slow     = 40               // units a second: slower is rest
	give     = tickRate * 3 / 2 // requested sectors stay so long after they were last wanted,
	early    = 4                // but only so long if the player turned away and they are further than
	behind   = 1.5 * horizon    // so many seconds, unless
	calm     = 3 * tickRate     // the player had turned less than this before: it may happen again
	again    = 2 * tickRate     // a sector requested so soon after it was dropped has thrashed
)

// A Sector is the column and the row of a sector in a realm.
type Sector struct{ X, Y uint8 }

// SectorOf returns the sector whose Index is i, from 0 to AllSectors-1.
func SectorOf(i int) Sector { return Sector{uint8(i % Sectors), uint8(i / Sectors)} }

// Index returns the number of the sector, counted from 0 along the rows.
func (s Sector) Index() int { return int(s.Y)*Sectors + int(s.X) }

// A Wanted is a sector to load. ETA is the estimated time until the sector is seen, in seconds. The estimate assumes
// that the player approaches the sector with at least 160 units a second. If the sector is in view, ETA is 0.
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

// A Plan decides every tick which sectors' pictures should be loaded and which may be freed. It loads nothing itself.
// After Tick the caller requests the sectors of Want, and frees or cancels the sectors of Drop. When a picture is
// loaded the caller calls Ready. The result depends only on the arguments of Tick, the budget, and the calls of Ready
// and Lost. The view of the player reaches 320 units to the left and right, and 180 units up and down.
//
// The pictures of all requested and loaded sectors together never exceed the budget of [Plan.Reset]. Half of the
// budget, or six pictures if that is more, is for sectors that will be seen soon. The rest keeps sectors that are no
// longer wanted. So a player who turns around needs no second request. When the player has been slower than 40 units a
// second for five seconds, the position alone determines which sectors are requested and loaded.
//
// A Plan belongs to one goroutine. Call Reset before the other methods. A Plan allocates nothing, and a tick takes
// about a microsecond.
type Plan struct {
	room, most int    // sectors: in all, and wanted
	held       int    // requested or loaded
	tick, rest uint32 // of the latter how many in a row the player has hardly moved
	x, y       float32
	hx, hy     float32 // velocity when the player turned last
	turn, wild uint32  // ticks: that of the last turn, and until when turns count as a zig-zag
	state      [AllSectors]uint8
	wanted     [AllSectors]uint32 // tick at which it was last wanted; the first is 1
	left       [AllSectors]uint32 // tick at which it was last dropped, 0 if never
	seen       [AllSectors]uint32 // tick at which it came into view without its picture, 0 if it did not
	eta        [AllSectors]float32

	list  [AllSectors]Wanted // of this tick, the soonest first
	want  [AllSectors]Wanted // of those, not loaded
	nWant int
	drop  [AllSectors]Sector
	nDrop int
	leads [(2 + 8) * tickRate]uint32 // loaded sectors, by their lead in ticks
	stats PlanStats
}

// PlanStats are the statistics since Reset. The lead of a sector is measured when it is loaded: the expected time until
// the sector is seen, in seconds. If the sector is in view already, the lead is negative: minus the time in view
// without a picture.
type PlanStats struct {
	Asked, Again       uint64  // requests; Again counts those within two seconds after the same sector was dropped
	Dropped, Cancelled uint64  // dropped sectors; Cancelled counts those that were not loaded yet
	Ready              uint64  // sectors loaded
	Held, Peak         int     // sectors requested or loaded: now, and the high-water mark
	SeenSeconds        float64 // sum of the time in view over all sectors
	SoftSeconds        float64 // the part of SeenSeconds without a picture
	LeadSum            float64 // sum of the leads
	LeadMedian         float32 // seconds, in steps of a sixtieth, from -8 to 2
	LeadWorst          float32 // the smallest lead, at most 0
}

// Thrash returns the share of requests that came within two seconds after the same sector was dropped: Again/Asked.
func (s PlanStats) Thrash() float64 { return float64(s.Again) / max(float64(s.Asked), 1) }

// Soft returns the share of time in view without a picture.
func (s PlanStats) Soft() float64 { return s.SoftSeconds / max(s.SeenSeconds, 1e-9) }

// Reset clears the plan and sets the budget of all pictures, in bytes. It panics if budget is below Bytes, the size of
// one picture.
func (p *Plan) Reset(budget int) {
	if budget < Bytes {
		panic(fmt.Sprintf("ground: a budget of %d bytes is below a sector's %d", budget, Bytes))
	}
	*p = Plan{room: min(budget/Bytes, AllSectors)}
	p.most = max(p.room/2, min(p.room, 6)) // six are in view at most
}

// Tick updates the plan for a player at (x, y), in units, with a velocity in units a second. Call it sixty times a
// second of play. A position outside the realm counts as the nearest point of its edge, and a NaN in it as 0. For such
// a position, and for a speed that is NaN or at least 6,144 units a second, Tick estimates times for a player at rest.
// Nevertheless a player with such a speed counts as moving: the time of standing still begins again.
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

// steer notes when the player turns by more than about 70 degrees, and whether that happens repeatedly.
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

// expire drops sectors that have not been wanted for long enough: distant ones at once, others when the player rests.
// So in the end the position decides.
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

// ask requests a wanted sector. If the budget is full it drops the farthest sector that is not wanted.
func (p *Plan) ask(w Wanted) {
	i := w.Index()
	if p.state[i] == absent {
		if p.held == p.room {
			k := p.farthest() // there is one: fewer are wanted than fit
			if w.ETA > soon && (p.away(k) < p.away(i) || p.tick-p.wanted[k] < idle) {
				return // no use: k would be requested again first
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

// Want returns the sectors that will be seen soon, are not loaded and have space in the budget, the earliest first.
// Request them, or continue to load them. If a requested sector is neither in Want nor in Drop, keep its request, but
// with a lower priority. The slice is valid until the next Tick.
func (p *Plan) Want() []Wanted { return p.want[:p.nWant] }

// Drop returns the sectors to drop in this tick. Free their pictures. If a picture is not loaded, cancel its request.
// The slice is valid until the next Tick.
func (p *Plan) Drop() []Sector { return p.drop[:p.nDrop] }

// Ready records that a sector's picture is loaded, and returns true. If the sector is invalid, was not in Want or was
// dropped, Ready returns false, and the caller must free the picture.
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

// Lost records that the picture of a loaded sector was freed. The sector then counts as requested. If it will be seen
// soon, [Plan.Want] lists it after the next Tick. If not, [Plan.Drop] lists it after a later Tick. If the sector is not
// loaded, Lost does nothing.
func (p *Plan) Lost(s Sector) {
	if p.Shown(s) {
		p.state[s.Index()] = asked
	}
}

// Shown reports whether the picture of sector s is loaded: Ready has returned true for s, and neither Lost nor a Drop
// of s has followed.
func (p *Plan) Shown(s Sector) bool {
	return s.X < Sectors && s.Y < Sectors && p.state[s.Index()] == ready
}

// Stats returns the statistics since Reset.
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
