package codec

import "math"

// barks are the limits of critical bands in Hz, after Zwicker.
var barks = [...]int{0, 100, 200, 300, 400, 510, 630, 770, 920, 1080, 1270, 1480, 1720, 2000, 2320, 2700, 3150, 3700,
	4400, 5300, 6400, 7700, 9500, 12000, 15500, 24000}

// limit returns the lower limit of a half band in Hz.
func limit(band int) int {
	if band%2 == 0 {
		return barks[band/2]
	}
	return (barks[band/2] + barks[band/2+1]) / 2
}

const bands = 2 * (len(barks) - 1)

// edges returns where the bands of n frequencies up to half the rate begin, and n. A band may be empty.
func edges(n, rate int) (e [bands + 1]int) {
	for b := range e {
		e[b] = min((2*n*limit(b)+rate/2)/rate, n)
	}
	e[bands] = n
	return e
}

// Steps are 2^(s/4) for s within these limits.
const leastStep, mostStep = -80, 40

func step(s int) float64 { return math.Exp2(float64(s) / 4) }

// most is the largest multiple of a step.
const most = 1<<15 - 1

const (
	large    = 14 // multiples from here on have a code of their own
	contexts = 16
	zones    = 3
)

// A model has all that a coder learns, and the format of a frame.
type model struct {
	edge   [bands + 1]int
	steps  [bands]int
	loud   [bands]int // 1 if the band had multiples in the frame before
	before []int      // multiples of the frame before, without signs, from index 1 on; one more at the end
	any    [bands / 10][4]chance
	same   chance
	dist   [16]chance
	size   [contexts * zones][large]chance
	digits [16]chance
}

func newModel(hop, rate int) *model {
	m := &model{edge: edges(hop, rate), before: make([]int, hop+2)}
	for _, list := range [][]chance{m.dist[:], m.digits[:]} {
		even(list)
	}
	for i := range m.any {
		even(m.any[i][:])
	}
	for i := range m.size {
		even(m.size[i][:])
	}
	m.same.p = 1 << (chanceBits - 1)
	return m
}

func even(list []chance) {
	for i := range list {
		list[i].p = 1 << (chanceBits - 1)
	}
}

// frame codes the multiples of a frame and the steps of its bands. A writer reads both, a reader fills them. A step of
// a band without multiples is not coded.
func (m *model) frame(c *coder, q []int, steps *[bands]int) {
	below := 0
	for b := range bands {
		from, to := m.edge[b], m.edge[b+1]
		if from == to {
			continue
		}
		any := 0
		for _, v := range q[from:to] {
			if v != 0 {
				any = 1
			}
		}
		any = c.bit(&m.any[b/10][m.loud[b]*2+below], any)
		if below, m.loud[b] = any, any; any == 0 {
			clear(q[from:to])
			continue
		}
		m.steps[b] = max(leastStep, min(m.steps[b]+m.change(c, steps[b]-m.steps[b]), mostStep))
		steps[b] = m.steps[b]
		for k := from; k < to; k++ {
			q[k] = m.multiple(c, q, k)
		}
	}
	for k, v := range q {
		m.before[k+1] = max(v, -v)
	}
}

// change codes the difference of two steps.
func (m *model) change(c *coder, d int) int {
	if c.bit(&m.same, truth(d != 0)) == 0 {
		return 0
	}
	minus, n := c.even(truth(d < 0)), 1
	for n < mostStep-leastStep && c.bit(&m.dist[min(n, len(m.dist)-1)], truth(max(d, -d) > n)) != 0 {
		n++
	}
	return n - 2*n*minus
}

// multiple codes q[k], which those beside it make likely.
func (m *model) multiple(c *coder, q []int, k int) int {
	near := 2*m.before[k+1] + m.before[k]
	if k+2 < len(m.before) {
		near += m.before[k+2]
	}
	if k > 0 {
		near += 2 * min(max(q[k-1], -q[k-1]), 15)
	}
	if k > 1 {
		near += min(max(q[k-2], -q[k-2]), 15)
	}
	if near > 4 {
		near = min(4+(near-4)/3, contexts-1)
	}
	zone := 0
	if 8*k > len(q) {
		zone++
	}
	if 2*k > len(q) {
		zone++
	}
	size := &m.size[near*zones+zone]
	v, n := max(q[k], -q[k]), 0
	for n < large && c.bit(&size[n], truth(v > n)) != 0 {
		n++
	}
	if n == 0 {
		return 0
	}
	if n == large {
		n += m.rest(c, v-large)
	}
	if c.even(truth(q[k] < 0)) != 0 {
		return -n
	}
	return n
}

// rest codes a number: how many binary digits its successor has, and these.
func (m *model) rest(c *coder, v int) int {
	n := 0
	for n < len(m.digits)-1 && c.bit(&m.digits[n], truth((v+1)>>(n+1) != 0)) != 0 {
		n++
	}
	got := 1
	for n--; n >= 0; n-- {
		got = got<<1 | c.even((v+1)>>n&1)
	}
	return min(got-1, most-large)
}

func truth(b bool) int {
	if b {
		return 1
	}
	return 0
}
