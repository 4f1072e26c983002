package game

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/demo/realm"
	"github.com/strata-go/strata/engine"
)

// rich plays until there is something of everything.
func rich(t *testing.T) *Game {
	h := newGame(t, Config{Seed: 7, Heat: 6})
	h.play(t, 1)
	g := h.Game
	for k := range g.Gifts {
		g.Gifts[k] = 2
	}
	h.play(t, 500)
	g.cast.wish(g, wish{p: g.Player.P, v: vec{1, 2}, enemy: realm.Swarm, post: 1})
	g.cast.announce(g, realm.Lancer, g.Player.P, 2)
	g.PortalAt = vec{3, 4}
	g.arms.mines.push(Mine{P: g.Player.P, Wait: 1, Left: 2})
	g.arms.fires.push(Blaze{P: g.Player.P, Radius: 3, Left: 2})
	b := &g.arms.bolts[0]
	b.Life = 0.1
	b.Nodes.push(vec{1, 2})
	g.popups.add(g, vec{5, 5}, 100)
	for _, k := range []realm.Enemy{realm.Drifter, realm.Lancer} {
		id, err := g.cast.spawn(g, k, g.Player.P, vec{1, 1}, postHorde)
		if err != nil {
			t.Fatal(err)
		}
		for _, err := range []error{g.cast.ignite(g, id), g.cast.chill(g, id), g.cast.elite.Add(id, Elite{2}), g.cast.shielded.Add(id, Shielded{3})} {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := g.cast.drop(g, g.Player.P, PickupScore); err != nil {
		t.Fatal(err)
	}
	return g
}

// leaves calls f with every leaf of a value that can be changed, and its path.
func leaves(v reflect.Value, path string, f func(leaf reflect.Value, path string)) {
	v = reflect.NewAt(v.Type(), unsafe.Pointer(v.UnsafeAddr())).Elem() // also what is not exported
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			leaves(v.Field(i), path+"."+v.Type().Field(i).Name, f)
		}
	case reflect.Array:
		for i := range min(v.Len(), 64) {
			leaves(v.Index(i), path+"[]", f)
		}
	default:
		f(v, path)
	}
}

// flip changes a leaf a little.
func flip(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(v.Int() + 1)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(v.Uint() ^ 1)
	case reflect.Float32:
		v.SetFloat(v.Float() + 1)
	default:
		return false
	}
	return true
}

// inView has the leaves of State that are facts of the view, and so not in the hash.
var inView = map[string]bool{"State.Lost.Quads": true, "State.Lost.Soot": true}

func TestHash_SeesEveryFieldOfTheState(t *testing.T) {
	g := rich(t)
	want, seen := g.Hash(), 0
	if again := g.Hash(); again != want {
		t.Fatalf("%x, and then %x", want, again)
	}
	try := func(name string, p any, but ...string) {
		leaves(reflect.ValueOf(p).Elem(), name, func(leaf reflect.Value, path string) {
			for _, b := range but {
				if strings.HasPrefix(path, name+b) {
					return
				}
			}
			old := reflect.New(leaf.Type()).Elem()
			old.Set(leaf)
			if !flip(leaf) {
				t.Errorf("%s is a %v: nothing that can be saved or hashed", path, leaf.Kind())
				return
			}
			if same := g.Hash() == want; same != inView[path] {
				t.Errorf("%s is in the hash: %t; is it a fact of the view: %t", path, !same, inView[path])
			}
			leaf.Set(old)
			seen++
		})
	}
	try("State", &g.State)
	for _, o := range g.cast.omens.All() {
		try("Omen", o)
		break
	}
	for _, e := range g.cast.embers.All() {
		try("Ember", e)
		break
	}
	try("wish", &g.cast.wishes[0])
	try("Mine", &g.arms.mines.v[0])
	try("Blaze", &g.arms.fires.v[0])
	try("Bolt", &g.arms.bolts[0], ".Nodes")
	try("Bolt.Nodes", &g.arms.bolts[0].Nodes.v[0])
	try("Popup", &g.popups.all[0], ".text") // the text itself:
	text, ok := g.popups.texts.Bytes(g.popups.all[0].text)
	if !ok {
		t.Fatal("a text is gone")
	}
	try("text", &text[0])
	for i := range g.cast.ribbons.all {
		if r := &g.cast.ribbons.all[i]; r.len > 1 && r.count > 1 {
			try("trail", r, ".off", ".len")
			try("trail's points", &g.cast.ribbons.points(r)[0])
			break
		}
	}
	for i := range g.cast.marks.all {
		if m := &g.cast.marks.all[i]; m.len > 0 {
			try("Mark", &g.cast.marks.of(m)[0])
			break
		}
	}
	if len(g.cast.marks.free) > 0 {
		try("marks.free", &g.cast.marks.free[0])
	}
	if len(g.cast.ribbons.free) > 0 {
		try("ribbons.free", &g.cast.ribbons.free[0])
	}
	for _, block := range g.scorch.all {
		if block != nil {
			try("scorch", block)
			break
		}
	}
	try("ambient", &g.fx.ambient.X)
	try("ambient", &g.fx.ambient.Y)
	for _, r := range g.cast.enemyFilter.All() {
		try("Position", r.A)
		try("Velocity", r.B)
		try("Enemy", r.C)
		break
	}
	for _, r := range g.cast.shotFilter.All() {
		try("Shot", r.C)
		break
	}
	for _, r := range g.cast.dropFilter.All() {
		try("Pickup", r.C)
		break
	}
	for id, r := range g.cast.fireFilter.All() {
		try("Burning", r.C)
		if c, ok := g.cast.chilled.Get(id); ok {
			try("Chilled", c)
		}
		if e, ok := g.cast.elite.Get(id); ok {
			try("Elite", e)
		}
		if e, ok := g.cast.shielded.Get(id); ok {
			try("Shielded", e)
		}
	}
	if g.Hash() != want {
		t.Error("a leaf was not put back")
	}
	t.Logf("%d leaves", seen)
}

