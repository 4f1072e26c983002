package session

import (
	"runtime"
	"strings"

	"github.com/strata-go/strata/memory/heapsites"
)

// A siteCount counts the objects of the Go heap that functions of this module have allocated. It begins in the fade
// into the realm, and again after warmUpTicks: until then metadata grows with the horde. It is on if the runtime
// samples every allocation, as with GODEBUG=memprofilerate=1.
//
// The count is of functions. An object that the standard library allocates counts for the function of this module that
// called it. Objects of other modules do not count. The runtime records objects without pointers and below
// 16 bytes once for each 16 bytes that they share, unless it is built as by .ci/window.
type siteCount struct {
	profile heapsites.Profile
	tick    uint64
	before  map[string]uint64 // objects by function; nil if it is off
	warmUp  *OwnCount         // nil until it has ended
}

// warmUpTicks is a minute, after which the horde is complete.
const warmUpTicks = 3600

const modulePath = "github.com/strata-go/strata/"

// begin begins the warm-up of a realm.
func (c *siteCount) begin(tick uint64) {
	if runtime.MemProfileRate == 1 {
		c.warmUp = nil
		c.restart(tick)
	}
}

func (c *siteCount) restart(tick uint64) {
	c.tick, c.before = tick, map[string]uint64{}
	for _, s := range c.read() {
		c.before[s.Package+"."+s.Function] = s.Objects
	}
}

// again ends the warm-up when the time has come.
func (c *siteCount) again(tick uint64) {
	if c.before != nil && c.warmUp == nil && tick-c.tick >= warmUpTicks {
		warm := c.since(tick)
		c.warmUp = &warm
		c.restart(tick)
	}
}

// since returns what was allocated since the count began.
func (c *siteCount) since(tick uint64) OwnCount {
	n := OwnCount{Ticks: tick - c.tick}
	for _, x := range c.read() {
		name := x.Package + "." + x.Function
		if made := x.Objects - c.before[name]; made > 0 && !ofTheCount(name) {
			n.Sites = append(n.Sites, OwnSite{name, made})
		}
	}
	return n
}

// ofTheCount reports whether a function allocates because of the count: it reads profiles, and the pacer's sign of a
// collection is three objects for each. Each read runs two collections.
func ofTheCount(name string) bool {
	return strings.HasPrefix(name, modulePath+"memory/heapsites.") || strings.Contains(name, "siteCount") || name == modulePath+"memory/gcpace.(*process).collected"
}

// read returns the sites of this module as of now.
func (c *siteCount) read() (own []heapsites.Site) {
	runtime.GC()
	runtime.GC()
	c.profile.Read()
	for _, s := range c.profile.Sites {
		if s.Package == "main" || strings.HasPrefix(s.Package, modulePath) {
			own = append(own, s)
		}
	}
	return own
}

// An OwnSite is a function of this module that has allocated on the Go heap, with the number of objects.
type OwnSite struct {
	Site    string `json:"site"`
	Objects uint64 `json:"objects"`
}

// An OwnCount lists the functions of this module that have allocated on the Go heap in a number of ticks.
type OwnCount struct {
	Ticks uint64
	Sites []OwnSite
}

// OwnSites returns the functions of this module that have allocated on the Go heap in the present realm. warmUp covers
// the 3,600 ticks from the fade into the realm on, and steady the ticks after them. Until then steady is empty. An
// object that the standard library allocates counts for its caller in this module. The lists exclude allocations of the
// counting and of collections.
//
// OwnSites counts only if the runtime samples every allocation, as with GODEBUG=memprofilerate=1. If not, or if no
// realm has begun, exact is false and both results are empty. If exact is true, OwnSites has run two collections.
func (s *Session) OwnSites() (warmUp, steady OwnCount, exact bool) {
	c := &s.sites
	switch {
	case c.before == nil:
		return warmUp, steady, false
	case c.warmUp == nil:
		return c.since(s.Game.Ticks), steady, true
	}
	return *c.warmUp, c.since(s.Game.Ticks), true
}
