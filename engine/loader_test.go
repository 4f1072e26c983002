package engine

import (
	"errors"
	"image"
	"image/color"
	"io"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/arena"
	"github.com/strata-go/strata/memory/page"
)

func TestLoader_PicturesArriveWithTheirPixels(t *testing.T) {
	fsys := gallery(t)
	r := newRig(t, fsys, 2, 0)
	a := r.picture(t, "a", 0)
	seen := 0
	for seen == 0 {
		r.Wait()
		r.Upload(Budget{}, func(p Picture) error {
			seen++
			if p.Asset != a || p.ID != "a" || p.Path != "art/a.png" || p.Width != 16 || p.Height != 16 || len(p.Pixels) != 1024 {
				t.Errorf("got %v %q %q %d x %d, %d bytes", p.Asset, p.ID, p.Path, p.Width, p.Height, len(p.Pixels))
			}
			r.wantState(t, a.Asset, Ready)
			return r.Check()
		})
	}
	r.wantState(t, a.Asset, Uploaded)
	r.noLeaks(t)
	s := r.Stats()
	if s.Uploads != 1 || s.BytesUploaded != 1024 || s.BytesDecoded != 1024 || s.BytesRead != uint64(len(fsys["art/a.png"].Data)) {
		t.Errorf("stats: %+v", s)
	}
}

func TestLoader_PixelsAreWhatTheColorModelSays(t *testing.T) {
	rect := image.Rect(0, 0, 9, 7)
	pictures := map[string]interface {
		image.Image
		Set(x, y int, c color.Color)
	}{
		"nrgba": image.NewNRGBA(rect), "rgba": image.NewRGBA(rect), "gray": image.NewGray(rect),
		"gray16": image.NewGray16(rect), "nrgba64": image.NewNRGBA64(rect),
		"paletted": image.NewPaletted(rect, color.Palette{color.NRGBA{}, color.NRGBA{200, 100, 50, 128}, color.White}),
	}
	fsys := fstest.MapFS{}
	for name, img := range pictures {
		for y := range 7 {
			for x := range 9 {
				img.Set(x, y, color.NRGBA{uint8(x * 28), uint8(y * 36), uint8(x * y), uint8(40*x + y)})
			}
		}
		fsys["art/"+name+".png"] = &fstest.MapFile{Data: encodeImage(t, img)}
	}
	r := newRig(t, fsys, 1, 0)
	for name := range pictures {
		r.picture(t, name, 0)
	}
	for r.Progress(ScopeLevel).Fraction() < 1 {
		r.Wait()
		r.Upload(Budget{}, func(p Picture) error {
			for i := 0; i < len(p.Pixels); i += 4 {
				want := color.RGBAModel.Convert(pictures[p.ID].At(i/4%9, i/4/9)).(color.RGBA)
				got := color.RGBA{p.Pixels[i], p.Pixels[i+1], p.Pixels[i+2], p.Pixels[i+3]}
				if !near(got, want) {
					t.Errorf("%s: pixel %d is %v, want %v", p.ID, i/4, got, want)
				}
			}
			return nil
		})
	}
}

// near allows a step of 1: a PNG stores colours that are not premultiplied.
func near(a, b color.RGBA) bool {
	d := func(x, y uint8) bool { return max(x, y)-min(x, y) <= 1 }
	return d(a.R, b.R) && d(a.G, b.G) && d(a.B, b.B) && a.A == b.A
}

func TestLoader_HigherPriorityFirstThenOrderOfRequest(t *testing.T) {
	g := newGate(gallery(t), false)
	r := newRig(t, g, 1, 0)
	r.picture(t, "h", -9)
	<-g.entered // the worker is busy: the queue fills behind it
	for i, id := range []string{"a", "b", "c", "d", "e", "f"} {
		r.picture(t, id, []int{0, 5, 0, 5, -1, 7}[i])
	}
	close(g.pass)
	r.settle()
	var order []string
	for range 6 {
		order = append(order, strings.TrimSuffix(strings.TrimPrefix(<-g.entered, "art/"), ".png"))
	}
	if want := []string{"f", "b", "d", "a", "c", "e"}; !slices.Equal(order, want) {
		t.Errorf("read in order %v, want %v", order, want)
	}
}

