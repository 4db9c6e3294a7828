# The real cluster as judge: upstream's programs, built once into the cache (tests/cluster).

.PHONY: e2e conformance recordings
conformance: ## the long comparisons with upstream's kubeadm, kubelet and tests of HNS, and with Windows' metadata; ONLY=suite; needs Go and root
	$(Q)./tests/cluster/build.py --check
	$(Q)$(INSTALL) native windows rig
	$(Q)$(MAKE) native windows rig
	$(Q)./tests/cluster/build.py kubeadm kubelet.exe cri.exe hcsshim hnslib >/dev/null
	$(Q)./tests/run conformance $(ONLY)

e2e: ## winjoin against a real cluster of upstream's programs; ONLY=name, pattern* or group; needs Go and root
	$(Q)./tests/cluster/build.py --check
	$(Q)$(INSTALL) native windows rig
	$(Q)$(MAKE) native windows rig build/native/spawn build/native/kube-exec
	$(Q)python3 -B tests/cluster/e2e.py $(if $(KEEP),--keep) $(if $(HOLD),--hold) '$(ONLY)'

build/native/kube-exec: build/native/tests/cluster/kube_exec.o build/native/libwinjoin.a
	$(call link,native)

recordings: ## what upstream's programs send to HNS, recorded again into build/recordings, and the model held to it
	$(Q)$(MAKE) e2e KEEP=1 ONLY='$(or $(ONLY),token-overlay token-l2bridge)'
	$(Q)$(MAKE) build/native/hns-replay
	$(Q)rm -rf build/recordings && mkdir -p build/recordings
	$(Q)for calls in build/e2e/*/*/*-calls.jsonl; do \
	    scenario=$${calls#build/e2e/}; cp "$$calls" "build/recordings/$${scenario%%/*}-$${calls##*/}"; done
	$(Q)./build/native/hns-replay build/recordings/*.jsonl
