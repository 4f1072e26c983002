package arena

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
)

// Check returns the errors in the metadata, or nil. Cost: proportional to the regions and their live bits.
func (r *Region) Check() error {
	if r.base == nil {
		return nil
	}
	errs := []error{r.mem.Check()}
	start, none := uintptr(r.current)<<r.shift, r.current == -1 && r.off == 0 && r.limit == 0
	if !none && (r.current < 0 || r.current >= len(r.regions) || r.off < start || r.off > r.limit || r.limit != start+r.RegionBytes()) {
		errs = append(errs, fmt.Errorf("arena: off %d and limit %d do not fit region %d of %d", r.off, r.limit, r.current, len(r.regions)))
	}
	if uintptr(len(r.regions))<<r.shift > r.mem.Committed() {
		errs = append(errs, fmt.Errorf("arena: %d regions are more than the %d bytes committed", len(r.regions), r.mem.Committed()))
	}
	errs = append(errs, r.checkRegions()...)
	errs = append(errs, r.checkOpen()...)
	if live := r.count(); live > r.allocs {
		errs = append(errs, fmt.Errorf("arena: %d blocks live of %d allocated", live, r.allocs))
	}
	if r.peak > r.mem.Reserved() {
		errs = append(errs, fmt.Errorf("arena: peak %d is above the reservation of %d bytes", r.peak, r.mem.Reserved()))
	}
	if invariant.Debug && uint64(len(r.sizes)) != r.count() {
		errs = append(errs, fmt.Errorf("arena: %d blocks live and %d sizes", r.count(), len(r.sizes)))
	}
	return errors.Join(errs...)
}

func (r *Region) checkRegions() []error {
	var errs []error
	listed := make([]int, len(r.regions))
	for i, k := range r.empty {
		if uint64(k) >= uint64(len(listed)) {
			errs = append(errs, fmt.Errorf("arena: empty[%d] is region %d of %d", i, k, len(listed)))
			continue
		}
		listed[k]++
	}
	if cap(r.empty) < len(r.regions) {
		errs = append(errs, fmt.Errorf("arena: capacity for %d empty regions of %d", cap(r.empty), len(r.regions)))
	}
	var full uintptr
	for k, o := range r.regions {
		used, want := uintptr(o.used), 0
		if k == r.current {
			used = r.currentUsed()
		} else {
			full += used
			if o.live == 0 {
				want = 1
			}
		}
		if listed[k] != want {
			errs = append(errs, fmt.Errorf("arena: region %d with %d live blocks is listed as empty %d times, not %d", k, o.live, listed[k], want))
		}
		if o.live == 0 && used != 0 {
			errs = append(errs, fmt.Errorf("arena: region %d has no live block and %d bytes used", k, used))
		}
		if invariant.Exact {
			errs = append(errs, r.checkLive(k, used)...)
		}
	}
	if full != r.full {
		errs = append(errs, fmt.Errorf("arena: full is %d, the regions add up to %d", r.full, full))
	}
	return errs
}

// checkOpen verifies invariant 5.
func (r *Region) checkOpen() []error {
	if r.opened < 0 || r.opened > looks || r.misses < 0 || r.misses >= maxMisses {
		return []error{fmt.Errorf("arena: %d regions open of at most %d, %d misses", r.opened, looks, r.misses)}
	}
	var errs []error
	for i, k := range r.open[:r.opened] {
		switch {
		case uint64(k) >= uint64(len(r.regions)) || int(k) == r.current || r.regions[k].live == 0:
			errs = append(errs, fmt.Errorf("arena: open[%d] is region %d of %d, which is current, empty or none", i, k, len(r.regions)))
		case slices.Contains(r.open[:i], k):
			errs = append(errs, fmt.Errorf("arena: region %d is open twice", k))
		}
	}
	return errs
}

// checkLive compares the live bits of region k with its count and its used bytes.
func (r *Region) checkLive(k int, used uintptr) []error {
	words := int(r.RegionBytes() >> (granuleShift + 6))
	if len(r.live) != words*len(r.regions) {
		return []error{fmt.Errorf("arena: %d words of live bits for %d regions of %d", len(r.live), len(r.regions), words)}
	}
	var errs []error
	count := 0
	for i, word := range r.live[k*words : (k+1)*words] {
		count += bits.OnesCount64(word)
		if word == 0 {
			continue
		}
		if last := uintptr(i<<6+bits.Len64(word)-1) << granuleShift; last >= used {
			errs = append(errs, fmt.Errorf("arena: region %d has a live bit at %d with %d bytes used", k, last, used))
		}
	}
	if count != int(r.regions[k].live) {
		errs = append(errs, fmt.Errorf("arena: region %d counts %d live blocks and has %d live bits", k, r.regions[k].live, count))
	}
	return errs
}

//go:noinline
func (r *Region) misuse(op string, p unsafe.Pointer, size uintptr) *memory.Misuse {
	m := &memory.Misuse{Package: "arena", Op: op, Addr: uintptr(p), Size: size}
	off := uintptr(p) - uintptr(r.base)
	switch k := off >> r.shift; {
	case r.base == nil:
		m.Reason = "the arena is closed"
	case !r.mem.Contains(p):
		m.Reason = "foreign pointer: it lies outside this arena"
	case k >= uintptr(len(r.regions)):
		m.Reason = "the block is not live: its region is not used since the last Reset"
	case r.regions[k].live == 0:
		m.Reason = fmt.Sprintf("the block is not live: region %d is empty; freed twice, or never allocated", k)
	case off%granuleBytes != 0:
		m.Reason = fmt.Sprintf("interior pointer: blocks start at multiples of %d bytes", granuleBytes)
	case !r.starts(off):
		m.Reason = fmt.Sprintf("no live block of region %d starts there: freed twice, or interior", k)
	case size > r.end(k)-off:
		m.Reason = fmt.Sprintf("wrong size: it runs past the bytes in use of region %d, which end %d bytes behind it", k, r.end(k)-off)
	case r.covers(off, size):
		m.Reason = "wrong size: another live block starts within it"
	default:
		m.Reason = fmt.Sprintf("wrong size: the block has %d bytes", r.sizes[off])
	}
	return m
}
