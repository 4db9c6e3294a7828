# make bench, and the small programs that it measures with (tests/bench); none of them is shipped.

.PHONY: bench
bench: native build/native/still.so ## measure (tests/bench): one join, and LOAD=500 joins at once
	$(Q)$(INSTALL) native rig bench
	$(Q)./tests/bench/run

build/native/still.so: tests/bench/still.c dist/make/bench.mk
	$(Q)mkdir -p $(@D)
	$(if $(V),,@echo 'LD $@')
	$(Q)gcc $(CFLAGS_all) -O2 -D_GNU_SOURCE -fPIC -shared $< -o $@