func TestLoader_EveryFailureNamesTheFileAndTheRestGoesOn(t *testing.T) {
	fsys := gallery(t)
	whole := encode(t, 64, 64)
	corrupt := slices.Clone(whole)
	corrupt[len(corrupt)-20] ^= 0xFF
	huge := slices.Clone(whole)
	copy(huge[16:], []byte{0x00, 0x0F, 0xFF, 0xFF}) // the width; its checksum is wrong too
	fsys["art/truncated.png"] = &fstest.MapFile{Data: whole[:len(whole)/2]}
	fsys["art/stub.png"] = &fstest.MapFile{Data: whole[:12]}
	fsys["art/corrupt.png"] = &fstest.MapFile{Data: corrupt}
	fsys["art/huge.png"] = &fstest.MapFile{Data: huge}
	fsys["art/text.png"] = &fstest.MapFile{Data: []byte("this is no picture")}
	fsys["art/empty.png"] = &fstest.MapFile{}
	fsys["art/big.png"] = &fstest.MapFile{Data: make([]byte, 20000)}
	fsys["art/wide.png"] = &fstest.MapFile{Data: encodeImage(t, image.NewGray(image.Rect(0, 0, 100, 100)))}
	fsys["art/dir.png/x"] = &fstest.MapFile{}
	r := newRig(t, fsys, 2, 0, func(c *LoaderConfig) { c.MaxBytes = 16384 + 1 })
	wants := map[string]string{
		"missing":   "reading art/missing.png: file does not exist",
		"truncated": "decoding art/truncated.png: the picture is truncated",
		"stub":      "decoding art/stub.png: the picture is truncated",
		"corrupt":   "decoding art/corrupt.png: png: invalid format",
		"huge":      "decoding art/huge.png: png: invalid format: invalid checksum",
		"text":      "decoding art/text.png: png: invalid format: not a PNG file",
		"empty":     "reading art/empty.png: the file is empty",
		"big":       "reading art/big.png: engine: larger than LoaderConfig.MaxBytes allows: file of 20000 bytes, allowed 16385",
		"wide":      "decoding art/wide.png: engine: larger than LoaderConfig.MaxBytes allows: picture of 100 x 100 pixels, allowed 16385",
		"dir":       "reading art/dir.png: it is no regular file",
	}
	assets := map[string]PictureAsset{}
	for id := range wants {
		assets[id] = r.picture(t, id, 0)
	}
	r.picture(t, "a", -1)
	if ids := r.settle(); !slices.Equal(ids, []string{"a"}) {
		t.Errorf("uploaded %v, want a alone", ids)
	}
	for id, want := range wants {
		r.wantState(t, assets[id].Asset, Failed)
		err := r.Err(assets[id].Asset)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), `asset "`+id+`"`) {
			t.Errorf("%s: error %q, want %q", id, err, want)
		}
	}
	if !errors.Is(r.Err(assets["missing"].Asset), fs.ErrNotExist) || !errors.Is(r.Err(assets["truncated"].Asset), io.ErrUnexpectedEOF) ||
		!errors.Is(r.Err(assets["big"].Asset), ErrTooLarge) {
		t.Error("the reasons are not wrapped")
	}
	if n := len(r.Errors()); n != len(wants) {
		t.Errorf("%d errors in the log, want %d", n, len(wants))
	}
	if p := r.Progress(ScopeLevel); p != (Progress{Done: 11, Failed: 10, Total: 11}) {
		t.Errorf("progress %+v", p)
	}
	r.noLeaks(t)
}

// lying is a file system whose files say that they are longer, or shorter, than they are.
type lying struct {
	fs.FS
	by int64
}

func (l lying) Open(name string) (fs.File, error) {
	f, err := l.FS.Open(name)
	return lyingFile{f, l.by}, err
}

