package ecs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/memtest/testenv"
)

// lived is a cast with everything that a text can say: idle archetypes, dead targets, free slots in
// runs and alone, vacant and worn-out ones, components of every kind.
func lived(t testing.TB) *cast {
	c := newCast(t)
	for _, s := range [][3]byte{
		{4, 0, 90}, {17, 0, 0}, {0}, {0}, {1}, {2, 0, 0}, {3, 1, 0}, {3, 2, 0}, {19, 1, 13}, {7, 1, 2}, {8, 2, 1}, {8, 3, 3}, {11, 1, 2}, {12, 2, 1}, {13, 3, 5},
		{2, 4, 4}, {6, 4, 0}, {18, 0, 2}, {6, 6, 0}, {4, 0, 30}, {6, 3, 3}, {6, 9, 9},
	} {
		c.step(s[0], s[1], s[2])
	}
	return c
}

// refuse reads a text that is no good into the world of c, which is then as it was.
func (c *cast) refuse(t testing.TB, in io.Reader) error {
	t.Helper()
	before, tables := c.w.Hash(0), len(c.w.store.tables)
	calls, bytes := len(c.mem.live), c.w.store.bytes
	err := c.w.ReadJSON(in)
	if err == nil {
		t.Fatal("it is read")
	}
	if c.w.Check() != nil || c.w.Locked() || c.w.Len() != 0 || c.w.Hash(0) != before || len(c.w.store.tables) != tables || len(c.mem.live) != calls || c.w.store.bytes != bytes {
		t.Fatalf("%v leaves %v, locked %v, %d entities, %d archetypes, %d blocks", err, c.w.Check(), c.w.Locked(), c.w.Len(), len(c.w.store.tables), len(c.mem.live))
	}
	return err
}

// The world whose text is this has one of everything that a text is about; \n are its lines.
const sound = `{"strata/ecs":1,"archetypes":[
{"components":[],"entities":[{"entity":"1:1"}]},
{"components":["ecs.position","ecs.childOf"],"targets":{"ecs.childOf":"1:1"},"sweep":7,"entities":[
{"entity":"2:3","ecs.position":{"X":1},"ecs.childOf":{}}
]},
{"components":["ecs.position","ecs.childOf"],"targets":{"ecs.childOf":"3:1"},"gone":["ecs.childOf"],"since":4},
{"components":["ecs.position","ecs.childOf"],"idle":0},
{"components":["heat","ecs.brain"],"entities":[
{"entity":"4:1","heat":"0102030405060708090a0b0c","ecs.brain":{"Name":"x"}}
]}
],"index":{"next":6,
"free":["3:2"],"vacant":["6-7:2","5:4294967294"]}}
`

