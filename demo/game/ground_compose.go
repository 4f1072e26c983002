package game

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unsafe"

	"github.com/strata-go/strata/demo/ground"
	"github.com/strata-go/strata/engine/stream"
)

// compose draws a sector, on a worker: its recipe and what else it takes lie in the worker's scratch arena, so that of its
// heap there is the picture and nothing else.
func (g *scenery) compose(r *stream.Reader, heap *stream.Heap) (p sceneryPicture, err error) {
	file := g.files[heap.Worker()][:]
	if r.Size() > int64(len(file)) {
		return p, fmt.Errorf("a recipe of %d bytes; allowed are %d", r.Size(), len(file))
	}
	file = file[:r.Size()]
	if _, err := io.ReadFull(r, file); err != nil {
		return p, err
	}
	w := g.mem.Worker(heap.Worker())
	scratch, err := w.BeginTask()
	if err != nil {
		return p, err
	}
	defer func() { err = errors.Join(err, w.EndTask()) }()
	block, err := scratch.Alloc(unsafe.Sizeof(ground.Recipe{}), unsafe.Alignof(ground.Recipe{}))
	if err != nil {
		return p, err
	}
	recipe := (*ground.Recipe)(block)
	*recipe = ground.Recipe{}
	if err := recipe.Parse(r.Name(), file); err != nil {
		return p, err
	}
	p.sector = ground.Sector{X: uint8(recipe.X), Y: uint8(recipe.Y)}
	if want := sectorFile(p.sector); !strings.HasSuffix(r.Name(), "/"+want) {
		return p, fmt.Errorf("it is the recipe of a sector whose file is %s", want)
	}
	if p.pixels, err = g.canvas(r, heap); err != nil {
		return p, err
	}
	g.composing.Add(1) // before the look: see unstamp
	defer g.composing.Add(-1)
	stamps := g.stamps.Load()
	if stamps == nil {
		return p, errors.New("its realm has no stamps")
	}
	if err := ground.Compose(p.pixels, recipe, stamps, scratch, r.Wanted); err != nil {
		return p, err
	}
	if n := recipe.NProps; n > 0 {
		things, err := heap.Alloc(uintptr(n)*unsafe.Sizeof(ground.Prop{}), unsafe.Alignof(ground.Prop{}))
		if err != nil {
			return p, err
		}
		p.props = unsafe.Slice((*ground.Prop)(things), n)
		copy(p.props, recipe.Props[:n])
	}
	return p, nil
}

// sectorFile is the name of a recipe within its realm.
func sectorFile(s ground.Sector) string { return fmt.Sprintf("%02d_%02d.rec", s.X, s.Y) }

func sectorIndex(s ground.Sector) int { return int(s.Y)*ground.Sectors + int(s.X) }

// groundOnWay returns what of a budget is for pictures on their way, in blocks of the workers.
func groundOnWay(budget int) int {
	if budget < 32<<20 {
		return ground.Bytes
	}
	return 4 * ground.Bytes
}

// GroundRoom returns how many sectors the view must have room for in a budget: what is left of it beside those on
// their way, in pages of as many as make 64 pages at most.
func GroundRoom(budget int) (sectors int) {
	sectors = (budget - groundOnWay(budget)) / ground.Bytes
	switch {
	case sectors > 4*64:
		return sectors &^ 15
	case sectors > 64:
		return sectors &^ 3
	}
	return sectors
}

// groundScratch is more than a recipe and what it takes to draw it, beside the picture.
const groundScratch = 384 << 10

// canvas takes the room for a picture, and waits while those on their way leave none. That ends: they are delivered, or
// cancelled, as this one may be. It holds no block meanwhile.
func (g *scenery) canvas(r *stream.Reader, heap *stream.Heap) ([]byte, error) {
	for {
		if pixels, ok, err := g.tryCanvas(heap); ok {
			return pixels, err
		}
		if err := r.Wanted(); err != nil {
			return nil, err
		}
		time.Sleep(time.Millisecond)
	}
}

func (g *scenery) tryCanvas(heap *stream.Heap) (pixels []byte, ok bool, err error) {
	g.begin.Lock()
	defer g.begin.Unlock()
	coming, _ := stream.ResidentOf[sceneryPicture](g.st)
	if pictures(coming)+ground.Bytes > int64(groundOnWay(g.budget)) {
		return nil, false, nil
	}
	pixels, err = heap.Bytes(ground.Bytes)
	return pixels, true, err
}
