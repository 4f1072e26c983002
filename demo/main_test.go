package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/strata-go/strata/assets"
	"github.com/strata-go/strata/demo/game"
	"github.com/strata-go/strata/demo/realm"
	"github.com/strata-go/strata/demo/session"
	"github.com/strata-go/strata/demo/view"
	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/engine/cmdline/cmdtest"
	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/memory/tiers"
	"github.com/strata-go/strata/render"
)

// demo runs the program in-process and returns its exit code and output.
func demo(args ...string) (code int, stdout, stderr string) {
	var out, err bytes.Buffer
	code = run(args, &out, &err)
	return code, out.String(), err.String()
}

func TestSlow_ChangesWhenFilesArriveAndNothingElse(t *testing.T) {
	testenv.Long(t)
	play := func(args ...string) (hash string, took time.Duration) {
		began := time.Now()
		code, stdout, stderr := demo(append(strings.Fields("-headless -ticks 60 -seed 7 -hash"), args...)...)
		_, hash, _ = strings.Cut(stdout, "hash ")
		if code != 0 || hash == "" {
			t.Fatalf("exit %d: %s", code, stderr)
		}
		return hash, time.Since(began)
	}
	fast, _ := play()
	slow, took := play("-slow", "50,10")
	if slow != fast || took < 100*time.Millisecond {
		t.Errorf("hash %q after %v; without -slow %q", slow, took, fast)
	}
}

func TestFlags_MistakesExitWith2AndSayWhatIsAllowed(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		args string
		want string
	}{
		{"-frobnicate", "flag provided but not defined: -frobnicate"},
		{"-headless -ticks 0", "-ticks 0: at least 1 is needed"},
		{"-headless -ticks -5", "-ticks -5"},
		{"-headless -ticks many", `invalid value "many" for flag -ticks`},
		{"-headless -seed -1", `invalid value "-1" for flag -seed`},
		{"-headless -level lava", `-level "lava": no such realm; there are: ` + strings.Join(slices.Sorted(slices.Values(realm.Names[:])), ", ")},
		{"-headless -particles 0", "allowed are 1 to 4000000"},
		{"-resident 7", "-resident 7: allowed are 8 to 512"},
		{"-tour loops", `"loops" is no tour; allowed are rows and zigzag`},
		{"-fast -headless", "-fast is for a tour without a window"},
		{"-headless -enemies 1000000", "allowed are 0 to 200000"},
		{"-headless -screenshot x.png", "-screenshot needs a window"},
		{"-headless -overlay", "-overlay needs a window"},
		{"-headless -overlay=f1,maps", "-overlay needs a window"},
		{"-overlay=f5", `no part "f5"; allowed: strip, help, tiers`},
		{"-size 0x360", "not a width and height"},
		{"-size 640", "not a width and height"},
		{"-headless -size 640x360", "-size needs a window"},
		{"-screenshot x.jpg", "must end in .png"},
		{"-capture x.png", "must end in .gif"},
		{"-headless -capture x.gif", "-capture needs a window"},
		{"-screenshot x.png -capture x.gif", "use one of them"},
		{"-headless -stats x.xml", "must end in .json or .csv"},
		{"-headless -budget level=2", "share above 0 and up to 1"},
		{"-headless -budget attic=0.5", `unknown tier "attic"; allowed: static, frame, level`},
		{"-headless -slow 200", "not MS,MBS"},
		{"-headless -slow 200,0", "0.01 to 10000 megabytes a second"},
		{"-headless -slow -1,1", "0 to 10000 milliseconds"},
		{"-headless -assets " + filepath.Join(dir, "nothing"), "not a folder"},
		{"-headless -assets " + dir, "it has no levels; allowed is a folder with levels/NAME.json"},
		{"-headless play", `unexpected argument "play"`},
		{"-headless -rollback -stats a.json", "-stats does not go with -synctest and -rollback"},
		{"-headless -synctest 8 -record a", "-record"},
		{"-headless -synctest 8 -wav a.wav", "-wav does not go with -synctest and -rollback"},
	} {
		code, stdout, stderr := demo(strings.Fields(c.args)...)
		if code != 2 || !strings.Contains(stderr, c.want) || stdout != "" {
			t.Errorf("%s: exit %d, stdout %q, stderr %q; want exit 2 and %q", c.args, code, stdout, stderr, c.want)
		}
	}
	if code, _, stderr := demo("-help"); code != 0 || !strings.Contains(stderr, "-autopilot") {
		t.Errorf("-help: exit %d, %q", code, stderr)
	}
}

