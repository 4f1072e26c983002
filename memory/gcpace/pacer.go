package gcpace

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/strata-go/strata/memory"
)

// Config configures how the collector is paced. The zero Config suits a game.
type Config struct {
	// Keep switches the pacing off: GOGC does not change, and EndLevel runs no collection. Use Keep if the game is only
	// a part of a larger program. Statistics and Collect work as without Keep.
	//
	// Without Keep the pacer changes the whole process. While the pacer is open, GOGC is raised to the value that
	// Headroom needs, and follows the live heap. GOGC is never below the program's own value. Close restores GOGC. If a
	// pacer becomes unreachable without Close, GOGC is restored after a later collection. The memory limit (GOMEMLIMIT,
	// debug.SetMemoryLimit) is not changed, and stays in force.
	//
	// If the program calls debug.SetGCPercent while pacers are open, the program's value stays, also after Close. The
	// pacers resume when the program restores the value that SetGCPercent returned, or opens another pacer without
	// Keep. If GOGC is off before New, it stays off.
	Keep bool

	// Headroom is the number of bytes of the Go heap that a level may allocate before a collection begins. 0 means 256
	// MiB. A value above 1 TiB counts as 1 TiB, and New refuses a negative value. With several pacers the largest
	// headroom applies. With Keep, Headroom has no effect.
	//
	// The headroom counts from the size of the heap at the last measurement. Every pacer without Keep measures the heap
	// in New, BeginLevel, EndLevel, Collect and Close, after each collection, and one second after the collection. If
	// the heap is then larger than the program's own GOGC allows, the headroom counts from the allowed size. So a part
	// of the headroom is used up already. When all of it is used up, the heap may grow by another four tenths of its
	// growth since the last collection, until a collection has begun and ended.
	Headroom int64

	// Suspend makes BeginLevel turn GOGC off. Use Suspend for a game with levels of more than two minutes that make
	// little garbage. While GOGC is off, the runtime does not begin the collection that is otherwise due after two
	// minutes without one. Finalizers and cleanups do not run before the next collection. With Keep, Suspend has no
	// effect.
	//
	// The suspension ends at EndLevel or Close. It also ends within a quarter of a second after the process has
	// allocated Headroom bytes since BeginLevel, or since a later collection in the level. In this case the next
	// collection begins before the heap has grown by another four tenths of its growth since the last collection. After
	// the suspension GOGC is finite again, unless the program's own GOGC is off. With several pacers GOGC is off while
	// any pacer suspends it.
	//
	// If the program sets a finite GOGC during the suspension, the program's value stays. If the program sets GOGC=off,
	// GOGC is still finite after the suspension.
	Suspend bool

	// Release makes Collect return the free memory of the Go heap to the system, as debug.FreeOSMemory does. Without
	// Release the runtime returns this memory in the course of minutes. With Release, Collect takes longer: about a
	// millisecond for each 10 MiB that is returned.
	Release bool
}

const (
	defaultHeadroom = 256 << 20
	maxHeadroom     = 1 << 40 // more than any machine has, and small enough that a percentage of it fits
)

// A Pacer counts collections. Unless [Config.Keep] is set, a Pacer also paces the collector from New to Close. A Pacer
// belongs to one goroutine. Make it with New: a zero Pacer must not be used.
type Pacer struct {
	claim   *claim // nil with Keep and after Close
	cleanup runtime.Cleanup
	suspend bool // GOGC is off in levels
	release bool // Collect returns free memory to the system
	counts
}

// Check returns the error that New would return for the configuration. The error names the invalid field and wraps
// memory.ErrConfig. If the configuration is valid, Check returns nil.
func (c Config) Check() error {
	if c.Headroom < 0 {
		return fmt.Errorf("gcpace: Headroom %d: want at least 0: %w", c.Headroom, memory.ErrConfig)
	}
	return nil
}

// New returns a Pacer. Unless cfg.Keep is set, New raises GOGC for the whole process until Close, as [Config]
// describes. The error is that of [Config.Check].
func New(cfg Config) (*Pacer, error) {
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	cfg.Headroom = cmp.Or(cfg.Headroom, defaultHeadroom)
	p := &Pacer{release: cfg.Release}
	p.start()
	if !cfg.Keep {
		p.claim = &claim{headroom: min(uint64(cfg.Headroom), maxHeadroom)}
		p.suspend = cfg.Suspend
		pacing.join(p.claim)
		p.cleanup = runtime.AddCleanup(p, pacing.leave, p.claim)
	}
	return p, nil
}

// Close restores GOGC, unless the program has changed it. If other pacers are open, their headrooms apply instead. With
// [Config.Keep] GOGC was not changed, and Close does nothing. An open level stays open until EndLevel. After Close the
// pacer still counts collections, and Collect works, but GOGC is not changed any more. A second Close does nothing. The
// error is always nil.
func (p *Pacer) Close() error {
	if p.claim != nil {
		p.cleanup.Stop()
		pacing.leave(p.claim)
		p.claim = nil
	}
	return nil
}

// BeginLevel begins a level with the whole headroom. Without Config.Suspend the headroom is smaller if the heap is
// already too large for the program's own GOGC (see [Config.Headroom]). If the program has changed GOGC, the headroom
// does not apply. If a level is open, BeginLevel ends it first, as EndLevel does. With [Config.Keep] and after Close,
// the level only counts its collections.
//
// BeginLevel waits until a running collection ends. In four cases it waits only for a collection that another pacer
// runs: with Config.Keep, after Close, if GOGC is off, and if the program has changed GOGC.
func (p *Pacer) BeginLevel() {
	if p.playing {
		p.EndLevel()
	}
	if p.claim != nil {
		if p.suspend {
			pacing.suspend(p.claim)
		}
		pacing.rest()
	}
	p.beginLevel()
}

// EndLevel ends the level. If the program's own GOGC would have required a collection by now, EndLevel runs one. If the
// program's own GOGC is off, EndLevel runs none. With [Config.Keep] and after Close, EndLevel only ends the level.
// EndLevel waits for the same collections as [Pacer.BeginLevel]. Without an open level EndLevel does nothing.
func (p *Pacer) EndLevel() {
	if !p.playing {
		return
	}
	p.endLevel()
	if p.claim == nil {
		return
	}
	if pacing.resume(p.claim); pacing.rest() {
		collect(runtime.GC)
		pacing.follow()
	}
}

// Collect runs a whole collection of the Go heap now, also with Config.Keep and after Close. Collect blocks until the
// collection ends. With [Config.Release] it also returns free memory to the system. Call Collect when a pause does not
// show: after loading, or during a fade.
func (p *Pacer) Collect() {
	if p.release {
		collect(debug.FreeOSMemory)
	} else {
		collect(runtime.GC)
	}
	if p.claim != nil {
		pacing.follow()
	}
}
