package tiers

import (
	"cmp"
	"fmt"
	"math"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/gcpace"
	"github.com/strata-go/strata/memory/internal/align"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/page"
	"github.com/strata-go/strata/memory/trace"
)

// Config sets the size, budget and behaviour of the tiers. The zero Config suits a small 2D game.
// New refuses values out of range.
type Config struct {
	// Source provides the address space of all tiers as one reservation. Nil means page.Default(). With workers Source
	// must be safe for concurrent use, because each worker commits on its own goroutine. A page.Limit and a page.Carve
	// are not safe: with them, set Workers to -1. Source may call functions while it commits or decommits memory for a
	// worker. During such a call the worker's lock is held. The function must then not use the worker, save or load the
	// manager, or call Check, Rest, EachSample, BeginLevel or EndLevel: it would deadlock. If it calls Close, Close
	// returns an error.
	Source page.Source

	// HugePages and Prefault are the [page.Options] of the default Source. They are ignored if Source is set, and with
	// [page.Heap]. Both are off by default, because they make more memory resident than is used. [Inspector.Pages]
	// returns how many bytes the system has granted.
	HugePages, Prefault bool

	// Reserve is the address space of each tier in bytes, for Inbox that of each worker. It is rounded up to a multiple
	// of 1 MiB. 0 means Info.Reserve, the tier's default: 64 MiB, except Static 16, Frame 8, Pools 128, Inbox 32. Slab
	// may have at most 64 GiB less 1 MiB, Inbox 64 GiB, Large 256 GiB, and each other tier 1 TiB. On 32-bit systems the
	// maximum of every tier is 1 GiB less 1 byte. The sum over all tiers and workers must not exceed half of all
	// addresses. Address space is not memory, but [page.Heap], the source of js and -race builds, allocates all of it
	// in New. If the sum is 1 GiB or more in the browser, New fails.
	//
	// If the system refuses the reservation, as under ulimit -v, New tries again with an eighth less for each tier, down
	// to the tiers' minimum. New does this also if the process would have fewer than about 128 MiB of addresses left, or
	// too few for the metadata. A tier's minimum is 1 MiB; that of Frame is 80 KiB for each buffer, in whole MiB.
	// Budgets and scratch arenas shrink if they do not fit. [Manager.Stats] returns the bytes that were reserved.
	Reserve [Count]uintptr

	// Budget is the hard limit on the committed bytes of each tier. An allocation that would exceed it fails with an
	// error that wraps memory.ErrOutOfMemory. If the size exceeds the tier's reservation, the error of some tiers wraps
	// memory.ErrTooLarge instead. 0 and every value above the tier's reservation mean the whole reservation. All
	// workers have equal shares of the budget of Inbox, for their heaps and scratch arenas. Budget[Frame] must be at
	// least 16 KiB for each frame buffer, and Reserve[Frame] at least 80 KiB for each.
	Budget [Count]uintptr

	// Frames is the number of frame buffers, from 1 to 64. 0 means 2: the blocks of a frame stay readable during the
	// next frame. The capacity of a buffer is the smaller one of Budget[Frame]/Frames and Reserve[Frame]/Frames - 64
	// KiB. This capacity is rounded down to a multiple of 16 KiB.
	Frames int

	// Workers is the number of worker heaps, at most 64. 0 means 2; a negative number means none.
	Workers int

	// Scratch is the size of each worker's scratch arena in bytes, see [Worker.BeginTask]. It is rounded up to a
	// multiple of 64 KiB. The arena lies at the end of the worker's address space. Scratch must not exceed half of
	// Reserve[Inbox]. 0 means 256 KiB.
	Scratch uintptr

	// Blocks that other goroutines free are collected in batches, which are sent to the owner of the blocks. Each Freer
	// of [Manager.NewFreer] and [Worker.NewFreer] has its own batch. Inside a frame, [Manager.Free] collects the blocks
	// of workers in one batch for each worker. A full batch is sent at once. EndFrame and Close send all batches of
	// Manager.Free. [Manager.Rest] sends those of the workers for which it waits, and [Manager.FreeAny] that of the
	// worker that owns the block. Sending never waits and never fails for lack of space.
	//
	// FreeItems is the number of blocks in a full batch, from 1 to 64. 0 means 32 for blocks of the game goroutine, and
	// 8 for blocks of a worker, which are usually few and large.
	//
	// FreeBytes limits the bytes of a batch, counted from the sizes that Freer.Free and Manager.Free receive. A batch
	// of a Freer is full from FreeBytes bytes on; 0 means 64 KiB. A batch of Manager.Free is full above FreeBytes
	// bytes; 0 means a sixteenth of the worker's budget, which is also the maximum.
	FreeItems int
	FreeBytes uintptr

	// SlabMax is the largest request in bytes that [Manager.Alloc] serves from Slab, rounded up to a multiple of 16.
	// Alloc serves larger requests from Large. 0 means 4096. The maximum is 65,536. A larger SlabMax is faster, and
	// commits more memory, because the free blocks of one size class do not serve other classes. Blocks of Slab grow in
	// place only within their class. If Tags is set, Free and Resize detect every wrong size of a tagged block of Slab.
	// For other blocks, only debug builds detect a wrong size of the same class.
	//
	// Freed blocks of Large can wait, not coalesced, for the next request of about their size. QuickBytes is the
	// largest number of bytes in waiting blocks. 0 means that no block waits. The maximum is Reserve[Large]. All calls
	// that begin or end a frame or a level coalesce the waiting blocks. Methods that return statistics of Large coalesce
	// them, too. See [tlsf.Config].
	//
	// The table has ratios to the defaults. A step of "mix" replaces a random one of 4,000 blocks. Of these, 80 % have
	// up to 256 bytes, 15 % up to 4 KiB, and 5 % up to 64 KiB. A step of "large" replaces one of 256 blocks of 4 to 256
	// KiB. The other columns are resident bytes of the process with all blocks fully written: after mix, and with 10 or
	// 100 blocks of 4 to 64 KiB alone:
	//
	//	SlabMax  QuickBytes    mix: ns  large: ns    mix: bytes  10: bytes  100: bytes
	//	 4 KiB      0             1.00       1.00          1.00       1.00        1.00
	//	 4 KiB     64 KiB          .97        .81          1.01       1.08        1.02
	//	 4 KiB    256 KiB          .96        .83          1.03       1.31        1.05
	//	 4 KiB      1 MiB          .91        .79          1.08       2.15        1.22
	//	16 KiB      0              .98       1.04          1.03       1.03        1.06
	//	32 KiB      0              .93       1.01          1.17       1.20        1.13
	//	64 KiB      0              .71        .94          1.34       1.33        1.53
	//	64 KiB      1 MiB          .70        .74          1.33       1.40        1.52
	//
	// AMD EPYC (Zen 4), Go 1.26.8, medians of six interleaved rounds with four code placements, on a machine that was
	// busy with other work. Differences below .05 are noise.
	SlabMax, QuickBytes uintptr

	// Tags enables the statistics of tags, see [Tag]. If Tags is false, a Tag can be made and used, but counts nothing.
	Tags bool

	// Trace, if not nil, receives the allocation trace of the manager, see "Traces" in the package comment. The
	// recording begins with New, and the last blocks are recorded during Close. The manager does not close the Writer:
	// close the manager first, then the Writer. Until the manager is closed, no other code may use the Writer. The
	// recording stops if the io.Writer fails or panics, if trace.Config.Limit is reached, or if too many blocks are live;
	// [Inspector.TraceErr] then returns the error. The io.Writer is called on the goroutines of the game and of the
	// workers, one at a time. It must not use the manager.
	Trace *trace.Writer

	// SampleBytes, if not 0, makes the manager record the call stacks of some allocations in the tiers Slab, Large and
	// Inbox, for [Inspector.EachSample] and a profile of package meter. On average, the manager takes one sample in
	// SampleBytes requested bytes. 64 KiB suits most games, and a smaller value is more exact. A sample takes about 1
	// µs. The samples take at most about 6 MiB of the Go heap for the game goroutine and for each worker. Blocks that
	// are allocated through the allocators that [Manager.Slab] and [Manager.Large] return are not sampled. With
	// SampleBytes a pair of Alloc and Free of a small block takes 10 to 25 ns more, see BenchmarkTag. Without it Alloc,
	// Free, FreeAny and Resize are not slower. The maximum is 1 GiB.
	SampleBytes uintptr

	// SoftMark is the share of a budget beyond which OnSoft is called, above 0 and up to 1. 0 means 0.75. The
	// mark is a share of the budget in Config, also after SetBudget. So with 1, OnSoft is called only if SetBudget has
	// raised the budget of the tier.
	SoftMark float64
	// OnSoft, if not nil, is called on the game goroutine each time a tier rises past its soft mark:
	//
	//   - Static, Level, Pools, Slab and Large: during the call that commits memory, such as an allocation or a load.
	//     The arguments are the committed bytes and the budget.
	//   - Frame: in EndFrame, if this frame uses more than SoftMark of its buffer and the frame before it did not. The
	//     arguments are the bytes in use and the capacity of a buffer.
	//   - Inbox: in BeginFrame, for each worker that has risen past the mark of its share since the last BeginFrame.
	//     The arguments are the worker's committed bytes and its share of the budget.
	//
	// OnSoft may free blocks, but must not allocate from the manager. Calls that begin or end a frame, a level or the
	// manager return an error that wraps [ErrOrder]. If OnSoft panics, the method that called it has allocated nothing,
	// and has not begun or ended a frame. That method may have freed blocks that other goroutines had sent. If the call
	// is repeated, it calls OnSoft again, but a repeated BeginFrame or EndFrame goes on without OnSoft.
	OnSoft func(t Tier, committed, budget uintptr)

	// ReturnAfter is the number of frames after which unused memory of a heap is returned to Source. The heaps are
	// those of Slab, of Large and of the workers. If a heap has committed more than 256 KiB plus twice its highest use
	// in the last ReturnAfter frames, EndFrame returns some of its memory. In each frame EndFrame returns at most 128
	// KiB (with HugePages 2 MiB), with one call of Source. If a heap commits much memory again soon afterwards, the
	// number of frames for this heap is doubled, up to 16 times ReturnAfter. The next BeginLevel undoes the doubling.
	// Slab returns only spans without a live block, and its use is measured at the ends of frames. EndFrame returns no
	// memory of a worker's heap while the worker is inside a call.
	//
	// 0 means 600: ten seconds at 60 frames a second. If the game has peaks of use at longer intervals, set ReturnAfter
	// to the interval. With a negative ReturnAfter, EndFrame returns no memory. The same holds for a Source that
	// returns no memory, such as page.Heap (see [page.ReturnsMemory]).
	ReturnAfter int

	// GC configures the pacing of Go's collector, for the whole process, see package gcpace. The zero GC switches
	// pacing on. BeginLevel, EndLevel and Collect of the manager call the same methods of a [gcpace.Pacer].
	GC gcpace.Config

	shrunk bool // the system refused so much, see Reserve

	order *[Count]Tier // in which the tiers' parts follow each other; nil: that of the table. For tests.
}

