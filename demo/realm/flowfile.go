package realm

import (
	"fmt"
	"math/bits"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/save"
)

// A fileField is a field in a file. Its tiles, those whose bit is set, are in a list of their own.
type fileField struct {
	X0, Y0, Node int32
	Tiles        uint32
	Sum          uint64
}

// A fileLane is a lane in a file.
type fileLane struct {
	There             bool
	Next              int32
	Due, Asked, Crowd uint64
	Field             fileField
}

// A fileResult is a result that is not due yet.
type fileResult struct {
	Failed bool
	Field  fileField
}

// A savedField is a field of a file. The worker allocates its tiles.
type savedField struct {
	fileField
	bytes []byte
}

// SaveFile saves in a file, or loads, the fields in use and the computed fields that are not in use yet. If requested
// fields were not computed, the error wraps save.ErrBusy: call [Flow.Rest] before. During a load the worker allocates
// the memory of the fields.
func (f *Flow) SaveFile(c *save.Coder) {
	if f.busy(c) {
		return
	}
	tick := c.Word(f.tick)
	var lanes []fileLane
	var results []fileResult
	var bytes []byte
	if c.Saving() {
		for k := range f.lanes {
			l := &f.lanes[k]
			lanes = append(lanes, fileLane{l.there, l.next, l.due, l.asked, l.crowd, l.field.file(&bytes)})
		}
		for k := range f.results[:f.early] {
			r := &f.results[k]
			results = append(results, fileResult{r.err != nil, r.field.file(&bytes)})
		}
	}
	save.List(c, &lanes)
	save.List(c, &results)
	save.List(c, &bytes)
	if c.Loading() {
		c.Fail(f.restore(tick, lanes, results, bytes))
	}
}

// file describes a field, and appends its tiles.
func (f *Field) file(bytes *[]byte) fileField {
	x := fileField{X0: f.X0, Y0: f.Y0, Node: f.Node, Sum: f.Sum}
	for i, t := range f.tiles {
		if t != nil {
			x.Tiles |= 1 << i
			*bytes = append(*bytes, t[:]...)
		}
	}
	return x
}

// restore replaces all fields by those of a file.
func (f *Flow) restore(tick uint64, lanes []fileLane, results []fileResult, bytes []byte) error {
	if err := f.Reset(); err != nil {
		return err
	}
	due := 0
	for _, l := range lanes {
		if l.Due > tick+Ahead {
			return fmt.Errorf("realm: a field is due at %d, in tick %d: %w", l.Due, tick, save.ErrLayout)
		}
		if l.Due != 0 {
			due++
		}
	}
	if len(lanes) != Lanes || len(results) != due {
		return fmt.Errorf("realm: %d lanes and %d results, of which %d are due: %w", len(lanes), len(results), due, save.ErrLayout)
	}
	for k, l := range lanes {
		field, err := f.make(&l.Field, &bytes)
		f.lanes[k].field, f.lanes[k].there = field, l.There // also after an error: Reset frees the tiles
		if err != nil {
			return err
		}
	}
	for k, r := range results {
		res := result{}
		if r.Failed {
			res.err = errSearch
		}
		field, err := f.make(&r.Field, &bytes)
		if res.field = field; err != nil {
			return err
		}
		f.results[k], f.early = res, k+1
		f.lanes[dueLane(lanes, k)].due = 1 // for Reset after an error
	}
	for k, l := range lanes {
		x := &f.lanes[k]
		x.next, x.due, x.asked, x.crowd = l.Next, l.Due, l.Asked, l.Crowd
	}
	f.tick = tick
	return nil
}

// dueLane returns the k-th lane of which a result is due.
func dueLane(lanes []fileLane, k int) int {
	for i := range lanes {
		if lanes[i].Due == 0 {
			continue
		}
		if k == 0 {
			return i
		}
		k--
	}
	return 0
}

// make has the worker allocate a field.
func (f *Flow) make(x *fileField, bytes *[]byte) (Field, error) {
	n := bits.OnesCount32(x.Tiles) * int(tileBytes)
	if x.Tiles>>tiles != 0 || n > len(*bytes) {
		return Field{}, fmt.Errorf("realm: tiles %#x of a field in %d bytes: %w", x.Tiles, len(*bytes), save.ErrLayout)
	}
	f.ask <- job{saved: &savedField{*x, (*bytes)[:n]}}
	*bytes = (*bytes)[n:]
	res := <-f.done
	return res.field, res.err
}

// restore allocates the tiles of a field, on the worker's goroutine.
func (x *savedField) restore(f *Field, a memory.Allocator) error {
	*f = Field{X0: x.X0, Y0: x.Y0, Node: x.Node, Sum: x.Sum}
	for i := range f.tiles {
		if x.Tiles>>i&1 == 0 {
			continue
		}
		p, err := a.Alloc(tileBytes, 1)
		if err != nil {
			f.release(a)
			return fmt.Errorf("realm: a field: %w", err)
		}
		f.tiles[i] = (*tile)(unsafe.Pointer(p))
		copy(f.tiles[i][:], x.bytes)
		x.bytes = x.bytes[tileBytes:]
	}
	return nil
}
