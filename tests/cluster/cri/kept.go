// What outlives the service: pods go on while it is down, as the real one's shims let them.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

const keptName = "cri.json"

// document is a CRI message inside a JSON file.
type document[T proto.Message] struct{ message T }

func (d document[T]) MarshalJSON() ([]byte, error) { return protojson.Marshal(d.message) }

func (d *document[T]) UnmarshalJSON(text []byte) error {
	d.message = d.message.ProtoReflect().New().Interface().(T)
	return protojson.UnmarshalOptions{DiscardUnknown: true}.Unmarshal(text, d.message)
}

func readKept(folder string) (kept, error) {
	k := kept{map[string]*sandbox{}, map[string]*container{}, map[string]time.Time{}}
	text, err := os.ReadFile(filepath.Join(folder, keptName))
	if errors.Is(err, os.ErrNotExist) {
		return k, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &k)
	}
	if err != nil {
		return k, fmt.Errorf("read what an earlier life left: %w", err)
	}
	return k, nil
}

// save writes the state; the caller has the lock.
func (s *server) save() {
	text, err := json.MarshalIndent(&s.kept, "", " ")
	path := filepath.Join(s.settings.State, keptName)
	if err == nil {
		err = os.WriteFile(path+".new", text, 0o600)
	}
	if err == nil {
		err = os.Rename(path+".new", path)
	}
	if err != nil {
		log.Print("state: ", err)
	}
}

// recover takes over what an earlier life left: pods whose namespace HNS forgot (a reboot) are gone,
// containers of the others are followed further.
func (s *server) recover() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, box := range s.Sandboxes {
		if !box.Ready || box.Namespace == "" {
			continue
		}
		gone, err := namespaceClosed(box.Namespace)
		if err != nil {
			log.Printf("sandbox %s: %v", id, err)
		}
		box.Ready = !gone
	}
	for id, c := range s.Containers {
		box := s.Sandboxes[c.Sandbox]
		switch {
		case c.state() != running:
		case box == nil || !box.Ready:
			c.end(unknownExit, "Unknown", "")
		default:
			c.take()
			go s.follow(id, c)
		}
	}
	s.save()
}

// close keeps how far the containers' output was read.
func (s *server) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.save()
}
