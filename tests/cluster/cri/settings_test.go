package main

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// file is one of winjoin's own templates, filled.
func file(t *testing.T, template string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "templates", template))
	if err != nil {
		t.Fatal(err)
	}
	return strings.NewReplacer("@SANDBOX_IMAGE@", "'mirror.example/pause:1'", "@CNI_BIN_DIR@", `C:\opt\cni\bin`,
		"@CNI_CONF_DIR@", `C:\etc\cni\net.d`, "@ROOT@", `'C:\ProgramData\containerd\root'`,
		"@STATE@", `'C:\ProgramData\containerd\state'`, "@IMPORTS@", "[]", "@REGISTRIES@", "''").Replace(string(text))
}

func read(t *testing.T, text string) (*settings, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.toml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return readSettings(path)
}

func TestWinjoinsFiles(t *testing.T) {
	for _, template := range []string{"containerd-v2.toml", "containerd-v3.toml"} {
		got, err := read(t, file(t, template))
		if err != nil {
			t.Fatalf("%s: %v", template, err)
		}
		want := &settings{Address: defaultAddress, Root: `C:\ProgramData\containerd\root`,
			State: `C:\ProgramData\containerd\state`, CNIBinDirs: []string{`C:\opt\cni\bin`},
			CNIConfDir: `C:\etc\cni\net.d`, CNIMaxConfs: 1, SandboxImage: "mirror.example/pause:1",
			Handler: "runhcs-wcow-process"}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\n got %+v\nwant %+v", template, got, want)
		}
	}
}

func TestRefusedFiles(t *testing.T) {
	for text, why := range map[string]string{
		"version = 1\n":       "unsupported config version",
		"version = 3\nroot =": "failed to load TOML",
		"version = 3\n[plugins.'io.containerd.cri.v1.runtime'.containerd]\ndefault_runtime_name = 'x'\n" +
			"[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.y]\nruntime_type = 'z'\n": "no corresponding runtime",
	} {
		if _, err := read(t, text); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestCommandLine(t *testing.T) {
	o, err := parse([]string{"--config=a", "--log-file", "b", "--run-service", "--service-name=c", "--address", "tcp://d"})
	if err != nil || o.config != "a" || o.logFile != "b" || !o.runService || o.serviceName != "c" {
		t.Fatal(o, err)
	}
	s := &settings{Address: "x", Root: "y"}
	if s.override(o); s.Address != "tcp://d" || s.Root != "y" {
		t.Error(s)
	}
	if _, err := parse([]string{"config", "dump"}); err == nil {
		t.Error("a command is taken")
	}
}
