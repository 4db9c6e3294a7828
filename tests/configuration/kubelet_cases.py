"""Fields of a cluster's KubeletConfiguration, and what becomes of each at winjoin and at the kubelet.

A line is a case: fields that stand in the ConfigMap instead of those that kubeadm wrote, " | " between
them. kubelet.py gives each to winjoin and what winjoin makes of it to upstream's kubelet.exe.
"""

# winjoin takes it, made fit or as it is, and the kubelet runs with what winjoin wrote.
TAKEN = r"""
enableServer: false
enableServer: null
staticPodPath: null
staticPodPath: ''
staticPodPath: C:/etc/kubernetes/manifests
staticPodPath: //server/share/manifests
staticPodPath: /etc/kubernetes/manifests/
podLogsDir: /var/log/pods
podLogsDir: C:\var\log\pods
podLogsDir: C:/var/log/pods
podLogsDir: pods
podLogsDir: ''
syncFrequency: 1m
syncFrequency: 1.5h
fileCheckFrequency: 1ns
httpCheckFrequency: 20s
staticPodURL: http://127.0.0.1:9/manifests
staticPodURL: 'http://a b'
staticPodURL: ftp://x
staticPodURLHeader: {a: [b, c]}
address: 0.0.0.0
address: '::'
address: 127.0.0.1
address: ''
port: 10250
port: 0
port: 1
port: 65535
readOnlyPort: 10255
tlsCertFile: C:\a.crt
tlsPrivateKeyFile: C:\a.key
tlsCertFile: /a.crt | tlsPrivateKeyFile: /a.key
tlsCertFile: C:\a.crt | tlsPrivateKeyFile: /a.key
tlsCipherSuites: [TLS_AES_128_GCM_SHA256, TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256]
tlsCipherSuites: []
tlsMinVersion: VersionTLS12
tlsMinVersion: VersionTLS13
tlsMinVersion: VersionTLS10
tlsCurvePreferences: [29]
rotateCertificates: false
serverTLSBootstrap: true
authentication: {anonymous: {enabled: true}}
authentication: {webhook: {enabled: false}}
authentication: {webhook: {cacheTTL: -2m}}
authentication: {webhook: {cacheTTL: 2m}}
authentication: {x509: {clientCAFile: ''}}
authentication: {x509: {clientCAFile: C:\nope.crt}}
authentication: {}
authorization: {mode: AlwaysAllow}
authorization: {mode: ''}
authorization: {webhook: {cacheAuthorizedTTL: 5m, cacheUnauthorizedTTL: 30s}}
registryPullQPS: 0
registryBurst: 10
imagePullCredentialsVerificationPolicy: NeverVerify
imagePullCredentialsVerificationPolicy: AlwaysVerify
imagePullCredentialsVerificationPolicy: NeverVerifyPreloadedImages
imagePullCredentialsVerificationPolicy: NeverVerifyAllowlistedImages | preloadedImagesVerificationAllowlist: [registry.k8s.io/pause]
imagePullCredentialsVerificationPolicy: ''
eventRecordQPS: 0
enableDebuggingHandlers: false
enableContentionProfiling: true
healthzPort: 0
healthzPort: 10250
healthzBindAddress: 0.0.0.0
healthzBindAddress: nope
healthzBindAddress: '::1'
oomScoreAdj: -999
oomScoreAdj: 2000
clusterDomain: ''
clusterDomain: 'a b'
clusterDomain: cluster.local.
clusterDNS: []
clusterDNS: [nope]
clusterDNS: ['']
clusterDNS: [10.96.0.10, 10.96.0.11, 10.96.0.12, 10.96.0.13]
streamingConnectionIdleTimeout: 4h
nodeStatusUpdateFrequency: 10s
nodeStatusUpdateFrequency: 1ms
nodeStatusReportFrequency: 5m
nodeStatusReportFrequency: 1s | nodeStatusUpdateFrequency: 10s
nodeLeaseDurationSeconds: 40
nodeLeaseDurationSeconds: 0
imageMinimumGCAge: 2m
imageMaximumGCAge: 1h
imageMaximumGCAge: 1m | imageMinimumGCAge: 30s
imageGCHighThresholdPercent: 85
imageGCHighThresholdPercent: 50 | imageGCLowThresholdPercent: 40
imageGCHighThresholdPercent: 100 | imageGCLowThresholdPercent: 99
volumeStatsAggPeriod: -1s
volumeStatsAggPeriod: 1m
kubeletCgroups: /kubelet
systemCgroups: /system
cgroupRoot: /
cgroupsPerQOS: true
cgroupsPerQOS: true | enforceNodeAllocatable: [pods]
enforceNodeAllocatable: [none]
enforceNodeAllocatable: [pods, nope]
enforceNodeAllocatable: [system-reserved] | systemReservedCgroup: /s
cgroupDriver: nope
cpuManagerPolicy: static
cpuManagerPolicy: nope
topologyManagerPolicy: nope
topologyManagerPolicy: best-effort | featureGates: {WindowsCPUAndMemoryAffinity: true}
topologyManagerScope: pod | featureGates: {WindowsCPUAndMemoryAffinity: true}
topologyManagerPolicyOptions: {max-allowable-numa-nodes: '9'} | featureGates: {WindowsCPUAndMemoryAffinity: true}
featureGates: {WindowsCPUAndMemoryAffinity: true}
singleProcessOOMKill: true
singleProcessOOMKill: null
cpuManagerPolicyOptions: {full-pcpus-only: 'true'}
cpuManagerPolicyOptions: {nope: 'x'}
qosReserved: {memory: 50%}
qosReserved: {memory: nope}
runtimeRequestTimeout: 10m
hairpinMode: hairpin-veth
hairpinMode: promiscuous-bridge
hairpinMode: none
hairpinMode: ''
maxPods: 250
maxPods: 0
maxPods: 2147483647
podCIDR: 10.244.1.0/24
podCIDR: nope
podPidsLimit: 1000
podPidsLimit: -5
resolvConf: C:\etc\resolv.conf
resolvConf: ''
runOnce: false
cpuCFSQuota: true
cpuCFSQuota: false
cpuCFSQuotaPeriod: 50ms
cpuCFSQuotaPeriod: 2s
nodeStatusMaxImages: -1
nodeStatusMaxImages: 0
maxOpenFiles: 1000000
contentType: application/json
contentType: nope
contentType: ''
kubeAPIQPS: 100
kubeAPIQPS: 0
serializeImagePulls: false
serializeImagePulls: false | maxParallelImagePulls: 5
maxParallelImagePulls: 5
maxParallelImagePulls: 1
evictionHard: {}
evictionHard: null
evictionHard: {memory.available: 500Mi}
evictionHard: {memory.available: '5%'}
evictionHard: {nodefs.inodesFree: 5%}
evictionHard: {imagefs.inodesFree: 5%, containerfs.inodesFree: 5%}
evictionHard: {nodefs.available: 0%}
evictionHard: {nodefs.available: 10%, imagefs.available: 15%}
evictionHard: {containerfs.available: 10%}
evictionHard: {allocatableMemory.available: 1Gi}
evictionHard: {pid.available: 10%}
evictionHard: {memory.available: 100Mi, pid.available: nope}
evictionSoft: {memory.available: 1Gi} | evictionSoftGracePeriod: {memory.available: 1m30s}
evictionSoftGracePeriod: {memory.available: 1m}
evictionSoft: {nodefs.inodesFree: 5%} | evictionSoftGracePeriod: {nodefs.inodesFree: 1m}
evictionMinimumReclaim: {memory.available: 0Mi, nodefs.available: 500Mi}
evictionMinimumReclaim: {nodefs.inodesFree: 1%}
evictionPressureTransitionPeriod: 5m
evictionPressureTransitionPeriod: -5m
evictionMaxPodGracePeriod: -1
mergeDefaultEvictionSettings: true | evictionHard: {memory.available: 1Gi}
podsPerCore: 10
enableControllerAttachDetach: false
protectKernelDefaults: true
makeIPTablesUtilChains: true
iptablesMasqueradeBit: 14 | iptablesDropBit: 15
iptablesMasqueradeBit: 99
featureGates: {AllAlpha: false}
featureGates: {AllBeta: true}
featureGates: {AllBeta: false}
featureGates: {WinDSR: true}
featureGates: {WindowsGracefulNodeShutdown: true}
featureGates: {WindowsGracefulNodeShutdown: true} | shutdownGracePeriod: 60s | shutdownGracePeriodCriticalPods: 20s
featureGates: {WindowsGracefulNodeShutdown: true} | shutdownGracePeriodByPodPriority: [{priority: 0, shutdownGracePeriodSeconds: 10}]
shutdownGracePeriod: 60s
featureGates: {NodeSwap: true}
featureGates: {MemoryQoS: true}
featureGates: {UserNamespacesSupport: true}
featureGates: {RotateKubeletServerCertificate: true}
featureGates: {KubeletInUserNamespace: true}
featureGates: {NodeLogQuery: true} | enableSystemLogQuery: true
featureGates: {NodeLogQuery: true} | enableSystemLogQuery: true | enableSystemLogHandler: true
enableSystemLogQuery: true
enableSystemLogHandler: false
featureGates: {KubeletCrashLoopBackOffMax: true}
featureGates: {KubeletCrashLoopBackOffMax: true} | crashLoopBackOff: {maxContainerRestartPeriod: 60s}
crashLoopBackOff: {maxContainerRestartPeriod: 60s}
crashLoopBackOff: {maxContainerRestartPeriod: null}
failSwapOn: false
failSwapOn: false | memorySwap: {swapBehavior: LimitedSwap}
memorySwap: {swapBehavior: nope}
memorySwap: {}
containerLogMaxSize: 10Mi
containerLogMaxSize: ''
containerLogMaxSize: '-1'
containerLogMaxSize: '0'
containerLogMaxFiles: 5
containerLogMaxWorkers: 4
containerLogMonitorInterval: 10s
configMapAndSecretChangeDetectionStrategy: Watch
configMapAndSecretChangeDetectionStrategy: Cache
configMapAndSecretChangeDetectionStrategy: Get
configMapAndSecretChangeDetectionStrategy: ''
systemReserved: {cpu: 500m, memory: 2Gi, ephemeral-storage: 1Gi}
systemReserved: {pid: '1000'}
systemReserved: {pid: '1000.5'}
systemReserved: {memory: 900Gi}
systemReserved: {}
systemReserved: null
kubeReserved: {cpu: 1k}
kubeReserved: {ephemeral-storage: 1Ti}
reservedSystemCPUs: 0-1
reservedSystemCPUs: nope
reservedSystemCPUs: 0-1 | systemReservedCgroup: /s
showHiddenMetricsForVersion: '1.36'
systemReservedCgroup: /a
allowedUnsafeSysctls: [kernel.msg*]
allowedUnsafeSysctls: ['!']
defaultPodSysctls: {net.core.somaxconn: '1'}
defaultPodSysctls: {}
volumePluginDir: /usr/libexec/kubernetes
volumePluginDir: C:\plugins
volumePluginDir: plugins
providerID: azure:///x
providerID: 'a b'
kernelMemcgNotification: true
logging: {format: text}
logging: {format: json}
logging: {format: ''}
logging: {verbosity: 5}
logging: {verbosity: 2147483648}
logging: {flushFrequency: 0}
logging: {flushFrequency: 5s}
logging: {vmodule: [{filePattern: a, verbosity: 3}]}
logging: null
registerWithTaints: [{key: a, value: b, effect: NoSchedule}]
registerWithTaints: []
registerNode: false
tracing: {endpoint: '127.0.0.1:4317', samplingRatePerMillion: 100}
tracing: {}
localStorageCapacityIsolation: false
imageServiceEndpoint: npipe:////./pipe/containerd-containerd
imageServiceEndpoint: unix:///run/x
containerRuntimeEndpoint: ''
failCgroupV1: false
userNamespaces: {idsPerPod: 65536}
userNamespaces: null
memoryThrottlingFactor: 0.9
memoryThrottlingFactor: 2
memoryReservationPolicy: None
memoryReservationPolicy: TieredReservation
memoryReservationPolicy: nope
seccompDefault: true
reservedMemory: [{numaNode: 0, limits: {memory: 1Gi}}] | featureGates: {WindowsCPUAndMemoryAffinity: true}
enableProfilingHandler: false
enableDebugFlagsHandler: false
enableProfilingHandler: true | enableDebuggingHandlers: false
memoryManagerPolicy: Static | featureGates: {WindowsCPUAndMemoryAffinity: true}
memoryManagerPolicy: Static | reservedMemory: [{numaNode: 0, limits: {memory: 1Gi}}] | featureGates: {WindowsCPUAndMemoryAffinity: true}
"""

