package ground

import "fmt"

// Sizes that are the same in every realm.
const (
	SectorSize = 512                            // side of a sector in units, and of its picture in pixels
	Sectors    = 24                             // columns of sectors in a realm, and rows
	CellSize   = 8                              // side of a cell in units
	Border     = 8                              // cells of the neighbouring sectors that a recipe includes on each side
	Span       = SectorSize/CellSize + 2*Border // columns of cells in a recipe, and rows
	Bytes      = SectorSize * SectorSize * 4    // bytes of a sector's picture, four a pixel
	reach      = float32(Border-3) * CellSize   // units: further from a wall nothing may depend on it
	wallBytes  = Span * Span / 8
)

// The maximum numbers of entries in the lists of a recipe.
const (
	MaxStamps = 64
	MaxLights = 24
	MaxProps  = 32
	// MaxRecipe is the largest size of a recipe's file, in bytes.
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

// A Layer is what a stamp lies on.
type Layer uint8

const (
	OnFloor Layer = iota // on the floor, under shadows; walls hide it
	OnWalls              // on walls only
	Above                // above everything
	layers
)

// A Stamp draws a frame of the realm's picture of stamps (see [Stamps]) in a sector. Positions are in units from the
// sector's top left corner. A stamp that overlaps two sectors is in the [Recipe] of each, so its position may lie
// outside of the sector.
type Stamp struct {
	X, Y   int16 // the stamp's centre; multiples of 4 from -256 to 764
	ID     uint8 // number of the frame, counted along the rows; at most 63
	Layer  Layer
	Turn   uint8 // in 256ths of a turn, clockwise
	Scale  uint8 // side of the drawn frame in units, 16 to 255
	Color  uint8 // index in the palette of the colour that tints the frame, 0 to 4
	Amount uint8 // strength of the tint, from 0 (none) to 15 (full)
}

// A Light is a pool of light.
type Light struct {
	X, Y   int16 // the light's centre in units from the sector's corner; multiples of 4 from -256 to 764
	Radius int16 // units; even, 2 to 256
	Color  uint8 // index in the palette, 0 to 4
	Power  uint8 // 0 is dark; a white light of 255 doubles the floor's brightness at its centre, and adds a fifth of white
}

// A Prop is an object that the game itself draws and moves.
type Prop struct {
	X, Y int16 // units from the sector's corner; even, 0 to 510
	Kind uint8 // chosen by the game
}

// A Recipe describes the look of a sector. It has no pointer and may be stored off-heap. NStamps, NLights and NProps
// are the numbers of entries in use.
type Recipe struct {
	Base Base
	Loop uint8 // number of a looped sound; 0 means none
	X, Y int   // column and row of the sector
	// Warmth is the strength of cracks, caustics and threads, and Tone is the brightness of the floor. Both have a value
	// for each corner: top left, top right, bottom left, bottom right. 128 is neutral. Neighbours must have the same
	// value at a shared corner.
	Warmth, Tone [4]uint8
	Stamps       [MaxStamps]Stamp
	Lights       [MaxLights]Light
	Props        [MaxProps]Prop
	NStamps      int
	NLights      int
	NProps       int
	// Walls has a bit for each cell, 1 for solid, in rows of Span cells, the lowest bit first. The top left cell of
	// the sector is cell (Border, Border).
	Walls [wallBytes]byte
}

// A FileError describes a malformed file.
type FileError struct {
	File    string // "" if it is unknown
	Offset  int    // offset of the wrong byte; 0 for a palette
	Problem string // what is wrong and what is allowed
}

// Error returns the file, if it is known, the offset and the problem in one line.
func (e *FileError) Error() string {
	text := fmt.Sprintf("byte %d: %s", e.Offset, e.Problem)
	if e.File != "" {
		text = e.File + ": " + text
	}
	return text
}

// Solid reports whether the cell in column x and row y is a wall. It panics unless x and y are 0 to Span-1.
func (r *Recipe) Solid(x, y int) bool {
	if uint(x) >= Span {
		panic("ground: cell outside the recipe")
	}
	i := y*Span + x
	return r.Walls[i>>3]>>(i&7)&1 != 0
}