// A file that could not be written took the report and the other files with it.
func TestHeadless_AFailedFileLeavesTheOthers(t *testing.T) {
	dir := t.TempDir()
	stats, gone := filepath.Join(dir, "a.json"), filepath.Join(dir, "gone", "a.wav")
	for _, flag := range []string{"-wav", "-record", "-profile"} {
		var said bytes.Buffer
		o, err := parse([]string{"-headless", "-ticks", "5", "-stats", stats, flag, gone}, &said, assets.FS())
		if err != nil {
			t.Fatal(err, said.String())
		}
		o.stderr = &said
		r, err := o.unseen()
		if r == nil || err == nil || !strings.Contains(err.Error(), gone) {
			t.Fatalf("%s: report %v, %v", flag, r, err)
		}
		if err := o.tell(r, cmdtest.FullDisk{}); err == nil {
			t.Errorf("%s: standard output is full, and no error says so", flag)
		}
		if err := os.Remove(stats); err != nil {
			t.Errorf("%s: %v", flag, err)
		}
	}
}

func TestHeadless_WritesTheWholeReport(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.json")
	code, stdout, stderr := demo("-headless", "-ticks", "400", "-seed", "7", "-autopilot", "-hash", "-stats", path)
	if code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		t.Fatal(err)
	}
	for _, name := range strings.Fields("ticks hash levels entities_peak particles_peak tiers go stream tick_ms") {
		if _, ok := fields[name]; !ok {
			t.Errorf("the report has no %q", name)
		}
	}
	var r report
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatal(err)
	}
	if r.Ticks != 400 || r.EntitiesPeak == 0 || r.ParticlesPeak == 0 || r.TickMS.P50 <= 0 || r.Stream.Uploads == 0 {
		t.Errorf("report: %+v", r)
	}
	if !strings.Contains(stdout, "hash "+r.Hash) || len(r.Hash) != 16 {
		t.Errorf("stdout does not hold the hash %q:\n%s", r.Hash, stdout)
	}
	if len(r.Tiers) != tiers.Count {
		t.Fatalf("%d tiers", len(r.Tiers))
	}
	for i, x := range r.Tiers {
		if x.Name != tiers.Tier(i).String() || x.Budget == 0 {
			t.Errorf("tier %+v", x)
		}
	}
	for _, i := range []tiers.Tier{tiers.Static, tiers.Frame, tiers.Level, tiers.Pools, tiers.Slab, tiers.Large, tiers.Inbox} {
		if x := r.Tiers[i]; x.Peak == 0 || x.Allocs == 0 {
			t.Errorf("the game does not use tier %+v", x)
		}
	}
	if r.Tiers[tiers.Inbox].Frees == 0 {
		t.Error("nothing came home through an inbox")
	}
}

func TestTour_StreamsHeadlessAndSaysHow(t *testing.T) {
	testenv.Long(t)
	code, stdout, stderr := demo("-headless", "-tour", "zigzag", "-fast", "-resident", "8", "-ticks", "200", "-every", "50", "-stats", "-")
	if code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	var r report
	if err := json.Unmarshal([]byte(stdout), &r); err != nil {
		t.Fatalf("%v in %q", err, stdout)
	}
	st, g := &r.Stream, &r.Stream.Ground
	if r.Ticks != 200 || g.ResidentBudget != 8<<20 || g.ResidentPeak == 0 || g.ResidentPeak > g.ResidentBudget || g.Asked == 0 || g.SeenSeconds == 0 ||
		st.FrameBytesMax > st.FrameBudget || st.HandOverMS.Max == 0 || len(r.Series) != 4 || r.Series[3].Ground.Asked != g.Asked {
		t.Errorf("%+v\n%+v", st, r.Series)
	}
	path := filepath.Join(t.TempDir(), "out.csv")
	if code, _, stderr := demo("-headless", "-tour", "-fast", "-resident", "8", "-ticks", "60", "-every", "30", "-stats", path); code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
	if err != nil || len(rows) != 3 || !slices.Contains(rows[0], "soft_tile_seconds") || rows[2][slices.Index(rows[0], "ground_resident")] == "0" {
		t.Errorf("%v, %v", rows, err)
	}
}