# No kubelet starts with it. winjoin has no table beside the kubelet's own: the kubelet is asked before anything is
# touched (join/kubelet/kubelet_question.c), which a dry run does not. What it reads only while it starts it does not
# say then; most it says.
WRONG = r"""
podLogsDir: C:\var\..\log
podLogsDir: C:\var\log\pods\
podLogsDir: 'D:\Prüfung'
syncFrequency: -1m
fileCheckFrequency: -20s
address: nope
address: 10.0.0.300
port: 65536
port: -1
readOnlyPort: 65536
readOnlyPort: -1
tlsCipherSuites: [NOPE]
tlsCipherSuites: [TLS_RSA_WITH_3DES_EDE_CBC_SHA]
tlsMinVersion: TLS12
tlsMinVersion: '1.2'
authorization: {mode: RBAC}
authorization: {mode: webhook}
registryPullQPS: -1
registryBurst: -1
imagePullCredentialsVerificationPolicy: never
eventRecordQPS: -1
eventBurst: -1
healthzPort: -1
healthzPort: 65536
nodeLeaseDurationSeconds: -1
imageMinimumGCAge: -2m
imageMaximumGCAge: 1m
imageMaximumGCAge: -1m
imageGCHighThresholdPercent: 101
imageGCHighThresholdPercent: 80
imageGCHighThresholdPercent: 70
imageGCHighThresholdPercent: 0
imageGCLowThresholdPercent: 90
imageGCLowThresholdPercent: -1
cpuManagerPolicy: nope | featureGates: {WindowsCPUAndMemoryAffinity: true}
topologyManagerPolicy: nope | featureGates: {WindowsCPUAndMemoryAffinity: true}
topologyManagerScope: x | featureGates: {WindowsCPUAndMemoryAffinity: true}
runtimeRequestTimeout: -1s
hairpinMode: nope
maxPods: -1
runOnce: true
nodeStatusMaxImages: -2
maxOpenFiles: -1
kubeAPIQPS: -1
kubeAPIBurst: -1
maxParallelImagePulls: 0
podsPerCore: -1
featureGates: {WindowsGracefulNodeShutdown: true} | shutdownGracePeriod: 10s | shutdownGracePeriodCriticalPods: 20s
featureGates: {WindowsGracefulNodeShutdown: true} | shutdownGracePeriod: 500ms
featureGates: {WindowsGracefulNodeShutdown: true} | shutdownGracePeriod: 60s | shutdownGracePeriodByPodPriority: [{priority: 0, shutdownGracePeriodSeconds: 10}]
enableSystemLogQuery: true | enableSystemLogHandler: false
crashLoopBackOff: {maxContainerRestartPeriod: 500ms}
crashLoopBackOff: {maxContainerRestartPeriod: 10m}
crashLoopBackOff: {maxContainerRestartPeriod: 0s}
containerLogMaxFiles: 1
containerLogMaxFiles: 0
containerLogMaxFiles: -1
containerLogMaxWorkers: 0
containerLogMaxWorkers: -1
containerLogMonitorInterval: 1s
containerLogMonitorInterval: 0s
containerLogMonitorInterval: -1s
configMapAndSecretChangeDetectionStrategy: nope
logging: {format: nope}
logging: {flushFrequency: -5s}
registerWithTaints: [{key: a, effect: Nope}]
registerWithTaints: [{effect: NoSchedule}]
registerWithTaints: [{key: 'a b', effect: NoSchedule}]
registerWithTaints: [{key: a, value: 'x y', effect: NoSchedule}]
registerWithTaints: [{key: a, effect: NoSchedule, timeAdded: '2026-01-01T00:00:00Z'}]
registerWithTaints: [null]
tracing: {samplingRatePerMillion: -1}
tracing: {samplingRatePerMillion: 1000001}
imageServiceEndpoint: nope
enableServer: 'false'
syncFrequency: 0
syncFrequency: ''
syncFrequency: 1e3s
syncFrequency: 9999999h
staticPodURLHeader: {a: b}
mergeDefaultEvictionSettings: 5
kubeReserved: {memory: 1e9}
"""

