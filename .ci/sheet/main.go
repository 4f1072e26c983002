// Command sheet takes pictures of the game and lays them out on contact sheets to look at. They show each screen, each
// realm at full heat and at rest, and the legend in the colours of each realm. The legend has each kind of enemy.
// There is a sheet for a desktop's window and one for a phone's:
//
//	go run -C .ci/sheet . -out /tmp/sheets
//
// It needs a display of at least 1280 × 844 pixels, for example
//
//	Xvfb :9 -screen 0 1280x1024x24 -noreset
//
// It prints what lies where, row by row. The single pictures lie beside the sheets. The exit status is 1 if a picture
// could not be taken, and 2 for wrong usage.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"image"
	"image/png"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/strata-go/strata/engine/cmdline"
)

// sizes are the windows, and how many pictures lie side by side on the sheet.
var sizes = []struct {
	size string
	cols int
}{{"1280x720", 4}, {"390x844", 8}}

// realms are the game's.
var realms = []string{"ember", "tide", "spore"}

// A shot is a picture to take.
type shot struct {
	name string
	args []string
}

func main() {
	out, only, err := parse(os.Args[1:], os.Stderr)
	if err == nil {
		err = run(out, only, os.Stdout)
	}
	os.Exit(cmdline.Status("sheet", err, os.Stderr))
}

func parse(args []string, fault io.Writer) (out, only string, err error) {
	f := flag.NewFlagSet("sheet", flag.ContinueOnError)
	f.StringVar(&out, "out", filepath.Join(os.TempDir(), "sheets"), "write the pictures to this `FOLDER`")
	f.StringVar(&only, "only", "", "take only pictures whose name contains `TEXT`")
	if err = cmdline.Parse(f, args, fault); err == nil && f.NArg() > 0 {
		err = cmdline.Wrong(f, fault, fmt.Sprintf("unexpected argument %q; every option is a flag, see -help", f.Arg(0)))
	}
	return out, only, err
}

func run(out, only string, stdout io.Writer) error {
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	demo := filepath.Join(out, "demo")
	build := exec.Command("go", "build", "-C", "../..", "-o", demo, "./demo")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return fmt.Errorf("demo does not build: %w", err)
	}
	defer os.Remove(demo)
	screens, err := screensOf(demo)
	if err != nil {
		return err
	}
	if err := matched(only, shots(screens), os.Stderr); err != nil {
		return err
	}
	var errs []error
	for _, s := range sizes {
		var files []string
		for _, p := range shots(screens) {
			name := s.size + "-" + p.name
			if !strings.Contains(name, only) {
				continue
			}
			file := filepath.Join(out, name+".png")
			if err := take(demo, s.size, file, p); err != nil {
				errs = append(errs, err)
				continue
			}
			files = append(files, file)
		}
		if len(files) == 0 {
			continue
		}
		sheet := filepath.Join(out, s.size+".png")
		if err := layOut(sheet, files, s.cols); err != nil {
			errs = append(errs, err)
			continue
		}
		fmt.Fprint(stdout, describe(sheet, files, s.cols))
	}
	return errors.Join(errs...)
}

// matched returns an error if -only selects no picture.
func matched(only string, all []shot, fault io.Writer) error {
	var formats, names []string
	for _, s := range sizes {
		formats = append(formats, s.size)
		for _, p := range all {
			if strings.Contains(s.size+"-"+p.name, only) {
				return nil
			}
		}
	}
	for _, p := range all {
		names = append(names, p.name)
	}
	return cmdline.Wrong(flag.NewFlagSet("sheet", flag.ContinueOnError), fault, fmt.Sprintf("-only %.40q: no picture has this in its name; allowed are parts of SIZE-NAME, with the sizes %s and the names %s", only, strings.Join(formats, ", "), strings.Join(names, ", ")))
}

