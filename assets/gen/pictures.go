package main

// A picture names a file, its size in pixels and the function that inks it.
type picture struct {
	name    string
	w, h    int
	samples int // per axis of a pixel
	draw    shader
}

// sprite is the samples of all of them. Distances already give one pixel of anti-aliasing; corners and thin tips are
// caught by four samples.
const sprite = 2

var pictures = []picture{
	{"player", 96, 96, sprite, player},
	{"player_core", 96, 96, sprite, playerCore},
	{"drifter", 80, 80, sprite, drifter},
	{"drifter_core", 80, 80, sprite, drifterCore},
	{"lancer", 96, 96, sprite, lancer},
	{"lancer_core", 96, 96, sprite, lancerCore},
	{"swarm", 40, 40, sprite, swarm},
	{"swarm_core", 40, 40, sprite, swarmCore},
	{"warden", 256, 256, sprite, warden},
	{"warden_core", 256, 256, sprite, wardenCore},

	{"bullet", 64, 24, sprite, bullet},
	{"orb", 40, 40, sprite, orb},
	{"pickup_hull", 56, 56, sprite, pickupHull},
	{"pickup_power", 56, 56, sprite, pickupPower},
	{"pickup_score", 56, 56, sprite, pickupScore},

	{"soft", 64, 64, sprite, soft},
	{"spark", 64, 16, sprite, spark},
	{"smoke", 96, 96, sprite, smoke},
	{"ring", 256, 256, sprite, ring},
	{"flare", 128, 128, sprite, flare},
	{"debris", 32, 32, sprite, debris},
	{"portal", 256, 256, sprite, portal},

	{"reticle", 48, 48, sprite, reticle},
	{"vignette", 320, 180, sprite, vignette},
	{"placeholder", 64, 64, sprite, placeholder},
}
