package overlay

import (
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"runtime"

	"github.com/hajimehoshi/ebiten/v2"

	"github.com/strata-go/strata/engine/atomicfile"
	"github.com/strata-go/strata/memory/meter"
	"github.com/strata-go/strata/memory/tiers"
)

// A Record is the content of a dump's JSON file. If the game has no manager, Tiers is empty and the meter has no rows of
// tiers.
type Record struct {
	Meter meter.Record       `json:"meter"`
	Tiers []tiers.TierRecord `json:"tiers"`
	Tags  []tiers.TagRecord  `json:"tags"`
}

// dump writes files during the game: the figures are copied on its goroutine and written on another.
type dump struct {
	wanted bool
	done   chan outcome // nil while nothing is written
	disk   disk
	noDisk bool // in a browser
}

type outcome struct {
	path string
	err  error
}

// A disk is the file system, or a test's.
type disk struct {
	create func(dir, pattern string) (file, error)
	rename func(from, to string) error
	remove func(name string) error
}

type file interface {
	io.WriteCloser
	Name() string
	Chmod(os.FileMode) error
}

func (d *dump) init() {
	d.disk = disk{
		create: func(dir, pattern string) (file, error) { return os.CreateTemp(dir, pattern) },
		rename: os.Rename, remove: os.Remove,
	}
	d.noDisk = runtime.GOOS == "js"
}

// busy reports whether files are being written.
func (d *dump) busy() bool { return d.done != nil }

// Dump makes the next Draw write a dump to Config.Dir. The key F6 does the same. A dump has the figures as JSON, see
// [Record], the tiers as CSV, and the picture as PNG. Without a manager there is no CSV file. Another goroutine calls
// [atomicfile.Sweep] for this folder and then writes the files. For three seconds the strip then shows the path of the
// JSON file, or the error.
//
// While a dump is being written, Dump does nothing. In a browser, and after the Close of the manager, nothing is written
// and the strip shows an error.
func (o *Overlay) Dump() { o.dump.wanted = !o.dump.busy() }

// poll shows the result of the writing.
func (d *dump) poll(o *Overlay) {
	select {
	case r := <-d.done:
		d.done = nil
		if r.err != nil {
			o.say(true, "no dump: "+r.err.Error())
		} else {
			o.say(false, "wrote "+r.path)
		}
	default:
	}
}

// wait returns when nothing is being written: a program that ended earlier would leave incomplete files.
func (d *dump) wait() error {
	if d.done == nil {
		return nil
	}
	r := <-d.done
	d.done = nil
	return r.err
}

// writeDump copies the figures and the picture of this frame and starts the writing.
func (o *Overlay) writeDump(on *ebiten.Image) {
	o.dump.wanted = false
	switch {
	case o.dump.noDisk:
		o.say(true, "no dump: a browser has no file system")
		return
	case o.closed():
		o.say(true, "no dump: the memory manager is closed")
		return
	}
	b := on.Bounds()
	img := image.NewRGBA(image.Rect(0, 0, b.Dx(), b.Dy()))
	on.ReadPixels(img.Pix)
	o.startDump(img)
}

// startDump writes img and the figures of the meter on another goroutine.
func (o *Overlay) startDump(img *image.RGBA) {
	for i := 3; i < len(img.Pix); i += 4 {
		img.Pix[i] = 255 // what additive light left half covered is opaque on a screen
	}
	snap := *o.meter.Snapshot()
	d := Record{Meter: o.meter.Record(), Tiers: snap.Records(), Tags: snap.TagRecords()}
	snap.Tags = nil   // they are the meter's
	if o.own != nil { // the game has no tiers
		d.Tiers, d.Meter.Rows = d.Tiers[:0], d.Meter.Rows[tiers.Count:]
	}
	base := filepath.Join(o.cfg.Dir, "strata-"+o.cfg.Meter.Now().Format("20060102-150405.000"))
	done := make(chan outcome, 1)
	o.dump.done = done
	disk := o.dump.disk
	go func() {
		atomicfile.Sweep(filepath.Dir(base)) // what a program that was killed has left
		done <- outcome{base + ".json", disk.writeAll(base, &d, &snap, img)}
	}()
}

// writeAll writes temporary files and renames them when all are complete. If it fails none of them stays.
func (k *disk) writeAll(base string, d *Record, snap *tiers.Snapshot, img *image.RGBA) (err error) {
	writers := []struct {
		ext   string
		write func(io.Writer) error
	}{
		{".json", func(w io.Writer) error {
			enc := json.NewEncoder(w)
			enc.SetIndent("", "  ")
			return enc.Encode(d)
		}},
		{".png", func(w io.Writer) error { return png.Encode(w, img) }},
		{".csv", snap.WriteCSV},
	}
	if len(d.Tiers) == 0 {
		writers = writers[:2]
	}
	var there []string // removed if something fails
	defer func() {
		if err != nil {
			for _, name := range there {
				err = errors.Join(err, k.remove(name))
			}
		}
	}()
	for i := range writers {
		name, err := k.writeOne(base+writers[i].ext, writers[i].write)
		if name != "" {
			there = append(there, name)
		}
		if err != nil {
			return err
		}
	}
	for i := range writers {
		if err := k.rename(there[i], base+writers[i].ext); err != nil {
			return err
		}
		there[i] = base + writers[i].ext
	}
	return nil
}

// writeOne writes a temporary file in the folder of name, and returns the temporary name.
func (k *disk) writeOne(name string, write func(io.Writer) error) (temp string, err error) {
	f, err := k.create(filepath.Dir(name), atomicfile.Pattern(filepath.Ext(name)))
	if err != nil {
		return "", err
	}
	err = errors.Join(write(f), f.Chmod(0o644), f.Close())
	if err != nil {
		err = fmt.Errorf("%s: %w", name, err)
	}
	return f.Name(), err
}
