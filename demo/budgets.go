package main

import "github.com/strata-go/strata/memory/tiers"

// tierUse is how much of a tier the game uses, in bytes.
type tierUse struct {
	budget   uintptr // about twice the peak at full heat, with 20,000 particles
	least    uintptr // with less the game cannot begin
	enemy    uintptr // more of the budget for each of -enemies
	particle uintptr // more for each of -particles beyond 20,000
}

// uses are measured at -heat 10 in a window. TestBudgets_AreAboutTwiceThePeak compares them with the peaks.
var uses = [tiers.Count]tierUse{
	tiers.Static: {budget: 28 << 20},                                              // 18.8 MiB: a plan for 150,000 quads
	tiers.Frame:  {budget: 4 << 20, least: 64 << 10, enemy: 160},                  // 2.6 MiB
	tiers.Level:  {budget: 9 << 20},                                               // 5.2 MiB
	tiers.Pools:  {budget: 4 << 20, least: 1 << 20, enemy: 320, particle: 2 * 48}, // 2.2 MiB
	tiers.Slab:   {budget: 1 << 20, enemy: 32},                                    // 0.73 MiB
	tiers.Large:  {budget: 24 << 20},                                              // 13.7 MiB
	tiers.Inbox:  {budget: 18 << 20, least: 768 << 10},                            // 8 MiB, most of it in any one of three workers
}

// budgetOf returns the budget of a tier: about twice of what the game uses, or the share of -budget of that. If the
// reservation is smaller, as in a browser, the manager's budget is that. A tier that is not in uses has no limit.
func (o *options) budgetOf(t tiers.Tier) uintptr {
	u := &uses[t]
	if u.budget == 0 {
		return 0
	}
	b := u.budget + u.enemy*uintptr(o.enemies) + u.particle*uintptr(max(o.particles-20_000, 0))
	if o.guard && t == tiers.Slab {
		b *= 4 // canaries, and quarantine
	}
	if share := o.budget[t]; share > 0 {
		b = uintptr(share * float64(b))
	}
	return max(b, u.least, 1)
}
