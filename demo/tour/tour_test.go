package tour

import (
	"strings"
	"testing"

	"github.com/strata-go/strata/demo/realm"
	"github.com/strata-go/strata/engine"
)

func TestPath_PassesEverySectorOfTheRealmOnTime(t *testing.T) {
	path := New(Rows, vec{6144, 11_000})
	if path.End() > 36_000 {
		t.Errorf("it takes %d ticks", path.End())
	}
	seen := map[[2]int]bool{}
	for n := range path.End() {
		p, v := path.At(n)
		if l := engine.Length(v); n%16 == 0 && !(l > Speed-40 && l < Speed+1) && n+1 < path.End() {
			t.Fatalf("tick %d: %v at %v", n, l, p)
		}
		for y := int(p[1]-180) / realm.SectorSize; y <= int(p[1]+180)/realm.SectorSize; y++ {
			for x := int(p[0]-320) / realm.SectorSize; x <= int(p[0]+320)/realm.SectorSize; x++ {
				seen[[2]int{x, y}] = true
			}
		}
	}
	if len(seen) != realm.Sectors*realm.Sectors {
		t.Errorf("%d sectors were visible", len(seen))
	}
	there, _ := path.At(path.End() - 1)
	back, _ := path.At(path.End())
	if engine.Distance(there, back) > 6 {
		t.Errorf("from %v it goes to %v", there, back)
	}
}

func TestPath_ZigzagTurnsOnceASecond(t *testing.T) {
	path := New(Zigzag, vec{6144, 11_000})
	turns := 0
	_, last := path.At(0)
	for n := range uint64(3600) {
		_, v := path.At(n)
		if engine.Dot(v, last) < 0 {
			turns++
		}
		last = v
	}
	if turns < 55 || turns > 65 {
		t.Errorf("the zigzag turned about %d times in a minute", turns)
	}
}

func TestNew_NoneHasNoPath(t *testing.T) {
	if New(None, vec{}) != nil {
		t.Error("None has a path")
	}
}

func TestThrough_PassesItsPlacesInOrder(t *testing.T) {
	path := Through(vec{0, 0}, vec{308, 0}, vec{308, 308})
	for n, want := range map[uint64]vec{0: {0, 0}, 61: {308, 0}, path.End(): {308, 308}} {
		if p, _ := path.At(n); engine.Distance(p, want) > 6 {
			t.Errorf("tick %d: %v, want %v", n, p, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"rows", "zigzag", "", "Rows", "Kind(3)", "\x1b", strings.Repeat("x", 5000)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		kind, err := Parse(name)
		if err == nil {
			if kind == None || kind.String() != name {
				t.Fatalf("%q is %v", name, kind)
			}
			return
		}
		text := err.Error()
		if kind != None || len(text) > 400 || strings.ContainsAny(text, "\n\x1b") || !strings.Contains(text, "rows and zigzag") {
			t.Fatalf("%q is %v, %v", name, kind, err)
		}
	})
}
