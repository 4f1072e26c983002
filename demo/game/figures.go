package game

import "fmt"

// ticksPerShot returns the mean number of ticks between two shots of a barrel.
func ticksPerShot(haste float32) float32 { return fireEvery / haste / step }

// Figure returns a text for the card of a gift: the figures that change if the player takes the gift once more.
func (g *Game) Figure(k Gift) string {
	n := int(g.Gifts[k])
	switch k {
	case GiftVolley:
		now, then := barrels(n), barrels(n+1)
		return fmt.Sprintf("%d → %d BARRELS: +%d %%", now, then, (100*(then-now)+now/2)/now)
	case GiftSparks:
		return fmt.Sprintf("%d → %d SPARKS", sparks(n), sparks(n+1))
	case GiftLightning:
		return fmt.Sprintf("%d JUMPS, %.1f A SECOND", jumps(n+1), 1/boltPause(n+1))
	case GiftMines:
		return fmt.Sprintf("%d → %d MINES", mines(n), mines(n+1))
	case GiftBeam:
		return fmt.Sprintf("%.0f LONG, %d DAMAGE A HIT", beamLength(n+1), beamDamage(n+1))
	case GiftHaste:
		rate := 60 * float32(barrels(int(g.Gifts[GiftVolley]))) / ticksPerShot(hasteOf(n+1))
		return fmt.Sprintf("+%.0f %%: %.0f SHOTS A SECOND", 100*(hasteOf(n+1)/hasteOf(n)-1), rate)
	case GiftFire, GiftFrost:
		return fmt.Sprintf("%.0f %% OF HITS", 100*statusChance(n+1))
	case GiftHull:
		return fmt.Sprintf("HULL %d → %d", g.Player.Most, g.Player.Most+giftHull)
	}
	panic(fmt.Sprintf("game: gift %d has no figure", k))
}

// GiftText returns the text of a gift in a slice of one element. The slice is a part of [GiftTexts], so that no call
// allocates: do not change it.
func (g *Game) GiftText(k Gift) []string { return GiftTexts[min(g.Gifts[k], 1)][k : k+1] }

// The effects of n of a gift.

func barrels(n int) int          { return len(volleys[min(1+n, len(volleys)-1)]) }
func jumps(n int) int            { return min(2+2*n, boltJumps) }
func boltPause(n int) float32    { return boltEvery / float32(n+1) }
func beamLength(n int) float32   { return float32(110 + 45*n) }
func beamDamage(n int) int16     { return 1 + int16(n)/2 }
func hasteOf(n int) float32      { return 1 + mul(float32(n), 0.12) }
func statusChance(n int) float32 { return 0.25 + mul(float32(n), 0.15) }
func statusReach(n int) float32  { return 20 + mul(float32(n), 4) }
func safeFor(n int) float32      { return 1.5 + mul(float32(n), 0.3) }
func minePause(n int) float32    { return 1.1 - mul(float32(n), 0.1) }

func mines(n int) int {
	if n == 0 {
		return 0
	}
	return 3 + 3*n
}

func sparks(n int) int {
	if n == 0 {
		return 0
	}
	return n + 1
}
