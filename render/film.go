package render

import (
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"io"

	"github.com/strata-go/strata/engine/atomicfile"
)

// A Film records pictures of the window and writes them as an animated GIF, for example for a README. A Film keeps
// three bytes for each pixel of each picture on the Go heap as long as the Film is reachable. So record only seconds.
//
// All pictures share at most 255 colours, chosen by median cut (Heckbert, "Color Image Quantization for Frame Buffer
// Display", 1982). An ordered dither keeps unchanged parts still, and pixels that equal those of the picture before
// are transparent. A Film belongs to the goroutine that draws.
type Film struct {
	width, height int // of the film; set by the first picture
	most          int // pixels of its width
	delay         int // hundredths of a second from picture to picture
	frames        [][]byte
	whole         []byte // the window; the buffer is reused for each picture
}

// NewFilm returns an empty film. Wide is the largest width of the pictures in pixels, from 16 to 4096. Fps is the
// number of pictures a second, from 1 to 50. Other values are an error. A GIF rounds the time between pictures to
// hundredths of a second.
func NewFilm(wide, fps int) (*Film, error) {
	if wide < 16 || wide > 4096 || fps < 1 || fps > 50 {
		return nil, fmt.Errorf("render: a film %d pixels wide with %d pictures a second; allowed are 16 to 4096 and 1 to 50", wide, fps)
	}
	return &Film{most: wide, delay: (100 + fps/2) / fps}, nil
}

// Len returns the number of pictures.
func (m *Film) Len() int { return len(m.frames) }

// Add records the current picture of the window, reduced by a whole factor: each pixel is the mean of the window's
// pixels that it replaces. Call EndScene first. Add waits for the GPU. Add fails if the window's size differs from
// its size at the first Add, or if the reduced picture would be empty. A failed Add records nothing.
func (m *Film) Add(f *Frame) error {
	by := max(1, (f.ScreenW+m.most-1)/m.most)
	w, h := f.ScreenW/by, f.ScreenH/by
	if w == 0 || h == 0 {
		return fmt.Errorf("render: a window of %d×%d pixels is too small for a film", f.ScreenW, f.ScreenH)
	}
	if len(m.frames) == 0 {
		m.width, m.height = w, h
		m.whole = make([]byte, 4*f.ScreenW*f.ScreenH)
	}
	if w != m.width || h != m.height {
		return fmt.Errorf("render: the size of the window changed during the film, from %d×%d to %d×%d", m.width, m.height, w, h)
	}
	if err := f.ReadPixels(m.whole); err != nil {
		return err
	}
	m.frames = append(m.frames, shrink(m.whole, f.ScreenW, w, h, by))
	return nil
}

// shrink returns the RGB of every by × by pixels of RGBA.
func shrink(rgba []byte, stride, w, h, by int) []byte {
	out := make([]byte, 0, 3*w*h)
	for y := range h {
		for x := range w {
			var sum [3]int
			for j := range by {
				row := rgba[4*((y*by+j)*stride+x*by):][:4*by]
				for i := 0; i < len(row); i += 4 {
					sum[0] += int(row[i])
					sum[1] += int(row[i+1])
					sum[2] += int(row[i+2])
				}
			}
			for _, s := range sum {
				out = append(out, byte(s/(by*by)))
			}
		}
	}
	return out
}

// Write writes the film to path with [atomicfile.Write] and wraps its error. If the film has no picture, Write fails.
// The film keeps its pictures.
func (m *Film) Write(path string) error {
	if len(m.frames) == 0 {
		return errors.New("render: a film without a picture")
	}
	film := m.encode()
	if err := atomicfile.Write(path, func(w io.Writer) error { return gif.EncodeAll(w, film) }); err != nil {
		return fmt.Errorf("render: film: %w", err)
	}
	return nil
}

// encode gives each picture the film's colours.
func (m *Film) encode() *gif.GIF {
	colors := medianCut(m.frames, 255)
	near := newNearest(colors)
	clear := uint8(len(colors))
	palette := append(colors, color.RGBA{}) // the last is transparent
	out := &gif.GIF{}
	var shown []uint8 // what is on the screen before a picture
	for _, rgb := range m.frames {
		img := image.NewPaletted(image.Rect(0, 0, m.width, m.height), palette)
		for i := range img.Pix {
			img.Pix[i] = near.dithered(rgb[3*i:3*i+3], i%m.width, i/m.width)
		}
		next := append([]uint8(nil), img.Pix...)
		for i := range shown {
			if shown[i] == img.Pix[i] {
				img.Pix[i] = clear
			}
		}
		shown = next
		out.Image = append(out.Image, img)
		out.Delay = append(out.Delay, m.delay)
		out.Disposal = append(out.Disposal, gif.DisposalNone)
	}
	return out
}