# The kubelet refuses it by what its own version knows, and says so when it is asked.
ASKED = r"""
tlsCurvePreferences: [1]
serverTLSBootstrap: true | featureGates: {RotateKubeletServerCertificate: false}
imagePullCredentialsVerificationPolicy: NeverVerify | featureGates: {KubeletEnsureSecretPulledImages: false}
preloadedImagesVerificationAllowlist: [a]
imagePullCredentialsVerificationPolicy: NeverVerifyAllowlistedImages | preloadedImagesVerificationAllowlist: ['a b']
featureGates: {NoSuchGate: true}
featureGates: {NoSuchGate: false}
featureGates: {AllAlpha: true}
featureGates: {WinOverlay: false}
featureGates: {NodeSwap: false}
featureGates: {SidecarContainers: false}
featureGates: {NodeLogQuery: false} | enableSystemLogQuery: true
featureGates: {DynamicKubeletConfig: false}
featureGates: {CPUManager: true}
featureGates: {GracefulNodeShutdown: false}
featureGates: {GracefulNodeShutdown: false} | shutdownGracePeriod: 60s
featureGates: {KubeletCrashLoopBackOffMax: false} | crashLoopBackOff: {maxContainerRestartPeriod: 60s}
showHiddenMetricsForVersion: '1.20'
showHiddenMetricsForVersion: nope
logging: {vmodule: [{filePattern: '', verbosity: 3}]}
logging: {vmodule: [{filePattern: 'a=b', verbosity: 3}]}
logging: {format: json, vmodule: [{filePattern: a, verbosity: 3}]}
logging: {format: json, options: {json: {splitStream: true, infoBufferSize: 64Ki}}}
logging: {options: {text: {splitStream: true, infoBufferSize: 64Ki}}}
logging: {options: {json: {infoBufferSize: '-1'}}}
tracing: {endpoint: 'http://127.0.0.1:4317'}
tracing: {endpoint: 'a b'}
tracing: {endpoint: '%zz'}
reservedMemory: [{numaNode: 0, limits: {memory: 1Gi}}, {numaNode: 0, limits: {memory: 1Gi}}] | featureGates: {WindowsCPUAndMemoryAffinity: true}
"""

