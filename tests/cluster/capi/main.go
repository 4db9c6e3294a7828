// capi prints the bootstrap data that Cluster API's kubeadm provider makes for a worker: a
// KubeadmConfig comes on standard input, the Machine's Kubernetes version is the argument. What the
// provider's reconciler does around its own packages (joinWorker) is done here, too: the taint, and
// the words of the verbosity. With "json" as the argument it prints YAML from standard input as JSON.
package main

import (
	"fmt"
	"io"
	"os"

	"github.com/blang/semver/v4"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/bootstrap/kubeadm/pkg/cloudinit"
	kubeadmtypes "sigs.k8s.io/cluster-api/bootstrap/kubeadm/pkg/types"
)

func render(config *bootstrapv1.KubeadmConfig, version string) ([]byte, error) {
	parsed, err := semver.ParseTolerant(version)
	if err != nil {
		return nil, err
	}
	join, taints := config.Spec.JoinConfiguration.DeepCopy(), []corev1.Taint{}
	if join.NodeRegistration.Taints != nil {
		taints = *join.NodeRegistration.Taints
	}
	taints = append(taints, clusterv1.NodeUninitializedTaint)
	join.NodeRegistration.Taints = &taints
	data, err := kubeadmtypes.MarshalJoinConfigurationForVersion(join, parsed)
	if err != nil {
		return nil, err
	}
	input := cloudinit.NodeInput{JoinConfiguration: data, BaseUserData: cloudinit.BaseUserData{
		AdditionalFiles:     config.Spec.Files,
		BootCommands:        config.Spec.BootCommands,
		PreKubeadmCommands:  config.Spec.PreKubeadmCommands,
		PostKubeadmCommands: config.Spec.PostKubeadmCommands,
		Users:               config.Spec.Users,
		KubernetesVersion:   parsed,
	}}
	if config.Spec.Verbosity != nil {
		input.KubeadmVerbosity = fmt.Sprintf("--v %d", *config.Spec.Verbosity)
	}
	return cloudinit.NewNode(&input)
}

func run() error {
	if len(os.Args) != 2 {
		return fmt.Errorf("usage: capi KUBERNETES-VERSION|json < FILE")
	}
	text, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	if os.Args[1] == "json" {
		data, err := yaml.YAMLToJSON(text)
		if err == nil {
			_, err = os.Stdout.Write(data)
		}
		return err
	}
	config := bootstrapv1.KubeadmConfig{}
	if err := yaml.UnmarshalStrict(text, &config); err != nil {
		return err
	}
	data, err := render(&config, os.Args[1])
	if err != nil {
		return err
	}
	_, err = os.Stdout.Write(data)
	return err
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "capi:", err)
		os.Exit(1)
	}
}
