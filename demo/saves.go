package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/go-gl/mathgl/mgl32"

	"github.com/strata-go/strata/demo/session"
	"github.com/strata-go/strata/demo/shell"
	"github.com/strata-go/strata/engine/atomicfile"
)

// The player's saved runs: four files in the store, of session.Write. A page stores text, see packText.

// saveMost is above the size of a saved run at full heat.
const saveMost = 16 << 20

func saveName(i int) string { return fmt.Sprintf("run%d.strata", i+1) }

// A remover is a store that can delete a file, with the backup of it.
type remover interface{ Remove(name string) error }

// readSave returns the file of a slot; fs.ErrNotExist if it is empty.
func (a *app) readSave(i int) ([]byte, error) {
	data, err := a.store.Load(saveName(i), saveMost)
	if err == nil && len(data) > saveMost {
		err = fmt.Errorf("more than %d bytes", saveMost)
	}
	if err == nil && browser {
		data, err = unpackText(data, saveMost)
	}
	return data, err
}

// showSaves reads what all slots have.
func (a *app) showSaves() {
	if a.store == nil {
		return
	}
	for i := range shell.SaveSlots {
		a.showSave(i)
	}
}

func (a *app) showSave(i int) {
	data, err := a.readSave(i)
	if errors.Is(err, fs.ErrNotExist) {
		a.sh.SetSave(i, nil)
		return
	}
	var about session.About
	if err == nil {
		about, _, err = session.ReadAbout(data)
	}
	if err != nil {
		a.sh.SetSave(i, &shell.Save{Broken: shout(err)})
		return
	}
	v := &shell.Save{Realm: strings.ToUpper(about.Realm), Heat: about.Heat, Ticks: about.Ticks, Score: about.Score, Day: about.Day, Picture: about.Picture}
	if about.Written > 0 {
		v.When = strings.ToUpper(time.Unix(about.Written, 0).Format("2 Jan 15:04"))
	}
	a.sh.SetSave(i, v)
}

// shout is an error as a line of the menus.
func shout(err error) string {
	line := strings.ToUpper(oneLine(err))
	for _, head := range []string{"SESSION: ", "SAVE: "} {
		line = strings.TrimPrefix(line, head)
	}
	return line
}

// saveRun saves the run in the slot that the player chose. A file of another build stays beside it as a backup.
func (a *app) saveRun(i int) {
	if !a.s.Playing() { // there is no realm, or its memory is no longer valid
		a.sh.Say("NOT SAVED: NO REALM IS PLAYED")
		return
	}
	var b bytes.Buffer
	about := a.s.About()
	about.Day, about.Build, about.Written, about.Picture = a.sh.Day(), version(), time.Now().Unix(), a.thumbnail()
	err := a.s.Write(&b, about)
	data := b.Bytes()
	if err == nil && browser {
		data, err = packText(data)
	}
	if err == nil && len(data) > saveMost {
		err = fmt.Errorf("%d bytes; allowed are %d", len(data), saveMost)
	}
	if err == nil {
		err = a.store.Save(saveName(i), data, a.foreign(i))
	}
	if err != nil && !errors.Is(err, atomicfile.ErrUnsynced) {
		a.sh.Say("NOT SAVED: " + shout(err))
		return
	}
	a.showSave(i)
	a.sh.Say("SAVED")
}

// foreign reports whether a slot has a file of another build, or one that cannot be read.
func (a *app) foreign(i int) bool {
	data, err := a.readSave(i)
	if errors.Is(err, fs.ErrNotExist) {
		return false
	}
	about, _, aboutErr := session.ReadAbout(data)
	return err != nil || aboutErr != nil || about.Build != version()
}

// loadRun goes on with the run of a slot.
func (a *app) loadRun(i int) {
	data, err := a.readSave(i)
	if err == nil {
		var about session.About
		if about, _, err = session.ReadAbout(data); err == nil {
			a.keep()
			err = a.s.Restore(data, func(change string) { a.o.log(saveName(i) + " is of another version: " + change) })
		}
		if err == nil {
			a.tape.again(true)
			a.loading, a.live, a.waiting = true, true, shell.None
			a.s.Attract, a.seed = false, about.Seed
			a.particles, a.before = 0, a.collections()
			a.sh.Loaded(about.Day)
			return
		}
	}
	a.sh.Say("NOT LOADED: " + shout(err))
}

// resumed looks whether the run that was loaded goes on. A run that cannot go on leads to the title.
func (a *app) resumed() {
	if !a.loading {
		return
	}
	done, err := a.s.Restored()
	if err != nil {
		a.live, a.waiting, a.loading = false, shell.Leave, false
		a.sh.Lost("NOT LOADED: " + shout(err))
	}
	a.loading = a.loading && !done
}

func (a *app) deleteRun(i int) {
	said, err := "DELETED", errors.New("the store cannot delete")
	if r, ok := a.store.(remover); ok {
		err = r.Remove(saveName(i))
	}
	if err != nil {
		said = "NOT DELETED: " + shout(err)
	}
	a.showSave(i)
	a.sh.Say(said)
}

// The shades of a thumbnail.
const (
	shadeWall   = 60
	shadeEmber  = 150
	shadeEnemy  = 205
	shadePlayer = 255
)

// thumbnail draws what is around the player: walls, embers, enemies.
func (a *app) thumbnail() []byte {
	const cell = 640.0 / session.PictureW
	g := a.s.Game
	p := make([]byte, session.PictureW*session.PictureH)
	corner := g.Player.P.Sub(mgl32.Vec2{session.PictureW * cell / 2, session.PictureH * cell / 2})
	for i := range p {
		x, y := (float32(i%session.PictureW)+0.5)*cell, (float32(i/session.PictureW)+0.5)*cell
		if g.Realm.Solid(corner.Add(mgl32.Vec2{x, y})) {
			p[i] = shadeWall
		}
	}
	dot := func(at mgl32.Vec2, shade byte) {
		x, y := int((at[0]-corner[0])/cell), int((at[1]-corner[1])/cell)
		if at[0] >= corner[0] && at[1] >= corner[1] && x < session.PictureW && y < session.PictureH {
			p[y*session.PictureW+x] = max(p[y*session.PictureW+x], shade)
		}
	}
	g.EachPlace(func(at mgl32.Vec2, enemy bool) {
		if enemy {
			dot(at, shadeEnemy)
		} else {
			dot(at, shadeEmber)
		}
	})
	dot(g.Player.P, shadePlayer)
	return p
}
