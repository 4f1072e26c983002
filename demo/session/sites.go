package session

import (
	"runtime"
	"strings"

	"github.com/strata-go/strata/memory/heapsites"
)

// A siteCount counts the objects of the Go heap that functions of this module have allocated. It begins in the fade into
// the realm, and again every sitesEvery ticks: metadata grows with the horde until that is complete. It is on if the
// runtime samples every allocation, as with GODEBUG=memprofilerate=1.
type siteCount struct {
	profile heapsites.Profile
	tick    uint64
	before  map[string]uint64 // objects by function; nil if it is off
}

const sitesEvery = 1800

const modulePath = "github.com/strata-go/strata/"

func (c *siteCount) begin(tick uint64) {
	if runtime.MemProfileRate != 1 {
		return
	}
	c.tick, c.before = tick, map[string]uint64{}
	for _, s := range c.read() {
		c.before[s.Package+"."+s.Function] = s.Objects
	}
}

// again begins a new count when the time has come.
func (c *siteCount) again(tick uint64) {
	if c.before != nil && tick-c.tick >= sitesEvery {
		c.begin(tick)
	}
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

// An OwnSite is a function of this module that has allocated on the Go heap.
type OwnSite struct {
	Site    string `json:"site"`
	Objects uint64 `json:"objects"`
}

// OwnSites returns the functions of this module that have allocated since the count began, and the number of ticks
// since then. A new count begins every 1,800 ticks. Unless the runtime samples every allocation, and before the first
// count, exact is false and the list is empty. The list excludes allocations of OwnSites. OwnSites runs two
// collections.
func (s *Session) OwnSites() (sites []OwnSite, ticks uint64, exact bool) {
	c := &s.sites
	if c.before == nil {
		return nil, 0, false
	}
	for _, x := range c.read() {
		name := x.Package + "." + x.Function
		if n := x.Objects - c.before[name]; n > 0 && !strings.HasPrefix(x.Package, modulePath+"memory/heapsites") && !strings.Contains(name, "siteCount") {
			sites = append(sites, OwnSite{name, n})
		}
	}
	return sites, s.Game.Ticks - c.tick, true
}