func TestLost_EveryCountHasAName(t *testing.T) {
	var l Lost
	v := reflect.ValueOf(&l).Elem()
	if v.NumField() != LostKinds {
		t.Fatalf("%d counts, %d names", v.NumField(), LostKinds)
	}
	for i := range v.NumField() {
		v.Field(i).SetInt(int64(i) + 1)
	}
	for i, n := range l.Counts() {
		if n != i+1 || LostNames[i] == "" {
			t.Errorf("%s: %d, named %q", v.Type().Field(i).Name, n, LostNames[i])
		}
	}
}

// gameFields says of every field of Game where its state is hashed, or why it is none.
var gameFields = map[string]string{
	"State": "hashed", "cast": "hashed", "fx": "hashed", "scorch": "hashed", "popups": "hashed", "arms": "hashed", "horde": "hashed: what is due, and where fields lead",
	"Manifest": "a file", "Realm": "a file", "cfg": "given", "store": "memory", "soot": "for the eye: no rule reads it, and it is as fine as there is room",
	"sight": "made in every tick, for the eye", "tour": "follows from cfg and the realm", "systems": "the order of the rules", "tick": "made in every tick",
}

// Whoever adds a field to Game says what it is.
func TestHash_EveryFieldOfGameIsAccountedFor(t *testing.T) {
	for i := range reflect.TypeFor[Game]().NumField() {
		if name := reflect.TypeFor[Game]().Field(i).Name; gameFields[name] == "" {
			t.Errorf("Game.%s: is it state? Then Hash must see it", name)
		}
	}
}

const tried, books, place = "tried", "books of the memory", "where it lies, or how long its block is"

// heldFields says the same of the structs that Game's fields are, whose values are tried one by one above.
var heldFields = map[reflect.Type]map[string]string{
	reflect.TypeFor[arms]():          {"mines": tried, "fires": tried, "bolts": tried},
	reflect.TypeFor[list[Mine]]():    {"a": books, "v": tried},
	reflect.TypeFor[list[Blaze]]():   {"a": books, "v": tried},
	reflect.TypeFor[fx]():            {"heard": "the ear's", "sys": "tried, by its own tests", "kinds": "follows from the realm", "ambient": "tried, where it moves"},
	reflect.TypeFor[ribbons]():       {"blocks": books, "slots": tried},
	reflect.TypeFor[slots[trail]]():  {"all": tried, "free": tried, "live": "how many of all"},
	reflect.TypeFor[slots[marked]](): {"all": tried, "free": tried, "live": "how many of all"},
	reflect.TypeFor[trail]():         {"off": place, "len": "hashed", "at": tried, "count": tried, "most": tried},
	reflect.TypeFor[marks]():         {"blocks": books, "slots": tried},
	reflect.TypeFor[marked]():        {"off": place, "owner": "the one whose Enemy.Marks says so", "len": "hashed", "cap": place},
	reflect.TypeFor[popups]():        {"all": tried, "texts": tried},
	reflect.TypeFor[scorches]():      {"a": books, "all": tried},
	reflect.TypeFor[cast](): {"world": "hashed, by its own tests", "chunks": "memory", "enemies": "the world's", "shots": "the world's", "pickups": "the world's",
		"enemyFilter": "the world's", "shotFilter": "the world's", "dropFilter": "the world's", "fireFilter": "the world's", "coldFilter": "the world's",
		"burning": "the world's", "chilled": "the world's", "elite": "the world's", "shielded": "the world's",
		"omens": tried, "embers": tried, "wishes": tried, "ribbons": "hashed", "marks": "hashed"},
	reflect.TypeFor[horde](): {"flow": "hashed, by its own tests", "breeds": "follows from Round", "spawns": "follows from Round", "grid": "made in every tick",
		"columns": "made in every tick", "walk": "made in every tick", "doomed": "made in every tick"},
}

