// What containerd's config.toml says, in its versions 2 and 3, as far as a pod depends on it.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/pelletier/go-toml/v2"
)

type settings struct {
	Address, Root, State  string
	CNIBinDirs            []string
	CNIConfDir            string
	CNIMaxConfs           int
	SandboxImage, Handler string
}

// tomlCNI and its fellows are named as the file names them.
type tomlCNI struct {
	BinDir     string   `toml:"bin_dir"`
	BinDirs    []string `toml:"bin_dirs"`
	ConfDir    string   `toml:"conf_dir"`
	MaxConfNum *int     `toml:"max_conf_num"`
}

type tomlContainerd struct {
	DefaultRuntimeName string `toml:"default_runtime_name"`
	Runtimes           map[string]struct {
		RuntimeType string `toml:"runtime_type"`
	} `toml:"runtimes"`
}

type tomlRuntime struct {
	SandboxImage string         `toml:"sandbox_image"` // version 2
	CNI          tomlCNI        `toml:"cni"`
	Containerd   tomlContainerd `toml:"containerd"`
}

type tomlFile struct {
	Version int    `toml:"version"`
	Root    string `toml:"root"`
	State   string `toml:"state"`
	GRPC    struct {
		Address string `toml:"address"`
	} `toml:"grpc"`
	Plugins struct {
		Version2 tomlRuntime `toml:"io.containerd.grpc.v1.cri"`
		Version3 tomlRuntime `toml:"io.containerd.cri.v1.runtime"`
		Images   struct {
			PinnedImages map[string]string `toml:"pinned_images"`
		} `toml:"io.containerd.cri.v1.images"`
	} `toml:"plugins"`
}

// readSettings reads the file; what it lacks keeps containerd's default. No file: all defaults.
func readSettings(path string) (*settings, error) {
	s := &settings{
		Address:      defaultAddress,
		Root:         defaultFolder("ProgramData", "root"),
		State:        defaultFolder("ProgramData", "state"),
		CNIBinDirs:   []string{defaultFolder("Program Files", filepath.Join("cni", "bin"))},
		CNIConfDir:   defaultFolder("Program Files", filepath.Join("cni", "conf")),
		CNIMaxConfs:  1,
		SandboxImage: "registry.k8s.io/pause:3.10.1",
		Handler:      "runhcs-wcow-process",
	}
	text, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return s, nil
	}
	if err != nil {
		return nil, err
	}
	var file tomlFile
	if err := toml.Unmarshal(text, &file); err != nil {
		return nil, fmt.Errorf("failed to load TOML: %s: %w", path, err)
	}
	return s, s.take(&file)
}

func (s *settings) take(file *tomlFile) error {
	rt, image := &file.Plugins.Version3, file.Plugins.Images.PinnedImages["sandbox"]
	switch file.Version {
	case 3:
	case 2:
		rt = &file.Plugins.Version2
		image = rt.SandboxImage
	default:
		return fmt.Errorf("unsupported config version: %d", file.Version)
	}
	bins := rt.CNI.BinDirs
	if rt.CNI.BinDir != "" {
		bins = []string{rt.CNI.BinDir}
	}
	if len(bins) > 0 {
		s.CNIBinDirs = bins
	}
	if rt.CNI.MaxConfNum != nil {
		s.CNIMaxConfs = *rt.CNI.MaxConfNum
	}
	for value, slot := range map[*string]*string{
		&file.Root: &s.Root, &file.State: &s.State, &file.GRPC.Address: &s.Address, &image: &s.SandboxImage,
		&rt.CNI.ConfDir: &s.CNIConfDir, &rt.Containerd.DefaultRuntimeName: &s.Handler,
	} {
		if *value != "" {
			*slot = *value
		}
	}
	if known := rt.Containerd.Runtimes; len(known) > 0 && known[s.Handler].RuntimeType == "" {
		return fmt.Errorf("no corresponding runtime configured in `runtimes` for `default_runtime_name = %q`", s.Handler)
	}
	return nil
}

// override lets the command line win, as containerd does.
func (s *settings) override(o *options) {
	for value, slot := range map[*string]*string{&o.address: &s.Address, &o.root: &s.Root, &o.state: &s.State} {
		if *value != "" {
			*slot = *value
		}
	}
}
