package game

import (
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"testing/fstest"

	"github.com/strata-go/strata/assets"
	"github.com/strata-go/strata/demo/realm"
)

// pillars is a ground for tests that need one with walls and no particular one: blocks in a broken
// grid, with roads between them.
var pillars = sync.OnceValue(func() []byte {
	w := realm.NewWalls()
	for by := range realm.Cells / 32 {
		for bx := range realm.Cells / 32 {
			n := uint32(bx*73856093) ^ uint32(by*19349663)
			n ^= n >> 13
			n *= 0x5bd1e995
			wide, high := 6+int(n>>8%12), 6+int(n>>16%12)
			clear := false // about the places of the description
			for _, p := range [][2]int{{6144, 8448}, {2500, 2500}, {9800, 2600}, {2450, 9700}, {9850, 9840}, {6144, 6144}} {
				dx, dy := p[0]/256-bx, p[1]/256-by
				clear = clear || dx*dx+dy*dy < 2
			}
			if n%5 < 2 || clear {
				continue
			}
			for y := by*32 + 6; y < by*32+6+high; y++ {
				for x := bx*32 + 6; x < bx*32+6+wide; x++ {
					w.Set(x, y, true)
				}
			}
		}
	}
	return append([]byte("SWAL\x01\x00\x00\x00"), w...)
})

// withGround is a file system with realms for all levels, pillars where there are none.
type withGround struct {
	fs.FS
	realms fstest.MapFS
}

func ground() fs.FS {
	f := withGround{assets.FS(), fstest.MapFS{}}
	for _, name := range []string{"ember", "tide", "spore"} {
		f.realms["realms/"+name+".walls"] = &fstest.MapFile{Data: pillars()}
		f.realms["realms/"+name+".json"] = &fstest.MapFile{Data: fmt.Appendf(nil, `{"version":1,"name":%q,"title":"Test","palette":["#000000","#202020","#808080","#c0c0c0","#ffffff"],
"start":[6144,8448],"seals":[[2500,2500],[9800,2600],[2450,9700],[9850,9840]],"heart":[6144,6144]}`, name)}
	}
	return f
}

func (f withGround) Open(name string) (fs.File, error) {
	if strings.HasPrefix(name, "realms/") {
		return f.realms.Open(name)
	}
	return f.FS.Open(name)
}
