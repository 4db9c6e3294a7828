# make dist: the packages, in build/dist (dist/packages/make.py says which).
.PHONY: dist
dist: ## every package: zip, msi, acceptance kit, deb, tar.gz, install.ps1, winget, Chocolatey, SHA256SUMS
	$(Q)$(INSTALL) native windows dist
	$(Q)$(MAKE) native windows static man acceptance
	$(Q)./dist/packages/make.py build/dist

.PHONY: release
release: ## the packages of VERSION=1.2.3, built twice, in build/release/VERSION (docs/releasing.md); OUT=
	$(Q)$(INSTALL) native windows dist
	$(Q)./dist/packages/release.py '$(VERSION)' $(if $(OUT),'$(OUT)')
