package resident

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/strata-go/strata/memory/tiers"
)

func TestCheck_NamesWhatDoesNotAddUp(t *testing.T) {
	for want, corrupt := range map[string]func(r *Report){
		"the classes add up to 4403200 bytes, RSS is 4403201": func(r *Report) { r.RSS++ },
		"the tiers add up to 458753 bytes":                    func(r *Report) { r.Tiers[tiers.Static].RSS++ },
		"the libraries add up to 8193 bytes":                  func(r *Report) { r.Libraries[0].RSS++ },
		"the libraries add up to 0 bytes":                     func(r *Report) { r.Libraries = nil },
		"suspect 1 has 3 bytes, the one before it 2":          func(r *Report) { r.Suspects = []Mapping{{Usage: Usage{RSS: 2}}, {Usage: Usage{RSS: 3}}} },
		"suspect 2 has 3 bytes, the one before it 2": func(r *Report) {
			r.Suspects = []Mapping{{Usage: Usage{RSS: 2}}, {Usage: Usage{RSS: 2}}, {Usage: Usage{RSS: 3}}}
		},
	} {
		f := fake(t, "static.smaps")
		f.object, f.mapped = 0xd93c001000, 7<<20
		f.owners = f.owners.claim(owner{from: 0x7f0000010000, to: 0x7f0000080000, class: Tiers, tier: tiers.Slab})
		f.owners = f.owners.claim(owner{from: 0x7f0000000000, to: 0x7f0000200000, class: Pages})
		f.touch(0x7f0000000000, 0x7f0000100000)
		r := f.report(t)
		if corrupt(r); r.Check() == nil || !strings.Contains(r.Check().Error(), want) {
			t.Errorf("%v, want %s", r.Check(), want)
		}
	}
}

// Each field of a file is the one that its name says.
func TestWriteJSON_EveryFieldHasItsOwnFigure(t *testing.T) {
	r := Report{RSS: 400, Mappings: 3, Named: true, Libraries: []Library{{"/lib/a.so", Usage{1, 2, 3, 4, 5}}},
		Suspects: []Mapping{{0x1000, 0xffffffffff000, "rw-p", "[anon: x]", Usage{6, 7, 8, 9, 10}}}}
	r.Classes[Unexplained] = Usage{100, 90, 80, 70, 60}
	r.Tiers[tiers.Level] = Usage{11, 12, 13, 14, 15}
	var b, got bytes.Buffer
	if err := r.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	if err := json.Compact(&got, b.Bytes()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`{"rss":400,"mappings":3,"unexplained_share":0.25,"named":true,"classes":[{"name":"tiers","rss":0,`,
		`{"name":"unexplained","rss":100,"pss":90,"private":80,"shared":70,"dirty":60}],"tiers":[{"name":"static",`,
		`{"name":"level","rss":11,"pss":12,"private":13,"shared":14,"dirty":15},`,
		`],"libraries":[{"name":"/lib/a.so","rss":1,"pss":2,"private":3,"shared":4,"dirty":5}],` +
			`"suspects":[{"address":"1000-ffffffffff000","perm":"rw-p","name":"[anon: x]","rss":6,"pss":7,"private":8,"shared":9,"dirty":10}]}`,
	} {
		if !strings.Contains(got.String(), want) {
			t.Errorf("no %s in\n%s", want, got.String())
		}
	}
	if out, err := json.Marshal(new(Report)); err != nil || !strings.HasSuffix(string(out), `"libraries":[],"suspects":[]}`) {
		t.Errorf("an empty one: %s, %v", out, err)
	}
}

// Of the libraries five have a row, and what is left is one.
func TestWriteText_FiveLibrariesHaveARow(t *testing.T) {
	for n, want := range map[int]string{5: "", 6: fmt.Sprintf("%-28s %10s", "  1 others", "60 B"), 7: fmt.Sprintf("%-28s %10s", "  2 others", "130 B")} {
		var r Report
		for i := range n {
			r.Libraries = append(r.Libraries, Library{"/lib/" + string(rune('a'+i)) + ".so", Usage{RSS: uint64(10 + 10*i)}})
			r.Classes[Libraries].add(r.Libraries[i].Usage)
		}
		var b strings.Builder
		_ = r.WriteText(&b)
		if got := strings.Contains(b.String(), " others "); got != (want != "") || !strings.Contains(b.String(), want) || !strings.Contains(b.String(), "  e.so ") || strings.Contains(b.String(), "  f.so ") {
			t.Errorf("of %d:\n%s", n, b.String())
		}
	}
}

// The list of suspects is of the largest, and no longer than it says.
func TestSuspects_AreTheSixteenLargest(t *testing.T) {
	var text strings.Builder
	for i := range 40 {
		from := 0x1000000 * (i + 1)
		fmt.Fprintf(&text, "%x-%x r--p 00000000 00:00 0\nRss: %d kB\n", from, from+0x100000, 4*(i*7%40))
	}
	r := fakeOf([]byte(text.String())).report(t)
	if len(r.Suspects) != MaxSuspects {
		t.Fatalf("%d suspects", len(r.Suspects))
	}
	for i, s := range r.Suspects {
		if want := uint64(4*(39-i)) * kib; s.RSS != want {
			t.Errorf("suspect %d has %d bytes, want %d", i, s.RSS, want)
		}
	}
}