// screensOf asks the game for the names of its screens: it lists them if one is unknown.
func screensOf(demo string) ([]string, error) {
	said, err := exec.Command(demo, "-screen", "?").CombinedOutput()
	_, list, ok := strings.Cut(string(said), "allowed are ")
	if err == nil || !ok {
		return nil, fmt.Errorf("demo does not list its screens: %s", bytes.TrimSpace(said))
	}
	list, _, _ = strings.Cut(list, "\n")
	return strings.Split(list, ", "), nil
}

// shots are all pictures of a sheet.
func shots(screens []string) (all []shot) {
	for _, s := range screens {
		all = append(all, shot{s, []string{"-screen", s}})
	}
	for _, r := range realms {
		all = append(all,
			shot{"calm-" + r, []string{"-autopilot", "-level", r, "-ticks", "400"}},
			shot{"heat-" + r, []string{"-autopilot", "-level", r, "-heat", "10", "-ticks", "500"}})
		for _, s := range screens {
			if s == "legend" {
				all = append(all, shot{s + "-" + r, []string{"-screen", s, "-level", r}})
			}
		}
	}
	return all
}

func take(demo, size, file string, p shot) error {
	args := append([]string{"-seed", "7", "-size", size, "-screenshot", file}, p.args...)
	if said, err := exec.Command(demo, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: demo %s: %w: %s", p.name, strings.Join(args, " "), err, bytes.TrimSpace(said))
	}
	return nil
}

// describe lists the pictures of a sheet row by row.
func describe(sheet string, files []string, cols int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, from the left:\n", sheet)
	for i, f := range files {
		name := strings.TrimSuffix(filepath.Base(f), ".png")
		_, name, _ = strings.Cut(name, "-")
		end := "  "
		if i%cols == cols-1 || i == len(files)-1 {
			end = "\n"
		}
		b.WriteString(name + end)
	}
	return b.String()
}

// layOut writes a sheet of pictures at half their size.
func layOut(sheet string, files []string, cols int) error {
	const gap = 4
	var pictures []*image.RGBA
	var cell image.Point
	for _, name := range files {
		p, err := half(name)
		if err != nil {
			return err
		}
		pictures = append(pictures, p)
		cell = image.Pt(max(cell.X, p.Rect.Dx()+gap), max(cell.Y, p.Rect.Dy()+gap))
	}
	if len(pictures) == 0 {
		return fmt.Errorf("%s: there is no picture", sheet)
	}
	all := image.NewRGBA(image.Rect(0, 0, cell.X*min(cols, len(pictures)), cell.Y*((len(pictures)+cols-1)/cols)))
	for i := range all.Pix {
		all.Pix[i] = 0x60 // grey, to see where a dark picture ends
		if i%4 == 3 {
			all.Pix[i] = 0xff
		}
	}
	for i, p := range pictures {
		at := image.Pt(i%cols*cell.X, i/cols*cell.Y)
		for y := range p.Rect.Dy() {
			copy(all.Pix[all.PixOffset(at.X, at.Y+y):], p.Pix[p.PixOffset(0, y):p.PixOffset(0, y)+4*p.Rect.Dx()])
		}
	}
	return write(sheet, all)
}

// half reads a picture at half its size: a pixel is the mean of four.
func half(name string) (*image.RGBA, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	img, err := png.Decode(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	b := img.Bounds()
	out := image.NewRGBA(image.Rect(0, 0, b.Dx()/2, b.Dy()/2))
	for y := range out.Rect.Dy() {
		for x := range out.Rect.Dx() {
			var sum [3]uint32
			for k := range 4 {
				r, g, b, _ := img.At(b.Min.X+2*x+k%2, b.Min.Y+2*y+k/2).RGBA()
				sum[0], sum[1], sum[2] = sum[0]+r, sum[1]+g, sum[2]+b
			}
			p := out.Pix[out.PixOffset(x, y):]
			p[0], p[1], p[2], p[3] = byte(sum[0]>>10), byte(sum[1]>>10), byte(sum[2]>>10), 0xff
		}
	}
	return out, nil
}

func write(name string, img image.Image) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(png.Encode(f, img), f.Close())
}
