package main

import (
	"encoding/base64"
	"fmt"
	"image/png"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/strata-go/strata/demo/view"
	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/render"
)

// state is what strata.state() says.
type state struct {
	Ticks                  uint64
	Hash, Screen, Realm    string
	Hand                   string // what prompts name the controls of
	Note                   string
	Thumbs                 int
	Playing, Overlay, Mute bool
	Fullscreen             bool // the setting
	Sound                  bool
	Soft                   float64
	Missing                int
	Failures               uint64
	Clips, Go, Live        int
	Broken, Hull           int
	Ship, Goal             [2]float64 // the ship on the logical screen, and how far it is from the goal
	Move, Aim              [2]float64 // of the autopilot
	Fire                   bool
	Items                  map[string][2]float64
}

// state asks the game how it goes; zero while there is none.
func (c *chrome) state() (s state) {
	c.t.Helper()
	c.eval("globalThis.strata?.state?.() ?? {}", &s)
	return s
}

// until waits for something of the game.
func (c *chrome) until(what string, so func(s state) bool) state {
	c.t.Helper()
	for end := testenv.Deadline(c.t); ; time.Sleep(20 * time.Millisecond) {
		s := c.state()
		if so(s) {
			return s
		}
		if len(c.errors()) > 0 || time.Now().After(end) {
			c.picture("stuck")
			c.t.Fatalf("it is not so that %s: %+v; %v", what, s, c.errors())
		}
	}
}

// open goes to a page of a size in pixels of the page; a phone has fingers.
func (c *chrome) open(url string, w, h int, phone bool) {
	c.t.Helper()
	c.size(w, h, phone)
	c.call("Page.navigate", map[string]any{"url": url}, nil)
}

func (c *chrome) size(w, h int, phone bool) {
	c.t.Helper()
	c.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": w, "height": h, "deviceScaleFactor": 1, "mobile": phone}, nil)
	c.call("Emulation.setTouchEmulationEnabled", map[string]any{"enabled": phone}, nil)
}

// viewport is where the game lies on a page of w × h.
func viewport(w, h int) render.Viewport {
	lw, lh := render.LogicalW, render.LogicalH
	if h > w {
		lw, lh = lh, lw
	}
	return render.Fit(w, h, lw, lh).Bleed(w, h, view.Bleed)
}

// tap puts a finger on one of the game's buttons, on a page of w × h, and takes it off when the game
// has seen it.
func (c *chrome) tap(b render.TouchButton, w, h int) {
	c.t.Helper()
	v := viewport(w, h)
	p, _ := b.Circle(v.Safe())
	at := map[string]any{"x": float32(v.X) + p[0]*v.Scale, "y": float32(v.Y) + p[1]*v.Scale}
	c.call("Input.dispatchTouchEvent", map[string]any{"type": "touchStart", "touchPoints": []any{at}}, nil)
	time.Sleep(150 * time.Millisecond)
	c.call("Input.dispatchTouchEvent", map[string]any{"type": "touchEnd", "touchPoints": []any{}}, nil)
	time.Sleep(100 * time.Millisecond)
}

// key presses a key that has a letter, and lets it go.
func (c *chrome) key(code, key string, number int) {
	c.t.Helper()
	for _, kind := range []string{"keyDown", "keyUp"} {
		c.call("Input.dispatchKeyEvent", map[string]any{"type": kind, "code": code, "key": key, "windowsVirtualKeyCode": number}, nil)
		time.Sleep(150 * time.Millisecond)
	}
}

// picture writes a PNG of the page beside the test's other artifacts.
func (c *chrome) picture(name string) {
	c.t.Helper()
	var shot struct{ Data string }
	c.call("Page.captureScreenshot", map[string]any{"format": "png"}, &shot)
	data, err := base64.StdEncoding.DecodeString(shot.Data)
	if err != nil || len(data) < 2000 {
		c.t.Errorf("picture %s: %d bytes, %v", name, len(data), err)
	}
	if err := os.WriteFile(filepath.Join(c.t.ArtifactDir(), name+".png"), data, 0o644); err != nil {
		c.t.Error(err)
	}
}

// bright counts the bright pixels of a picture of the page, which it also writes.
func (c *chrome) bright(name string) (n int) {
	c.t.Helper()
	c.picture(name)
	f, err := os.Open(filepath.Join(c.t.ArtifactDir(), name+".png"))
	if err != nil {
		c.t.Fatal(err)
	}
	defer f.Close()
	img, err := png.Decode(f)
	if err != nil {
		c.t.Fatal(err)
	}
	for y := range img.Bounds().Dy() {
		for x := range img.Bounds().Dx() {
			if r, g, _, _ := img.At(x, y).RGBA(); r > 0xc000 && g > 0x8000 {
				n++
			}
		}
	}
	return n
}

