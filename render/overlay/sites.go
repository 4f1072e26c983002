package overlay

import (
	"strings"
	"time"

	"github.com/strata-go/strata/memory/heapsites"
	"github.com/strata-go/strata/render"
)

const (
	siteRows  = 10          // functions that the panel of the Go heap has
	leastSpan = time.Second // of a profile with rates: the first collection can come some milliseconds after the start
)

// sites are the functions that allocate on the Go heap, as of the runtime's last profile. Another goroutine reads the
// profile, only while the panel is open, at most once a second, and only after a collection.
type sites struct {
	profile heapsites.Profile // of the goroutine that reads it, while reading
	reading bool
	answer  chan bool // receives whether the profile has changed
	ask     func()    // reads it; both are made once, so that a collection costs no objects here
	read    time.Time // by the wall clock, when it was begun last
	cycles  uint64    // collections then
	rows    []siteRow
	names   map[siteKey]string // of those that were displayed
	asOf    time.Time          // by the wall clock; zero before the second collection
	brief   bool               // the profile describes too short a time for a rate
}

type siteKey struct{ pkg, function string }

// A siteRow is a function as it is displayed.
type siteRow struct {
	name string
	live uint64
	rate float64
}

// sampleSites begins to read the profile if it may have changed.
func (o *Overlay) sampleSites() {
	k, now, cycles := &o.sites, time.Now(), o.meter.Snapshot().Go.Cycles
	if k.reading || cycles == k.cycles && !k.read.IsZero() || now.Sub(k.read) < time.Second {
		return
	}
	if k.ask == nil {
		k.answer, k.names = make(chan bool, 1), map[siteKey]string{}
		k.ask = func() { k.answer <- k.profile.Read() }
	}
	k.reading, k.read, k.cycles = true, now, cycles
	go k.ask()
}

// poll takes the profile if it was read.
func (k *sites) poll() {
	select {
	case changed := <-k.answer:
		k.reading = false
		if changed {
			k.take()
		}
	default:
	}
}

func (k *sites) take() {
	k.rows, k.asOf, k.brief = k.rows[:0], k.profile.AsOf, k.profile.Span < leastSpan
	for i := range k.profile.Sites[:min(siteRows, len(k.profile.Sites))] {
		s := &k.profile.Sites[i]
		key := siteKey{s.Package, s.Function}
		name, ok := k.names[key]
		if !ok {
			name = siteName(s.Package, s.Function)
			k.names[key] = name
		}
		k.rows = append(k.rows, siteRow{name, s.Live, s.Rate})
	}
}

// siteName shortens a function's name to the last element of its package's path, and the name without its receiver and
// type arguments.
func siteName(pkg, function string) string {
	pkg = pkg[strings.LastIndexByte(pkg, '/')+1:]
	function, _, _ = strings.Cut(function, "[")
	if i := strings.Index(function, ")."); i >= 0 {
		function = function[i+2:]
	}
	return pkg + "." + function
}

// wait returns when the profile is not read any more.
func (k *sites) wait() {
	if k.reading {
		<-k.answer
		k.reading = false
	}
}

// collect runs two collections: the profile is then of this moment.
func (o *Overlay) collect() {
	if o.closed() {
		return
	}
	o.m.Collect()
	o.m.Collect()
	o.sites.read = time.Time{}
}

func (o *Overlay) siteLines() int { return 3 + max(len(o.sites.rows), 1) }

// drawSites draws what the collector costs, and the functions that keep and allocate the most.
func (o *Overlay) drawSites() {
	k, p := &o.sites, &o.panel
	if o.closed() {
		return
	}
	o.drawCollector(0)
	l := o.line(1)
	if k.asOf.IsZero() {
		l.text(render.PanelText, "who allocates is known after two collections")
	} else {
		l.word(render.PanelText, "who allocates, as of")
		ago := max(o.cfg.Meter.Now().Sub(k.asOf), 0)
		l.bytes(render.PanelText, append(render.AppendFixed(o.buf[:0], ago.Seconds(), 0, 0), " s ago"...))
		p.Label(siteLive-4*render.GlyphW, l.y, render.PanelQuiet, "live")
		p.Label(p.W-render.Grid-8*render.GlyphW, l.y, render.PanelQuiet, "a second")
	}
	for i := range k.rows {
		r, y := &k.rows[i], o.y(2+i)
		o.name(render.Grid, y, siteChars, goColor, r.name)
		p.Bytes(siteLive, y, render.PanelText, r.live)
		if k.brief {
			p.Label(p.W-render.Grid-render.GlyphW, y, render.PanelQuiet, "-")
			continue
		}
		p.Bytes(p.W-render.Grid, y, render.PanelText, uint64(r.rate))
	}
	l = o.line(2 + max(len(k.rows), 1))
	l.word(render.White, "Shift+")
	l.x -= render.GlyphW
	l.word(render.White, o.keyName(keyHeap))
	l.text(render.PanelQuiet, "collects twice, and makes this current")
}

// The columns of the panel: characters of a name, and the right edge of the live bytes.
const (
	siteChars = 26
	siteLive  = 232
)

// drawCollector draws the number of collections, the longest pause and the processor time of marking.
func (o *Overlay) drawCollector(i int) {
	g, l := &o.meter.Snapshot().Go, o.line(i)
	l.word(render.PanelQuiet, "collections")
	l.count(render.PanelText, g.Cycles)
	l.gap()
	l.word(render.PanelQuiet, "pause")
	l.bytes(render.PanelText, appendFine(o.buf[:0], g.MaxPause))
	l.gap()
	l.word(render.PanelQuiet, "mark each")
	l.bytes(render.PanelText, append(appendFine(o.buf[:0], markEach(g.Mark, g.Cycles)), " ms"...))
}

// markEach returns the mean processor time of marking.
func markEach(seconds float64, cycles uint64) float64 { return seconds / float64(max(cycles, 1)) }

// appendFine appends a time in milliseconds, of at most four characters: with two decimals below ten, and one below 100.
func appendFine(dst []byte, seconds float64) []byte {
	ms, decimals := min(max(seconds*1e3, 0), 9999), 0
	if ms < 9.995 {
		decimals = 2
	} else if ms < 99.95 {
		decimals = 1
	}
	return render.AppendFixed(dst, ms, decimals, 0)
}
