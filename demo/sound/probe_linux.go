package sound

import (
	"errors"
	"os"
	"path/filepath"
)

// probe looks for anything that could play: a PulseAudio or PipeWire socket, an ALSA card, or a configuration of the
// user. Without any, as in a container, the system's library would write a page of messages to stderr and fail.
func probe() error {
	for _, name := range []string{"PULSE_SERVER", "PULSE_RUNTIME_PATH", "ALSA_CONFIG_PATH"} {
		if os.Getenv(name) != "" {
			return nil
		}
	}
	run, home := os.Getenv("XDG_RUNTIME_DIR"), os.Getenv("HOME")
	for _, pattern := range []string{
		"/dev/snd/pcmC*p", "/run/pulse/native", "/var/run/pulse/native", "/run/user/*/pulse/native", "/etc/asound.conf",
		filepath.Join(run, "pulse/native"), filepath.Join(run, "pipewire-0"), filepath.Join(home, ".asoundrc"),
		filepath.Join(home, ".config/alsa/asoundrc"), filepath.Join(home, ".pulse/*"), filepath.Join(home, ".config/pulse/client.conf"),
	} {
		if found, err := filepath.Glob(pattern); err == nil && len(found) > 0 {
			return nil
		}
	}
	return errors.New("there is no sound device: no card in /dev/snd, no PulseAudio or PipeWire")
}
