package main

import (
	"time"
	"unsafe"
)

// lifo is W2: blocks of 64 bytes, the newest freed first.
func (j *job) lifo() {
	depth := j.live
	stack := refs(64)
	fold(&j.drawn, uint64(depth))
	if j.nothing {
		j.empty()
		return
	}
	h := open(need{largest: 64, bytes: 64 * 64, blocks: 64, fixed: 64})
	rounds := j.ops / depth
	j.figures["pair"] = j.repeat(rounds*depth, func() time.Duration {
		start := time.Now()
		lifo(h, stack, depth, rounds)
		return time.Since(start)
	})
	for k := range depth {
		p := h.get()
		*(*uint64)(p) = uint64(k)
		fold(&j.read, *(*uint64)(p))
	}
}

func lifo(h heap, stack []ref, depth, rounds int) {
	stack = stack[:depth]
	for i := range rounds {
		for k := range stack {
			p := h.TryGet()
			if p == nil {
				p = h.Refill()
			}
			*(*uint64)(p) = uint64(i)
			stack[k] = ref(p)
		}
		for k := len(stack) - 1; k >= 0; k-- {
			h.Put(unsafe.Pointer(stack[k]))
		}
	}
}

// fifo is W3: blocks of 64 bytes, the oldest freed first.
func (j *job) fifo() {
	refs := refs(j.live)
	fold(&j.drawn, uint64(j.live))
	if j.nothing {
		j.empty()
		return
	}
	h := open(need{largest: 64, bytes: uintptr(j.live) * 64, blocks: j.live, fixed: 64})
	j.figures["pair"] = j.repeat(j.live*j.ops, func() time.Duration {
		start := time.Now()
		for range j.ops {
			fillFixed(h, refs)
			drain(h, refs)
		}
		return time.Since(start)
	})
	fillFixed(h, refs)
	for _, p := range refs {
		fold(&j.read, *(*uint64)(unsafe.Pointer(p)))
	}
	j.figures["live"], j.figures["resident"] = float64(j.live*64), resident()
}

func fillFixed(h heap, refs []ref) {
	for i := range refs {
		p := h.TryGet()
		if p == nil {
			p = h.Refill()
		}
		*(*uint64)(p) = uint64(i)
		refs[i] = ref(p)
	}
}

func drain(h heap, refs []ref) {
	if atOnce {
		h.Reset()
		return
	}
	for i, p := range refs {
		h.Put(unsafe.Pointer(p))
		if collected {
			refs[i] = none
		}
	}
}

// get returns a block of the fixed size.
func (h heap) get() unsafe.Pointer {
	if p := h.TryGet(); p != nil {
		return p
	}
	return h.Refill()
}

// A particle has 48 bytes.
type particle struct {
	X, Y, Z, VX, VY, VZ float32
	ID                  uint64
	Life, Size          float32
	Color, _            uint32
}

// particles is W5: in each frame a tenth of the particles ends and is replaced, and all are moved. The replacement is
// timed, the movement separately.
func (j *job) particles() {
	live, frames := j.live, j.ops
	dies := live / 10
	refs := refs(live)
	order := table(live)
	for i := range order {
		order[i] = uint32(i)
	}
	ends := table(dies * frames)
	for f := range frames {
		for i := range dies {
			k := i + int(j.rng.below(live-i))
			order[i], order[k] = order[k], order[i]
			ends[f*dies+i] = order[i]
			fold(&j.drawn, uint64(order[i]))
		}
	}
	if j.nothing {
		j.empty()
		return
	}
	h := open(need{largest: 48, bytes: uintptr(live) * 48, blocks: live, fixed: 48})
	for i := range refs {
		p := h.get()
		*(*particle)(p) = particle{VX: 1}
		refs[i] = ref(p)
	}
	var moving time.Duration
	j.figures["pair"] = j.repeat(dies*frames, func() (took time.Duration) {
		moving = 0
		for f := range frames {
			begin := time.Now()
			respawn(h, refs, ends[f*dies:(f+1)*dies])
			took += time.Since(begin)
			begin = time.Now()
			move(refs)
			moving += time.Since(begin)
		}
		return took
	})
	j.figures["move"] = float64(moving.Nanoseconds()) / float64(live*frames)
	for _, r := range refs {
		p := (*particle)(unsafe.Pointer(r))
		fold(&j.read, p.ID)
	}
	j.figures["live"], j.figures["resident"] = float64(live*48), resident()
}

func respawn(h heap, refs []ref, ends []uint32) {
	for _, at := range ends {
		h.Put(unsafe.Pointer(refs[at]))
	}
	for i, at := range ends {
		q := h.TryGet()
		if q == nil {
			q = h.Refill()
		}
		p := (*particle)(q)
		p.X, p.Y, p.Z = 0, 0, 0
		p.VX, p.VY, p.VZ = 1, 2, 3
		p.ID = uint64(i)
		refs[at] = ref(q)
	}
}

func move(refs []ref) {
	for _, r := range refs {
		p := (*particle)(unsafe.Pointer(r))
		p.X += p.VX
		p.Y += p.VY
		p.Z += p.VZ
	}
}