func TestTour_IsPacedByItsOwnClock(t *testing.T) {
	testenv.Long(t)
	began := time.Now()
	if code, _, stderr := demo("-headless", "-tour", "-ticks", "30"); code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	if took := time.Since(began); took < 400*time.Millisecond {
		t.Errorf("30 ticks took %v", took)
	}
}

func TestHeadless_WritesCSV(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.csv")
	if code, _, stderr := demo("-headless", "-ticks", "60", "-stats", path); code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil || len(rows) != tiers.Count+1 {
		t.Errorf("%d rows, %v", len(rows), err)
	}
}

func TestHeadless_SameSeedSameHash(t *testing.T) {
	hash := func(seed string) string {
		_, stdout, _ := demo("-headless", "-ticks", "20", "-seed", seed, "-hash")
		_, h, _ := strings.Cut(stdout, "hash ")
		return h
	}
	a, b, c := hash("7"), hash("7"), hash("9")
	if a == "" || a != b || a == c {
		t.Errorf("hashes %q, %q and, of another seed, %q", a, b, c)
	}
}

func TestStats_UnwritablePathIsAnErrorBeforeTheGame(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "plain")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	paths := []string{
		filepath.Join(dir, "no", "such", "out.json"),
		filepath.Join(file, "out.json"),
		filepath.Join(dir, strings.Repeat("a", 300)+".json"),
	}
	for _, path := range paths {
		code, stdout, stderr := demo("-headless", "-ticks", "60", "-stats", path)
		if code != 1 || !strings.Contains(stderr, "cannot write "+path+": ") || strings.Contains(stderr, ".strata-") || strings.Count(stderr, "\n") != 1 || stdout != "" {
			t.Errorf("%.80s: exit %d, stdout %.80q, stderr %q", path, code, stdout, stderr)
		}
	}
}

