package assets_test

import (
	"bytes"
	"image"
	"image/png"
	"io/fs"
	"os"
	"path"
	"strings"
	"testing"

	"github.com/strata-go/strata/assets"
	"github.com/strata-go/strata/demo/realm"
)

// padding is how many transparent pixels a sprite keeps on every side.
const padding = 2

// artBudget bounds all the pictures together: they are in the program and in the browser's download.
const artBudget = 3 << 20

// sizes is what the game may rely on.
var sizes = map[string]image.Point{
	"player": {96, 96}, "player_core": {96, 96},
	"bullet": {64, 24}, "orb": {40, 40},
	"pickup_hull": {56, 56}, "pickup_power": {56, 56}, "pickup_score": {56, 56},
	"soft": {64, 64}, "spark": {64, 16}, "smoke": {96, 96}, "ring": {256, 256}, "flare": {128, 128},
	"debris": {32, 32}, "portal": {256, 256},
	"reticle": {48, 48}, "vignette": {320, 180}, "placeholder": {64, 64},
}

// An enemy has two pictures, NAME and NAME_core in the same frame, which is square.
func init() {
	for k := range realm.EnemyKinds {
		name := realm.Enemy(k).String()
		data, err := fs.ReadFile(assets.FS(), "art/"+name+".png")
		if err != nil {
			panic(err)
		}
		c, err := png.DecodeConfig(bytes.NewReader(data))
		if err != nil {
			panic(err)
		}
		sizes[name], sizes[name+"_core"] = image.Pt(c.Width, c.Width), image.Pt(c.Width, c.Width)
	}
}

// fillsItsFrame tells the pictures that reach their edges on purpose.
func fillsItsFrame(name string) bool { return name == "vignette" }

func decode(t *testing.T, name string) *image.NRGBA {
	t.Helper()
	f, err := assets.FS().Open("art/" + name + ".png")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	img, err := png.Decode(f)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	nrgba, ok := img.(*image.NRGBA)
	if !ok {
		t.Fatalf("%s decodes to %T, want *image.NRGBA", name, img)
	}
	return nrgba
}

func TestArt_IsExactlyTheListedPicturesWithinTheBudget(t *testing.T) {
	files, err := fs.Glob(assets.FS(), "art/*.png")
	if err != nil {
		t.Fatal(err)
	}
	var total int64
	for _, file := range files {
		if _, ok := sizes[strings.TrimSuffix(path.Base(file), ".png")]; !ok {
			t.Errorf("%s is in the folder but not in the list", file)
		}
		info, err := fs.Stat(assets.FS(), file)
		if err != nil {
			t.Fatal(err)
		}
		total += info.Size()
	}
	if len(files) != len(sizes) {
		t.Errorf("%d pictures, want %d", len(files), len(sizes))
	}
	if total > artBudget {
		t.Errorf("pictures take %d bytes, budget %d", total, artBudget)
	}
}

func TestArt_EveryPictureDecodesAndHasPadding(t *testing.T) {
	for name, size := range sizes {
		img := decode(t, name)
		if img.Bounds() != (image.Rectangle{Max: size}) {
			t.Errorf("%s is %v, want %v at the origin", name, img.Bounds(), size)
			continue
		}
		if fillsItsFrame(name) {
			continue
		}
		if p, dirty := litPadding(img); dirty {
			t.Errorf("%s: pixel %v in the padding has alpha %d", name, p, img.NRGBAAt(p.X, p.Y).A)
		}
		lit := 0
		for i := 3; i < len(img.Pix); i += 4 {
			if img.Pix[i] >= 64 {
				lit++
			}
		}
		if share := float64(lit) / float64(size.X*size.Y); share < 0.02 {
			t.Errorf("%s covers only %.1f %% of its frame", name, 100*share)
		}
	}
}

// litPadding finds a pixel of the padding that is not transparent.
func litPadding(img *image.NRGBA) (image.Point, bool) {
	b := img.Bounds()
	for y := range b.Dy() {
		for x := range b.Dx() {
			p := image.Pt(x, y)
			if !p.In(b.Inset(padding)) && img.NRGBAAt(x, y).A != 0 {
				return p, true
			}
		}
	}
	return image.Point{}, false
}

func TestArt_IsGreySoThatTintsKeepTheirHue(t *testing.T) {
	for name := range sizes {
		pix := decode(t, name).Pix
		for i := 0; i < len(pix); i += 4 {
			if pix[i] != pix[i+1] || pix[i] != pix[i+2] {
				t.Errorf("%s: pixel %d is %v, want a grey", name, i/4, pix[i:i+3])
				break
			}
		}
	}
}

func TestArt_SpritesHaveWhiteToTakeTheFullTint(t *testing.T) {
	tinted := []string{"player", "bullet", "orb", "pickup_hull",
		"pickup_power", "pickup_score", "soft", "spark", "ring", "flare", "portal", "reticle"}
	for k := range realm.EnemyKinds {
		tinted = append(tinted, realm.Enemy(k).String())
	}
	for _, name := range tinted {
		pix, brightest := decode(t, name).Pix, 0
		for i := 0; i < len(pix); i += 4 {
			brightest = max(brightest, int(pix[i])*int(pix[i+3])/255)
		}
		if brightest < 240 {
			t.Errorf("%s: brightest pixel is %d of 255", name, brightest)
		}
	}
}

// realmBudget bounds the realms together.
var realmBudget = int64(len(levelNames)) << 20 * 5 / 9

func TestRealms_AreWithinTheBudgetAndWhole(t *testing.T) {
	var total int64
	surveys := 0
	err := fs.WalkDir(assets.FS(), "realms", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		total += info.Size()
		if path.Ext(file) == ".survey" {
			surveys++
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if total > realmBudget {
		t.Errorf("realms take %d bytes, budget %d", total, realmBudget)
	}
	if surveys != len(levelNames) {
		t.Errorf("%d surveys, want one for each of %d realms", surveys, len(levelNames))
	}
}

// A file that is neither in the browser's program nor fetched would be missed there, and nowhere else.
func TestFetched_IsWhatTheBrowsersProgramHasNot(t *testing.T) {
	source, err := os.ReadFile("embed_js.go")
	if err != nil {
		t.Fatal(err)
	}
	_, line, found := strings.Cut(string(source), "//go:embed ")
	line, _, _ = strings.Cut(line, "\n")
	if !found {
		t.Fatal("nothing is embedded")
	}
	err = fs.WalkDir(assets.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		embedded := false
		for pattern := range strings.FieldsSeq(line) {
			ok, err := path.Match(pattern, name)
			if err != nil {
				t.Fatal(err)
			}
			embedded = embedded || ok
		}
		if embedded == assets.Fetched(name) {
			t.Errorf("%s: embedded %v, fetched %v", name, embedded, assets.Fetched(name))
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
