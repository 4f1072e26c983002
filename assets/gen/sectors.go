package main

import (
	"bytes"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/strata-go/strata/demo/ground"
	"github.com/strata-go/strata/memory/page"
	"github.com/strata-go/strata/memory/tlsf"
)

// farSide is how many pixels of the far picture a sector has, in a row.
const farSide = 16

// composing draws sectors on every processor: f gets each picture, on any goroutine.
func (w *world) composing(sectors [][2]int, f func(sx, sy int, pix []byte)) error {
	next := make(chan [2]int)
	fail := make(chan error, runtime.GOMAXPROCS(0))
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			heap, err := tlsf.New(page.Default(), tlsf.Config{Reserve: 4 << 20})
			if err != nil {
				fail <- err
			}
			pix := make([]byte, ground.Bytes)
			for s := range next {
				if err == nil {
					if err = ground.Compose(pix, w.recipe(s[0], s[1]), &w.shown, heap, nil); err != nil {
						fail <- err
						continue
					}
					f(s[0], s[1], pix)
				}
			}
			if err == nil {
				if err = heap.Close(); err != nil {
					fail <- err
				}
			}
		})
	}
	for _, s := range sectors {
		next <- s
	}
	close(next)
	wg.Wait()
	close(fail)
	return <-fail
}

// dress draws the realm's stamps, which composing needs.
func (w *world) dress() (*image.NRGBA, error) {
	img := drawStamps(w.realm)
	pix := bytes.Clone(img.Pix)
	ground.Premultiply(pix)
	pal, err := ground.ParsePalette(w.realm.Name, w.realm.Palette)
	if err == nil {
		w.shown, err = ground.NewStamps(w.realm.Name, pix, img.Rect.Dx(), img.Rect.Dy(), pal)
	}
	return img, err
}

// far draws the whole realm, small.
func (w *world) far() (*image.NRGBA, error) {
	img := image.NewNRGBA(image.Rect(0, 0, realmSide*farSide, realmSide*farSide))
	var all [][2]int
	for i := range realmSide * realmSide {
		all = append(all, [2]int{i % realmSide, i / realmSide})
	}
	err := w.composing(all, func(sx, sy int, pix []byte) { shrink(img, sx, sy, pix) })
	return soften(img), err
}

// soften blurs the far picture and leaves one level of five: it is only ever seen enlarged, and packs in half the room.
func soften(img *image.NRGBA) *image.NRGBA {
	const levels = 5
	out := image.NewNRGBA(img.Rect)
	w, h := img.Rect.Dx(), img.Rect.Dy()
	for i := range w * h {
		for c := range 3 {
			sum := 8
			for k := range 9 {
				x, y := min(max(i%w+k%3-1, 0), w-1), min(max(i/w+k/3-1, 0), h-1)
				sum += int(img.Pix[(y*w+x)*4+c]) * (2 - abs(k%3-1)) * (2 - abs(k/3-1))
			}
			out.Pix[i*4+c] = uint8((sum/16 + levels/2) / levels * levels)
		}
		out.Pix[i*4+3] = 255
	}
	return out
}

// shrink averages a sector into its place in the far picture.
func shrink(img *image.NRGBA, sx, sy int, pix []byte) {
	const n = ground.SectorSize / farSide
	for y := range farSide {
		for x := range farSide {
			var sum [3]int
			for i := range n * n {
				p := pix[((y*n+i/n)*ground.SectorSize+x*n+i%n)*4:]
				for c := range sum {
					sum[c] += int(p[c])
				}
			}
			p := img.Pix[img.PixOffset(sx*farSide+x, sy*farSide+y):]
			for c := range sum {
				p[c] = uint8(sum[c] / (n * n))
			}
			p[3] = 255
		}
	}
}

// writeSectors writes a realm's folder: stamps, far picture, survey.
func (w *world) writeSectors(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	stamps, err := w.dress()
	if err != nil {
		return err
	}
	far, err := w.far()
	if err != nil {
		return err
	}
	for name, img := range map[string]*image.NRGBA{"stamps.png": stamps, "far.png": far} {
		data, err := encode(img)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(dir, "sectors.survey"), w.sectors.Append(nil), 0o644)
}

// writeSheet composes three by two sectors of each realm, side by side, to look at.
func writeSheet(file string) error {
	const side = ground.SectorSize
	img := image.NewRGBA(image.Rect(0, 0, 3*side, 2*side*len(realms)))
	for i := range realms {
		w := survey(&realms[i])
		if _, err := w.dress(); err != nil {
			return err
		}
		var all [][2]int
		sx, sy := w.realm.Seals[0][0]/side-1, w.realm.Seals[0][1]/side
		for k := range 6 {
			all = append(all, [2]int{sx + k%3, sy + k/3})
		}
		err := w.composing(all, func(x, y int, pix []byte) {
			for row := range side {
				at := img.PixOffset((x-sx)*side, (i*2+y-sy)*side+row)
				copy(img.Pix[at:], pix[row*side*4:][:side*4])
			}
		})
		if err != nil {
			return err
		}
	}
	var buf bytes.Buffer
	if err := png.Encode(&buf, img); err != nil {
		return err
	}
	return os.WriteFile(file, buf.Bytes(), 0o644)
}