// nothingWrong fails where the page has had an error or an exception, or scrolls.
func (c *chrome) nothingWrong(what string) {
	c.t.Helper()
	if e := c.errors(); len(e) > 0 {
		c.t.Errorf("%s: %s", what, strings.Join(e, "\n"))
	}
	var fits bool
	c.eval("document.documentElement.scrollWidth <= innerWidth && document.documentElement.scrollHeight <= innerHeight", &fits)
	if !fits {
		c.t.Errorf("%s: the page is larger than its window", what)
	}
}

// hashOf finds the hash that a run prints.
func hashOf(t *testing.T, text string) string {
	t.Helper()
	m := regexp.MustCompile(`(?m)^hash ([0-9a-f]{16})$`).FindStringSubmatch(text)
	if m == nil {
		t.Fatalf("no hash in %q", text)
	}
	return m[1]
}

// phases is a script that keeps what the page says while it loads.
const phases = `globalThis.phases = [];
new MutationObserver(() => {
	const text = document.querySelector("#state span")?.textContent;
	if (text && phases.at(-1) !== text) phases.push(text);
}).observe(document, { subtree: true, childList: true, characterData: true });`

// firstDownload is the most that a player may have to wait for, in bytes over the network.
const firstDownload = 6 << 20

func TestBrowser_PlaysTheSameGameWithFingersAndWithoutAnError(t *testing.T) {
	dir := site(t)
	c := newChrome(t)
	server := httptest.NewServer(handler(dir))
	defer server.Close()
	began := time.Now()
	c.call("Page.addScriptToEvaluateOnNewDocument", map[string]any{"source": phases}, nil)
	const w, h = 844, 390
	c.open(server.URL+"/?autopilot&seed=7&ticks=600&hash&config=none", w, h, true)
	c.until("it plays", func(s state) bool { return s.Ticks > 0 })
	t.Logf("%.1f s until the first tick, %.2f MiB", time.Since(began).Seconds(), float64(c.bytes())/(1<<20))
	var told []string
	c.eval("phases", &told)
	if text := strings.Join(told, "; "); !regexp.MustCompile(`(downloading, \d+ %; ){2,}compiling; starting$`).MatchString(text) {
		t.Errorf("while it loads the page says %q", text)
	}
	if s := c.state(); s.Hand != "touch" {
		t.Errorf("before anything is touched a phone is told of the %s", s.Hand)
	}
	c.tap(render.TouchPause, w, h)
	paused := c.until("a tap pauses", func(s state) bool { return s.Screen == "paused" })
	if paused.Overlay {
		t.Error("the overlay is open before anybody has asked for it")
	}
	c.tap(render.TouchOverlay, w, h)
	c.until("a tap opens the overlay", func(s state) bool { return s.Overlay })
	c.picture("phone-overlay")
	c.tap(render.TouchOverlay, w, h)
	time.Sleep(500 * time.Millisecond) // until it is drawn
	c.picture("phone-tiers")
	c.size(h, w, true)
	time.Sleep(500 * time.Millisecond)
	c.picture("phone-upright")
	c.size(1280, 720, true)
	c.picture("desk-overlay")
	if s := c.state(); s.Ticks != paused.Ticks || s.Hash != paused.Hash || s.Ticks >= 600 {
		t.Errorf("paused at tick %d, it is at %d", paused.Ticks, s.Ticks)
	}
	c.size(w, h, true)
	c.tap(render.TouchPause, w, h)
	c.until("it goes on, the ground comes, and sounds", func(s state) bool {
		return s.Ticks > paused.Ticks && s.Soft < 0.9 && s.Clips > 0 && s.Failures == 0
	})
	c.picture("phone-playing")
	text := c.ended()
	native, err := testenv.Command(t, "go", "run", demoPath, "-headless", "-autopilot", "-seed=7", "-ticks=600", "-hash").Output()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := hashOf(t, text), hashOf(t, string(native)); got != want {
		t.Errorf("the hash is %s; a native run's is %s", got, want)
	}
	if n := c.bytes(); n > firstDownload {
		t.Errorf("%d bytes were downloaded; allowed are %d", n, firstDownload)
	}
	c.nothingWrong("600 ticks")
	t.Logf("%.2f MiB downloaded by the end", float64(c.bytes())/(1<<20))
}

