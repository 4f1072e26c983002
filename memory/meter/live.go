package meter

import (
	"math"
	"runtime/metrics"
	"time"
)

// A Heap describes the Go heap. Only a collection can tell live objects from garbage, and a meter never starts one. The
// live size is therefore the size that the last collection found. Growth is no longer reported if the next collection
// is late. It is late after 40 s, or after twice the longest wait between the last eight collections if that is longer.
// If collections go on, growth that has ended is reported for up to 100 s more.
type Heap struct {
	Known     bool          // a collection has ended since the meter began; if not, Live and Age are 0
	Live      uint64        // bytes of objects that the last collection found in use
	Age       time.Duration // time since that collection ended
	Allocated float64       // bytes allocated a second, over at least a second; if the live size does not grow, all become garbage
}

// Heap returns the figures of the Go heap. Frame updates them four times a second, and in each frame in which a
// collection begins, runs or ends.
func (r *Meter) Heap() Heap { return r.live.heap }

// collections is the number of collections from which growth is judged.
const collections = 128

// byCollection is the rule for live sizes if collections are rare. A live size contains some bytes that were
// allocated while the collection ran, so live sizes are less regular than minima of seconds. But each is an
// independent measurement, so growth is reported at once.
var byCollection = rule{
	scales: []int{1, 2, 3, 4, 6, 8, 12, 16}, shortest: 4, points: 4,
	line: 6, above: 0.6, falls: 2, each: 0.3, idle: 1, chance: 300,
}

// often is the mean time between collections, in seconds, below which the live size is judged as figures of frames
// are.
const often = 3

// some is the number of the last collections whose times count.
const some = 8

// live judges the Go heap by its live size after collections: between them it rises and tells nothing.
//
// Invariants, verified in this order by check:
//
//	(1) 0 <= known <= collections are stored, the newest before index next
//	(2) each is at least a second later than the one before
type live struct {
	samples []metrics.Sample
	sizes   [collections]float32 // bytes that each found in use, less what was allocated while it marked
	at      [collections]float64 // seconds since the meter began
	next    int32
	known   int32

	size   float64 // the newest of sizes
	floor  floor   // of size, which is taken to stay until the next collection
	second int64

	collector
	heap      Heap
	ended     time.Time // of the last collection
	rate      float64   // growth in bytes a second
	allocated uint64    // at the time when
	when      time.Time
}

const (
	sampleLive = iota
	sampleAllocated
)

func newLive() live {
	return live{floor: newFloor(), samples: []metrics.Sample{
		sampleLive:      {Name: "/gc/heap/live:bytes"},
		sampleAllocated: {Name: "/gc/heap/allocs:bytes"},
	}}
}

// look reads the runtime's figures. It collects nothing.
func (l *live) look(now time.Time, seconds float64, p *points) {
	metrics.Read(l.samples)
	l.note(now, seconds, l.number(sampleLive), l.number(sampleAllocated), p)
}

// number returns a figure of the runtime, 0 if this version of Go does not have it.
func (l *live) number(i int) uint64 {
	if v := l.samples[i].Value; v.Kind() == metrics.KindUint64 {
		return v.Uint64()
	}
	return 0
}

// note takes figures: the live size that the last collection found, and all bytes allocated.
func (l *live) note(now time.Time, seconds float64, size, allocated uint64, p *points) {
	switch span := now.Sub(l.when).Seconds(); {
	case l.when.IsZero():
		l.allocated, l.when = allocated, now
	case span >= 1:
		l.heap.Allocated = float64(allocated-l.allocated) / span
		l.allocated, l.when = allocated, now
	}
	floating, collected := l.mark(allocated)
	if collected {
		l.ended = now
		l.heap.Known, l.heap.Live = true, size
		l.size = float64(size - min(floating, size))
		l.add(seconds, float32(l.size))
	}
	if l.heap.Known {
		l.judge(seconds, collected, p)
		l.heap.Age = now.Sub(l.ended)
	}
}

// add stores a collection. Of those within a second the smallest counts.
func (l *live) add(seconds float64, size float32) {
	if l.known > 0 {
		last := (l.next - 1 + collections) % collections
		if seconds-l.at[last] < 1 {
			l.sizes[last] = min(l.sizes[last], size)
			return
		}
	}
	l.sizes[l.next], l.at[l.next] = size, seconds
	l.next = (l.next + 1) % collections
	l.known = min(l.known+1, collections)
}

// judge brings the growth up to date.
func (l *live) judge(seconds float64, collected bool, p *points) {
	l.floor.set(l.size, uint8(math.Mod(seconds, 1)*256))
	if now := int64(seconds); now > l.second {
		if l.second = max(l.second, now-history); l.floor.seconds.known == 0 {
			l.second = now - 1
		}
		for ; l.second < now; l.second++ {
			l.floor.cross(l.size)
		}
		l.floor.judge(now, p)
	}
	switch {
	case l.often():
		l.rate = l.floor.growth()
	case collected:
		l.judgeCollections(p)
	case l.late(seconds, 0):
		l.rate = 0
	}
}

// late reports whether at seconds the collection after the newest but k is late: twice the longest wait between those
// before has passed, and 40 s. A program that has loaded its data makes less garbage, and what the collections found
// meanwhile is no verdict of what came after.
func (l *live) late(seconds float64, k int32) bool {
	const while = 40
	last := l.ago(k)
	wait, end := while/2.0, last
	for i := k + 1; i < min(l.known, some); i++ {
		at := l.ago(i)
		wait, end = max(wait, end-at), at
	}
	return seconds-last > 2*wait
}

// ago returns when the newest collection but k ended.
func (l *live) ago(k int32) float64 { return l.at[(l.next-1-k+collections)%collections] }

// often reports whether the last collections were close together.
func (l *live) often() bool {
	return l.known >= some && l.ago(0)-l.ago(some-1) < often*(some-1)
}

// judgeCollections judges the stored collections.
func (l *live) judgeCollections(p *points) {
	p.n = int(l.known)
	for k := range p.n {
		i := (int(l.next) - 1 - k + collections) % collections
		p.v[k], p.t[k] = float64(l.sizes[i]), l.at[i]
	}
	l.rate = p.growth(&byCollection, 0)
	if p.n > 1 && p.v[0]-p.v[1] < l.rate/4*(p.t[0]-p.t[1]) && l.late(p.t[0], 1) {
		l.rate = 0 // growth has ended while nothing was collected
	}
}

func (l *live) check() bool {
	if l.known < 0 || l.known > collections || l.next < 0 || l.next >= collections {
		return false
	}
	for k := int32(1); k < l.known; k++ {
		i := (l.next - k + collections) % collections
		if j := (i - 1 + collections) % collections; l.at[i] < l.at[j]+1 {
			return false
		}
	}
	return true
}
