package realm

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"github.com/strata-go/strata/demo/strictjson"
)

// Sizes that are the same in every realm.
const (
	CellSize   = 8                               // side of a cell in units
	SectorSize = 512                             // side of a sector in units
	Sectors    = 24                              // columns of sectors, and as many rows
	Cells      = Sectors * SectorSize / CellSize // columns of cells, and as many rows
	World      = Sectors * SectorSize            // side of a realm in units
	Seals      = 4                               // seals of a realm
)

const (
	wallsMagic  = "SWAL\x01\x00\x00\x00"
	wallsLength = len(wallsMagic) + Cells*Cells/8
	infoMost    = 16 << 10 // bytes of a realm's description
	infoVersion = 1
)

// A FileError describes a mistake in a realm's file. File is the file's name, or "" if it is unknown. Place is the
// position of the mistake in the file. Problem describes the mistake and the allowed values.
type FileError struct{ File, Place, Problem string }

func (e *FileError) Error() string {
	text := e.Place + ": " + e.Problem
	if e.File != "" {
		text = e.File + ": " + text
	}
	return text
}

// A Point is a place in the world, in units.
type Point [2]float32

// An Info is a realm's description. It lies in the Go heap. Treat it as read-only.
type Info struct {
	Name    string
	Title   string
	Palette [5]string // #rrggbb, dark to light
	Start   Point
	Seals   [Seals]Point
	Heart   Point
}

var (
	nameForm  = regexp.MustCompile(`^[a-z0-9_-]{1,32}$`)
	colorForm = regexp.MustCompile(`^#[0-9a-fA-F]{6}$`)
)

// infoFile is a description as JSON; a nil field is missing.
type infoFile struct {
	Version *int         `json:"version"`
	Name    *string      `json:"name"`
	Title   *string      `json:"title"`
	Palette *[]string    `json:"palette"`
	Start   *[]float64   `json:"start"`
	Seals   *[][]float64 `json:"seals"`
	Heart   *[]float64   `json:"heart"`
}

// ParseInfo reads a realm's description from data and keeps nothing of data. Every field is required, and no other is
// allowed. The error is a *FileError about the first mistake, with file as the name of the file.
func ParseInfo(file string, data []byte) (*Info, error) {
	bad := func(place, format string, args ...any) (*Info, error) {
		return nil, &FileError{file, place, fmt.Sprintf(format, args...)}
	}
	if len(data) > infoMost {
		return bad("length", "%d bytes; allowed are up to %d", len(data), infoMost)
	}
	var raw infoFile
	if at, err := strictjson.Decode(data, &raw); err != nil {
		return bad(fmt.Sprintf("byte %d", at), "%v", err)
	}
	for _, f := range []struct {
		name string
		nil  bool
	}{
		{"version", raw.Version == nil}, {"name", raw.Name == nil}, {"title", raw.Title == nil}, {"palette", raw.Palette == nil},
		{"start", raw.Start == nil}, {"seals", raw.Seals == nil}, {"heart", raw.Heart == nil},
	} {
		if f.nil {
			return bad(f.name, "missing; every field is required")
		}
	}
	switch {
	case *raw.Version != infoVersion:
		return bad("version", "%d; allowed is %d", *raw.Version, infoVersion)
	case !nameForm.MatchString(*raw.Name):
		return bad("name", "%.40q; allowed are 1 to 32 of a-z, 0-9, - and _", *raw.Name)
	case len(*raw.Title) < 1 || len(*raw.Title) > 64 || strings.ContainsFunc(*raw.Title, unicode.IsControl):
		return bad("title", "%.40q; allowed are 1 to 64 bytes on one line", *raw.Title)
	case len(*raw.Palette) != len(Info{}.Palette):
		return bad("palette", "%d colours; allowed are 5", len(*raw.Palette))
	case len(*raw.Seals) != Seals:
		return bad("seals", "%d; allowed are %d", len(*raw.Seals), Seals)
	}
	in := &Info{Name: *raw.Name, Title: *raw.Title}
	for i, c := range *raw.Palette {
		if !colorForm.MatchString(c) {
			return bad(fmt.Sprintf("palette[%d]", i), "%.40q; allowed is #rrggbb", c)
		}
		in.Palette[i] = c
	}
	places := [][]float64{*raw.Start, *raw.Heart}
	places = append(places, *raw.Seals...)
	for i, to := range append([]*Point{&in.Start, &in.Heart}, in.seals()...) {
		from := places[i]
		if len(from) != 2 || !inside(from[0]) || !inside(from[1]) {
			what := fmt.Sprint(from)
			if len(from) != 2 {
				what = fmt.Sprintf("%d numbers", len(from))
			}
			return bad(placeName(i), "%s; allowed are two numbers of at least 0 and below %d", what, World)
		}
		*to = Point{float32(from[0]), float32(from[1])}
	}
	return in, nil
}

func (in *Info) seals() (all []*Point) {
	for i := range in.Seals {
		all = append(all, &in.Seals[i])
	}
	return all
}

// placeName names the i-th of start, heart and seals.
func placeName(i int) string {
	if i < 2 {
		return [2]string{"start", "heart"}[i]
	}
	return fmt.Sprintf("seals[%d]", i-2)
}

// inside tells a coordinate of the world; as a float32 it must not round up to the edge.
func inside(v float64) bool { return v >= 0 && float32(v) < World }

// Walls are a realm's walls. They have a bit for each of Cells by Cells cells, row by row, the lowest bit first. 1 is
// solid. With fewer bytes Walls.Solid and the goroutine of [Start] panic.
type Walls []byte

// ParseWalls checks the content of a file of walls and returns the walls, a part of data. The error is a
// *FileError.
func ParseWalls(file string, data []byte) (Walls, error) {
	n := min(len(data), len(wallsMagic))
	if string(data[:n]) != wallsMagic {
		return nil, &FileError{file, "byte 0", fmt.Sprintf("begins with %q; allowed is %q", data[:n], wallsMagic)}
	}
	if len(data) != wallsLength {
		return nil, &FileError{file, "length", fmt.Sprintf("%d bytes; allowed are %d: 8, and a bit for each of %d x %d cells", len(data), wallsLength, Cells, Cells)}
	}
	return Walls(data[len(wallsMagic):]), nil
}

// Solid reports whether the cell in column x and row y is solid. Outside of the world it returns true.
func (w Walls) Solid(x, y int) bool {
	if uint(x) >= Cells || uint(y) >= Cells {
		return true
	}
	i := y*Cells + x
	return w[i>>3]>>(i&7)&1 != 0
}
