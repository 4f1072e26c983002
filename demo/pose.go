package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/strata-go/strata/demo/game"
	"github.com/strata-go/strata/demo/shell"
	"github.com/strata-go/strata/demo/view"
	"github.com/strata-go/strata/engine"
)

// poses are the screens of which -screen takes a picture, with the presses that lead there; what gifts
// and results are shown is made up.
var poses = map[string][]shell.Nav{
	"title":    {},
	"playing":  {{Select: true}},
	"touch":    {{Select: true}}, // played with two thumbs
	"paused":   {{Select: true}, {Pause: true}},
	"ask":      {{Select: true}, {Restart: true}},
	"settings": {},
	"keys":     {{Down: true}, {Down: true}, {Down: true}, {Down: true}, {Down: true}},
	"gifts":    {{Select: true}},
	"gifts2":   {{Select: true}},
	"gifts3":   {{Select: true}},
	"over":     {{Select: true}},
	"ending":   {{Select: true}},
	"legend":   {},
	"runs":     {},
	"saves":    {{Down: true}},
	"warden":   {}, // the game plays itself to the first that it meets, see hurry
}

// ways are the items that lead to some of the screens. They are pressed before the presses of poses.
var ways = map[string][]string{
	"settings": {"SETTINGS"}, "keys": {"SETTINGS", "CONTROLS"}, "runs": {"BEST RUNS"}, "legend": {"LEGEND"}, "saves": {"CONTINUE"},
}

// follow selects an item and presses it.
func (a *app) follow(label string) {
	for range a.sh.Items() {
		for _, it := range a.sh.Items() {
			if it.Selected && it.Label == label {
				a.sh.Step(shell.Nav{Select: true})
				return
			}
		}
		a.sh.Step(shell.Nav{Down: true})
	}
}

func screenNames() []string { return slices.Sorted(maps.Keys(poses)) }

// pictureTick is the tick of -screenshot, and of -capture's first picture.
func (o *options) pictureTick() uint64 { return cmp.Or(o.ticks, pictureAt) }

// pose shows the screen of -screen when the time of its picture has come.
func (a *app) pose() {
	if a.o.screen == "" || a.struck || a.s.Game.Ticks < a.o.pictureTick() || a.o.screen == warden && !a.fought() {
		return
	}
	a.struck = true
	if a.o.screen == "runs" {
		a.sampleRuns()
	}
	if a.o.screen == "saves" {
		a.sampleSaves()
	}
	for _, label := range ways[a.o.screen] {
		a.follow(label)
	}
	for _, n := range poses[a.o.screen] {
		a.sh.Step(n)
	}
	switch a.o.screen {
	case "gifts":
		a.sh.Offer([]shell.Gift{
			{Name: "WIDER FIRE", Symbol: view.SymbolFan, Have: 2, Lines: []string{"one barrel more"}, Figure: "3 → 4 BARRELS, +33 %"},
			{Name: "CHAIN", Symbol: view.SymbolChain, Lines: []string{"lightning strikes near"}, Figure: "4 JUMPS, EACH 0.75 s"},
			{Name: "MINES", Symbol: view.SymbolMine, Have: 1, Lines: []string{"three mines more"}, Figure: "6 → 9 MINES"},
		})
		for range 40 {
			a.sh.Step(shell.Nav{})
		}
		a.sh.Step(shell.Nav{Right: true})
	case "gifts2":
		a.sh.Offer(a.sampleGifts(game.GiftSparks, game.GiftBeam, game.GiftHaste))
	case "gifts3":
		a.sh.Offer(a.sampleGifts(game.GiftHull, game.GiftFire, game.GiftFrost))
	case "over", "ending":
		a.sh.End(a.sampleResult(a.o.screen == "ending"))
	}
}

// sampleGifts returns the cards of some gifts.
func (a *app) sampleGifts(kinds ...game.Gift) (cards []shell.Gift) {
	for _, k := range kinds {
		cards = append(cards, shell.Gift{Name: game.GiftNames[k], Lines: a.s.Game.GiftText(k), Figure: a.s.Game.Figure(k), Symbol: giftSymbols[k]})
	}
	return cards
}