const (
	defaultWorkers     = 2
	maxWorkers         = 64
	defaultSlabMax     = 4096
	mostSlabMax        = 64 << 10
	mostSampleBytes    = 1 << 30
	defaultReturnAfter = 600 // frames; waves of enemies each ten seconds keep their memory
)

// withDefaults fills in the zero fields and returns an error that names the first invalid one.
func (c Config) withDefaults() (Config, error) {
	if c.Source == nil {
		c.Source = page.DefaultWith(page.Options{HugePages: c.HugePages, Prefault: c.Prefault})
	}
	c.Frames = cmp.Or(c.Frames, 2)
	c.Workers = cmp.Or(c.Workers, defaultWorkers)
	c.SoftMark = cmp.Or(c.SoftMark, 0.75)
	c.Scratch = cmp.Or(c.Scratch, 256<<10)
	c.ReturnAfter = cmp.Or(c.ReturnAfter, defaultReturnAfter)
	c.SlabMax = cmp.Or(c.SlabMax, defaultSlabMax)
	c.Workers = max(c.Workers, 0)
	if err := c.checkFields(); err != nil {
		return c, err
	}
	if err := c.GC.Check(); err != nil {
		return c, fmt.Errorf("tiers: GC: %w", err)
	}
	if _, err := c.total(); err != nil {
		return c, err
	}
	for t := range Tier(Count) {
		if c.Budget[t] == 0 || c.Budget[t] > c.reserved(t) {
			c.Budget[t] = c.reserved(t)
		}
	}
	_, err := c.perFrame()
	return c, err
}

