package render

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/strata-go/strata/memory/memtest/testenv"
)

func pixels(w, h int, at func(x, y int) byte) []byte {
	b := make([]byte, 0, 4*w*h)
	for y := range h {
		for x := range w {
			v := at(x, y)
			b = append(b, v, v, v, 255)
		}
	}
	return b
}

func TestAtlas_PlaceholderUntilUploaded(t *testing.T) {
	a, p := testAtlas(t, 8)
	if a.Lookup(3) != a.Placeholder() || a.Lookup(-1) != a.Placeholder() || a.Lookup(99) != a.Placeholder() {
		t.Error("an unknown id is not the placeholder")
	}
	r, err := a.Reserve(3, 10, 6)
	if err != nil || a.Lookup(3) != a.Placeholder() || a.Loaded(3) {
		t.Fatalf("reserved: %v, %v", a.Lookup(3), err)
	}
	if err := a.Upload(3, pixels(10, 6, func(x, y int) byte { return byte(10*y + x) }), 10, 6); err != nil {
		t.Fatal(err)
	}
	if a.Lookup(3) != r || r.W() != 10 || r.H() != 6 || !a.Loaded(3) {
		t.Errorf("uploaded: %v, reserved %v", a.Lookup(3), r)
	}
	if got := p.at(int(r.X0)+7, int(r.Y0)+5)[0]; got != 57 {
		t.Errorf("texel = %d, want 57", got)
	}
}

func TestAtlas_GuttersAreTransparentOrWrap(t *testing.T) {
	a, p := testAtlas(t, 8)
	pic := pixels(4, 3, func(x, y int) byte { return byte(10*y + x + 1) })
	for id, reserve := range []func(id, w, h int) (Region, error){a.Reserve, a.ReserveTile} {
		r, err := reserve(id, 4, 3)
		if err != nil {
			t.Fatal(err)
		}
		for i := range p.rgba { // what an earlier picture left there
			if i%4 != 3 {
				p.rgba[i] = 0xee
			}
		}
		if err := a.Upload(id, pic, 4, 3); err != nil {
			t.Fatal(err)
		}
		for y := -1; y <= 3; y++ {
			for x := -1; x <= 4; x++ {
				want := byte(10*((y+3)%3) + (x+4)%4 + 1)
				if inside := x >= 0 && x < 4 && y >= 0 && y < 3; id == 0 && !inside {
					want = 0
				}
				if got := p.at(int(r.X0)+x, int(r.Y0)+y)[0]; got != want {
					t.Errorf("id %d texel %d,%d = %d, want %d", id, x, y, got, want)
				}
			}
		}
	}
}

