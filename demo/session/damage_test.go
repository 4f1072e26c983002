package session

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io/fs"
	"strings"
	"testing"

	"github.com/strata-go/strata/assets"
	"github.com/strata-go/strata/demo/game"
	"github.com/strata-go/strata/demo/ground"
	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/memory/tiers"
)

// damaged plays with other files at a place that shows six sectors, goes away and comes back, and
// returns what Log was told.
func damaged(t *testing.T, other map[string][]byte, ways ...vec) (s *Session, lines []string) {
	t.Helper()
	s = newSession(t, Config{
		Game: game.Config{Seed: 7}, View: newLooker(t), GroundBytes: 8 * ground.Bytes,
		FS:  otherFiles{FS: assets.FS(), other: other},
		Log: func(err error) { lines = append(lines, err.Error()) },
	})
	play(t, s, 1)
	for _, at := range ways {
		frames := 0
		still(t, s, at, func() bool {
			frames++
			st := s.Stream.Stats()
			return frames > 60 && st.Queued+st.InFlight+st.Ready == 0
		})
	}
	play(t, s, 10)
	check(t, s)
	return s, lines
}

func asset(t *testing.T, name string) []byte {
	t.Helper()
	data, err := fs.ReadFile(assets.FS(), name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// What a damaged ground costs is said in one line a file, and the game goes on.
func TestGround_DamagedRecipesAreOneLineEachAndTheGameGoesOn(t *testing.T) {
	testenv.Long(t)
	at := vec{5.5 * ground.SectorSize, 6 * ground.SectorSize}
	whole := asset(t, "realms/ember/04_05.rec")
	other := map[string][]byte{
		"realms/ember/04_05.rec": whole[:len(whole)/2],
		"realms/ember/05_05.rec": {},
		"realms/ember/06_05.rec": nil,
		"realms/ember/04_06.rec": bytes.Repeat([]byte{0xa5}, 300),
		"realms/ember/05_06.rec": make([]byte, 1<<20),
		"realms/ember/06_06.rec": whole,
	}
	s, lines := damaged(t, other, at, under[2], at)
	for name := range other {
		n := 0
		for _, line := range lines {
			if strings.Contains(line, `"`+name+`"`) && !strings.Contains(line, "\n") {
				n++
			}
		}
		if n != 1 {
			t.Errorf("%d lines speak of %s", n, name)
		}
	}
	if len(lines) != len(other) {
		t.Errorf("%d lines: %q", len(lines), lines)
	}
	if st := s.Ground.Stats(); st.Ready == 0 || st.Dropped == 0 {
		t.Errorf("nothing else came, or nothing went: %+v", st)
	}
	for _, x := range inView(at) {
		if s.Ground.Shown(x) {
			t.Errorf("sector %v is said to be there", x)
		}
	}
}

func TestGround_DamagedStampsAreOneLineAndTheRealmIsSoft(t *testing.T) {
	testenv.Long(t)
	const sheet = "realms/ember/stamps.png"
	stamps := asset(t, sheet)
	huge := bytes.Clone(stamps)
	copy(huge[16:], []byte{0, 1, 0, 0, 0, 1, 0, 0}) // 65536 × 65536
	binary.BigEndian.PutUint32(huge[29:], crc32.ChecksumIEEE(huge[12:29]))
	for what, data := range map[string][]byte{
		"cut short": stamps[:len(stamps)/2], "missing": nil, "huge": huge, "of another size": asset(t, "art/player.png"),
	} {
		if !*whole && what != "missing" && what != "huge" {
			continue
		}
		t.Run(what, func(t *testing.T) {
			s, lines := damaged(t, map[string][]byte{sheet: data}, under[0], under[2])
			if len(lines) != 1 || !strings.Contains(lines[0], sheet) || strings.Contains(lines[0], "\n") {
				t.Errorf("%d lines: %q", len(lines), lines)
			}
			if st := s.Ground.Stats(); st.Ready != 0 || st.SoftSeconds == 0 {
				t.Errorf("without stamps: %+v", st)
			}
		})
	}
}

func TestGround_AViewWithoutRoomLeavesItSoft(t *testing.T) {
	testenv.Long(t)
	l := newLooker(t)
	full := errors.New("there is no room on any page")
	l.refuse = func(x ground.Sector, y int) error {
		if y == 0 && len(l.rows) >= 2 || x.X%2 == 1 && y > 0 {
			return full
		}
		return nil
	}
	lines := 0
	s := newSession(t, Config{Game: game.Config{Seed: 7}, View: l, GroundBytes: 8 * ground.Bytes, Log: func(err error) { lines++ }})
	play(t, s, 60)
	still(t, s, under[0], func() bool { return lines > 0 }) // on a busy machine the pictures come after these ticks
	l.refuse = nil
	still(t, s, under[3], func() bool { return s.allShown(under[3]) })
	check(t, s)
}

func TestGround_WorkersWithoutRoomLeaveItSoft(t *testing.T) {
	testenv.Long(t)
	for _, share := range []float64{0.1, 0.02} {
		lines := 0
		cfg := Config{Game: game.Config{Seed: 7}, View: newLooker(t), GroundBytes: 8 * ground.Bytes, Memory: small, Log: func(err error) { lines++ }}
		full := tiers.Config{}
		cfg.Memory.Budget[tiers.Inbox] = uintptr(share * float64(full.Reserved(tiers.Inbox)))
		s := newSession(t, cfg)
		play(t, s, played(300))
		t.Logf("share %g: %d lines, %+v", share, lines, s.Ground.Stats())
		if lines > 40 {
			t.Errorf("share %g: %d lines", share, lines)
		}
		check(t, s)
	}
}
