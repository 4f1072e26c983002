// Package before has a small game in plain Go. Package after has the same game on Strata, for memory/doc/porting.md.
package before

import (
	"container/list"
	"fmt"
)

type Enemy struct {
	name    string
	x       float32
	health  int
	onDeath func(g *Game)
}

type Shot struct {
	x      float32
	target *Enemy
}

type Game struct {
	enemies *list.List // of *Enemy, the oldest first
	shots   []*Shot
	score   int
}

func New() *Game { return &Game{enemies: list.New()} }

func (g *Game) Spawn(name string, x float32, health int) {
	e := &Enemy{name: name, x: x, health: health}
	e.onDeath = func(g *Game) { g.score += len(e.name) }
	g.enemies.PushBack(e)
}

// Fire shoots at the oldest enemy.
func (g *Game) Fire() {
	if first := g.enemies.Front(); first != nil {
		g.shots = append(g.shots, &Shot{target: first.Value.(*Enemy)})
	}
}

func (g *Game) Update() {
	flying := g.shots[:0]
	for _, s := range g.shots {
		if s.target.health <= 0 {
			continue // another shot was faster
		}
		if s.x += 4; s.x < s.target.x {
			flying = append(flying, s)
			continue
		}
		s.target.health--
	}
	clear(g.shots[len(flying):])
	g.shots = flying
	for e := g.enemies.Front(); e != nil; {
		next := e.Next()
		if enemy := e.Value.(*Enemy); enemy.health <= 0 {
			g.enemies.Remove(e)
			enemy.onDeath(g)
		}
		e = next
	}
}

// Names returns the names of the enemies, the oldest first.
func (g *Game) Names() []string {
	var names []string
	for e := g.enemies.Front(); e != nil; e = e.Next() {
		names = append(names, e.Value.(*Enemy).name)
	}
	return names
}

func Example() {
	g := New()
	g.Spawn("wolf", 10, 1)
	g.Spawn("bear", 14, 2)
	for tick := range 6 {
		if tick == 4 {
			g.Spawn("crow", 30, 1) // after the wolf has fallen
		}
		g.Fire()
		g.Update()
	}
	fmt.Println(g.score, g.Names(), len(g.shots))
	// Output: 4 [bear crow] 3
}
