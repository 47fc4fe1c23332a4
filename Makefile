# All automation is Rust, in xtask/; this file only gives it its usual names.

.PHONY: demo test dist

# Measures a simulated drive, new and used, and makes a page of it.
demo:
	cargo xtask demo

# Installs what is missing, then checks and tests everything.
test:
	cargo xtask ci

# Builds the archive, the Debian package and the Python wheel that users install, into target/dist.
dist:
	cargo xtask dist
