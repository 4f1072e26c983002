package newcomer

// A Frame lists the shapes of a picture, in pixels of a window of W × H. Batch is the number of the draw call of a
// shape. Batches with higher numbers lie over those with lower ones.
type Frame struct {
	W, H      float32
	Texts     []Text
	Sprites   []Sprite
	Rings     []Ring
	Triangles []Triangle
}

// A Colour has premultiplied components from 0 to 1.
type Colour struct{ R, G, B, A float32 }

// A Text is one line of text. X and Y are its upper left corner.
type Text struct {
	Text                string
	X, Y, Width, Height float32
	Colour              Colour
	Batch               int
}

// A Sprite is a picture with its middle at (X, Y). If Name is "fill", it is a rectangle of one colour, and if Name is
// "glow", a soft dot.
type Sprite struct {
	Name       string
	X, Y, W, H float32
	Colour     Colour
	Batch      int
}

// A Ring is the outline of a regular polygon with its middle at (X, Y). A circle is a polygon with many corners.
type Ring struct {
	X, Y, Radius float32
	Corners      int
	Colour       Colour
	Batch        int
}

// A Triangle is a filled triangle with the corners A, B and C.
type Triangle struct {
	A, B, C [2]float32
	Colour  Colour
	Batch   int
}

// Hands are the player's input: the controls that the player holds, by the names on the screen, the position of the
// mouse in pixels, and a click.
type Hands struct {
	Held  []string
	Mouse [2]float32
	Click bool
}

// Holds reports whether the control with this name is held.
func (h *Hands) Holds(control string) bool {
	for _, c := range h.Held {
		if c == control {
			return true
		}
	}
	return false
}

type vec [2]float32

func (a vec) add(b vec) vec            { return vec{a[0] + b[0], a[1] + b[1]} }
func (a vec) sub(b vec) vec            { return vec{a[0] - b[0], a[1] - b[1]} }
func (a vec) mul(k float32) vec        { return vec{a[0] * k, a[1] * k} }
func (a vec) dot(b vec) float32        { return a[0]*b[0] + a[1]*b[1] }
func (a vec) length() float32          { return sqrt(a.dot(a)) }
func (a vec) to(b vec) float32         { return b.sub(a).length() }
func (a vec) turned() vec              { return vec{-a[1], a[0]} }
func (a vec) mix(b vec, k float32) vec { return a.add(b.sub(a).mul(k)) }

func (a vec) unit() vec {
	if l := a.length(); l > 1e-4 {
		return a.mul(1 / l)
	}
	return vec{}
}