const (
	warden = "warden"
	calmly = 120 // ticks before a warden's picture that take their time: the ground comes, and the camera
	hurry  = time.Second / 10
)

// fought reports whether a warden has existed for the number of ticks of the picture.
func (a *app) fought() bool {
	return a.met > 0 && a.s.Game.Ticks >= a.met+a.o.pictureTick()
}

// hurried plays on towards a warden, as fast as it goes for a tenth of a second.
func (a *app) hurried() error {
	if a.o.screen != warden || a.struck {
		return nil
	}
	g := a.s.Game
	for end := time.Now().Add(hurry); time.Now().Before(end); {
		if _, there := g.Boss(); !there {
			a.met = 0 // not yet, or the fight was too short for a picture
		} else if a.met == 0 {
			a.met = g.Ticks
		}
		if a.met > 0 && g.Ticks+calmly >= a.met+a.o.pictureTick() {
			return nil
		}
		if err := a.s.Frame(engine.Input{}); err != nil {
			return err
		}
		if a.audio != nil {
			a.audio.events.Reset() // too fast to be heard
		}
		if !a.s.Playing() {
			return nil // the workers are loading
		}
	}
	return nil
}

// sampleRuns fills the table, as if they had been played.
func (a *app) sampleRuns() {
	for i, realm := range []string{"SPORE", "SPORE", "TIDE", "TIDE", "TIDE", "EMBER", "EMBER"} {
		k := uint64(7 - i)
		a.sh.Step(shell.Nav{Select: true})
		a.sh.End(shell.Result{Run: shell.Run{
			Score: int64(k * k * 3171), Realm: realm, Ticks: 1900 * (k + 1), Kills: 160 * k, Seed: 1 + k*k%5, Won: i == 0, Rewinds: i % 3}})
		for range 60 {
			a.sh.Step(shell.Nav{})
		}
		a.sh.Step(shell.Nav{Back: true})
	}
}

// sampleSaves fills the slots.
func (a *app) sampleSaves() {
	a.sh.SetSave(0, &shell.Save{Realm: "EMBER", Heat: 2.4, Ticks: 7_260, Score: 48_310, When: "28 NOV 14:05", Picture: a.thumbnail()})
	a.sh.SetSave(1, &shell.Save{Realm: "SPORE", Heat: 10, Ticks: 52_860, Score: 1_486_320, When: "9 DEC 08:30", Picture: a.thumbnail()})
	a.sh.SetSave(2, &shell.Save{Broken: shout(errors.New("save: the file is not valid: it ends after 4096 bytes of 150591"))})
}

// sampleResult is a result that is as long as one gets.
func (a *app) sampleResult(won bool) shell.Result {
	r := a.result(won)
	r.Score, r.Ticks, r.Kills, r.Figures, r.Gifts = 486_320, 52_860, 3_914, nil, nil
	for _, f := range [][2]string{{"TIME IN EMBER", "4:31"}, {"TIME IN TIDE", "5:02"}, {"TIME IN SPORE", "5:08"}, {"DRIFTERS", "2,011"}, {"LANCERS", "604"},
		{"SWARMERS", "1,296"}, {"WARDENS", "3"}, {"EMBERS", "5,380"}, {"ACCURACY", "61 %"}, {"MOST PARTICLES ALIVE", "11,482"}, {"COLLECTIONS IN PLAY", "0"}} {
		r.Figures = append(r.Figures, shell.Figure{Label: f[0], Value: f[1]})
	}
	for k, name := range game.GiftNames {
		r.Gifts = append(r.Gifts, fmt.Sprintf("%s %d", name, 1+k%3))
	}
	return r
}

// posed reports whether the screen stands still enough for a picture.
func (a *app) posed() bool {
	return a.o.screen == "" || a.struck && a.sh.Age() > 70
}
