package ground

// A Base is the material of a realm's floor and walls.
type Base uint8

const (
	Forge Base = iota // plates with hot cracks, walls of iron
	Reef              // sand under moving light, walls of coral
	Grove             // moss and threads, walls of old wood
	bases
)

// Bases is the number of values of [Base]: a valid Base is 0 to Bases-1.
const Bases = int(bases)

// A style is what a base's colours and shapes are; the palette gives the hues.
type style struct {
	base           Base
	floor, glow    Color
	body, rim      Color
	terrace, rings float32 // units between a wall's steps, and its rings; 0 is none
	bevel, deep    float32 // width of a wall's slope, and what is left of its brightness far inside
	ambient, cast  float32 // how dark the floor beside walls, and under their shadow
}

func styleOf(b Base, p *[5]Color) style {
	switch b {
	case Forge:
		return style{b, p[0].mix(Color{34, 27, 30}, 0.55), p[2].mix(p[3], 0.15), Color{20, 13, 15}.mix(p[1], 0.12), p[1].mix(p[2], 0.7), 13, 0, 8, 0.45, 0.65, 0.6}
	case Reef:
		return style{b, p[0].mix(p[1], 0.23), p[1].mix(p[2], 0.5), p[0].mix(p[1], 0.16), p[1].mix(p[2], 0.55), 0, 0, 12, 0.35, 0.65, 0.55}
	default:
		return style{b, p[0].mix(p[1], 0.04), p[1].mix(p[2], 0.10), p[0].mix(p[4], 0.09), p[1].mix(p[2], 0.55).mix(p[3], 0.15), 0, 8, 9, 0.45, 0.65, 0.55}
	}
}

// texture fills one row of the fine grid, y pixels below the sector's top.
func (c *canvas) texture(tone, glow, body []float32, y int) {
	x0, y0 := c.recipe.X*SectorSize, c.recipe.Y*SectorSize+y
	left, right := down(&c.recipe.Tone, y)
	for i := range tone {
		tone[i], glow[i], body[i] = 0.6+0.4*mix(left, right, float32(i*fineStep)/SectorSize), 0, 1
	}
	c.warm[0], c.warm[1] = down(&c.recipe.Warmth, y)
	for i := range c.work {
		clear(c.work[i])
	}
	switch c.style.base {
	case Forge:
		c.forge(tone, glow, body, x0, y0)
	case Reef:
		c.reef(tone, glow, body, x0, y0)
	default:
		c.grove(tone, glow, body, x0, y0)
	}
}

// down interpolates corners to the left and the right end of a row; 1 is neutral.
func down(corners *[4]uint8, y int) (left, right float32) {
	f := float32(y) / SectorSize
	left = mix(float32(corners[0]), float32(corners[2]), f) / 128
	right = mix(float32(corners[1]), float32(corners[3]), f) / 128
	return left, right
}

// warmth is the row's warmth above the neutral value, at a sample.
func (c *canvas) warmth(i int) float32 {
	return mix(c.warm[0], c.warm[1], float32(i*fineStep)/SectorSize) - 1
}

// forge is plates, bevelled, some broken, with cracks between them that are hot in some places.
func (c *canvas) forge(tone, glow, body []float32, x0, y0 int) {
	heat, warpX, warpY := c.work[0], c.work[1], c.work[2]
	addNoise(tone, x0, y0, 230, 0.28, 1)
	addNoise(tone, x0, y0, 48, 0.14, 2)
	addNoise(tone, x0, y0, 11, 0.13, 3)
	addNoise(heat, x0, y0, 330, 1.1, 4)
	addNoise(heat, x0, y0, 90, 0.5, 5)
	addNoise(warpX, x0, y0, 70, 12, 6)
	addNoise(warpX, x0, y0, 17, 2.2, 7)
	addNoise(warpY, x0, y0, 70, 12, 8)
	addNoise(warpY, x0, y0, 17, 2.2, 9)
	addNoise(body, x0, y0, 60, 0.35, 10)
	addNoise(body, x0, y0, 13, 0.35, 11)
	const size = 96
	for i := range tone {
		x, y := float32(x0+i*fineStep)+warpX[i], float32(y0)+warpY[i]
		p := plateAt(x/size, y/size, 12)
		e := p.edge * size
		if p.tone > 0.5 { // broken into smaller ones
			if q := plateAt(x/(size*0.42), y/(size*0.42), 13); q.edge*size*0.42+0.6 < e {
				tone[i] *= 0.85 + 0.3*q.tone
				p.outX, p.outY, e = q.outX, q.outY, q.edge*size*0.42+0.6
			}
		}
		tone[i] *= 0.8 + 0.4*p.tone
		tone[i] += 0.5 * (1 - clamp((e-1.5)/5)) * (p.outX*lightX + p.outY*lightY)
		tone[i] *= 0.25 + 0.75*step(0.2, 3, e)
		h := clamp(heat[i] + 0.5*c.warmth(i))
		skirt := 1 - clamp(e/26)
		glow[i] = h * (0.46*(1-clamp((e-0.4)/2.2)) + 0.08*skirt*skirt*skirt)
	}
}