func TestBrowser_ReplaysARecordingOfAnotherSystem(t *testing.T) {
	testenv.Longest(t)
	dir := site(t)
	c := newChrome(t)
	server := httptest.NewServer(handler(dir))
	defer server.Close()
	file := filepath.Join(dir, "run.strata")
	defer os.Remove(file)
	native, err := testenv.Command(t, "go", "run", demoPath, "-headless", "-seed=9", "-heat=3", "-ticks=420", "-hash", "-record="+file).Output()
	if err != nil {
		t.Fatal(err)
	}
	c.open(server.URL+"/?replay=run.strata&seek=320&hash&config=none", 844, 390, true)
	c.until("it plays", func(s state) bool { return s.Ticks > 0 })
	text := c.ended()
	if got, want := hashOf(t, text), hashOf(t, string(native)); got != want || !strings.Contains(text, "from the state of tick 301: all hashes are equal") {
		t.Errorf("the hash is %s; a native run's is %s:\n%s", got, want, text)
	}
	c.nothingWrong("a recording")
}

// lookAway is a script that lets a test take the focus from a page that stays in sight.
const lookAway = `globalThis.away = false; const has = document.hasFocus.bind(document); document.hasFocus = () => !away && has();`

// Any server will do, in any of its folders. After a reload the setting of full screen was off.
func TestBrowser_KeepsSettingsAndPausesWhenHiddenOnAPlainServer(t *testing.T) {
	dir := site(t)
	c := newChrome(t)
	server := httptest.NewServer(http.StripPrefix("/games/strata/", http.FileServer(http.Dir(dir))))
	defer server.Close()
	began := time.Now()
	c.call("Page.addScriptToEvaluateOnNewDocument", map[string]any{"source": lookAway}, nil)
	c.open(server.URL+"/games/strata/?seed=3", 854, 480, false)
	c.until("the title is there before its realm", func(s state) bool { return s.Screen == "title" })
	t.Logf("%.1f s until the title", time.Since(began).Seconds())
	c.until("its letters are drawn", func(s state) bool { return s.Playing || c.bright("desk-loading") > 2000 })
	c.until("the title shows", func(s state) bool { return s.Playing && s.Screen == "title" })
	n := c.bytes()
	t.Logf("%d bytes were downloaded; allowed are %d", n, firstDownload)
	if n > firstDownload {
		t.Error("the first download is too large")
	}
	c.picture("desk-title")
	covered := func() (on bool) { c.eval("!!document.fullscreenElement", &on); return on }
	c.key("F11", "F11", 122)
	c.until("F11 covers the screen", func(s state) bool { return s.Fullscreen && covered() })
	c.eval("document.exitFullscreen()", nil) // as the browser's Esc does
	c.until("the setting follows", func(s state) bool { return !s.Fullscreen })
	c.key("KeyM", "m", 'M')
	c.until("M mutes", func(s state) bool { return s.Mute })
	if covered() {
		t.Error("another setting brings full screen back")
	}
	c.key("Enter", "Enter", 13)
	c.until("Enter begins a game, and the press has let sound begin", func(s state) bool {
		return s.Screen == "playing" && s.Playing && s.Sound
	})
	c.picture("desk-playing")
	for _, hide := range []bool{true, false} { // another tab, and another window beside the page
		var other struct{ TargetID string }
		if c.eval(fmt.Sprintf("away = %v", !hide), nil); hide {
			c.call("Emulation.setFocusEmulationEnabled", map[string]any{"enabled": false}, nil)
			c.call("Target.createTarget", map[string]any{"url": "about:blank"}, &other)
		}
		c.until("a page without the focus pauses and says so", func(s state) bool { return s.Screen == "paused" && strings.Contains(s.Note, "FOCUS") })
		var hidden bool
		if c.eval("document.hidden", &hidden); hidden != hide {
			t.Errorf("hidden: %v; want %v", hidden, hide)
		}
		paused := c.state()
		if c.eval("away = false", nil); hide {
			c.call("Target.closeTarget", map[string]any{"targetId": other.TargetID}, nil)
			c.call("Page.bringToFront", nil, nil)
			c.call("Emulation.setFocusEmulationEnabled", map[string]any{"enabled": true}, nil)
		}
		time.Sleep(time.Second)
		if s := c.state(); s.Ticks != paused.Ticks || s.Screen != "paused" {
			t.Errorf("it goes on by itself: %+v", s)
		}
		c.picture(fmt.Sprintf("desk-paused-%v", hide))
		c.key("Enter", "Enter", 13)
		c.until("it goes on", func(s state) bool { return s.Screen == "playing" })
	}
	c.key("F11", "F11", 122)
	c.until("F11 covers the screen again", func(s state) bool { return s.Fullscreen && covered() })
	c.call("Page.reload", nil, nil)
	c.until("settings are there after a reload", func(s state) bool { return s.Playing && s.Screen == "title" && s.Mute && s.Ticks > 0 })
	began = time.Now()
	first := c.state().Ticks
	c.until("many frames pass without a press", func(s state) bool { return s.Ticks > first+40 })
	if s := c.state(); !s.Fullscreen || covered() {
		t.Errorf("after %v without a press the setting of full screen is %v, and the page covers the screen: %v", time.Since(began), s.Fullscreen, covered())
	}
	c.eval(`Storage.prototype.setItem = () => { throw new DOMException("exceeded the quota", "QuotaExceededError") }`, nil)
	c.key("KeyM", "m", 'M')
	c.until("the press covers the screen", func(s state) bool { return covered() })
	c.until("where no more can be stored a line says what to do", func(s state) bool {
		var text string
		c.eval("document.getElementById('out').textContent", &text)
		return !s.Mute && strings.Contains(text, "delete a saved run")
	})
	c.nothingWrong("on a plain server")
}