# It reads these only once its runtime answers, so that winjoin judges them itself (join/configuration/kubelet_quantities.c).
LATE = r"""
evictionHard: {memory.available: '105%'}
evictionHard: {memory.available: '-5%'}
evictionHard: {memory.available: '-5'}
evictionHard: {memory.available: nope}
evictionHard: {memory.available: ''}
evictionHard: {nope.available: 5%}
evictionSoft: {memory.available: 1Gi}
evictionSoft: {memory.available: 1Gi} | evictionSoftGracePeriod: {memory.available: x}
evictionSoft: {memory.available: 1Gi} | evictionSoftGracePeriod: {memory.available: -1s}
evictionMinimumReclaim: {memory.available: x}
evictionMinimumReclaim: {memory.available: '-1Mi'}
evictionMinimumReclaim: {nope: 1Gi}
containerLogMaxSize: 10MB
containerLogMaxSize: nope
containerLogMaxSize: 1.5Gi
systemReserved: {cpu: nope}
systemReserved: {cpu: '-1'}
systemReserved: {memory: 2GB}
systemReserved: {nope: '1'}
systemReserved: {hugepages-2Mi: 1Gi}
systemReserved: {memory: 10%}
kubeReserved: {memory: ''}
"""

# A kubelet takes it, and winjoin does not: who may write into that folder would run programs on this node, so it has to
# be one that can be looked at.
STRICTER = r"""
staticPodPath: '\\server\share\manifests'
staticPodPath: /a/../b
staticPodPath: 'C:manifests'
"""

