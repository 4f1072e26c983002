package main

import (
	"encoding/json"
	"os"
	"path/filepath"
)

// The measures of every realm: units, and cells of eight.
const (
	cellUnits  = 8
	realmSide  = 24 // sectors in a row, and rows of them
	sectorSide = 64 // cells of a sector in a row, and rows of them
	realmCells = realmSide * sectorSide
	wallsMagic = "SWAL\x01\x00\x00\x00"
)

// A realm is what is written by hand of one; all else follows from it and from the noise.
type realm struct {
	Version int       `json:"version"`
	Name    string    `json:"name"`
	Title   string    `json:"title"`
	Palette [5]string `json:"palette"`
	Start   [2]int    `json:"start"` // units
	Seals   [4][2]int `json:"seals"`
	Heart   [2]int    `json:"heart"`

	solid func(x, y int) bool // whether the rock is at a cell, before anything is dug
}

// Open ground around the places, in units but for the last.
const (
	startRoom = 320
	sealRoom  = 300
	heartRoom = 420
	spare     = 3 // cells more, as digging rounds corners
)

var realms = []realm{
	{
		Name: "ember", Title: "The Forge Without Walls", Palette: [5]string{"#0b0507", "#5a1014", "#f2641a", "#ffc246", "#fff6e0"},
		Start: [2]int{1640, 10560}, Heart: [2]int{6144, 6080},
		Seals: [4][2]int{{3520, 3260}, {9180, 3900}, {3060, 8320}, {8560, 9040}},
		solid: emberRock,
	},
	{
		Name: "tide", Title: "The Drowned Reaches", Palette: [5]string{"#03080f", "#0c4a56", "#22c3e0", "#c9fff0", "#ff7a66"},
		Start: [2]int{10620, 1720}, Heart: [2]int{6080, 6240},
		Seals: [4][2]int{{2900, 4060}, {8420, 3140}, {3720, 9220}, {9340, 8260}},
		solid: tideRock,
	},
	{
		Name: "spore", Title: "The Breathing Groves", Palette: [5]string{"#150926", "#2c5a1c", "#a4e02a", "#fff2c8", "#ff3da6"},
		Start: [2]int{1560, 1780}, Heart: [2]int{6240, 6160},
		Seals: [4][2]int{{4060, 2980}, {9260, 3480}, {3120, 8860}, {8300, 9420}},
		solid: sporeRock,
	},
}

// places returns the middles of the open discs with their radii, in cells.
func (r *realm) places() (all [6]struct{ x, y, room int }) {
	set := func(i int, p [2]int, room int) {
		all[i].x, all[i].y, all[i].room = p[0]/cellUnits, p[1]/cellUnits, room/cellUnits+spare
	}
	set(0, r.Heart, heartRoom)
	set(1, r.Start, startRoom)
	for i, p := range r.Seals {
		set(i+2, p, sealRoom)
	}
	return all
}

// describe returns the realm's NAME.json.
func (r *realm) describe() ([]byte, error) {
	r.Version = 1
	data, err := json.MarshalIndent(r, "", "\t")
	return append(data, '\n'), err
}

// writeRealms writes NAME.json, NAME.walls and the folder NAME of each realm to a folder.
func writeRealms(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for i := range realms {
		r := &realms[i]
		data, err := r.describe()
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, r.Name+".json"), data, 0o644); err != nil {
			return err
		}
		w := survey(r)
		if err := os.WriteFile(filepath.Join(dir, r.Name+".walls"), w.cells.pack(), 0o644); err != nil {
			return err
		}
		if err := w.writeSectors(filepath.Join(dir, r.Name)); err != nil {
			return err
		}
	}
	return nil
}
