package main

// rng is xorshift64*.
type rng uint64

const seed rng = 0x9E3779B97F4A7C15

func (r *rng) next() uint64 {
	*r ^= *r >> 12
	*r ^= *r << 25
	*r ^= *r >> 27
	return uint64(*r) * 0x2545F4914F6CDD1D
}

// below returns a number from 0 to n-1.
func (r *rng) below(n int) uint32 { return uint32((r.next() >> 32) % uint64(n)) }

// between returns a number from lo to hi.
func (r *rng) between(lo, hi uint32) uint32 { return lo + r.below(int(hi-lo+1)) }

// fold adds a number to a checksum, whose value depends on the order.
func fold(sum *uint64, v uint64) { *sum = (*sum ^ v) * 1099511628211 }

// A table is an array of numbers outside of the Go heap, so that the collector neither scans nor counts it.

// draw returns a table of n numbers that f draws, and adds them to the checksum.
func (j *job) draw(n int, f func() uint32) []uint32 {
	t := table(n)
	for i := range t {
		t[i] = f()
		fold(&j.drawn, uint64(t[i]))
	}
	return t
}

// sizesBetween draws n sizes.
func (j *job) sizesBetween(n int, lo, hi uint32) []uint32 {
	return j.draw(n, func() uint32 { return j.rng.between(lo, hi) })
}

// permutation draws an order of n numbers.
func (j *job) permutation(n int) []uint32 {
	t := table(n)
	for i := range t {
		t[i] = uint32(i)
	}
	for i := n - 1; i > 0; i-- {
		k := j.rng.below(i + 1)
		t[i], t[k] = t[k], t[i]
	}
	for _, v := range t {
		fold(&j.drawn, uint64(v))
	}
	return t
}

// A kind is a distribution of sizes.
type kind int

const (
	small kind = iota // 16 to 512 bytes
	mixed             // 80 % up to 256 bytes, 15 % up to 4 KiB, 5 % up to 64 KiB
	large             // 4 KiB to 256 KiB
)

func (k kind) draw(r *rng) uint32 {
	switch k {
	case small:
		return r.between(16, 512)
	case large:
		return r.between(4<<10, 256<<10)
	}
	switch share := r.between(0, 99); {
	case share < 80:
		return r.between(16, 256)
	case share < 95:
		return r.between(257, 4096)
	}
	return r.between(4097, 64<<10)
}

// largest is the largest size of the kind, and mean the average.
func (k kind) largest() uintptr { return [...]uintptr{512, 64 << 10, 256 << 10}[k] }
func (k kind) mean() uintptr    { return [...]uintptr{264, 2200, 130 << 10}[k] }