// A finger that the browser took away stayed on its stick, and a press of a finger or a pad between two ticks was lost.
func TestBrowser_TouchDoesEverythingOnAWidePhone(t *testing.T) {
	dir := site(t)
	c := newChrome(t)
	server := httptest.NewServer(handler(dir))
	defer server.Close()
	c.call("Page.addScriptToEvaluateOnNewDocument", map[string]any{"source": plugPad}, nil)
	const w, h = 844, 390
	c.open(server.URL+"/?config=none&seed=7", w, h, true)
	finger := func(kind string, at ...any) {
		<-c.send("Input.dispatchTouchEvent", map[string]any{"type": kind, "touchPoints": append([]any{}, at...)})
	}
	press := func(x, y float64) { // it is over before the next frame
		down := c.send("Input.dispatchTouchEvent", map[string]any{"type": "touchStart", "touchPoints": []any{map[string]any{"x": x, "y": y}}})
		up := c.send("Input.dispatchTouchEvent", map[string]any{"type": "touchEnd", "touchPoints": []any{}})
		<-down
		<-up
	}
	item := func(label, screen string) {
		s := c.until(label+" is there", func(s state) bool { return s.Items[label] != [2]float64{} })
		press(onPage(w, h, s.Items[label]))
		c.until(label+" is pressed", func(s state) bool { return s.Screen == screen })
		time.Sleep(700 * time.Millisecond) // until it has arrived
		c.picture("wide-" + screen)
	}
	c.until("the title is there", func(s state) bool { return s.Playing })
	finger("touchStart", map[string]any{"x": 5, "y": 5})
	time.Sleep(150 * time.Millisecond)
	finger("touchEnd")
	item("PLAY", "playing")
	if c.state().Overlay {
		t.Error("a thumb in a corner has opened the overlay")
	}
	finger("touchStart", map[string]any{"x": 130, "y": 300})
	finger("touchMove", map[string]any{"x": 150, "y": 300})
	c.until("a thumb steers", func(s state) bool { return s.Thumbs == 1 })
	finger("touchCancel")
	c.until("the browser took it away", func(s state) bool { return s.Thumbs == 0 })
	v := viewport(w, h)
	pause, _ := render.TouchPause.Circle(v.Safe())
	press(float64(v.X)+float64(pause[0]*v.Scale), float64(v.Y)+float64(pause[1]*v.Scale))
	c.until("a short tap pauses", func(s state) bool { return s.Screen == "paused" })
	item("SETTINGS", "setup")
	press(onPage(w, h, c.state().Items["FULLSCREEN"]))
	var covered bool
	c.until("the page covers the screen", func(s state) bool {
		c.eval("!!document.fullscreenElement", &covered)
		return s.Fullscreen && covered
	})
	c.picture("wide-fullscreen")
	c.eval("document.exitFullscreen()", nil)
	item("CONTROLS", "keys")
	item("BACK", "setup")
	item("BACK", "paused")
	item("GO ON", "playing")
	c.eval("dispatchEvent(new Event('gamepadconnected')); new Promise(done => { pad.buttons[9] = 1; setTimeout(() => done(pad.buttons[9] = 0), 6) })", nil)
	c.until("a short press of the pad pauses", func(s state) bool { return s.Screen == "paused" })
	c.nothingWrong("with fingers")
}

