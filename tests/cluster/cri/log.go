// A container's log in CRI's format: time, stream, F for a whole line or P for a part of one.
package main

import (
	"fmt"
	"log"
	"os"
	"strings"
	"time"
)

const partMax = 16 * 1024 // containerd cuts longer lines

type containerLog struct {
	path string
	file *os.File
	part string // a line whose end is still to come
}

// openContainerLog opens it for appending; no path: nothing is written. Never nil.
func openContainerLog(path string) (*containerLog, error) {
	l := &containerLog{path: path}
	if path == "" {
		return l, nil
	}
	var err error
	l.file, err = os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o640)
	return l, err
}

func (l *containerLog) reopen() {
	l.close()
	fresh, err := openContainerLog(l.path)
	if err != nil {
		log.Print("reopen: ", err)
	}
	l.file = fresh.file
}

func (l *containerLog) write(text string) {
	l.part += text
	for {
		line, rest, whole := strings.Cut(l.part, "\n")
		if whole && len(line) <= partMax {
			l.line("F", strings.TrimSuffix(line, "\r"))
			l.part = rest
		} else if len(line) > partMax {
			l.line("P", line[:partMax])
			l.part = l.part[partMax:]
		} else {
			return
		}
	}
}

// flush writes what has no end of line.
func (l *containerLog) flush() {
	if l.part != "" {
		l.line("P", l.part)
		l.part = ""
	}
}

func (l *containerLog) line(tag, text string) {
	if l.file != nil {
		fmt.Fprintf(l.file, "%s stdout %s %s\n", time.Now().Format(time.RFC3339Nano), tag, text)
	}
}

func (l *containerLog) close() {
	if l.file != nil {
		_ = l.file.Close()
		l.file = nil
	}
}
