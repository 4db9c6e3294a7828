// Images: names alone. What a container runs comes from the host, by its mounts.
package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"
)

const imageSize = 1 << 20

func digest(name string) string {
	return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(name)))
}

// image is the name of the image that is asked for by its name or its id; "": it is not here. The
// caller has the lock.
func (s *server) image(asked string) string {
	for name := range s.Images {
		if name == asked || digest(name) == asked {
			return name
		}
	}
	return ""
}

func (s *server) describe(name string) *runtime.Image {
	image := &runtime.Image{Id: digest(name), Size: imageSize, Pinned: name == s.settings.SandboxImage}
	if strings.Contains(name, "@") {
		image.RepoDigests = []string{name}
	} else {
		image.RepoTags = []string{name}
		image.RepoDigests = []string{strings.SplitN(name, ":", 2)[0] + "@" + digest(name)}
	}
	return image
}

func (s *server) ListImages(_ context.Context, q *runtime.ListImagesRequest) (*runtime.ListImagesResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	answer, wanted := &runtime.ListImagesResponse{}, q.GetFilter().GetImage().GetImage()
	for name := range s.Images {
		if wanted == "" || wanted == name {
			answer.Images = append(answer.Images, s.describe(name))
		}
	}
	return answer, nil
}

func (s *server) ImageStatus(_ context.Context, q *runtime.ImageStatusRequest) (*runtime.ImageStatusResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if name := s.image(q.GetImage().GetImage()); name != "" {
		return &runtime.ImageStatusResponse{Image: s.describe(name)}, nil
	}
	return &runtime.ImageStatusResponse{}, nil
}

// PullImage finds every image, but those of a registry that cannot be (RFC 2606's .invalid).
func (s *server) PullImage(_ context.Context, q *runtime.PullImageRequest) (*runtime.PullImageResponse, error) {
	name := q.GetImage().GetImage()
	if registry, _, _ := strings.Cut(name, "/"); name == "" || strings.HasSuffix(registry, ".invalid") {
		return nil, status.Errorf(codes.NotFound, "failed to pull and unpack image %q: failed to resolve reference", name)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Images[name] = time.Now()
	s.save()
	return &runtime.PullImageResponse{ImageRef: digest(name)}, nil
}

func (s *server) RemoveImage(_ context.Context, q *runtime.RemoveImageRequest) (*runtime.RemoveImageResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.Images, s.image(q.GetImage().GetImage()))
	s.save()
	return &runtime.RemoveImageResponse{}, nil
}

func (s *server) ImageFsInfo(context.Context, *runtime.ImageFsInfoRequest) (*runtime.ImageFsInfoResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	usage := []*runtime.FilesystemUsage{{
		Timestamp: time.Now().UnixNano(), FsId: &runtime.FilesystemIdentifier{Mountpoint: s.settings.Root},
		UsedBytes: &runtime.UInt64Value{Value: uint64(len(s.Images)) * imageSize}, InodesUsed: &runtime.UInt64Value{}}}
	return &runtime.ImageFsInfoResponse{ImageFilesystems: usage, ContainerFilesystems: usage}, nil
}
