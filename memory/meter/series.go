package meter

// SlotCount is the number of values of a curve, see [Meter.Curve].
const SlotCount = 240

// A series is one figure by the wall clock: its maximum in each slot of the window, for drawing, and its minimum in
// each second, from which growth is judged. Neither depends on the number of frames a second.
//
// Invariants, verified in this order by check:
//
//	(1) slot < SlotCount is the present slot
//	(2) those of floor
type series struct {
	slots [SlotCount]float32
	slot  int32
	now   float64
	floor floor
}

func newSeries() series { return series{floor: newFloor()} }

// cross ends a slot, at whose end the figure was v.
func (s *series) cross(v float64) {
	s.slots[s.slot] = max(s.slots[s.slot], float32(v))
	s.slot = (s.slot + 1) % SlotCount
	s.slots[s.slot] = float32(v)
}

// set takes the figure of a frame, and at which 256th of the second it was read.
func (s *series) set(v float64, when uint8) {
	s.now = v
	s.slots[s.slot] = max(s.slots[s.slot], float32(v))
	s.floor.set(v, when)
}

// between returns the figure between the last frame and the present one, whose value is v: on a line.
func (s *series) between(v, share float64) float64 { return s.now + (v-s.now)*share }

// curve copies the slots, the oldest first.
func (s *series) curve(dst *[SlotCount]float32) {
	n := copy(dst[:], s.slots[s.slot+1:])
	copy(dst[n:], s.slots[:s.slot+1])
}

func (s *series) check() bool {
	return s.slot >= 0 && s.slot < SlotCount && s.floor.check()
}