# What starts depends on the machine: (fields, words of the kubelet, why winjoin says nothing).
HOST = (
    (r"podLogsDir: \\server\share\pods", "error creating pod logs root directory", "there may be such a server"),
    (r"tlsCertFile: C:\a.crt | tlsPrivateKeyFile: C:\a.key", "a.crt: File not found", "the files may be written later"),
    ("cpuManagerPolicy: static | featureGates: {WindowsCPUAndMemoryAffinity: true} | kubeReserved: {cpu: 500m}", "unable to reserve the required amount of CPUs", "Wine tells no CPU groups"),
    ("cpuManagerPolicy: static | featureGates: {WindowsCPUAndMemoryAffinity: true}", "unable to determine reserved CPU resources", "kubeReserved may come by an argument"),
    ("memoryManagerPolicy: BestEffort | featureGates: {WindowsCPUAndMemoryAffinity: true}", "determined by Node Allocatable feature", "reservedMemory depends on the machine's memory"),
    ("runtimeRequestTimeout: 1ns", "context deadline exceeded", "a runtime may be as fast as that is long"),
    ("imageServiceEndpoint: tcp://127.0.0.1:1", "validate CRI v1 image API", "something may listen there"),
)

# The kubelet goes on without them, and says so; winjoin passes it on when it has asked.
UNKNOWN = r"""
logging: {nope: 1}
dynamicConfigDir: /x
networkPluginMTU: 1500
exitOnLockContention: true
rktAPIEndpoint: x
experimentalMounterPath: /x
pods: 110
MaxPods: 110
metadata: {name: x}
"""

# Arguments of kubeletExtraArgs that end a kubelet; it says so when it is asked.
ARGUMENTS = r"""
--container-runtime=remote
--network-plugin=cni
--no-such-flag=1
--feature-gates=NoSuchGate=true
--feature-gates=SidecarContainers=false
--feature-gates=WinOverlay
--max-pods=many
--node-status-update-frequency=10
--runtime-request-timeout=2 minutes
--system-reserved=cpu
--eviction-hard=memory.available=5%
--hairpin-mode=x
--topology-manager-policy=x
--image-gc-high-threshold=101
--image-gc-low-threshold=90
--register-with-taints=a=b:Never
--node-labels=kubernetes.io/x=y
--logging-format=xml
--v=x
--tls-min-version=VersionTLS9
--fail-swap-on=maybe
--event-qps=-5
--container-log-max-files=1
--make-iptables-util-chains=yes
more
"""
# It reads these only once its runtime answers.
ARGUMENTS_LATE = r"""
--system-reserved=cpu=nope
--system-reserved=gpu=1
--kube-reserved=memory=-1Gi
--eviction-hard=memory.available<105%
--eviction-hard=memory.free<1Gi
--eviction-minimum-reclaim=memory.available=x
--container-log-max-size=10MB
"""
