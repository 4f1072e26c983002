package newcomer

// A Frame is a picture as drawn, in pixels of a window of W × H. A batch is what was drawn together; later ones lie
// over earlier ones.
type Frame struct {
	W, H      float32
	Texts     []Text
	Sprites   []Sprite
	Rings     []Ring
	Triangles []Triangle
}

// A Colour is premultiplied.
type Colour struct{ R, G, B, A float32 }

// A Text is one line. X and Y are its upper left corner.
type Text struct {
	Text                string
	X, Y, Width, Height float32
	Colour              Colour
	Batch               int
}

// A Sprite is a picture, placed by its middle. The name "fill" is a rectangle of one colour, and "glow" a soft dot.
type Sprite struct {
	Name       string
	X, Y, W, H float32
	Colour     Colour
	Batch      int
}

// A Ring is a circle or a polygon of some corners.
type Ring struct {
	X, Y, Radius float32
	Corners      int
	Colour       Colour
	Batch        int
}

// A Triangle is a filled one.
type Triangle struct {
	A, B, C [2]float32
	Colour  Colour
	Batch   int
}

// Hands are what the player does: the controls that it holds, by the names that the screen uses, and the position of
// the mouse.
type Hands struct {
	Held  []string
	Mouse [2]float32
	Click bool
}

// Holds reports whether a control is held.
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