func TestReadJSON_SaysWhatIsWrongAndChangesNothing(t *testing.T) {
	good := newCast(t)
	if err := good.w.ReadJSON(strings.NewReader(sound)); err != nil || good.w.Check() != nil {
		t.Fatal(err, good.w.Check())
	}
	for _, c := range []struct{ old, new, want string }{
		{sound, "", "line 1, byte 0: unexpected EOF"},
		{sound, "[]", "line 1, byte 1: [ instead of {"},
		{sound, "7", "7 instead of {"},
		{sound, "{}", `"strata/ecs" is missing`},
		{`{"strata/ecs":1`, `{"strata/ecs":2`, "line 1, byte 15: the text has version 2, not 1"},
		{`{"strata/ecs":1`, `{"strata/ecs":"1x"`, "json"},
		{`{"strata/ecs":1,`, `{`, `"archetypes" instead of "strata/ecs"`},
		{`"index"`, `"indices"`, `line 11, byte `},
		{`"index"`, `"indices"`, `"indices" instead of "index"`},
		{`4"]}}` + "\n", `4"]}}` + "\n 1", "line 13, byte "},
		{`4"]}}` + "\n", `4"]}}` + "\n 1", "1 after the end of the document"},
		{`4"]}}` + "\n", `4"]}}` + "\n }", "invalid character '}'"},
		{`4"]}}` + "\n", `4"]},"more":1}`, `"more" is not allowed here`},
		{`4"]}}` + "\n", `4"]}`, "unexpected EOF"},
		{`"entity":"1:1"`, `"entity":"1:2"`, `line 2, byte `},
		{`"entity":"1:1"`, `"entity":"1:2"`, `slots are 1 to 2147483647, and generations are odd`},
		{`"entity":"1:1"`, `"entity":"0:0"`, `"0:0" is never valid`},
		{`"entity":"1:1"`, `"entity":"1:4294967295"`, `"1:4294967295" is never valid`},
		{`"entity":"1:1"`, `"entity":7`, `7 instead of a string`},
		{`"entity":"1:1"`, `"entity":"one"`, `"one" is not an entity; the form is "slot:generation"`},
		{`"entity":"1:1"`, `"entity":"2:1"`, `line 4, byte `},
		{`"entity":"1:1"`, `"entity":"2:1"`, `slot 2 occurs twice`},
		{`"entity":"1:1"`, `"entity":"9001:1"`, `slot 9001 is above Config.MaxEntities, 9000`},
		{`"entity":"1:1"`, `"entity":"8:1"`, `slot 1 has no entity, and is neither free nor vacant`},
		{`"entity":"1:1"`, `"Entity":"1:1"`, `"Entity" instead of "entity"`},
		{`"entity":"1:1"`, `"entity":"1:1","heat":""`, `component heat does not belong to the archetype`},
		{`"X":1`, `"Z":1`, `entity "2:3": component ecs.position: json: unknown field "Z"`},
		{`"X":1`, `"X":"1"`, `entity "2:3": component ecs.position: json: cannot unmarshal string into Go struct field position.X of type float32`},
		{`"X":1`, `"X":1e99`, `component ecs.position: json: cannot unmarshal number 1e99`},
		{`"X":1`, `"X":NaN`, `component ecs.position: invalid character 'N'`},
		{`"X":1},`, `"X":1}`, `entity "2:3": invalid character '"'`},
		{`{"X":1}`, `{"X":1},"ecs.position":{}`, `component ecs.position occurs twice`},
		{`,"ecs.childOf":{}}`, `}`, `entity "2:3": component ecs.childOf is missing`},
		{`,"ecs.childOf":{}}`, `,"ecs.unknown":{}}`, `entity "2:3": component "ecs.unknown" is not registered`},
		{`"0102030405060708090a0b0c"`, `"01"`, `entity "4:1": component heat: 2 characters; 12 bytes have 24 hexadecimal digits`},
		{`"0102030405060708090a0b0c"`, `"zz02030405060708090a0b0c"`, `component heat: encoding/hex: invalid byte`},
		{`"0102030405060708090a0b0c"`, `[1]`, `component heat: [ instead of a string`},
		{`["heat","ecs.brain"]`, `["heat","heat"]`, `archetype 4: component heat occurs twice`},
		{`["heat","ecs.brain"]`, `["heat","ecs.mind"]`, `archetype 4: component "ecs.mind" is not registered`},
		{`["heat","ecs.brain"]`, `{}`, `archetype 4: { instead of [`},
		{`["heat","ecs.brain"]`, `["heat","ecs.brain"],"since":1`, "it has members of relations, but no component is a relation"},
		{`{"components":["heat"`, `{"parts":["heat"`, `archetype 4: "parts" instead of "components"`},
		{`{"components":["heat","ecs.brain"],`, `{`, `archetype 4: "entities" instead of "components"`},
		{`{"components":["heat"`, `{"components":[]},{"components":["heat"`, `archetype 4: the archetype occurs twice`},
		{`"targets":{"ecs.childOf":"1:1"},`, ``, `archetype 1: relation ecs.childOf has no target`},
		{`"targets":{"ecs.childOf":"1:1"}`, `"targets":{"ecs.childOf":"1:3"}`, `archetype 1, after byte `},
		{`"targets":{"ecs.childOf":"1:1"}`, `"targets":{"ecs.childOf":"1:3"}`, `the target "1:3" of ecs.childOf is stale and not listed in "gone"`},
		{`"targets":{"ecs.childOf":"1:1"}`, `"targets":{"ecs.childOf":"8000:1"}`, `the target "8000:1" of ecs.childOf is stale`},
		{`"targets":{"ecs.childOf":"1:1"}`, `"targets":{"ecs.childOf":"0:0"}`, `the target of ecs.childOf: "0:0" is never valid`},
		{`"targets":{"ecs.childOf":"1:1"}`, `"targets":{"ecs.childOf":null}`, `instead of a string`},
		{`"targets":{"ecs.childOf":"1:1"}`, `"targets":{"ecs.position":"1:1"}`, `component ecs.position is not registered as a relation`},
		{`"targets":{"ecs.childOf":"1:1"}`, `"targets":{"ecs.likes":"1:1"}`, `component ecs.likes does not belong to the archetype`},
		{`"targets":{"ecs.childOf":"1:1"}`, `"targets":{"ecs.childOf":"1:1","ecs.childOf":"1:1"}`, `target 2, of ecs.childOf: each relation has one target, and an entity at most 4`},
		{`"targets":{"ecs.childOf":"3:1"}`, `"targets":{"ecs.childOf":"1:1"}`, `archetype 2: the archetype occurs twice`},
		{`"ecs.childOf":"3:1"`, `"ecs.childOf":"3:3"`, `the target "3:3" of ecs.childOf is listed in "gone" and not stale`},
		{`"ecs.childOf":"3:1"`, `"ecs.childOf":"4:1"`, `the target "4:1" of ecs.childOf is listed in "gone" and not stale`},
		{`"gone":["ecs.childOf"],`, ``, `the target "3:1" of ecs.childOf is stale`},
		{`"gone":["ecs.childOf"]`, `"gone":["ecs.likes"]`, `component ecs.likes does not belong to the archetype`},
		{`"since":4`, `"since":0`, `two archetypes have "since" 0`},
		{`"since":4`, `"since":-1`, `cannot unmarshal number -1`},
		{`"since":4`, `"since":9007199254740993`, `9007199254740993 is more than 9007199254740992`},
		{`"since":4`, `"idle":1`, `relation ecs.childOf of an idle archetype has a target`},
		{`"idle":0`, `"idle":1`, `archetypes of [ecs.position ecs.childOf] are idle; their numbers must start at 0 without gaps, but one is 1`},
		{`"idle":0`, `"since":3,"idle":0`, `an idle archetype has neither "since" nor "gone"`},
		{`"idle":0`, `"idle":0,"entities":[]`, `an idle archetype has no entities`},
		{`"idle":0`, `"idle":0,"sweep":1`, `"sweep" is allowed only in the first archetype with the same components`},
		{`"sweep":7`, `"sweep":12`, `"sweep" of [ecs.position ecs.childOf] is 12; it must be from -3 to 11`},
		{`"sweep":7`, `"sweep":-4`, `is -4; it must be from`},
		{`"sweep":7`, `"sweep":1e1`, `cannot unmarshal number`},
		{`"sweep":7`, `"sweep":9000000000000`, `"sweep" is 9000000000000, which is out of range`},
		{`"next":6,`, ``, `"free" instead of "next"`},
		{`"next":6`, `"next":4`, `the next slot is 4; it must be from 5, one above the slots in use, to 8`},
		{`"next":6`, `"next":7`, `"6-7:2" is below the next slot, and neither free nor retired`},
		{`"next":6`, `"next":9002`, `the next slot is 9002, above Config.MaxEntities, 9000`},
		{`"next":6`, `"next":1e9`, `cannot unmarshal number`},
		{`"free":["3:2"]`, `"free":1e9`, `1e+09 instead of [`},
		{`"free":["3:2"]`, `"free":["3-1000000000:2"]`, `slots begin at 1, and a run has at most 64`},
		{`"free":["3:2"]`, `"free":["3:1"]`, `the generation of a slot without an entity is even and not 0`},
		{`"free":["3:2"]`, `"free":["3:4294967294"]`, `"3:4294967294" is retired and cannot be free`},
		{`"free":["3:2"]`, `"free":["3:2","3:2"]`, `slot 3 occurs twice`},
		{`"free":["3:2"]`, `"free":["3"]`, `"3" is neither "slot:generation" nor "from-to:generation"`},
		{`"free":["3:2"]`, `"free":["4-3:2"]`, `slot 4 occurs twice`},
		{`"free":["3:2"],`, ``, `slot 3 has no entity, and is neither free nor vacant`},
		{`"6-7:2"`, `"6-7:3"`, `is even`},
		{`"6-7:2"`, `"7:2"`, `slot 6 has no entity`},
	} {
		text := strings.Replace(sound, c.old, c.new, 1)
		if text == sound {
			t.Fatalf("%q is not in the text", c.old)
		}
		bad := newCast(t)
		err := bad.refuse(t, strings.NewReader(text))
		if !strings.HasPrefix(err.Error(), "ecs: ReadJSON: line ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s → %s:\n%v, not\n%s", c.old, c.new, err, c.want)
		}
		if err := bad.w.ReadJSON(strings.NewReader(sound)); err != nil || bad.w.Hash(0) != good.w.Hash(0) {
			t.Errorf("after %v: %v", c.want, err)
		}
	}
}

