// cnispy is a CNI plugin that connects nothing: it writes down what it was asked, a line of JSON a
// call, into cnispy.jsonl beside itself, and answers with an address.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

const result = `{"cniVersion":"1.0.0","interfaces":[{"name":"eth0","sandbox":"x"}],` +
	`"ips":[{"interface":0,"address":"10.244.1.9/24","gateway":"10.244.1.1"}]}`

// call is one: the CNI_* variables, and the configuration from standard input.
type call struct {
	Environment   map[string]string
	Configuration json.RawMessage
}

func hear() (*call, error) {
	text, err := io.ReadAll(os.Stdin)
	if err != nil {
		return nil, err
	}
	c := &call{Environment: map[string]string{}, Configuration: text}
	for _, entry := range os.Environ() {
		if name, value, _ := strings.Cut(entry, "="); strings.HasPrefix(name, "CNI_") {
			c.Environment[name] = value
		}
	}
	return c, nil
}

func (c *call) write() error {
	line, err := json.Marshal(c)
	if err != nil {
		return err
	}
	path := filepath.Join(filepath.Dir(os.Args[0]), "cnispy.jsonl")
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = fmt.Fprintf(file, "%s\n", line)
	return err
}

func main() {
	if os.Getenv("CNI_COMMAND") == "VERSION" {
		fmt.Println(`{"cniVersion":"1.0.0","supportedVersions":["0.3.1","0.4.0","1.0.0"]}`)
		return
	}
	c, err := hear()
	if err == nil {
		err = c.write()
	}
	if err != nil {
		fmt.Printf(`{"cniVersion":"1.0.0","code":999,"msg":%q}`, err)
		os.Exit(1)
	}
	if os.Getenv("CNI_COMMAND") == "ADD" {
		fmt.Println(result)
	}
}
