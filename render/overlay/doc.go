// Package overlay is a memory instrument panel for any Ebitengine game: what is large, what grows and
// whose it is, whether the frame fits, what the worst frame did.
//
// # The idea
//
// A game that has a [tiers.Manager] takes three lines: New, Update, Draw, and Frozen in a fourth where F5
// is to freeze it; one that has none gives nil to New. The overlay brings its own
// pictures, vertices and figures, draws on any picture in one draw call and allocates nothing in a frame.
// F1 shows one line, F2 what the keys do and what the colours mean, F3 the answer. The other keys are listed at [Part].
//
// A tap or click in the corner goes from strip to strip and tiers to nothing.
//
// # A whole program
//
// A memory frame is a tick, not a picture: Ebitengine calls Draw once, several times or not at all
// between two ticks, and Update several times before a Draw. So Update ends the frame before and opens its own,
// which stays open while it is drawn, and Draw gives back what it has taken:
//
//	type Game struct {
//		m *tiers.Manager
//		o *overlay.Overlay
//	}
//
//	// Update ends the memory frame of the tick before, which has been drawn by now, and opens this one's.
//	func (g *Game) Update() error {
//		g.o.Update()
//		if g.o.Frozen() {
//			return nil // the frame stays open, so that Draw can draw it again
//		}
//		if err := g.m.NextFrame(); err != nil {
//			return err
//		}
//		// The tick: what it takes from g.m.Frame() is there until the next Update.
//		return nil
//	}
//
//	// Draw draws what the tick has made, once, several times or not at all, and leaves its frame as it was.
//	func (g *Game) Draw(screen *ebiten.Image) {
//		mark := g.m.Frame().Mark()
//		// Draw the game. What this takes from g.m.Frame() is given back:
//		g.m.Frame().Rewind(mark)
//		g.o.Draw(screen)
//	}
//
//	func (g *Game) Layout(w, h int) (int, int) { return w, h }
//
//	func run() error {
//		m, err := tiers.New(tiers.Config{Tags: true})
//		if err != nil {
//			return err
//		}
//		o, err := overlay.New(m, overlay.Config{})
//		if err != nil {
//			return errors.Join(err, m.Close())
//		}
//		err = m.NextFrame() // for a Draw before the first Update
//		if err == nil {
//			err = ebiten.RunGame(&Game{m, o})
//		}
//		return errors.Join(err, o.Close(), m.EndFrame(), m.Close())
//	}
//
//	func main() {
//		if err := run(); err != nil {
//			log.Fatal(err)
//		}
//	}
//
// BeginFrame in Update with EndFrame in Draw fails as soon as the two are not called in turns. NextFrame in
// Draw would make the ticks between two pictures share one frame. A level begins and ends outside frames: call
// EndFrame before it.
//
// # More of the game's own
//
//	o.Meter().Monitor("enemies", "", func() float64 { return float64(len(enemies)) })
//	physics := o.Meter().Timer("physics")   // physics.Start() and Stop() in Update
//	o.Add(overlay.Panel{Title: "paths", Key: ebiten.KeyF10, Cols: 20, Rows: 6, Draw: drawPaths})
//
// # Cost
//
// In µs of processor time a frame, Update and Draw with what the meter takes, at 1280 × 720 beside 5,000 to 17,000
// enemies of the demo at full heat, on an AMD EPYC with Go 1.26.8 that was busy with other work; no Go
// allocations but those of Ebitengine's one draw call, which is not in it:
//
//	         median   longest of a period of figures
//	hidden     0.21   with Ebitengine's keys
//	watched      20    39
//	strip        67    81
//	help         83   101
//	tiers       128   170
//	maps         95   121   a heap of any size: a thousand blocks a frame are looked at
//	leaks        80   132
//	memory       89   129   and some objects on another goroutine when it is opened
//	all         218   213
//
// go test -v -run 'FullHeat|Hidden' ./render/overlay prints it, and go test -bench . what it is without a game's
// cold caches. Some 2 MiB of the Go heap and 1 MiB of the GPU's memory; New
// takes some 15 ms. Hidden, without [Config.Watch], nothing is measured: ten seconds later there are
// ten seconds to be seen.
//
// # Goroutines and the collector
//
// An Overlay belongs to the goroutine of the game. A dump is written on a goroutine of its own, from
// copies.
package overlay
