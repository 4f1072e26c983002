package session

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
	"unsafe"

	"github.com/strata-go/strata/demo/ground"
	"github.com/strata-go/strata/engine/stream"
	"github.com/strata-go/strata/memory/tiers"
)

// A composer composes sectors, on the workers.
//
// Invariant: the pictures in the workers' blocks never take more than inFlight bytes together.
type composer struct {
	st       *stream.Streamer
	mem      *tiers.Manager
	stamps   *stamps
	files    [][ground.MaxRecipe]byte // of recipes, one for each worker
	inFlight int
	begin    sync.Mutex // held by a worker that allocates a picture
}

// composeScratch is above the size of a recipe and of what it takes to compose it, without the picture.
const composeScratch = 384 << 10

// sectorFile is the name of a recipe within its realm.
func sectorFile(s ground.Sector) string { return string(appendSectorFile(nil, s)) }

func appendSectorFile(dst []byte, s ground.Sector) []byte {
	return append(dst, '0'+s.X/10, '0'+s.X%10, '_', '0'+s.Y/10, '0'+s.Y%10, '.', 'r', 'e', 'c')
}

// isSectorFile reports whether a path is that of a sector's recipe. It allocates nothing.
func isSectorFile(name string, s ground.Sector) bool {
	var buf [16]byte
	file := appendSectorFile(buf[:0], s)
	at := len(name) - len(file)
	return at > 0 && name[at-1] == '/' && name[at:] == string(file)
}

// compose composes a sector. The recipe and temporary data lie in the worker's scratch arena, so that its heap contains
// the picture and the props and nothing else.
func (c *composer) compose(r *stream.Reader, heap *stream.Heap) (p sectorPicture, err error) {
	file := c.files[heap.Worker()][:]
	if r.Size() > int64(len(file)) {
		return p, fmt.Errorf("a recipe of %d bytes; allowed are %d", r.Size(), len(file))
	}
	file = file[:r.Size()]
	if _, err := io.ReadFull(r, file); err != nil {
		return p, err
	}
	w := c.mem.Worker(heap.Worker())
	scratch, err := w.BeginTask()
	if err != nil {
		return p, err
	}
	defer func() {
		if failed := w.EndTask(); failed != nil { // errors.Join allocates for an err alone, as for each sector that is cancelled
			err = errors.Join(err, failed)
		}
	}()
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
	if !isSectorFile(r.Name(), p.sector) {
		return p, fmt.Errorf("it is the recipe of a sector whose file is %s", sectorFile(p.sector))
	}
	if p.pixels, err = c.canvas(r, heap); err != nil {
		return p, err
	}
	stamps := c.stamps.acquire()
	defer c.stamps.release()
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

// canvas allocates a picture, and waits while those in flight leave no space. The wait ends: they are delivered, or
// cancelled, as this one may be. The worker holds no block meanwhile.
func (c *composer) canvas(r *stream.Reader, heap *stream.Heap) ([]byte, error) {
	for {
		if pixels, ok, err := c.tryCanvas(heap); ok {
			return pixels, err
		}
		if err := r.Wanted(); err != nil {
			return nil, err
		}
		time.Sleep(time.Millisecond)
	}
}

func (c *composer) tryCanvas(heap *stream.Heap) (pixels []byte, ok bool, err error) {
	c.begin.Lock()
	defer c.begin.Unlock()
	if c.coming()+ground.Bytes > int64(c.inFlight) {
		return nil, false, nil
	}
	pixels, err = heap.Bytes(ground.Bytes)
	return pixels, true, err
}

// coming returns the bytes of pictures in the workers' blocks. The rest of these blocks are props, some tens of bytes
// each.
func (c *composer) coming() int64 {
	n, _ := stream.ResidentOf[sectorPicture](c.st)
	return n / ground.Bytes * ground.Bytes
}
