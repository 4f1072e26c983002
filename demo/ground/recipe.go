package ground

import "fmt"

// The measures of every realm's ground.
const (
	SectorSize = 512                            // units, and pixels, in a row, and rows of them
	Sectors    = 24                             // in a row of a realm, and rows of them
	CellSize   = 8                              // units
	Border     = 8                              // cells of its neighbours that a sector knows, each way
	Span       = SectorSize/CellSize + 2*Border // cells that a sector knows, in a row, and rows of them
	Bytes      = SectorSize * SectorSize * 4    // of a sector's picture
	reach      = float32(Border-3) * CellSize   // units: further from a wall nothing may depend on it
	wallBytes  = Span * Span / 8
)

// What a recipe may hold.
const (
	MaxStamps = 64
	MaxLights = 24
	MaxProps  = 32
	// MaxRecipe bounds a recipe's file, in bytes.
	MaxRecipe = headBytes + MaxStamps*stampBytes + MaxLights*lightBytes + MaxProps*propBytes + Span*(Span+1)
)

const (
	recipeMagic = "SREC"
	version     = 1
	headBytes   = 20
	stampBytes  = 6
	lightBytes  = 5
	propBytes   = 3
)

// A Layer says what a stamp lies on.
type Layer uint8

const (
	OnFloor Layer = iota // and under every shadow; walls hide it
	OnWalls              // and nowhere else
	Above                // everything
	layers
)

// A Stamp is a picture of the realm's stamps, put somewhere. Places are in units from the sector's corner and may lie
// outside: what overlaps two sectors is in the recipes of both.
type Stamp struct {
	X, Y   int16 // its middle; multiples of 4 from -256 to 764
	ID     uint8 // up to 63
	Layer  Layer
	Turn   uint8 // in 256ths of a turn, clockwise
	Scale  uint8 // 128 is one
	Color  uint8 // of the palette, 0 to 4
	Amount uint8 // of that colour, 0 (none) to 15 (all)
}

// A Light is a pool of light on the floor.
type Light struct {
	X, Y   int16 // multiples of 4 from -256 to 764
	Radius int16 // even, 2 to 256
	Color  uint8 // of the palette, 0 to 4
	Power  uint8 // 255 doubles the floor, and adds a fifth of the colour
}

// A Prop is a thing that the game draws, and moves, itself.
type Prop struct {
	X, Y int16 // even, 0 to 510
	Kind uint8
}

// A Recipe says what a sector looks like. It holds no pointer, and may lie anywhere, a worker's block for instance; only
// the first of each list's entries, as many as its count says, are meant.
type Recipe struct {
	Base Base
	Loop uint8 // sound to be heard there; 0 is none
	X, Y int   // the sector
	// Warmth of cracks, caustics, threads, and Tone of the floor, 128 being usual, at the four corners: top left, top
	// right, bottom left, bottom right. Neighbours share theirs.
	Warmth, Tone [4]uint8
	Stamps       [MaxStamps]Stamp
	Lights       [MaxLights]Light
	Props        [MaxProps]Prop
	NStamps      int
	NLights      int
	NProps       int
	// Walls has a bit a cell, row by row, the lowest bit first; 1 is solid. Cell (Border, Border) is the sector's first.
	Walls [wallBytes]byte
}

// A FileError says what is wrong with a file: which one, at which byte, and what is allowed.
type FileError struct {
	File    string
	Offset  int
	Problem string
}

func (e *FileError) Error() string {
	return fmt.Sprintf("%s: byte %d: %s", e.File, e.Offset, e.Problem)
}

// Solid reports whether a cell is a wall. It panics outside [0, Span).
func (r *Recipe) Solid(x, y int) bool {
	if uint(x) >= Span {
		panic("ground: cell outside the recipe")
	}
	i := y*Span + x
	return r.Walls[i>>3]>>(i&7)&1 != 0
}

// SetSolid makes a cell a wall. It panics outside [0, Span).
func (r *Recipe) SetSolid(x, y int) {
	if uint(x) >= Span {
		panic("ground: cell outside the recipe")
	}
	i := y*Span + x
	r.Walls[i>>3] |= 1 << (i & 7)
}