// Five relations in one archetype, which no world has.
func TestReadJSON_RefusesMoreRelationsThanThereAre(t *testing.T) {
	bad := newCast(t)
	mustRelation[knows](t, bad.w)
	mustRelation[rel2](t, bad.w)
	mustRelation[rel3](t, bad.w)
	five := `["ecs.childOf","ecs.likes","ecs.knows","ecs.rel2","ecs.rel3"]`
	for text, want := range map[string]string{
		`{"strata/ecs":1,"archetypes":[{"components":` + five + `,"idle":0}],"index":{"next":1}}`:                                                                                     "5 relations; an entity has at most 4",
		`{"strata/ecs":1,"archetypes":[{"components":` + five + `,"targets":{"ecs.childOf":"1:1","ecs.likes":"1:1","ecs.knows":"1:1","ecs.rel2":"1:1","ecs.rel3":"1:1"}}],"index":{}`: "target 5, of ecs.rel3",
	} {
		if err := bad.refuse(t, strings.NewReader(text)); !strings.Contains(err.Error(), want) {
			t.Error(err)
		}
	}
}

func TestReadJSON_ATextThatIsCutShortIsRefusedAnywhere(t *testing.T) {
	testenv.Long(t)
	text, bad := lived(t).text(t), newCast(t)
	end := bytes.LastIndexByte(text, '}')
	for n := range end {
		if err := bad.refuse(t, bytes.NewReader(text[:n])); !strings.Contains(err.Error(), "unexpected EOF") {
			t.Fatalf("%d bytes: %v", n, err)
		}
	}
	if err := bad.w.ReadJSON(iotest.OneByteReader(bytes.NewReader(text[:end+1]))); err != nil {
		t.Error(err)
	}
}

