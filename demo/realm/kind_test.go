package realm

import "testing"

func TestEnemy_StringIsTheNameOfItsPicture(t *testing.T) {
	if Warden.String() != "warden" || Enemy(99).String() != "Enemy(99)" {
		t.Errorf("enemies are %v and %v", Warden, Enemy(99))
	}
}

func TestParseColor_ReadsSixDigits(t *testing.T) {
	for text, want := range map[string]Color{"#123456": {0x12, 0x34, 0x56}, "#aBcDeF": {0xab, 0xcd, 0xef}, "#000000": {}} {
		if got, ok := ParseColor(text); !ok || got != want {
			t.Errorf("%s is %v, %v", text, got, ok)
		}
	}
	for _, text := range []string{"", "#", "123456", "#12345", "#1234567", "#12345g", "#12345\x10", "#12 456"} {
		if c, ok := ParseColor(text); ok {
			t.Errorf("%q is accepted as %v", text, c)
		}
	}
}
