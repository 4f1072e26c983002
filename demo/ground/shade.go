package ground

// The light of all realms comes from the top left.
const (
	lightX, lightY   = -0.6, -0.8
	shadowX, shadowY = 8, 11 // how far a wall's shadow falls, in pixels
)

// shine adds up the pools of light.
func (c *canvas) shine() {
	clear(c.light)
	for i := range c.recipe.Lights[:c.recipe.NLights] {
		l := &c.recipe.Lights[i]
		color := c.stamps.Palette[l.Color].scale(float32(l.Power) / (255 * 255))
		per := 1 / (float32(l.Radius) * float32(l.Radius))
		for y := range lightCols {
			dy := float32(y*lightStep - int(l.Y))
			for x := range lightCols {
				dx := float32(x*lightStep - int(l.X))
				k := 1 - (dx*dx+dy*dy)*per
				if k <= 0 {
					continue
				}
				p := c.light[(y*lightCols+x)*3:][:3]
				for j := range p {
					p[j] += k * k * color[j]
				}
			}
		}
	}
}

// lightAt reads the pools at a pixel.
func (c *canvas) lightAt(x, y int) (l [3]float32) {
	i := (y/lightStep*lightCols + x/lightStep) * 3
	fx, fy := float32(x%lightStep)/lightStep, float32(y%lightStep)/lightStep
	p, q := c.light[i:i+6:i+6], c.light[i+lightCols*3:][:6:6]
	for j := range l {
		l[j] = mix(mix(p[j], p[j+3], fx), mix(q[j], q[j+3], fx), fy)
	}
	return l
}

// coverRow computes the share of each pixel of a row of the band that is wall.
func (c *canvas) coverRow(y0, y int) {
	cover := c.cover[y*SectorSize:][:SectorSize]
	c.dist.row(cover, y0+y, 0, c.work[0])
	for x, d := range cover {
		cover[x] = clamp(0.5 - d*0.7)
	}
}

// shadeRow puts shadow and light on a row of the band's floor, and walls on it. Rows come in their order.
func (c *canvas) shadeRow(y0, y int) {
	if y0+y == 0 {
		c.dist.row(c.rows[1], -1, -1, c.work[0])
		c.dist.row(c.rows[2], 0, -1, c.work[0])
	}
	c.rows[0], c.rows[1], c.rows[2] = c.rows[1], c.rows[2], c.rows[0]
	c.dist.row(c.rows[2], y0+y+1, -1, c.work[0])
	st := &c.style
	rgb, cover := c.rgb[y*SectorSize*3:], c.cover[y*SectorSize:]
	for x := range SectorSize {
		p := rgb[x*3 : x*3+3 : x*3+3]
		d := c.rows[1][x+1]
		light := c.lightAt(x, y0+y)
		if cover[x] < 1 {
			k := float32(1)
			if d < reach {
				near := 1 - max(d, 0)/reach
				k = 1 - st.ambient*near*near*near
				k *= 1 - st.cast*step(5, -7, c.dist.near(x-shadowX, y0+y-shadowY))
			}
			for j := range p {
				p[j] = p[j]*k*(1+light[j]) + 51*light[j]*k
			}
		}
		if cover[x] > 0 {
			gx, gy := c.rows[1][x+2]-c.rows[1][x], c.rows[2][x+1]-c.rows[0][x+1]
			gx += 1e-6 // straight in the middle of a wall, where nothing shows
			lit := (gx*lightX + gy*lightY) / sqrt(gx*gx+gy*gy)
			wall := c.wall(-d, lit, fine(c.body, x, y))
			for j := range p {
				w := wall[j] * (1 + 0.7*light[j])
				p[j] = mix(p[j], w, cover[x])
			}
		}
	}
}

// wall is the colour of a wall, depth units inside its edge. lit is how much it faces the light, from -1 to 1.
func (c *canvas) wall(depth, lit, texture float32) Color {
	st := &c.style
	depth = max(depth, 0)
	bevel := 1 - clamp(depth/st.bevel)
	line := 1 - clamp(depth/2.5)
	top := step(st.bevel*0.6, st.bevel*1.5, depth)
	facing := clamp(lit*0.6 + 0.4)
	body := mix(1-0.55*bevel*(1-facing), 1, top) * texture
	rim := facing*facing*(0.5*bevel*bevel*texture+0.85*line) + 0.12*line
	fade := mix(1, st.deep, step(st.bevel, reach, depth))
	if st.terrace > 0 && depth > st.terrace*0.7 && depth < reach-6 {
		// Each step is lit like the wall's own edge, less as it lies higher.
		_, f := floor(depth / st.terrace)
		rim += 0.22 * facing * facing * (1 - clamp(f*st.terrace/2.2)) * fade
		body *= 1 - 0.35*clamp((f-0.75)*4)*(1-facing)
	}
	if st.rings > 0 {
		body *= 1 + 0.28*wave(depth/st.rings+texture*0.7)*top*(1-step(reach-14, reach-3, depth))
	}
	return Color{
		st.body[0]*body*fade + st.rim[0]*rim,
		st.body[1]*body*fade + st.rim[1]*rim,
		st.body[2]*body*fade + st.rim[2]*rim,
	}
}
