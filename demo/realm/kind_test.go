package realm

import "testing"

func TestEnemy_StringIsTheNameOfItsPicture(t *testing.T) {
	if Warden.String() != "warden" || Enemy(99).String() != "Enemy(99)" {
		t.Errorf("enemies are %v and %v", Warden, Enemy(99))
	}
}
