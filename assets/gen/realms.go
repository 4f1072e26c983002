package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/strata-go/strata/demo/ground"
	rules "github.com/strata-go/strata/demo/realm"
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

	Ambient ambient `json:"-"` // is in the level's file

	base    ground.Base
	solid   func(x, y int) bool // whether the rock is at a cell, before anything is dug
	stamps  [stampsAcross * stampsDown]stamp
	lots    []lot
	onWalls []uint8  // the stamps that grow on walls
	ring    [2]uint8 // those around seals and the heart, in turns
	music   [4]func() *score
}

// ambient is what floats about: particles a second, and of which kind.
type ambient struct {
	rate int
	kind string
}

// Open ground around the places, in units but for the last.
const (
	startRoom = 320
	sealRoom  = 300
	heartRoom = 420
	spare     = 3 // cells more, as digging rounds corners
)

// realms are all of them, in the order of rules.Names: each has a file of its own, realm_NAME.go, which adds it.
var realms [len(rules.Names)]realm

// add puts a realm into its place. It is called while the program is initialised.
func add(r realm) {
	i := slices.Index(rules.Names[:], r.Name)
	if i < 0 {
		panic("gen: " + r.Name + " is none of rules.Names")
	}
	realms[i] = r
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

// writeRealm writes NAME.json, NAME.walls and the folder NAME of a realm to a folder.
func writeRealm(dir string, r *realm) error {
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
	return w.writeSectors(filepath.Join(dir, r.Name))
}

// levelFile returns the level file of the i-th realm: what it is called and followed by, in what colours, and the
// pictures that it shows, which are those of all levels and its own far one. What is needed at once stands in front.
func levelFile(i int) []byte {
	r, next := &realms[i], &realms[(i+1)%len(realms)]
	var b strings.Builder
	fmt.Fprintf(&b, "{\n\t\"version\": 1,\n\t\"name\": %q,\n\t\"title\": %q,\n\t\"next\": %q,\n", r.Name, r.Title, next.Name)
	fmt.Fprintf(&b, "\t\"palette\": [\"%s\"],\n", strings.Join(r.Palette[:], `", "`))
	fmt.Fprintf(&b, "\t\"ambient\": {\"rate\": %d, \"kind\": %q},\n\t\"assets\": [", r.Ambient.rate, r.Ambient.kind)
	shown := slices.DeleteFunc(slices.Clone(pictures), func(p picture) bool { return p.needed == never })
	slices.SortStableFunc(shown, func(a, b picture) int { return cmp.Compare(a.needed, b.needed) })
	comma := ""
	list := func(id, file string, needed int) {
		fmt.Fprintf(&b, "%s\n\t\t{\"id\": %q, \"file\": %q, \"priority\": %d}", comma, id, file, needed)
		comma = ","
	}
	for i, p := range shown {
		if list(p.name, "art/"+p.name+".png", p.needed); i == 0 {
			list("far", "realms/"+r.Name+"/far.png", atOnce)
		}
	}
	b.WriteString("\n\t]\n}\n")
	return []byte(b.String())
}

// writeLevels writes NAME.json of each realm to a folder.
func writeLevels(dir string) error {
	for i := range realms {
		if err := os.WriteFile(filepath.Join(dir, realms[i].Name+".json"), levelFile(i), 0o644); err != nil {
			return err
		}
	}
	return nil
}
