package stream

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/draw"
	stdpng "image/png"
	"io"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/strata-go/strata/engine/stream/png"
	"github.com/strata-go/strata/memory"
)

func TestPictures_ArriveWithTheirPixels(t *testing.T) {
	paletted := image.NewPaletted(image.Rect(0, 0, 5, 3), color.Palette{color.NRGBA{10, 20, 30, 255}, color.NRGBA{200, 100, 50, 128}})
	paletted.SetColorIndex(2, 1, 1)
	gray := image.NewGray16(image.Rect(0, 0, 4, 4))
	gray.SetGray16(1, 2, color.Gray16{0x8000})
	plain := encode(t, 16, 9)
	fsys := fstest.MapFS{"a": {Data: plain}, "b": {Data: encodeImage(t, paletted)}, "c": {Data: encodeImage(t, gray)}}
	r := newRig(t, fsys, 2, 0)
	seen := 0
	r.sink = func(name string, p Picture) error {
		img, err := stdpng.Decode(bytes.NewReader(fsys[name].Data))
		if err != nil {
			return err
		}
		want := image.NewRGBA(img.Bounds())
		draw.Draw(want, want.Rect, img, image.Point{}, draw.Src)
		if p.Width != want.Rect.Dx() || p.Height != want.Rect.Dy() || !bytes.Equal(p.Pixels, want.Pix) {
			t.Errorf("%s: %d x %d pixels are not what image/draw makes of it", name, p.Width, p.Height)
		}
		seen++
		return nil
	}
	k := Request[Picture](r, "a", 0)
	Request[Picture](r, "b", 0)
	Request[Picture](r, "c", 0)
	if _, ok := k.Get(); ok {
		t.Error("a picture is there before the first Poll")
	}
	r.run()
	if p, ok := k.Get(); !ok || p.Width != 16 || p.Height != 9 || p.Pixels != nil || seen != 3 {
		t.Errorf("%+v, %v, %d seen", p, ok, seen)
	}
	if s := r.Stats(); s.Deliveries != 3 || s.Staging != 0 || s.Resident != 4*(16*9+15+16) || s.BytesDecoded != uint64(s.Resident) {
		t.Errorf("%+v", s)
	}
}

func TestRequest_EveryFailureNamesTheFileAndTheRestGoesOn(t *testing.T) {
	good := encode(t, 16, 16)
	huge := bytes.Clone(good)
	copy(huge[16:], []byte{0, 0, 0x40, 0, 0, 0, 0x40, 0}) // 16384 x 16384
	negative := bytes.Clone(good)
	copy(negative[16:], []byte{0xFF, 0, 0, 0})
	for _, head := range [][]byte{huge, negative} {
		binary.BigEndian.PutUint32(head[29:], crc32.ChecksumIEEE(head[12:29]))
	}
	flipped := bytes.Clone(good)
	flipped[len(flipped)-30] ^= 1
	fsys := fstest.MapFS{"good": {Data: good}, "empty": {}, "text": {Data: []byte("this is no picture, and not short")}, "tiny": {Data: good[:20]},
		"cut": {Data: good[:len(good)-20]}, "huge": {Data: huge}, "negative": {Data: negative}, "flipped": {Data: flipped}, "big": {Data: make([]byte, 2000)}, "dir/x": {}}
	r := newRig(t, fsys, 2, 0, func(c *Config) { c.MaxBytes = 1500 })
	for name, c := range map[string]struct {
		want string
		is   error
	}{
		"none":     {`picture "none": reading: file does not exist`, fs.ErrNotExist},
		"empty":    {`picture "empty": reading: the file is empty`, nil},
		"text":     {`picture "text": decoding: png: byte 8: the signature of a PNG is missing`, nil},
		"tiny":     {`picture "tiny": decoding: png: byte 20, chunk "IHDR": the file ends early`, io.ErrUnexpectedEOF},
		"cut":      {`picture "cut": decoding: png: byte `, io.ErrUnexpectedEOF},
		"huge":     {"larger than allowed, allowed are Config.MaxBytes = 1500 bytes of pixels: png: ", ErrTooLarge},
		"negative": {`picture "negative": decoding: `, png.ErrFormat},
		"flipped":  {`picture "flipped": decoding: `, nil},
		"big":      {`picture "big": reading: stream: larger than allowed: file of 2000 bytes`, ErrTooLarge},
		"dir":      {`picture "dir": reading: it is no regular file: d---------`, nil},
	} {
		k := Request[Picture](r, name, 0)
		good := Request[Picture](r, "good", 1)
		r.run()
		want(t, k, Failed)
		want(t, good, Loaded)
		err := k.Err()
		var e *LoadError
		if err == nil || !strings.Contains(err.Error(), c.want) || c.is != nil && !errors.Is(err, c.is) || !errors.As(err, &e) || e.Name != name {
			t.Errorf("%s: %v; want %q", name, err, c.want)
		}
		good.Close()
		k.Close()
		want(t, k, Vacant)
	}
	if s := r.Stats(); s.Failures != 10 || len(r.Errors()) != 10 || s.Failed != 0 {
		t.Errorf("%+v", s)
	}
}