// checkFields returns an error if a field is out of range, and rounds the reservations up to whole regions.
func (c *Config) checkFields() error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("tiers: "+format+": %w", append(args, memory.ErrConfig)...)
	}
	switch {
	case invariant.Nil(c.Source):
		return bad("Source is a nil %T: want a page source, or no value for page.Default", c.Source)
	case c.Frames < 0 || c.Frames > 64:
		return bad("Frames %d: want 1 to 64, or 0 for 2", c.Frames)
	case c.Workers > maxWorkers:
		return bad("Workers %d: want at most %d", c.Workers, maxWorkers)
	case !(c.SoftMark > 0 && c.SoftMark <= 1):
		return bad("SoftMark %v: want a share above 0 and up to 1, or 0 for 0.75", c.SoftMark)
	case c.SlabMax > mostSlabMax:
		return bad("SlabMax %d: want at most %d, or 0 for %d", c.SlabMax, mostSlabMax, defaultSlabMax)
	case c.SampleBytes > mostSampleBytes:
		return bad("SampleBytes %d: want at most %d, or 0 for no samples", c.SampleBytes, mostSampleBytes)
	case c.FreeItems < 0 || c.FreeItems > 64:
		return bad("FreeItems %d: want 1 to 64, or 0 for 32 and 8", c.FreeItems)
	}
	for t := range Tier(Count) {
		c.Reserve[t] = cmp.Or(c.Reserve[t], table[t].Reserve)
		if most := min(cmp.Or(table[t].most, 1<<40), math.MaxUint/4); uint64(c.Reserve[t]) > most {
			return bad("Reserve[%s] %d: want at most %d", t, c.Reserve[t], most)
		}
		c.Reserve[t] = align.Up(c.Reserve[t], regionBytes)
	}
	if most := c.Reserve[Large]; c.QuickBytes > most {
		return bad("QuickBytes %d: want at most %d, Reserve[large]", c.QuickBytes, most)
	}
	if most := c.Reserve[Inbox] / 2; c.Scratch > most {
		return bad("Scratch %d: want at most %d, half of Reserve[inbox]", c.Scratch, most)
	}
	return nil
}

