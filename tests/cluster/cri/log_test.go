package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// lines of a log, without their times.
func lines(t *testing.T, path string) []string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	stamp := regexp.MustCompile(`(?m)^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d) `)
	return strings.Split(strings.TrimSuffix(stamp.ReplaceAllString(string(text), ""), "\n"), "\n")
}

func TestContainerLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "0.log")
	l, err := openContainerLog(path)
	if err != nil {
		t.Fatal(err)
	}
	l.write("one\r\ntw")
	l.write("o\n" + strings.Repeat("x", partMax+3) + "\nlast")
	l.flush()
	l.close()
	want := []string{"stdout F one", "stdout F two", "stdout P " + strings.Repeat("x", partMax), "stdout F xxx", "stdout P last"}
	if got := lines(t, path); strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("%.80q", got)
	}
}

func TestRotatedLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "0.log")
	l, err := openContainerLog(path)
	if err != nil {
		t.Fatal(err)
	}
	l.write("old\n")
	if err := os.Rename(path, path+".1"); err != nil {
		t.Fatal(err)
	}
	l.reopen()
	l.write("new\n")
	l.close()
	if got := lines(t, path); len(got) != 1 || got[0] != "stdout F new" {
		t.Error(got)
	}
}

func TestNoLogWanted(t *testing.T) {
	l, err := openContainerLog("")
	if err != nil {
		t.Fatal(err)
	}
	l.write("nobody reads this\n")
	l.close()
}