type lyingFile struct {
	fs.File
	by int64
}

type lyingInfo struct {
	fs.FileInfo
	by int64
}

func (f lyingFile) Stat() (fs.FileInfo, error) {
	info, err := f.File.Stat()
	return lyingInfo{info, f.by}, err
}

func (i lyingInfo) Size() int64 { return i.FileInfo.Size() + i.by }

func TestLoader_FileOfAnotherLengthThanItSays(t *testing.T) {
	for by, want := range map[int64]string{7: "the file ends after", -7: "the file is longer than"} {
		r := newRig(t, lying{gallery(t), by}, 1, 0)
		a := r.picture(t, "a", 0)
		r.settle()
		if err := r.Err(a.Asset); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("off by %d: %v, want %q", by, err, want)
		}
	}
}

func TestLoader_RefusedRequests(t *testing.T) {
	r := newRig(t, gallery(t), 1, 0, func(c *LoaderConfig) { c.Assets = 2 })
	r.picture(t, "a", 0)
	for _, c := range []struct{ id, path, want string }{
		{"", "art/a.png", "the id is empty"},
		{"x", "../a.png", "not a path inside the file system"},
		{"x", "/etc/passwd", "not a path inside the file system"},
		{"x", "art//a.png", "not a path inside the file system"},
		{"x", ".", "not a path inside the file system"},
		{"a", "art/b.png", "requested already; ids are unique: \"a\", from art/a.png"},
	} {
		if _, err := r.RequestPicture(ScopeLevel, c.id, c.path, 0); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q %q: %v, want %q", c.id, c.path, err, c.want)
		}
	}
	r.picture(t, "b", 0)
	if _, err := r.RequestPicture(ScopeLevel, "c", "art/c.png", 0); err != ErrLoaderFull {
		t.Errorf("one too many: %v", err)
	}
	r.settle()
	r.CancelLevel()
	r.picture(t, "a", 0)
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if _, err := r.RequestPicture(ScopeLevel, "c", "art/c.png", 0); err != ErrLoaderClosed {
		t.Errorf("after Close: %v", err)
	}
}

func TestNewLoader_BadConfig(t *testing.T) {
	good := LoaderConfig{FS: fstest.MapFS{}, Heap: func(int) memory.Allocator { return newHeap(0) }, Free: func(unsafe.Pointer, uintptr) {}}
	for want, change := range map[string]func(*LoaderConfig){
		"FS, Heap and Free are required":                 func(c *LoaderConfig) { c.Heap = nil },
		"-1 workers; allowed: 1 to 64":                   func(c *LoaderConfig) { c.Workers = -1 },
		"65 workers; allowed: 1 to 64":                   func(c *LoaderConfig) { c.Workers = 65 },
		"patience of -1ns; allowed: nothing negative":    func(c *LoaderConfig) { c.Patience = -1 },
		"MaxBytes -1; allowed: 1 to 1073741824":          func(c *LoaderConfig) { c.MaxBytes = -1 },
		"room for -1 assets; allowed: 1 to 1048576":      func(c *LoaderConfig) { c.Assets = -1 },
		"engine: new Loader: no heap for worker 1 of 2":  func(c *LoaderConfig) { c.Workers = 2; c.Heap = onlyFirst },
		"engine: new Loader: FS, Heap and Free are requ": func(c *LoaderConfig) { c.FS = nil },
	} {
		cfg := good
		change(&cfg)
		if l, err := NewLoader(cfg); l != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, %v; want %q", l, err, want)
		}
	}
}

func onlyFirst(w int) memory.Allocator {
	if w > 0 {
		return nil
	}
	return newHeap(0)
}

