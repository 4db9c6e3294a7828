# make bench, and the small programs that it measures with (tests/bench); none of them is shipped.

.PHONY: bench
NARROW := cluster growth peers soak
bench: ## winjoin beside kubeadm, 500 joins at once, a bundle beside curl, a whole cluster, growth, a join's path; ROUNDS=, NODES=, ONLY=growth, MINUTES= (of ONLY=soak); DOCS=1 writes docs/benchmarks.md
	$(Q)$(INSTALL) native $(if $(filter $(NARROW),$(ONLY)),,windows) rig bench
	$(Q)$(MAKE) native build/native/growth build/native/follow $(if $(filter $(NARROW),$(ONLY)),,static windows rig build/native/still.so build/native/spawn)
	$(Q)./tests/bench/run $(if $(ROUNDS),--rounds $(ROUNDS)) $(if $(NODES),--nodes $(NODES)) $(if $(MINUTES),--minutes $(MINUTES)) $(if $(ONLY),--only $(ONLY)) $(if $(DOCS),--docs)

build/native/still.so: tests/bench/still.c dist/make/bench.mk
	$(Q)mkdir -p $(@D)
	$(if $(V),,@echo 'LD $@')
	$(Q)gcc $(CFLAGS_all) -O2 -D_GNU_SOURCE -fPIC -shared $< -o $@

# Static: the peak memory of what it measures begins with its own.
build/native/spawn: tests/bench/spawn.c dist/make/bench.mk
	$(Q)mkdir -p $(@D)
	$(if $(V),,@echo 'LD $@')
	$(Q)gcc $(CFLAGS_all) -O2 -D_GNU_SOURCE -static $< -o $@

build/native/growth: build/native/tests/bench/growth.o build/native/libmemory.a build/native/libwinjoin.a
	$(call link,native,-lcmocka)
build/native/follow: build/native/tests/bench/follow.o build/native/libwinjoin.a
	$(call link,native)
