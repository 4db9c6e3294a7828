# The real cluster as judge: upstream's programs, built once into the cache (tests/cluster).

.PHONY: e2e
e2e: ## winjoin against a real cluster of upstream's programs; ONLY=name, pattern* or group; needs Go and root
	$(Q)./tests/cluster/build.py --check
	$(Q)$(INSTALL) native windows rig
	$(Q)$(MAKE) native windows rig build/native/spawn
	$(Q)python3 -B tests/cluster/e2e.py $(if $(KEEP),--keep) $(if $(HOLD),--hold) '$(ONLY)'