// Whatever a byte becomes, the world is read or as it was.
func TestReadJSON_ATextThatWasBentIsReadOrRefused(t *testing.T) {
	testenv.Long(t)
	text, rng, read := lived(t).text(t), rand.New(rand.NewPCG(1, 2)), 0
	for range 3000 {
		bent := bytes.Clone(text)
		switch i := rng.IntN(len(bent)); rng.IntN(3) {
		case 0:
			bent[i] = byte(rng.IntN(128))
		case 1:
			bent[i] = "0123456789:,{}[]\""[rng.IntN(17)]
		default:
			j := min(len(bent), i+rng.IntN(60))
			bent = append(bent[:i], bent[j:]...)
		}
		if readOrRefuse(t, bent) {
			read++
		}
	}
	if read == 0 {
		t.Error("none is read")
	}
}

// readOrRefuse reports whether a text was read; what was read is written as what is read again.
func readOrRefuse(t *testing.T, text []byte) bool {
	a := newCast(t)
	defer a.w.Close()
	if err := a.w.ReadJSON(bytes.NewReader(text)); err != nil {
		if len(err.Error()) > 400 {
			t.Fatalf("an error of %d bytes: %.200q", len(err.Error()), err)
		}
		if a.w.Len() != 0 || len(a.mem.live) != 0 || len(a.w.store.tables) != 1 || a.w.Check() != nil {
			t.Fatalf("%v leaves %d entities, %d blocks, %v", err, a.w.Len(), len(a.mem.live), a.w.Check())
		}
		return false
	}
	if err := a.w.Check(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	b := newCast(t)
	defer b.w.Close()
	again := a.text(t)
	if err := b.w.ReadJSON(bytes.NewReader(again)); err != nil || a.w.Hash(0) != b.w.Hash(0) || !bytes.Equal(b.text(t), again) {
		t.Fatalf("%v\n%s\nis not what was read from\n%s", err, again, text)
	}
	for i, e := range [][3]byte{{0}, {2, 0, 0}, {18, 0, 3}, {19, 1, 14}, {4, 0, 99}, {5, 3, 3}, {14, 1, 2}} {
		if x, y := a.step(e[0], e[1], e[2]), b.step(e[0], e[1], e[2]); x != y || a.w.Check() != nil {
			t.Fatalf("step %d: %s and %s, %v\n%s", i, x, y, a.w.Check(), text)
		}
	}
	return true
}

// FuzzReadJSON holds every text to the same.
func FuzzReadJSON(f *testing.F) {
	f.Add([]byte(sound))
	f.Add(lived(f).text(f))
	f.Add([]byte(`{"strata/ecs":1,"archetypes":[],"index":{"next":1}}`))
	f.Fuzz(func(t *testing.T, text []byte) { readOrRefuse(t, text) })
}

// What an error repeats of the text is cut, and escaped.
func TestReadJSON_LongTokensAreCutInErrors(t *testing.T) {
	long, digits := `"`+strings.Repeat(`\u001b\n`, 2000)+`"`, strings.Repeat("9", 5000)
	for _, token := range []string{long, digits, "-" + digits, "null", "true", "[", "{"} {
		for _, text := range []string{
			"%s", `{"strata/ecs":%s`, `{%s:1}`, `{"strata/ecs":1,"archetypes":%s`, `{"strata/ecs":1,"archetypes":[%s`, `{"strata/ecs":1,"archetypes":[{"components":%s`,
			`{"strata/ecs":1,"archetypes":[{"components":[%s`, `{"strata/ecs":1,"archetypes":[{"components":["ecs.position"],"entities":[{"entity":%s`,
			`{"strata/ecs":1,"archetypes":[{"components":["ecs.position"],"entities":[{"entity":"1:1","ecs.position":{"X":%s`,
			`{"strata/ecs":1,"archetypes":[],"index":%s`, `{"strata/ecs":1,"archetypes":[],"index":{"next":%s`, `{"strata/ecs":1,"archetypes":[],"index":{"next":1,"free":[%s`,
			`{"strata/ecs":1,"archetypes":[],"index":{"next":1}}%s`,
		} {
			w, _ := newTestWorld(t, Config{})
			NewMap1[position](w)
			text = fmt.Sprintf(text, token)
			if err := w.ReadJSON(strings.NewReader(text + "]}")); err == nil || len(err.Error()) > 300 || strings.ContainsAny(err.Error(), "\n\x1b") || strings.Contains(err.Error(), "<nil>") {
				t.Errorf("%.80q: %.300q", text, err)
			}
		}
	}
}

// A text of a few bytes cannot have the world ask for much.
func TestReadJSON_ASmallTextTakesLittleMemory(t *testing.T) {
	for _, text := range []string{
		`{"strata/ecs":1,"archetypes":[{"components":[],"entities":[{"entity":"268435456:1"}]}],"index":{"next":268435457}}`,
		`{"strata/ecs":1,"archetypes":[],"index":{"next":268435457,"free":["1-64:2"]}}`,
		`{"strata/ecs":1,"archetypes":[],"index":{"next":2,"free":["268435400-268435456:2"]}}`,
		`{"strata/ecs":1,"archetypes":[],"index":{"next":1,"vacant":["268435400-268435456:2"]}}`,
		`{"strata/ecs":1,"archetypes":[],"index":{"next":1,"free":1e9}}`,
		`{"strata/ecs":1e9,"archetypes":1e9,"index":1e9}`,
	} {
		src := memtest.NewFaulty()
		w, mem := indexed(t, src, Config{MaxEntities: maxMaxEntities})
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := w.ReadJSON(strings.NewReader(text))
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; err == nil || took > 256<<10 || src.Calls() > 0 || mem.allocs > 1 {
			t.Errorf("%s: %v, %d bytes, %d calls for the index, %d chunks", text, err, took, src.Calls(), mem.allocs)
		}
	}
}

// TestReadJSON_OutOfMemoryChangesNothing lets every request for a chunk, and every call for the index,
// fail in turn, and panic.
func TestReadJSON_OutOfMemoryChangesNothing(t *testing.T) {
	from := lived(t)
	text := from.text(t)
	for _, mode := range []string{"chunks", "chunks panic", "index", "index panics"} {
		failures := 0
		for at := 1; ; at++ {
			c, src := newCast(t), memtest.NewFaulty()
			src.Miserly = true
			c.w.store.index.pages = src
			left := at
			switch mode {
			case "chunks":
				c.mem.failAt, c.mem.persist = at, true
			case "chunks panic":
				c.mem.onAlloc = func() {
					if left--; left == 0 {
						panic("hook")
					}
				}
			case "index":
				src.FailAt, src.ForGood = at, true
			default:
				src.PanicAt = at
			}
			var err error
			r := caught(func() { err = c.w.ReadJSON(bytes.NewReader(text)) })
			if err == nil && r == nil {
				if c.w.Hash(0) != from.w.Hash(0) {
					t.Fatal("another world")
				}
				break
			}
			failures++
			if r != nil && r != "hook" && r != memtest.ErrInjected || err != nil && !errors.Is(err, memory.ErrOutOfMemory) {
				t.Fatalf("%s %d: %v, %v", mode, at, r, err)
			}
			if c.w.Len() != 0 || c.w.Locked() || c.w.Check() != nil || len(c.mem.live) != 0 || len(c.w.store.tables) != 1 || r == nil && src.Reserved() != 0 {
				t.Fatalf("%s %d leaves %d entities, %d blocks, %d reservations, %v", mode, at, c.w.Len(), len(c.mem.live), src.Reserved(), c.w.Check())
			}
			c.mem.heal()
			src.FailAt = 0
			if err := c.w.ReadJSON(bytes.NewReader(text)); err != nil || c.w.Hash(0) != from.w.Hash(0) {
				t.Fatalf("%s %d: then %v", mode, at, err)
			}
			if err := c.w.Close(); err != nil || src.Reserved() != 0 {
				t.Fatal(err, src.Reserved())
			}
		}
		if failures == 0 {
			t.Errorf("%s: none failed", mode)
		}
	}
}

// A panic of Free on the way out of a failure loses no block.
func TestReadJSON_AFreeThatPanicsLosesNothing(t *testing.T) {
	text := lived(t).text(t)
	c := newCast(t)
	panics := 0
	c.mem.onFree = func() { panics++; panic("hook") }
	if r := caught(func() { c.w.ReadJSON(bytes.NewReader(text[:len(text)-3])) }); r != "hook" || c.w.Locked() || c.w.Check() != nil {
		t.Fatalf("%v, %v", r, c.w.Check())
	}
	for len(c.mem.live) > 0 {
		if r := caught(func() { c.w.Shrink() }); r == nil && len(c.mem.live) > 0 {
			t.Fatalf("%d blocks are lost", len(c.mem.live))
		}
	}
	if panics < 2 {
		t.Errorf("%d panics", panics)
	}
}

// flaky is a writer, or a reader of text, that does something at its nth call.
type flaky struct {
	text io.Reader
	left int
	do   func() error
	most int // bytes at once
}

func (f *flaky) now() error {
	if f.left--; f.left == 0 {
		return f.do()
	}
	return nil
}

func (f *flaky) Write(p []byte) (int, error) {
	f.most = max(f.most, len(p))
	if err := f.now(); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (f *flaky) Read(p []byte) (int, error) {
	if err := f.now(); err != nil {
		return 0, err
	}
	return f.text.Read(p)
}

// half writes less than it was given, and says nothing.
type half struct{}

func (half) Write(p []byte) (int, error) { return len(p) / 2, nil }

func TestJSON_WritersAndReadersThatFailOrPanic(t *testing.T) {
	c := newCast(t)
	if err := c.pair.NewBatch(5000, nil); err != nil {
		t.Fatal(err)
	}
	if err := c.w.WriteJSON(half{}); !errors.Is(err, io.ErrShortWrite) {
		t.Error(err)
	}
	text, before := c.text(t), c.w.Hash(0)
	into := newCast(t)
	broken := errors.New("broken")
	for _, do := range []func() error{func() error { return broken }, func() error { panic(broken) }} {
		for at := 1; at < 40; at += 7 {
			f := &flaky{text: bytes.NewReader(text), left: at, do: do}
			var err error
			if r := caught(func() { err = c.w.WriteJSON(f) }); f.left <= 0 && r == nil && !errors.Is(err, broken) || c.w.Locked() || c.w.Hash(0) != before || c.w.Check() != nil {
				t.Errorf("%v, %v", r, err)
			}
			if f.most > 2*flushBytes {
				t.Errorf("%d bytes at once", f.most)
			}
			f.left = at
			r := caught(func() { err = into.w.ReadJSON(iotest.HalfReader(f)) })
			if f.left <= 0 && r == nil && !errors.Is(err, broken) || f.left > 0 || into.w.Locked() || into.w.Len() != 0 || len(into.mem.live) != 0 || into.w.Check() != nil {
				t.Errorf("%v, %v: %d entities, %v", r, err, into.w.Len(), into.w.Check())
			}
		}
	}
}

// The last that is asked of the reader is whether there is more.
func TestReadJSON_TheAllocatorEndsAtTheEndOfTheText(t *testing.T) {
	mem := &tellingMemory{testMemory: newTestMemory(t)}
	w := must[*World](t)(New(mem, Config{}))
	m := NewMap1[position](w)
	text := `{"strata/ecs":1,"archetypes":[{"components":["ecs.position"],"entities":[{"entity":"1:1","ecs.position":{}}]}],"index":{"next":2}}`
	end := &flaky{text: strings.NewReader(""), left: 1, do: func() error { mem.close(); return io.EOF }}
	if err := w.ReadJSON(io.MultiReader(strings.NewReader(text), end)); !errors.Is(err, memory.ErrClosed) || end.left != 0 {
		t.Error(err)
	}
	if text := misuse(t, func() { m.NewEntity(position{}) }); text != "ecs.NewEntity: the world is closed" || w.Check() != nil || w.Close() != nil {
		t.Error(text, w.Check())
	}
}

// An allocator that ends while a world is written or read ends both, and nobody touches its blocks.
func TestJSON_TheAllocatorEndsMeanwhile(t *testing.T) {
	testenv.Long(t)
	source := newCast(t)
	if err := source.pair.NewBatch(5000, nil); err != nil {
		t.Fatal(err)
	}
	text := source.text(t)
	for _, how := range []string{"telling", "silent", "telling, written"} {
		for at := 1; at < 12; at++ {
			mem := &tellingMemory{testMemory: newTestMemory(t)}
			var used memory.Allocator = mem
			end := mem.close
			if how == "silent" {
				used, end = mem.testMemory, mem.testMemory.close
			}
			w := must[*World](t)(New(used, Config{ChunkBytes: 1024}))
			m := NewMap2[position, brain](w)
			var gone [][]byte
			f := &flaky{text: bytes.NewReader(text), left: at, do: func() error {
				for p, size := range mem.live {
					gone = append(gone, unsafe.Slice((*byte)(p), size))
				}
				end()
				return nil
			}}
			var err error
			if how != "telling, written" {
				err = w.ReadJSON(iotest.HalfReader(f))
			} else if err = w.ReadJSON(bytes.NewReader(text)); err == nil {
				err = w.WriteJSON(f)
			}
			if f.left > 0 || !errors.Is(err, memory.ErrClosed) || misuse(t, func() { m.NewEntity(position{}, brain{}) }) != "ecs.NewEntity: the world is closed" {
				t.Errorf("%s, %d: %v, %d calls were left", how, at, err, f.left)
			}
			for _, block := range gone {
				if how != "silent" && slices.ContainsFunc(block, func(b byte) bool { return b != 0 }) {
					t.Fatalf("%s, %d: a block is written that is gone", how, at)
				}
			}
			if err := w.Check(); err != nil {
				t.Error(err)
			}
			if err := w.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}
