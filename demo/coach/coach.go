package coach

// A Line identifies a text that the screen shows to the player.
type Line uint8

// The lines, each with what its text tells the player. Lines is their number, with Silent.
const (
	Silent  Line = iota // no text
	Move                // how to fly
	Fire                // how to aim and fire
	Collect             // that embers buy gifts
	Gift                // that gifts are offered
	Seals               // the goal, and the arrow
	Dash                // how to dash
	Rewind              // how to rewind
	Break               // what to do with a seal
	Next                // that there are more seals
	Heart               // that the warden is next
	Warden              // how to fight the warden
	Portal              // where to go in the end
	Lines   = iota
)

// Facts describe one tick of the player's game.
type Facts struct {
	X, Y    float32 // position of the ship in units
	Dashing bool
	Charges int // rewinds that the player can still do
	Rewinds int // rewinds so far
	Hull    int
	Kills   int
	Embers  int  // embers towards the next gift
	Gifts   int  // gifts taken
	Offered bool // gifts are offered
	Seals   int  // seals in the realm
	Broken  int  // broken seals
	InSight bool // a seal that is not broken is on the screen
	Warden  bool // the warden fights
	Opened  bool // the portal is open
}

// Ticks of Step.
const (
	dwell = 80  // that a line stays at least, to be read
	short = 300 // after which a line that the game can go on without gives way
	long  = 900 // after which that of the goal does: the arrow stays
)

// enough is the distance, in units, after which the player has flown, and the number of embers to be collected.
const (
	enoughFlown    = 60
	enoughGathered = 3
)

// A Coach selects the line that a new player reads in each tick. It belongs to one run of a player: begin each run with
// a zero Coach.
type Coach struct {
	now   Facts
	began bool

	// What the player has done since the first Step.
	flown    float32
	kills    int
	gathered int // embers
	gifts    int
	hits     int
	dashes   int
	broken   int  // seals, in all realms
	met      bool // a seal was in sight

	line Line
	age  int        // ticks for which it is shown
	told [Lines]int // ticks for which each was
}

// A lesson is the reason for a line and what ends it.
type lesson struct {
	line   Line
	due    func(c *Coach) bool
	done   func(c *Coach) bool
	urgent bool // it does not wait until the line before was read, and ends with its reason
	most   int  // ticks after which it gives way; 0: none
}

// lessons are ordered by their urgency.
var lessons = [...]lesson{
	{Gift, func(c *Coach) bool { return c.now.Offered }, never, true, 0},
	{Portal, func(c *Coach) bool { return c.now.Opened }, never, true, 0},
	{Warden, func(c *Coach) bool { return c.now.Warden }, never, true, 0},
	{Heart, func(c *Coach) bool { return c.now.Seals > 0 && c.now.Broken == c.now.Seals }, never, false, 0},
	{Dash, func(c *Coach) bool { return c.hits > 0 && c.flown >= enoughFlown }, func(c *Coach) bool { return c.dashes > 0 }, false, short},
	{Rewind, func(c *Coach) bool { return c.hits > 1 && c.now.Charges > 0 }, func(c *Coach) bool { return c.now.Rewinds > 0 }, false, short},
	{Break, func(c *Coach) bool { return c.met }, func(c *Coach) bool { return c.broken > 0 }, true, 0},
	{Move, always, func(c *Coach) bool { return c.flown >= enoughFlown }, false, 0},
	{Fire, always, func(c *Coach) bool { return c.kills > 0 }, false, 0},
	{Collect, always, func(c *Coach) bool { return c.gathered >= enoughGathered || c.gifts > 0 }, false, short},
	{Next, func(c *Coach) bool { return c.broken > 0 }, func(c *Coach) bool { return c.broken > 1 }, false, short},
	{Seals, always, func(c *Coach) bool { return c.met }, false, long},
}

func always(*Coach) bool { return true }
func never(*Coach) bool  { return false }

// Step takes the facts of a tick and returns the line to show in this tick. It counts the player's actions from the
// first call on. If a count of the facts falls, after a rewind or in a new realm, no action is removed.
func (c *Coach) Step(f Facts) Line {
	if !c.began {
		c.began, c.now = true, f
	}
	c.note(f)
	next, urgent := c.choose()
	if next != c.line && (urgent || c.age >= dwell || c.over()) {
		c.line, c.age = next, 0
	}
	c.age++
	c.told[c.line]++
	return c.line
}

// note adds what has changed since the tick before.
func (c *Coach) note(f Facts) {
	b := &c.now
	dx, dy := f.X-b.X, f.Y-b.Y
	if d := max(dx, -dx) + max(dy, -dy); d < enoughFlown { // else another realm has begun
		c.flown += d
	}
	c.kills += max(0, f.Kills-b.Kills)
	c.gathered += max(0, f.Embers-b.Embers)
	c.gifts += max(0, f.Gifts-b.Gifts)
	c.hits += max(0, b.Hull-f.Hull)
	c.broken += max(0, f.Broken-b.Broken)
	if f.Dashing && !b.Dashing {
		c.dashes++
	}
	c.met = c.met || f.InSight
	c.now = f
}

// over reports whether the line is one that ends with its reason, and has lost it.
func (c *Coach) over() bool {
	for i := range lessons {
		if l := &lessons[i]; l.line == c.line {
			return l.urgent && !l.due(c)
		}
	}
	return c.line == Silent
}

// choose returns the most urgent line that there is a reason for.
func (c *Coach) choose() (line Line, urgent bool) {
	for i := range lessons {
		if l := &lessons[i]; l.due(c) && !l.done(c) && !(l.most > 0 && c.told[l.line] >= l.most) {
			return l.line, l.urgent
		}
	}
	return Silent, false
}
