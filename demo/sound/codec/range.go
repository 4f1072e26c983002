package codec

// A chance is the learned probability that a bit is 0, of 1<<chanceBits. The first bits teach it most.
type chance struct {
	p    uint16
	seen uint16
}

const (
	chanceBits = 15
	patience   = 48 // bits that a chance remembers
)

// gains has the share of the error that a chance corrects, of 1<<16, by the bits it has seen.
var gains = func() (g [patience + 1]int32) {
	for i := range g {
		g[i] = int32(float64(1<<16) / (float64(i) + 1.7))
	}
	return g
}()

func (c *chance) learn(bit int) {
	goal := int32(1<<chanceBits - 48)
	if bit != 0 {
		goal = 48
	}
	c.p = uint16(int32(c.p) + (goal-int32(c.p))*gains[c.seen]>>16)
	c.seen = min(c.seen+1, patience)
}

// A coder writes bits or, if it reads, returns those that were written. One function can so describe a format for both.
type coder struct {
	writes bool
	data   []byte // written, or not read yet
	span   uint32
	code   uint32 // reading: the place in the span
	low    uint64 // writing
	held   byte
	later  int // bytes whose carry is not known yet
}

func newWriter() *coder { return &coder{writes: true, span: 1<<32 - 1, later: 1} }

func newReader(data []byte) *coder {
	c := &coder{data: data, span: 1<<32 - 1}
	for range 5 {
		c.code = c.code<<8 | uint32(c.next())
	}
	return c
}

// next returns 0 after the end: end leaves out zeros there.
func (c *coder) next() (b byte) {
	if len(c.data) > 0 {
		b, c.data = c.data[0], c.data[1:]
	}
	return b
}

// bit codes a bit. If the coder reads, the argument does not matter.
func (c *coder) bit(p *chance, bit int) int {
	bit = c.split((c.span>>chanceBits)*uint32(p.p), bit)
	p.learn(bit)
	return bit
}

// even codes a bit for which both values are as likely.
func (c *coder) even(bit int) int { return c.split(c.span>>1, bit) }

func (c *coder) split(bound uint32, bit int) int {
	if !c.writes {
		if bit = 0; c.code >= bound {
			bit = 1
			c.code -= bound
		}
	} else if bit != 0 {
		c.low += uint64(bound)
	}
	if bit != 0 {
		c.span -= bound
	} else {
		c.span = bound
	}
	for c.span < 1<<24 {
		c.span <<= 8
		if c.writes {
			c.shift()
		} else {
			c.code = c.code<<8 | uint32(c.next())
		}
	}
	return bit
}

// shift moves the highest byte of low out. A byte of 255 waits, because a carry may still change it.
func (c *coder) shift() {
	if c.low < 0xff000000 || c.low >= 1<<32 {
		for b := c.held; c.later > 0; c.later-- {
			c.data = append(c.data, b+byte(c.low>>32))
			b = 0xff
		}
		c.held = byte(c.low >> 24)
	}
	c.later++
	c.low = c.low & 0xffffff << 8
}

// end returns all that was written.
func (c *coder) end() []byte {
	for range 5 {
		c.shift()
	}
	for len(c.data) > 0 && c.data[len(c.data)-1] == 0 {
		c.data = c.data[:len(c.data)-1]
	}
	return c.data
}
