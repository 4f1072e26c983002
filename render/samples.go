package render

// SampleCount is four seconds of a 60 Hz figure.
const SampleCount = 240

// Samples is a ring of the last SampleCount values of a figure, with a scale for drawing
// them that does not flicker. It holds no pointer and may live off-heap. The zero Samples
// is empty.
//
// Invariants:
//
//	(1) head < SampleCount is where the next value goes
//	(2) n <= SampleCount values are there, the oldest at head-n
//	(3) ceil is 0 or a power of two, at least as large as every value there
type Samples struct {
	v    [SampleCount]float32
	head int32
	n    int32
	ceil float32
}

// Push adds a value. Negative ones and NaN count as 0.
func (s *Samples) Push(v float32) {
	if !(v > 0) {
		v = 0
	}
	s.v[s.head] = v
	s.n = min(s.n+1, SampleCount)
	s.head++
	if s.head == SampleCount {
		s.head = 0
		s.settle()
	}
	for v > s.ceil && s.ceil < 1<<60 {
		s.ceil = max(s.ceil*2, 1.0/1024)
	}
}

// settle lowers the scale once a turn of the ring, and only where the values have long
// used less than a quarter of it: a scale that follows every dip is unreadable.
func (s *Samples) settle() {
	m := s.Max()
	for s.ceil > 4*m && s.ceil > 1.0/1024 {
		s.ceil /= 2
	}
}

// Len returns the number of values; At returns the i-th, 0 being the oldest.
func (s *Samples) Len() int { return int(s.n) }

func (s *Samples) At(i int) float32 {
	return s.v[(int(s.head)-int(s.n)+i+SampleCount)%SampleCount]
}

// Last returns the newest value, or 0.
func (s *Samples) Last() float32 {
	if s.n == 0 {
		return 0
	}
	return s.At(int(s.n) - 1)
}

// Max returns the largest value there, or 0.
func (s *Samples) Max() float32 {
	var m float32
	for _, v := range s.v[:s.n] {
		m = max(m, v)
	}
	return m
}

// Ceil returns the top of the scale: a power of two that the values stay below.
func (s *Samples) Ceil() float32 { return s.ceil }
