//go:build !js

package assets

import "embed"

//go:embed art/*.png levels/*.json sound/*.snd realms
var files embed.FS