// watched reports whether the manager records blocks, so that no call may use the inlined paths.
func (c *Config) watched() bool { return c.Tags || c.Trace != nil || c.SampleBytes > 0 }

// Reserved returns the configured address space of tier t in bytes: Reserve[t], or the default if that is 0. For Inbox
// it is the sum over all workers. New rounds each Reserve up to a multiple of 1 MiB; Reserved does not. If addresses
// are short, New reserves less: see the field Reserve. For a number that is no tier, or if the sum over the workers
// overflows, the result is 0.
func (c Config) Reserved(t Tier) uintptr {
	if t >= Count {
		return 0
	}
	c.Reserve[t] = cmp.Or(c.Reserve[t], table[t].Reserve)
	c.Workers = cmp.Or(c.Workers, defaultWorkers)
	c.Workers = max(c.Workers, 0)
	if c.Workers > 0 && table[t].PerWorker && c.Reserve[t] > math.MaxUint/uintptr(c.Workers) {
		return 0
	}
	return c.reserved(t)
}

// total returns the bytes of address space of all tiers, and one region more to begin on a
// region. It is at most half of what can be addressed.
func (c *Config) total() (uintptr, error) {
	sum := uint64(regionBytes)
	for t := range Tier(Count) {
		n := uint64(c.space(t))
		if table[t].PerWorker {
			n *= uint64(c.Workers)
		}
		sum += n
	}
	if sum > math.MaxUint/2 {
		return 0, fmt.Errorf("tiers: Reserve of all tiers %d: want at most %d: %w", sum, uint64(math.MaxUint/2), memory.ErrConfig)
	}
	return uintptr(sum), nil
}

// shrink makes every tier an eighth smaller, in whole regions, and reports whether one became smaller. Halving was
// the alternative. A program that needs most of a tier would then not start, although there is address space for it.
func (c *Config) shrink() (smaller bool) {
	for t := range Tier(Count) {
		least := uintptr(regionBytes)
		if f := table[t].least; f != nil {
			least = f(c)
		}
		if less := max(align.Down(c.Reserve[t]-c.Reserve[t]/8, regionBytes), least); less < c.Reserve[t] {
			c.Reserve[t], smaller = less, true
		}
		c.Budget[t] = min(c.Budget[t], c.reserved(t))
	}
	return smaller
}

func (c *Config) reserved(t Tier) uintptr {
	if table[t].PerWorker {
		return c.Reserve[t] * uintptr(c.Workers)
	}
	return c.Reserve[t]
}

// SetBudget sets the budget of tier t in bytes. Call it on the game goroutine. Values above the tier's reservation mean
// the reservation, so ^uintptr(0) ends a limit. Values below the committed bytes mean the committed bytes. So a budget
// of 1 limits a tier to the bytes that it has committed now. The soft mark and the size of the frame buffers do not
// change.
//
// After Close the error wraps memory.ErrClosed. The error wraps memory.ErrConfig if bytes is 0, if t is no tier, or
// if t is Inbox.
func (m *Manager) SetBudget(t Tier, bytes uintptr) error {
	switch {
	case m.phase >= closing:
		return fmt.Errorf("tiers: budget of %s: %w", t, memory.ErrClosed)
	case t >= Count:
		return fmt.Errorf("tiers: budget of %s: it is no tier: %w", t, memory.ErrConfig)
	case table[t].PerWorker:
		return fmt.Errorf("tiers: budget of %s: it is shared by goroutines and cannot be changed; set Config.Budget: %w", t, memory.ErrConfig)
	case bytes == 0:
		return fmt.Errorf("tiers: budget of %s 0: want at least 1, which means what is committed: %w", t, memory.ErrConfig)
	}
	m.owner.Touch()
	m.limits[t].SetBudget(min(bytes, m.cfg.reserved(t)))
	m.cfg.Budget[t] = m.limits[t].Budget()
	return nil
}