func TestStats_NothingIsHalfWritten(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out.json")
	if err := os.WriteFile(path, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	// There is no such realm: the run ends after the test whether the file can be written.
	o := &options{headless: true, ticks: 60, seed: 7, realm: "nowhere", particles: 1000, stats: path}
	if err := o.play(io.Discard, io.Discard); err == nil || !strings.Contains(err.Error(), "nowhere") {
		t.Errorf("error %v", err)
	}
	if data, _ := os.ReadFile(path); string(data) != "old" {
		t.Errorf("the old file now holds %q", data)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("left behind: %v", entries)
	}
}

func TestBudget_ATenthOfEverythingIsPlayable(t *testing.T) {
	code, _, stderr := demo("-headless", "-ticks", "120", "-seed", "7", "-budget", "all=0.1")
	if code != 0 {
		t.Errorf("exit %d: %s", code, stderr)
	}
}

// The drawing is not a part of the state: how much of it has space does not change the hash.
func TestBudget_AShortViewLeavesTheHashAsItIs(t *testing.T) {
	testenv.Long(t)
	hash := func(args ...string) string {
		code, stdout, stderr := demo(append(args, "-headless", "-ticks", "60", "-seed", "7", "-hash")...)
		_, hash, found := strings.Cut(stdout, "\nhash ")
		if code != 0 || !found {
			t.Fatalf("exit %d: %s%s", code, stdout, stderr)
		}
		return hash
	}
	if plain, short := hash(), hash("-budget", "static=0.1"); plain != short {
		t.Errorf("hash %s, and %s with -budget static=0.1", plain, short)
	}
}

func TestWithoutADisplayItSaysSoAndPlaysHeadless(t *testing.T) {
	if runtime.GOOS != "linux" {
		return // elsewhere there is always one
	}
	t.Setenv("DISPLAY", "")
	t.Setenv("WAYLAND_DISPLAY", "")
	code, stdout, stderr := demo("-ticks", "60")
	if code != 0 || !strings.Contains(stderr, "playing headless") || !strings.Contains(stdout, "60 ticks") {
		t.Errorf("exit %d, stdout %q, stderr %q", code, stdout, stderr)
	}
	for _, args := range [][]string{{"-screenshot", "x.png"}, {"-capture", "x.gif"}} {
		if code, _, stderr := demo(args...); code != 1 || !strings.Contains(stderr, args[0]) {
			t.Errorf("%v without a display: exit %d, %q", args, code, stderr)
		}
	}
}

func TestBooks_AddUpWithoutAWindow(t *testing.T) {
	testenv.Long(t)
	code, stdout, stderr := demo("-headless", "-ticks", "60", "-books")
	if runtime.GOOS != "linux" {
		if code != 1 || !strings.Contains(stderr, "-books: resident: ") {
			t.Errorf("exit %d, %s", code, stderr)
		}
		return
	}
	if code != 0 || !strings.Contains(stdout, " mappings, ") || !strings.Contains(stdout, "\ntiers ") {
		t.Errorf("exit %d, %s\n%s", code, stderr, stdout)
	}
	explained(t, "-headless", "-ticks", "120")
}

// A window brings some sixty libraries of C and what they allocate.
func TestBooks_AddUpWithAWindow(t *testing.T) {
	needDisplay(t)
	if runtime.GOOS != "linux" {
		return // there -books is an error
	}
	b := explained(t, "-autopilot", "-ticks", "120")
	if b.Images.Bytes == 0 || b.Images.Library == "" || b.Images.Library == "Unknown" {
		t.Errorf("the window is gone: %+v", b.Images)
	}
}

// A driver frees its memory with the window, so -books is read before.
func TestBooks_AreTakenWhileTheWindowIsThere(t *testing.T) {
	testenv.Long(t)
	if runtime.GOOS != "linux" {
		return // there -books is an error
	}
	o := options{headless: true, books: true, particles: 100, realm: "ember", stderr: io.Discard}
	s, err := session.New(o.session())
	if err != nil {
		t.Fatal(err)
	}
	for s.Game.Ticks < 2 && err == nil {
		err = s.Frame(engine.Input{Pressed: game.AnyKey})
	}
	v, also := view.New()
	if err = errors.Join(err, also); err == nil {
		err = v.Show(s, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	o.ticks, o.config = 1, "none"
	a := o.newApp(s, v, nil, nil)
	if quit := a.Update(new(render.Input)); err != nil || !errors.Is(quit, render.ErrQuit) || a.counted == nil {
		t.Errorf("%v, %v, books %v", err, quit, a.counted)
	}
	if r, err := o.finish(s, a.counted, nil, nil); err != nil || r.Books != a.counted {
		t.Errorf("other books are reported, %v", err)
	}
}

// explained runs the real program and checks that -books explains all but two per cent. Under -race the program is
// built without.
func explained(t *testing.T, args ...string) (b books) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "out.json")
	out, err := testenv.Command(t, program(t), append(args, "-books", "-stats", path)...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var r struct {
		Books struct {
			Resident struct {
				RSS   uint64  `json:"rss"`
				Share float64 `json:"unexplained_share"`
			}
			Images imagesReport
		}
	}
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatal(err)
	}
	if r.Books.Resident.RSS == 0 || r.Books.Resident.Share > 0.02 {
		t.Errorf("%.3f of %d bytes are unexplained:\n%s", r.Books.Resident.Share, r.Books.Resident.RSS, out)
	}
	return books{Images: r.Books.Images}
}

func needDisplay(t *testing.T) {
	t.Helper()
	if os.Getenv("DISPLAY") == "" {
		testenv.Missing(t, "a display")
	}
}

// The window is opened by the real program: Ebitengine runs once in a process and wants its
// main goroutine.
func TestWindow_ScreenshotShowsTheGame(t *testing.T) {
	needDisplay(t)
	exe, shot := program(t), filepath.Join(t.TempDir(), "shot.png")
	if out, err := testenv.Command(t, exe, "-seed", "7", "-autopilot", "-overlay", "-ticks", "120", "-screenshot", shot).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	f, err := os.Open(shot)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	img, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	colors := map[[3]uint32]bool{}
	for y := img.Bounds().Min.Y; y < img.Bounds().Max.Y; y += 3 {
		for x := img.Bounds().Min.X; x < img.Bounds().Max.X; x += 3 {
			r, g, b, _ := img.At(x, y).RGBA()
			colors[[3]uint32{r >> 8, g >> 8, b >> 8}] = true
		}
	}
	if img.Bounds().Dx() < 640 || len(colors) < 500 {
		t.Errorf("a picture of %v with %d colours is not the game", img.Bounds(), len(colors))
	}
}

func TestOneLine_JoinedErrorsAreOneLine(t *testing.T) {
	err := fmt.Errorf("game: %w", errors.Join(errors.New("no pool of omens"), errors.New("no pool of embers")))
	if got, want := oneLine(err), "game: no pool of omens; no pool of embers"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