func TestRequest_RefusalsAreFailedTickets(t *testing.T) {
	type unknown struct{}
	r := newRig(t, gallery(t), 1, 0, func(c *Config) { c.Assets, c.Handles = 2, 3 })
	if k := Request[unknown](r, "a", 0); !errors.Is(k.Err(), ErrKind) || k.State() != Failed || !strings.Contains(k.Err().Error(), "stream.unknown") {
		t.Errorf("%v", k.Err())
	}
	for _, name := range []string{"", ".", "../a", "/a", "a/"} {
		if k := Request[Picture](r, name, 0); k.State() != Failed || !strings.Contains(k.Err().Error(), "not a path inside the file system; allowed") {
			t.Errorf("%q: %v", name, k.Err())
		}
	}
	a := r.picture("a", 0)
	r.picture("b", 0)
	if k := r.picture("c", 0); !errors.Is(k.Err(), ErrFull) || !strings.Contains(k.Err().Error(), `picture "art/c.png": requesting: `) || !strings.Contains(k.Err().Error(), "Config.Assets = 2") {
		t.Errorf("%v", k.Err())
	}
	r.picture("b", 0)
	if k := r.picture("b", 0); !errors.Is(k.Err(), ErrFull) || !strings.Contains(k.Err().Error(), "Config.Handles = 3") {
		t.Errorf("%v", k.Err())
	} else { // does nothing, and nothing bad
		k.Close()
		k.Retry()
		k.Priority(1)
		if _, ok := k.Get(); ok {
			t.Error("a refused ticket has a value")
		}
	}
	a.Close()
	r.run() // a worker that has begun with it keeps its place until it lets go
	if k := r.picture("c", 0); k.Err() != nil {
		t.Error(k.Err())
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if k := r.picture("d", 0); !errors.Is(k.Err(), ErrClosed) {
		t.Errorf("%v", k.Err())
	}
	var zero Handle[Picture]
	zero.Close()
	zero.Retry()
	zero.Priority(0)
	if _, ok := zero.Get(); ok || zero.State() != Vacant || zero.Err() != nil {
		t.Error("the zero ticket is something")
	}
}

// A tune is a kind as a game would register it: bytes of two blocks, started in slices.
type tune struct {
	Notes, Loud []byte
	Started     int
	Loops       string // on the Go heap
}

func tunes(log *[]string) Kind[tune] {
	return Kind[tune]{Name: "tune", Stays: true,
		Decode: func(r *Reader, heap *Heap) (t tune, err error) {
			head, err := r.ReadByte()
			if err != nil {
				return t, err
			}
			scratch, err := heap.Bytes(int(r.Size()))
			if err != nil {
				return t, err
			}
			if t.Notes, err = heap.Bytes(int(r.Size() - 1)); err != nil {
				return t, err
			}
			if t.Loud, err = heap.Bytes(int(head)); err != nil {
				return t, err
			}
			if _, err = io.ReadFull(r, t.Notes); err != nil {
				return t, err
			}
			clear(t.Loud)
			heap.free(scratch)
			return t, r.Wanted()
		},
		Deliver: func(name string, v, old *tune) error {
			if v.Started++; v.Started < 3 {
				return ErrMore
			}
			v.Loops = "yes"
			*log = append(*log, fmt.Sprintf("%s %q, after %v", name, v.Notes, old != nil))
			return nil
		},
		Release: func(name string, v *tune) {
			*log = append(*log, fmt.Sprintf("release %s %q after %d", name, v.Notes, v.Started))
		},
	}
}

func TestRegister_AKindOfTheUsersOwn(t *testing.T) {
	fsys := fstest.MapFS{"x.tune": {Data: []byte("\x05do re mi")}}
	r := newRig(t, fsys, 1, 0)
	var log []string
	if err := Register(r.Streamer, tunes(&log)); err != nil {
		t.Fatal(err)
	}
	k := Request[tune](r, "x.tune", ETA(1))
	for r.Stats().Ready == 0 {
		r.Wait()
	}
	for range 2 {
		if n := r.Poll(); n != 1 || k.State() != Ready { // one slice a Poll
			t.Fatalf("%d slices, %v", n, k.State())
		}
		r.check(t)
	}
	r.Poll()
	v, ok := k.Get()
	if !ok || string(v.Notes) != "do re mi" || len(v.Loud) != 5 || v.Loops != "yes" {
		t.Errorf("%+v, %v", v, ok)
	}
	if s := r.Stats(); s.Resident != 13 || s.Staging != 13 || r.heaps[0].blocks() != 2 {
		t.Errorf("%+v", s)
	}
	fsys["x.tune"] = &fstest.MapFile{Data: []byte("\x01si")}
	r.Reload("x.tune")
	r.run()
	if v, _ := k.Get(); string(v.Notes) != "si" || r.heaps[0].blocks() != 2 || r.Stats().Resident != 3 {
		t.Errorf("%q, %d blocks", v.Notes, r.heaps[0].blocks())
	}
	k.Close()
	k.Close()
	if got := strings.Join(log, "; "); got != `x.tune "do re mi", after false; x.tune "si", after true; release x.tune "si" after 3` {
		t.Error(got)
	}
	r.noLeaks(t)

	k = Request[tune](r, "x.tune", 0) // delivered in part, and closed
	for r.Poll() == 0 {
		r.Wait()
	}
	log = nil
	k.Close()
	if got := strings.Join(log, "; "); got != `release x.tune "si" after 1` {
		t.Error(got)
	}
	r.noLeaks(t)
}

func TestRegister_RefusesBadKinds(t *testing.T) {
	r := newRig(t, gallery(t), 1, 0)
	decode := func(*Reader, *Heap) (int, error) { return 0, nil }
	for want, k := range map[string]Kind[int]{
		"Name and Decode":      {Name: "x"},
		"Name and Decode are":  {Decode: decode},
		"x: Deliver or Stays":  {Name: "x", Decode: decode},
		"kind picture already": {},
	} {
		var err error
		switch want {
		case "kind picture already":
			err = Register(r.Streamer, Kind[Picture]{Name: "p", Stays: true, Decode: func(*Reader, *Heap) (Picture, error) { return Picture{}, nil }})
		default:
			err = Register(r.Streamer, k)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q", err, want)
		}
	}
}

func TestParsed_KeepsNoBlock(t *testing.T) {
	type level struct{ words []string }
	fsys := fstest.MapFS{"a": {Data: []byte("one two")}, "b": {Data: []byte("bad")}}
	r := newRig(t, fsys, 1, 0)
	err := Register(r.Streamer, Parsed("level", func(name string, data []byte) (*level, error) {
		if string(data) == "bad" {
			return nil, errors.New("bad level")
		}
		return &level{strings.Fields(string(data))}, nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	a, b, raw := Request[*level](r, "a", 0), Request[*level](r, "b", 0), Request[File](r, "a", 0)
	r.run()
	if l, ok := a.Get(); !ok || len(l.words) != 2 {
		t.Errorf("%v, %v", l, ok)
	}
	if want := `stream: level "b": decoding: bad level`; b.State() != Failed || b.Err().Error() != want {
		t.Errorf("%v", b.Err())
	}
	if f, ok := raw.Get(); !ok || string(f.Data) != "one two" { // the same file as another kind
		t.Errorf("%q, %v", f.Data, ok)
	}
	if n := r.heaps[0].blocks(); n != 1 {
		t.Errorf("%d blocks; want that of the raw file", n)
	}
}

// Free with another size took the block from its asset before it panicked, and an alignment of 48 was taken for 64. A
// refused alignment reserved the bytes under Config.Resident.
func TestHeap_RefusesWrongSizesAndAlignments(t *testing.T) {
	type careless struct{}
	r := newRig(t, gallery(t), 1, 0)
	var odd []error
	var sizes []any
	var reserved int64
	err := Register(r.Streamer, Kind[careless]{Name: "careless", Stays: true, Decode: func(_ *Reader, h *Heap) (careless, error) {
		for _, align := range []uintptr{0, 3, 48} {
			_, err := h.Alloc(200, align)
			odd, reserved = append(odd, err), h.w.reserved
		}
		p, err := h.Alloc(100, 1)
		if err != nil {
			return careless{}, err
		}
		for _, size := range []uintptr{0, 99, 101, 200} {
			func() {
				defer func() { sizes = append(sizes, recover()) }()
				h.Free(p, size)
			}()
		}
		h.Free(p, 100)
		return careless{}, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	k := Request[careless](r, art("a"), 0)
	r.run()
	for _, err := range odd {
		if !errors.Is(err, memory.ErrAlign) {
			t.Errorf("an alignment: %v", err)
		}
	}
	for _, v := range sizes {
		if m, ok := v.(*memory.Misuse); !ok || !strings.Contains(m.Error(), "100 bytes") {
			t.Errorf("a size: %v", v)
		}
	}
	if len(odd) != 3 || len(sizes) != 4 || reserved != 0 || k.State() != Loaded {
		t.Errorf("%v, %v, %d bytes reserved, %v", odd, sizes, reserved, k.Err())
	}
	k.Close()
	r.noLeaks(t)
}

func TestHeap_BoundsWhatAnAssetMayHave(t *testing.T) {
	type greedy struct{}
	r := newRig(t, gallery(t), 1, 0, func(c *Config) { c.MaxBytes = 1 << 16 })
	sizes := []int{1, 2, 3, 4, 5}
	var held int
	err := Register(r.Streamer, Kind[greedy]{Name: "greedy", Stays: true, Decode: func(_ *Reader, h *Heap) (greedy, error) {
		for _, n := range sizes {
			if _, err := h.Bytes(n); err != nil {
				return greedy{}, err
			}
			held = r.heaps[0].blocks()
		}
		return greedy{}, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	for text, s := range map[string][]int{"an asset has at most 4 blocks": {1, 2, 3, 4, 5}, "allowed are Config.MaxBytes = 65536": {60000, 6000}, "-1 bytes": {-1}} {
		sizes = s
		k := Request[greedy](r, art("a"), 0)
		r.run()
		if k.State() != Failed || !strings.Contains(k.Err().Error(), text) {
			t.Errorf("%v; want %q", k.Err(), text)
		}
		if k.Close(); held == 0 && len(s) > 1 {
			t.Error("nothing was held")
		}
		r.noLeaks(t)
	}
}

func TestHeap_WorkersKeepThingsOfTheirOwn(t *testing.T) {
	type row struct{}
	r := newRig(t, gallery(t), 3, 0)
	var busy [3]int // -race says where two workers share one
	err := Register(r.Streamer, Kind[row]{Name: "row", Stays: true, Decode: func(_ *Reader, h *Heap) (row, error) {
		busy[h.Worker()]++
		return row{}, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range strings.Split("abcdefgh", "") {
		Request[row](r, art(id), 0)
	}
	r.run()
	if err := r.Close(); err != nil || busy[0]+busy[1]+busy[2] != 8 {
		t.Errorf("%v, %v", busy, err)
	}
}

// What streams on and on must not leave an object for each asset.
func TestKind_AReleasedValueIsUsedAgain(t *testing.T) {
	type tune struct{ name string }
	r := newRig(t, fstest.MapFS{"a": {Data: []byte("a")}, "b": {Data: []byte("b")}, "c": {Data: []byte("c")}, "d": {Data: []byte("d")}, "slow": {Data: []byte("s")}}, 1, 0)
	var delivered, released []*tune
	began, goOn := make(chan bool), make(chan bool)
	err := Register(r.Streamer, Kind[tune]{Name: "tune", Stays: true,
		Decode: func(r *Reader, _ *Heap) (tune, error) {
			if r.Name() == "slow" {
				began <- true
				<-goOn
			}
			return tune{r.Name()}, nil
		},
		Deliver: func(name string, v, _ *tune) error { delivered = append(delivered, v); return nil },
		Release: func(name string, v *tune) {
			if v.name != name {
				t.Errorf("%s is released as %s", v.name, name)
			}
			released = append(released, v)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	a, b := Request[tune](r, "a", 0), Request[tune](r, "b", 1)
	r.run()
	a.Close()
	if *released[0] != (tune{}) {
		t.Error("a value that was released keeps what it points to")
	}
	c := Request[tune](r, "c", 0)
	r.run()
	if len(delivered) != 3 || delivered[2] != delivered[0] || delivered[1] == delivered[0] {
		t.Errorf("%d values; the third is not the first, which was released", len(delivered))
	}
	for name, h := range map[string]Handle[tune]{"b": b, "c": c} {
		if v, ok := h.Get(); !ok || v.name != name {
			t.Errorf("%s is %v, %v", name, v, ok)
		}
	}
	d := Request[tune](r, "d", 0) // now each value is in use
	r.run()
	if p := delivered[3]; p == delivered[0] || p == delivered[1] {
		t.Error("two assets have the same value")
	}
	b.Close()
	// The one that is free is used again if its asset is cancelled before its delivery, and while it is decoded.
	f := Request[tune](r, "a", 0)
	r.eventually(t, "f is ready", func() bool { return r.stats.counts[Ready] == 1 })
	f.Close()
	slow := Request[tune](r, "slow", 0)
	<-began
	slow.Close()
	close(goOn)
	e := Request[tune](r, "b", 0)
	r.run()
	if last := delivered[len(delivered)-1]; last != delivered[1] {
		t.Error("a value that was not delivered is not used again")
	}
	c.Close()
	d.Close()
	e.Close()
}