// reef is sand in ripples, under light refracted by waves.
func (c *canvas) reef(tone, glow, body []float32, x0, y0 int) {
	mask, warpX, warpY := c.work[0], c.work[1], c.work[2]
	addNoise(tone, x0, y0, 260, 0.35, 1)
	addNoise(tone, x0, y0, 60, 0.2, 2)
	addNoise(tone, x0, y0, 9, 0.1, 3)
	addNoise(mask, x0, y0, 280, 1.2, 4)
	addNoise(mask, x0, y0, 100, 0.4, 5)
	addNoise(warpX, x0, y0, 64, 22, 6)
	addNoise(warpY, x0, y0, 64, 22, 8)
	addNoise(body, x0, y0, 50, 0.3, 10)
	const size = 62
	for i := range tone {
		x, y := float32(x0+i*fineStep), float32(y0)
		ripple := wave((y + 0.45*x + 1.5*warpX[i]) / 15)
		tone[i] += 0.12 * ripple * clamp(0.7-mask[i])
		n := abs(noiseAt((x+warpX[i])/size, (y+warpY[i])/size, 12))
		k := 1 - clamp(n*3.4)
		glow[i] = k * k * k * clamp(mask[i]+0.1+0.5*c.warmth(i)) * 0.24
		if c.dist.near(min(i*fineStep, SectorSize), min(y0-c.recipe.Y*SectorSize, SectorSize)) < CellSize/2 { // a wall, or nearly
			p := plateAt(x/13, y/13, 14)
			body[i] *= 0.55 + 0.9*(1-clamp(p.near*2.4))
		}
	}
}

// grove is moss, with threads of varying brightness.
func (c *canvas) grove(tone, glow, body []float32, x0, y0 int) {
	mask, warpX, warpY := c.work[0], c.work[1], c.work[2]
	addNoise(tone, x0, y0, 210, 0.35, 1)
	addNoise(tone, x0, y0, 46, 0.25, 2)
	addNoise(tone, x0, y0, 15, 0.22, 3)
	addNoise(tone, x0, y0, 7, 0.15, 4)
	addNoise(mask, x0, y0, 190, 1.2, 5)
	addNoise(warpX, x0, y0, 40, 9, 6)
	addNoise(warpY, x0, y0, 40, 9, 8)
	addNoise(body, x0, y0, 40, 0.35, 10)
	addNoise(body, x0, y0, 10, 0.3, 11)
	for i := range tone {
		x, y := float32(x0+i*fineStep)+warpX[i], float32(y0)+warpY[i]
		a := 1 - clamp(abs(noiseAt(x/128, y/128, 12))*22)
		b := 1 - clamp(abs(noiseAt(x/70, y/70, 13))*16)
		k := clamp(mask[i] + 0.35)
		moss := step(0.05, 0.6, 0.55*mask[i]+0.8*(tone[i]-0.9)+0.25*c.warmth(i))
		tone[i] += 0.6*a*a*k + 0.3*b*k
		glow[i] = (0.34*moss + 0.10*a*a*k + 0.04*b*k) * tone[i] * (1 + 0.5*c.warmth(i))
		tone[i] *= 1 - 0.8*moss // moss hides the soil
	}
}

// wave is like a sine with a period of 1.
func wave(t float32) float32 {
	_, f := floor(t)
	f = 2*f - 1
	return 4 * f * (1 - abs(f))
}