func TestLoader_FilesAreTakenOnce(t *testing.T) {
	r := newRig(t, fstest.MapFS{"levels/x.json": {Data: []byte("{}")}}, 1, 0)
	a, err := r.RequestFile(ScopeLevel, "x", "levels/x.json", 0)
	if err != nil {
		t.Fatal(err)
	}
	missing, _ := r.RequestFile(ScopeLevel, "y", "levels/y.json", 0)
	r.settle()
	if n := r.Upload(Budget{}, func(Picture) error { t.Error("a file was handed out as a picture"); return nil }); n != 0 {
		t.Errorf("%d pictures", n)
	}
	got := ""
	if err := r.Take(a, func(f File) error { got = f.ID + " " + f.Path + " " + string(f.Data); return r.Check() }); err != nil {
		t.Error(err)
	}
	if got != "x levels/x.json {}" {
		t.Errorf("got %q", got)
	}
	unused := func(File) error { t.Error("called"); return nil }
	if err := r.Take(a, unused); !errors.Is(err, ErrNotReady) || !strings.Contains(err.Error(), "uploaded") {
		t.Errorf("second Take: %v", err)
	}
	if err := r.Take(missing, unused); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing: %v", err)
	}
	if err := r.Take(FileAsset{}, unused); err != ErrStale {
		t.Errorf("zero: %v", err)
	}
	r.noLeaks(t)
}

func TestUpload_BudgetOfBytesIsHonouredButOneAlwaysPasses(t *testing.T) {
	r := newRig(t, gallery(t), 2, 0)
	for c := 'a'; c <= 'h'; c++ {
		r.picture(t, string(c), 0)
	}
	for r.Stats().Counts[Ready] < 8 {
		time.Sleep(time.Millisecond)
	}
	sink := func(Picture) error { return nil }
	for _, c := range []struct{ bytes, want int }{{1, 1}, {1023, 1}, {1024, 1}, {2047, 1}, {2048, 2}, {0, 2}, {0, 0}} {
		if n := r.Upload(Budget{Bytes: c.bytes}, sink); n != c.want {
			t.Errorf("%d bytes: %d pictures of 1024 bytes, want %d", c.bytes, n, c.want)
		}
	}
}

func TestUpload_BudgetOfTimeIsHonoured(t *testing.T) {
	r := newRig(t, gallery(t), 2, 0)
	var now time.Time
	r.now = func() time.Time { return now }
	for c := 'a'; c <= 'h'; c++ {
		r.picture(t, string(c), 0)
	}
	for r.Stats().Counts[Ready] < 8 {
		time.Sleep(time.Millisecond)
	}
	sink := func(Picture) error { now = now.Add(time.Millisecond); return nil }
	for _, c := range []struct {
		ms   time.Duration
		want int
	}{{1, 1}, {2, 2}, {3, 3}, {9, 2}} {
		if n := r.Upload(Budget{Time: c.ms * time.Millisecond}, sink); n != c.want {
			t.Errorf("%d ms: %d pictures of 1 ms, want %d", c.ms, n, c.want)
		}
	}
}

func TestUpload_SinkThatRefusesFailsTheAsset(t *testing.T) {
	r := newRig(t, gallery(t), 1, 0)
	a, b := r.picture(t, "a", 1), r.picture(t, "b", 0)
	full := errors.New("the atlas is full")
	for r.Progress(ScopeLevel).Done < 2 {
		r.Wait()
		r.Upload(Budget{}, func(p Picture) error {
			if p.ID == "a" {
				return full
			}
			return nil
		})
	}
	r.wantState(t, a.Asset, Failed)
	r.wantState(t, b.Asset, Uploaded)
	if err := r.Err(a.Asset); !errors.Is(err, full) || err.Error() != `engine: asset "a": handing over art/a.png: the atlas is full` {
		t.Error(err)
	}
	r.noLeaks(t)
}

func TestUpload_SinkThatPanicsLosesNoBlock(t *testing.T) {
	r := newRig(t, gallery(t), 1, 0)
	r.picture(t, "a", 1)
	r.Wait()
	func() {
		defer func() { _ = recover() }()
		r.Upload(Budget{}, func(Picture) error { panic("sink") })
	}()
	r.noLeaks(t)
}

