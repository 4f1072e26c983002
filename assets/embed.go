//go:build !js

package assets

import "embed"

//go:embed art/*.png levels/*.json sound/*.ogg realms
var embedded embed.FS

var files = Recipes(embedded)