// The run of a twelfth of the ticks is the beginning of the other: what the program's memory is
// after five minutes, and after an hour, in small.
func TestBrowser_LinearMemoryDoesNotGrowWithTime(t *testing.T) {
	dir := site(t)
	c := newChrome(t)
	server := httptest.NewServer(handler(dir))
	defer server.Close()
	var bytes [2]int64
	for i, ticks := range []string{"200", "2400"} {
		if text := c.headless(server.URL + "/?headless&autopilot&seed=7&ticks=" + ticks); !strings.Contains(text, ticks+" ticks, ") {
			t.Errorf("it says %q", text)
		}
		c.eval("strata.bytes()", &bytes[i])
	}
	t.Logf("%.1f and %.1f MiB", float64(bytes[0])/(1<<20), float64(bytes[1])/(1<<20))
	if bytes[0] == 0 || float64(bytes[1]) > 1.1*float64(bytes[0]) {
		t.Errorf("%d bytes after 2,400 ticks; after 200 there were %d", bytes[1], bytes[0])
	}
	c.nothingWrong("headless")
}

// headless goes to a page of a run without a window and returns what it has printed when it has ended.
func (c *chrome) headless(url string) string {
	c.t.Helper()
	c.open(url, 640, 360, false)
	return c.ended()
}

// ended waits until the page's program has ended, and returns all that it has printed. A game takes back
// strata.state before it prints its last lines.
func (c *chrome) ended() (text string) {
	c.t.Helper()
	const ended = "(() => { const o = document.getElementById('out'); return o && !o.hidden ? o.textContent : '' })()"
	for end := testenv.Deadline(c.t); !strings.Contains(text, "\nended"); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			c.t.Fatalf("it does not end: %q %v", text, c.errors())
		}
		c.eval(ended, &text)
	}
	return text
}

// What is fetched is a file like any other: without it the game is the same, and says so in one line.
func TestBrowser_WhatCannotBeFetchedIsTriedAgainAndThenOneLine(t *testing.T) {
	dir := site(t)
	c := newChrome(t)
	const far = "realms/ember/far.png"
	var asked, failing atomic.Int32
	files := handler(dir)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/assets/"+far && asked.Add(1) <= failing.Load() {
			http.Error(w, "not now", http.StatusServiceUnavailable)
			return
		}
		files.ServeHTTP(w, r)
	}))
	defer server.Close()
	var texts [2]string
	for i, fail := range []int32{2, 3} {
		failing.Store(fail)
		asked.Store(0)
		texts[i] = c.headless(server.URL + "/?headless&seed=7&ticks=60&hash")
		if n := asked.Load(); n != 3 {
			t.Errorf("it was asked for %d times", n)
		}
	}
	if strings.Contains(texts[0], far) {
		t.Errorf("the third time was good, and it says %q", texts[0])
	}
	if strings.Count(texts[1], far) != 1 || !strings.Contains(texts[1], "503") {
		t.Errorf("it says %q", texts[1])
	}
	if a, b := hashOf(t, texts[0]), hashOf(t, texts[1]); a != b {
		t.Errorf("the hash is %s with the picture and %s without", a, b)
	}
}

// Without the survey of its realm the ground is soft: the game goes on and reports it. When the server is back the ground
// becomes sharp.
func TestBrowser_WithoutItsServerTheGroundIsSoftUntilItIsBack(t *testing.T) {
	testenv.Longest(t)
	dir := site(t)
	c := newChrome(t)
	c.ignore = "Failed to load resource" // the browser's own line for each request
	var away atomic.Bool
	away.Store(true)
	files := handler(dir)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if away.Load() && strings.HasSuffix(r.URL.Path, ".survey") {
			panic(http.ErrAbortHandler) // the connection breaks
		}
		files.ServeHTTP(w, r)
	}))
	defer server.Close()
	c.open(server.URL+"/?autopilot&tour&seed=7&config=none", 640, 360, false)
	missing := c.until("the ground does not come", func(s state) bool { return s.Missing > 0 })
	c.until("it goes on", func(s state) bool { return s.Ticks > missing.Ticks+200 && s.Screen == "playing" && s.Playing })
	c.picture("server-away")
	away.Store(false)
	c.until("the ground is there", func(s state) bool { return s.Soft > 0 && s.Soft < 0.5 && s.Missing == 0 })
	c.picture("server-back")
	c.nothingWrong("a server that goes away")
}
