package codec

import "math"

// A Decoder returns the samples of a file, a frame at a time.
type Decoder struct {
	head    Header
	coder   *coder
	model   *model
	fold    *transform
	q       []int
	steps   [bands]int
	x       []float64 // coefficients
	out     []float64 // samples of the frame, which the frame before began
	next    []float64
	samples int // returned
}

// NewDecoder checks the bytes after a header and returns their decoder, which keeps data.
func NewDecoder(h Header, data []byte) (*Decoder, error) {
	if err := h.check(data); err != nil {
		return nil, err
	}
	d := &Decoder{head: h, coder: newReader(data), model: newModel(h.Hop, h.Rate), fold: newTransform(h.Hop),
		q: make([]int, h.Hop), x: make([]float64, h.Hop), out: make([]float64, h.Hop), next: make([]float64, h.Hop)}
	d.frame()
	return d, nil
}

func (d *Decoder) frame() {
	d.out, d.next = d.next, d.out
	d.model.frame(d.coder, d.q, &d.steps)
	restore(d.x, d.q, &d.steps, &d.model.edge)
	d.fold.inverse(d.out, d.next, d.x)
}

// Next writes the samples of the next frame to dst, at most Hop and no more than fit, and returns their number: 0 at
// the end.
func (d *Decoder) Next(dst []int16) int {
	n := min(d.head.Hop, d.head.Samples-d.samples, len(dst))
	if n == 0 {
		return 0
	}
	d.frame()
	for i, v := range d.out[:n] {
		dst[i] = int16(max(-32768, min(math.Round(v*32768), 32767)))
	}
	d.samples += n
	return n
}

// restore fills coefficients. A multiple stands for values about it, of which smaller ones are more frequent.
func restore(x []float64, q []int, steps *[bands]int, edge *[bands + 1]int) {
	const toZero = 0.04
	for b := range bands {
		s := 0.0
		for k := edge[b]; k < edge[b+1]; k++ {
			if x[k] = 0; q[k] == 0 {
				continue
			}
			if s == 0 {
				s = step(steps[b])
			}
			if q[k] > 0 {
				x[k] = (float64(q[k]) - toZero) * s
			} else {
				x[k] = (float64(q[k]) + toZero) * s
			}
		}
	}
}