// wholly are the structs of which TestHash_SeesEveryFieldOfTheState tries every leaf that there is, also of a field
// that is new.
var wholly = []reflect.Type{
	reflect.TypeFor[State](), reflect.TypeFor[Omen](), reflect.TypeFor[Ember](), reflect.TypeFor[wish](), reflect.TypeFor[Mine](),
	reflect.TypeFor[Blaze](), reflect.TypeFor[Bolt](), reflect.TypeFor[Popup](),
}

func TestHash_EveryFieldOfWhatGameHoldsIsAccountedFor(t *testing.T) {
	for of, why := range heldFields {
		if of.NumField() != len(why) {
			t.Errorf("%v has %d fields, %d are accounted for", of, of.NumField(), len(why))
		}
		for i := range of.NumField() {
			if name := of.Field(i).Name; why[name] == "" {
				t.Errorf("%v.%s: is it state? Then Hash must see it, and the test above try it", of, name)
			}
		}
	}
}

// What is hashed of a Game leads to no struct of this package that the tests above do not know.
func TestHash_NoStructOfTheStateIsUnknown(t *testing.T) {
	game, known := reflect.TypeFor[Game](), map[reflect.Type]bool{}
	var visit func(of reflect.Type, path string)
	visit = func(of reflect.Type, path string) {
		for k := of.Kind(); k == reflect.Pointer || k == reflect.Slice || k == reflect.Array; k = of.Kind() {
			of = of.Elem()
		}
		if of.Kind() != reflect.Struct || of.PkgPath() != game.PkgPath() || known[of] {
			return
		}
		known[of] = true
		why, held := heldFields[of]
		switch {
		case of == game:
			why = gameFields
		case !held:
			if !slices.Contains(wholly, of) {
				t.Errorf("%s is a %v, of which nobody says what the hash sees", path, of)
			}
			return
		}
		for i := range of.NumField() {
			f := of.Field(i)
			if w := why[f.Name]; strings.HasPrefix(w, "hashed") || strings.HasPrefix(w, tried) {
				visit(f.Type, path+"."+f.Name)
			}
		}
	}
	visit(game, "Game")
}

// A shot that flies at a wall bursts there, and everything that moves stays in the open.
func TestGame_WallsHoldEverythingThatMoves(t *testing.T) {
	h := newGame(t, Config{Seed: 7, Heat: 3})
	h.play(t, 1)
	g := h.Game
	shots := 0
	for i := range 400 { // from the start outwards, until a wall is near
		at := engine.MulAdd(g.Player.P, engine.Heading(float32(i)), float32(i)*3)
		if g.Realm.Solid(at) || !g.Realm.Near(at, 20) {
			continue
		}
		for k := range 16 {
			if err := g.cast.shoot(g, at, engine.Scale(engine.Heading(float32(k)), 600), Shot{Life: 9, Damage: 1}); err != nil {
				t.Fatal(err)
			}
			shots++
		}
	}
	if shots < 100 {
		t.Fatalf("%d shots found a wall", shots)
	}
	for range 120 {
		h.play(t, 1)
		if err := g.cast.check(g); err != nil {
			t.Fatal(err)
		}
	}
	if left := g.cast.shotFilter.Len(); left > shots*9/10 {
		t.Errorf("%d of %d shots are left after two seconds among walls", left, shots)
	}
}
