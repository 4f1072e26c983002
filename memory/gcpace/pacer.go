package gcpace

import (
	"fmt"
	"runtime"

	"github.com/strata-go/strata/memory"
)

// Config says how the collector is paced. The zero Config suits a game.
type Config struct {
	// Keep leaves the collector alone: GOGC stays as it is, and EndLevel runs no collection. It is for a
	// program that is not a game and only contains one. Statistics and Collect work as ever.
	//
	// Without Keep the pacer changes the whole process. While it is open, GOGC is raised to what Headroom
	// needs and follows the live heap. It is never below what the program wants. Close restores it. If a
	// pacer becomes unreachable without Close, GOGC is restored after a later collection. The memory limit
	// (GOMEMLIMIT, debug.SetMemoryLimit) is not changed, and stays in force.
	//
	// The later of New and debug.SetGCPercent takes effect. If the program sets GOGC while pacers are open,
	// its value stays, also after Close. The pacers resume when the program restores the value that
	// SetGCPercent returned, or opens another pacer. GOGC=off before New stays off.
	Keep bool

	// Headroom is how many bytes of the Go heap a level may allocate before a collection begins in it. 0
	// means 256 MiB; the largest value is 1 TiB. In a level it counts from the heap at BeginLevel. Outside
	// levels it counts from the last level end, Collect, New or collection. In both cases it counts from at
	// most the heap that the program's own GOGC allows. During a collection the heap may grow by another
	// four tenths of the headroom. With several pacers the largest headroom applies.
	Headroom int64

	// Suspend turns GOGC off from BeginLevel to EndLevel while the level allocates less than Headroom. It
	// also prevents the collection that the runtime begins after two minutes without one. Beyond the
	// headroom GOGC is finite again, and a collection begins within a quarter of a second. If the program
	// sets GOGC meanwhile, its value stays; but GOGC=off, set in such a level, ends with the level. With
	// several pacers GOGC is off while any of them is in such a level. With Keep it has no effect.
	//
	// Use it for a game with levels of more than two minutes that make little garbage. Finalizers and
	// cleanups do not run until the level ends.
	Suspend bool
}

const (
	defaultHeadroom = 256 << 20
	maxHeadroom     = 1 << 40 // more than any machine has, and small enough that a percentage of it fits
)

// A Pacer paces the collector from New to Close, and counts collections. It belongs to one goroutine.
type Pacer struct {
	claim   *claim // nil with Keep and after Close
	cleanup runtime.Cleanup
	suspend bool // GOGC is off in levels
	counts
}

// Check returns the error that New would return for the configuration. It names the field that is invalid, and wraps
// memory.ErrConfig.
func (c Config) Check() error {
	if c.Headroom < 0 {
		return fmt.Errorf("gcpace: Headroom %d: want at least 0: %w", c.Headroom, memory.ErrConfig)
	}
	return nil
}

// New raises GOGC for the whole process, unless cfg.Keep is set. See [Config.Check] for the error.
func New(cfg Config) (*Pacer, error) {
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	if cfg.Headroom == 0 {
		cfg.Headroom = defaultHeadroom
	}
	p := &Pacer{}
	p.start()
	if !cfg.Keep {
		p.claim = &claim{headroom: min(uint64(cfg.Headroom), maxHeadroom)}
		p.suspend = cfg.Suspend
		pacing.join(p.claim)
		p.cleanup = runtime.AddCleanup(p, pacing.leave, p.claim)
	}
	return p, nil
}

// Close restores GOGC, unless other pacers are open. Their headrooms apply then. A level that is open is not ended.
// Stats and Collect continue to work. A second Close does nothing. The error is always nil.
func (p *Pacer) Close() error {
	if p.claim != nil {
		p.cleanup.Stop()
		pacing.leave(p.claim)
		p.claim = nil
	}
	return nil
}

// BeginLevel begins a level with the whole headroom. It waits for a collection that is under way. A level that is
// open ends first.
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

// EndLevel ends the level. It runs a collection if the program's own GOGC would have required one by now, and so
// never with GOGC=off. Without a level it does nothing.
func (p *Pacer) EndLevel() {
	if !p.playing {
		return
	}
	p.endLevel()
	if p.claim == nil {
		return
	}
	if pacing.resume(p.claim); pacing.rest() {
		collect()
		pacing.follow()
	}
}

// Collect runs a whole collection of the Go heap now, also with Keep. Call it when a pause does not show: after
// loading, behind a fade. It blocks.
func (p *Pacer) Collect() {
	collect()
	if p.claim != nil {
		pacing.follow()
	}
}
