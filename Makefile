# All automation is Rust, in xtask/; this file only gives it its usual names.

.PHONY: demo test test-all dist

# Measures a simulated drive, new and used, and makes a page of it.
demo:
	cargo xtask demo

# Installs what is missing, then checks and tests everything that a change may break.
test:
	cargo xtask test

# Then what takes longer: packages, a guest, every width of the page, the site, power cuts, damaged inputs.
test-all:
	cargo xtask test --all

# Builds the archive, the Debian package and the Python wheel that users install, into target/dist.
dist:
	cargo xtask dist