// A heap with room for one picture at a time makes loading slower and not impossible.
func TestLoader_FullHeapWaitsForUploads(t *testing.T) {
	r := newRig(t, gallery(t), 2, 1024+uintptr(len(gallery(t)["art/a.png"].Data)))
	for c := 'a'; c <= 'h'; c++ {
		r.picture(t, string(c), 0)
	}
	if ids := r.settle(); len(ids) != 8 || r.Stats().Failures != 0 {
		t.Errorf("uploaded %v; errors %v", ids, r.Errors())
	}
}

func TestLoader_FullHeapIsCancelled(t *testing.T) {
	r := newRig(t, gallery(t), 1, 1024+uintptr(len(gallery(t)["art/a.png"].Data)))
	for c := 'a'; c <= 'h'; c++ {
		r.picture(t, string(c), 0)
	}
	r.Wait() // one is ready, the worker runs out of room with the next
	r.CancelLevel()
	r.noLeaks(t)
}

func TestLoader_NoRoomIsAFailureThatSaysSo(t *testing.T) {
	r := newRig(t, gallery(t), 1, 900)
	a := r.picture(t, "a", 0)
	r.settle()
	if err := r.Err(a.Asset); !errors.Is(err, memory.ErrOutOfMemory) || !strings.Contains(err.Error(), "no room for 1024 bytes of the pixels in the worker's heap") {
		t.Error(err)
	}
	r.noLeaks(t)
}

func TestLoader_AllocatorThatFailsOnceFailsOneAsset(t *testing.T) {
	for _, fault := range []error{memory.ErrOutOfMemory, memory.ErrTooLarge, &memory.Exhausted{Op: "test", Need: 1}} {
		r := newRig(t, gallery(t), 1, 0)
		r.heaps[0].fail = fault
		a, b := r.picture(t, "a", 1), r.picture(t, "b", 0)
		r.settle()
		r.wantState(t, a.Asset, Failed)
		r.wantState(t, b.Asset, Uploaded)
		if err := r.Err(a.Asset); !errors.Is(err, fault) {
			t.Errorf("%v, want %v", err, fault)
		}
	}
}

func TestLoader_ErrorLogIsBounded(t *testing.T) {
	r := newRig(t, fstest.MapFS{}, 1, 0)
	for i := range 100 {
		r.picture(t, "n"+string(rune('0'+i/10))+string(rune('0'+i%10)), 0)
	}
	r.settle()
	errs := r.Errors()
	if len(errs) != loggedErrors || !strings.Contains(errs[loggedErrors-1].Error(), "n99") || r.Stats().Failures != 100 {
		t.Errorf("%d errors, the last %v, %d failures", len(errs), errs[len(errs)-1], r.Stats().Failures)
	}
}

func TestLoader_ProgressNamesWhatIsLoading(t *testing.T) {
	g := newGate(gallery(t), false)
	r := newRig(t, g, 2, 0)
	for c := 'a'; c <= 'd'; c++ {
		r.picture(t, string(c), 0)
	}
	<-g.entered
	<-g.entered
	names := r.AppendLoading(nil)
	slices.Sort(names)
	if !slices.Equal(names, []string{"a", "b"}) || r.Progress(ScopeLevel) != (Progress{Total: 4}) {
		t.Errorf("loading %v, progress %+v", names, r.Progress(ScopeLevel))
	}
	if f := (Progress{}).Fraction(); f != 1 {
		t.Errorf("nothing to do is %v done", f)
	}
	if s := r.Stats(); s.Busy != 2 || s.Workers != 2 || s.Counts[Queued] != 2 || s.Counts[Reading] != 2 || s.Counts[Vacant] != defaultAssets-4 {
		t.Errorf("stats %+v", s)
	}
	close(g.pass)
	r.settle()
	if f := r.Progress(ScopeLevel).Fraction(); f != 1 {
		t.Errorf("fraction %v in the end", f)
	}
}