func TestAtlas_BadInputIsAClearError(t *testing.T) {
	a, _ := testAtlas(t, 4)
	id, _ := a.ID("ember/ship")
	a.Reserve(id, 8, 8)
	_, errBig := a.Reserve(1, 1023, 8)
	_, errZero := a.Reserve(1, 0, 8)
	_, errID := a.Reserve(4, 8, 8)
	_, errSize := a.Reserve(id, 9, 8)
	_, errTile := a.ReserveTile(id, 8, 8)
	_, errPage := NewAtlas(AtlasConfig{Page: 1000})
	_, errRegions := NewAtlas(AtlasConfig{Regions: -1})
	for want, err := range map[string]error{
		"region 1 of 1023×8; allowed are 1×1 to 1022×1022": errBig,
		"region 1 of 0×8":                                                    errZero,
		"region 4; allowed are 0 to 3":                                       errID,
		`region 0 ("ember/ship") is reserved with 8×8, not 9×8`:              errSize,
		`region 0 ("ember/ship") is reserved by Reserve, not by ReserveTile`: errTile,
		"page of 1000 texels; allowed are 512, 1024, 2048 and 4096":          errPage,
		"-1 regions":                             errRegions,
		"region 2, which is not reserved":        a.Upload(2, nil, 1, 1),
		"with 3 bytes; it takes 256":             a.Upload(id, []byte{1, 2, 3}, 8, 8),
		`upload of 4×4 to region 0 ("ember/ship`: a.Upload(id, nil, 4, 4),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

func TestAtlas_FullNamesRegionAndSizes(t *testing.T) {
	a, _ := testAtlas(t, 8)
	id, _ := a.ID("tide/back")
	before := a.Free()
	_, err := a.Reserve(id, 1000, 1000)
	var full *FullError
	if !errors.Is(err, ErrAtlasFull) || !errors.As(err, &full) || full.W != 1000 || full.Page != 1024 || full.Name != "tide/back" {
		t.Fatalf("%v", err)
	}
	if !strings.Contains(err.Error(), `region 0 ("tide/back") of 1000×1000`) || a.Free() != before {
		t.Errorf("%v; free %d, was %d", err, a.Free(), before)
	}
	if _, err := a.Reserve(id, 50, 50); err != nil {
		t.Errorf("a smaller one after: %v", err)
	}
}

func TestAtlas_NamesAreStable(t *testing.T) {
	a, _ := testAtlas(t, 2)
	x, err1 := a.ID("x")
	y, err2 := a.ID("y")
	again, err3 := a.ID("x")
	_, full := a.ID("z")
	if err := errors.Join(err1, err2, err3); err != nil || x == y || again != x || full == nil {
		t.Errorf("%d %d %d %v %v", x, y, again, err, full)
	}
}

func TestAtlas_ResetKeepsWhatWasKept(t *testing.T) {
	a, _ := testAtlas(t, 64)
	a.Reserve(0, 20, 20)
	a.Reserve(1, 20, 20)
	a.Upload(0, make([]byte, 1600), 20, 20)
	kept := a.Lookup(0)
	a.Keep()
	free := a.Free()
	for range 50 {
		a.Remove(1)
		for id := 2; id < 20; id++ { // one of them takes the kept slot of 1
			if _, err := a.Reserve(id, 20, 20); err != nil {
				t.Fatal(err)
			}
		}
		a.Reset()
		if err := a.packer.check(); err != nil {
			t.Fatal(err)
		}
	}
	if a.Lookup(0) != kept || a.Free() != free+22*22 {
		t.Errorf("kept %v, now %v; free %d, then %d", kept, a.Lookup(0), free, a.Free())
	}
}

// Any sequence of operations keeps regions apart, on the page, and clear of the built-ins.
func TestAtlas_RandomOperationsNeverOverlap(t *testing.T) {
	testenv.Long(t)
	for seed := range uint64(60) {
		a, _ := testAtlas(t, 40)
		r := rand.New(rand.NewPCG(seed, 1))
		builtin := a.packer.taken()
		for range 300 {
			id := r.IntN(40)
			switch r.IntN(12) {
			case 0:
				a.Reset()
			case 1:
				if r.IntN(4) == 0 {
					a.Keep()
				}
			case 2, 3, 4:
				a.Remove(id)
			default:
				a.Reserve(id, 1+r.IntN(240), 1+r.IntN(240))
			}
			checkAtlas(t, a, builtin)
		}
	}
}

// taken returns copies of the slots that the built-in regions took.
func (p *packer) taken() []slot {
	var all []slot
	for _, s := range p.shelves {
		all = append(all, slot{x: 0, y: s.y, w: s.used, h: s.h})
	}
	return all
}

func checkAtlas(t *testing.T, a *Atlas, live []slot) {
	t.Helper()
	if err := a.packer.check(); err != nil {
		t.Fatal(err)
	}
	live = append(live[:len(live):len(live)], a.packer.freed...)
	for _, e := range a.entries {
		if e.reserved {
			live = append(live, e.slot)
		}
	}
	for i, s := range live {
		if s.x < 0 || s.y < 0 || s.x+s.w > a.Page() || s.y+s.h > a.Page() {
			t.Fatalf("%+v is off the page", s)
		}
		for _, o := range live[:i] {
			if s.overlaps(o) {
				t.Fatalf("%+v and %+v overlap", s, o)
			}
		}
	}
}

func TestPacker_CheckFindsEachFault(t *testing.T) {
	for want, spoil := range map[string]func(p *packer){
		"(1)": func(p *packer) { p.shelves[1].y++ },
		"(2)": func(p *packer) { p.next-- },
		"(3)": func(p *packer) { p.shelves[0].used = -1 },
		"(4)": func(p *packer) { p.freed[0].x = 90 },
		"(5)": func(p *packer) { p.freed = append(p.freed, p.freed[0]) },
	} {
		p := &packer{size: 100}
		p.take(10, 10)
		p.take(10, 30)
		s, _ := p.take(10, 30)
		p.give(s)
		if err := p.check(); err != nil {
			t.Fatal(err)
		}
		spoil(p)
		if err := p.check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s not found: %v", want, err)
		}
	}
}

func TestAtlas_UploadDoesNotAllocate(t *testing.T) {
	a, _ := testAtlas(t, 4)
	a.ReserveTile(0, 64, 64)
	pic := make([]byte, 4*64*64)
	if n := testing.AllocsPerRun(100, func() { a.Upload(0, pic, 64, 64); a.Lookup(0) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
