package heapsites

import (
	"cmp"
	"math"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"
)

// A Site is a function that allocates on the Go heap, with all allocations of standard library functions that it calls.
// If all functions of a stack belong to the standard library, its outermost function is the site. A package belongs to
// the standard library if the first element of its import path has no dot, unless it is main or in the program's
// module.
//
// If runtime.MemProfileRate is 1, the numbers are exact. If the rate is 0, nothing is recorded. With other rates the
// numbers are estimates. Set the rate only once, at the start of the program: after a later change the numbers are
// wrong.
type Site struct {
	Package  string // import path; of a program's main package "main"
	Function string // name within the package, such as (*Queue).Push

	Objects uint64  // objects allocated since the process began
	Bytes   uint64  // bytes of these objects
	Live    uint64  // bytes that no collection had freed at Profile.AsOf
	Rate    float64 // bytes allocated a second, during Profile.Span
}

// A Profile lists the functions that have allocated on the Go heap, as of one moment. The zero Profile is ready to use.
// A Profile is not safe for concurrent use. A Read that returns true overwrites the array of Sites: clone Sites to keep
// it.
type Profile struct {
	Sites []Site        // sorted by the sum of Live and the bytes allocated during Span, the largest first
	AsOf  time.Time     // the moment that Sites describes; zero until a Read returns true
	Span  time.Duration // the time before AsOf that Rate describes: since the previous AsOf, or since the process began

	cycles  int64
	gc      debug.GCStats
	records []runtime.MemProfileRecord
	rows    []row
	byStack map[[depth]uintptr]int // rows by the innermost frames
	byName  map[string]int
}

// depth is the number of frames that distinguish stacks. Frames of the standard library beyond it are rare.
const depth = 16

// A row is a site and its sums.
type row struct {
	Site
	before uint64 // Bytes at the former AsOf
}

// started is close to the start of the process.
var started = time.Now()

// Read reads the runtime's profile into Sites, AsOf and Span, and returns true. If there is no newer profile, Read
// changes nothing and returns false. There is a newer profile if a collection has ended since the last Read that
// returned true. For the first one, two collections must have ended since the process began.
func (p *Profile) Read() bool {
	debug.ReadGCStats(&p.gc)
	if p.gc.NumGC < 2 || p.gc.NumGC == p.cycles || len(p.gc.PauseEnd) < 2 {
		return false
	}
	p.cycles = p.gc.NumGC
	former := p.AsOf
	if former.IsZero() {
		former = started
	}
	p.AsOf = p.gc.PauseEnd[1]
	p.Span = max(p.AsOf.Sub(former), 0)
	p.load()
	p.add()
	p.sort()
	return true
}

// load copies the runtime's records.
func (p *Profile) load() {
	for {
		n, ok := runtime.MemProfile(p.records[:cap(p.records)], true)
		if ok {
			p.records = p.records[:n]
			return
		}
		p.records = make([]runtime.MemProfileRecord, n+n/4+64)
	}
}

// add adds the records up by site.
func (p *Profile) add() {
	if p.byStack == nil {
		p.byStack, p.byName = map[[depth]uintptr]int{}, map[string]int{}
	}
	for i := range p.rows {
		r := &p.rows[i]
		r.before, r.Objects, r.Bytes, r.Live = r.Bytes, 0, 0, 0
	}
	for i := range p.records {
		c := &p.records[i]
		r := &p.rows[p.siteOf(c)]
		k := scale(c.AllocObjects, c.AllocBytes)
		r.Objects += uint64(float64(c.AllocObjects)*k + 0.5)
		r.Bytes += uint64(float64(c.AllocBytes)*k + 0.5)
		r.Live += uint64(float64(c.InUseBytes())*k + 0.5)
	}
}

// scale returns how many allocations a sampled one represents.
func scale(objects, bytes int64) float64 {
	rate := runtime.MemProfileRate
	if rate <= 1 || objects == 0 || bytes == 0 {
		return 1
	}
	return 1 / (1 - math.Exp(-float64(bytes)/float64(objects)/float64(rate)))
}

// siteOf returns the row of a record.
func (p *Profile) siteOf(c *runtime.MemProfileRecord) int {
	var key [depth]uintptr
	stack := c.Stack()
	copy(key[:], stack)
	i, known := p.byStack[key]
	if known {
		return i
	}
	name := function(stack)
	if i, known = p.byName[name]; !known {
		i = len(p.rows)
		pkg, f := split(name)
		p.rows = append(p.rows, row{Site: Site{Package: pkg, Function: f}})
		p.byName[name] = i
	}
	p.byStack[key] = i
	return i
}

// function returns the name of the innermost function outside of the standard library, or of the outermost one.
func function(stack []uintptr) (name string) {
	for frames, more := runtime.CallersFrames(stack), len(stack) > 0; more; {
		var f runtime.Frame
		if f, more = frames.Next(); f.Function == "" {
			continue
		}
		name = f.Function
		if pkg, _ := split(name); !standard(pkg, program) {
			break
		}
	}
	return name
}

// split separates the import path of a function from its name within the package.
func split(name string) (pkg, function string) {
	from := strings.LastIndexByte(name, '/') + 1
	dot := strings.IndexByte(name[from:], '.')
	if dot < 0 {
		return "", name
	}
	return strings.ReplaceAll(name[:from+dot], "%2e", "."), name[from+dot+1:]
}

// program is the path of the program's module, which may have no domain.
var program = func() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		return info.Main.Path
	}
	return ""
}()

// standard reports whether a package belongs to the standard library: its path begins without a domain, and is not in the
// module.
func standard(pkg, module string) bool {
	first, _, _ := strings.Cut(pkg, "/")
	return pkg != "main" && !strings.Contains(first, ".") && (module == "" || pkg != module && !strings.HasPrefix(pkg, module+"/"))
}

// sort writes Sites.
func (p *Profile) sort() {
	p.Sites = p.Sites[:0]
	for i := range p.rows {
		r := &p.rows[i]
		r.Rate = 0
		if s := p.Span.Seconds(); s > 0 && r.Bytes > r.before {
			r.Rate = float64(r.Bytes-r.before) / s
		}
		p.Sites = append(p.Sites, r.Site)
	}
	weight := func(s *Site) float64 { return float64(s.Live) + s.Rate*p.Span.Seconds() }
	slices.SortStableFunc(p.Sites, func(a, b Site) int { return cmp.Compare(weight(&b), weight(&a)) })
}