func TestLoader_NoGoAllocationsWhileIdleOrUploading(t *testing.T) {
	r := newRig(t, gallery(t), 1, 0)
	r.picture(t, "a", 0)
	r.settle()
	a, sink := r.picture(t, "b", 0), func(Picture) error { return nil }
	r.settle()
	names := make([]string, 0, 8)
	if n := testing.AllocsPerRun(100, func() {
		r.Upload(Budget{Bytes: 1 << 20, Time: time.Millisecond}, sink)
		_, _ = r.State(a.Asset)
		_, _ = r.Stats(), r.Progress(ScopeLevel)
		names = r.AppendLoading(names[:0])
		r.CancelDone()
	}); n != 0 {
		t.Errorf("%v Go allocations a tick", n)
	}
}

func TestLoader_RequestsDoNotAllocate(t *testing.T) {
	g := newGate(gallery(t), false)
	r := newRig(t, g, 1, 0)
	r.picture(t, "a", 0)
	<-g.entered // the worker hangs: what is counted is ours
	ids := strings.Fields("q r s t u v w x y z")
	if n := testing.AllocsPerRun(len(ids)-1, func() {
		id := ids[0]
		ids = ids[1:]
		if _, err := r.RequestPicture(ScopeLevel, id, "art/b.png", len(ids)%3); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v Go allocations a request", n)
	}
	close(g.pass)
	r.settle()
}

// The pixels lie in a family's memory: here in an arena per worker, whose frees are no-ops and
// which the owner resets once the loader is closed.
func TestLoader_StagesInAnArena(t *testing.T) {
	heap, err := arena.NewGrowing(page.Default(), arena.GrowingConfig{Reserve: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	l, err := NewLoader(LoaderConfig{FS: gallery(t), Workers: 1,
		Heap: func(int) memory.Allocator { return heap }, Free: func(unsafe.Pointer, uintptr) {}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.RequestPicture(ScopeGame, "a", "art/a.png", 0); err != nil {
		t.Fatal(err)
	}
	for l.Progress(ScopeGame).Done == 0 {
		l.Wait()
		l.Upload(Budget{}, func(p Picture) error {
			if uintptr(unsafe.Pointer(&p.Pixels[0]))%stagingAlign != 0 {
				t.Error("pixels are not aligned")
			}
			return nil
		})
	}
	if err := errors.Join(l.Close(), heap.Close()); err != nil {
		t.Error(err)
	}
}

func TestLoader_CheckFindsEachBrokenBook(t *testing.T) {
	for want, spoil := range map[string]func(*Loader){
		"is in no state":                   func(l *Loader) { l.entries[0].state = stateCount },
		"with generation 2":                func(l *Loader) { l.entries[l.ready.heap[0]].gen = 2 },
		"and holds a block":                func(l *Loader) { l.set(l.ready.heap[0], Uploaded) },
		"with error":                       func(l *Loader) { l.entries[l.ready.heap[0]].err = ErrStale },
		"states are counted as":            func(l *Loader) { l.stats.Counts[Failed]++ },
		"pictures are counted as publishe": func(l *Loader) { l.waiting[0]++ },
		"are not in order":                 func(l *Loader) { l.stats.StagingPeak = 0 },
		"ready holds 1 assets; 2 belong":   func(l *Loader) { l.ready.heap = l.ready.heap[:1] },
		"ready is out of order at 1":       func(l *Loader) { l.ready.heap[0], l.ready.heap[1] = l.ready.heap[1], l.ready.heap[0] },
		"which does not belong there":      func(l *Loader) { l.ready.heap[0] = 1 << 30 },
	} {
		r := newRig(t, gallery(t), 1, 0)
		r.picture(t, "a", 0)
		r.picture(t, "b", 0)
		for r.Stats().Counts[Ready] < 2 {
			time.Sleep(time.Millisecond)
		}
		heap, waiting := slices.Clone(r.ready.heap), slices.Clone(r.waiting)
		entries, stats := slices.Clone(r.entries), r.stats
		spoil(r.Loader)
		if err := r.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Check says %v, want %q", err, want)
		}
		r.ready.heap, r.waiting, r.stats = heap, waiting, stats
		copy(r.entries, entries)
	}
}
