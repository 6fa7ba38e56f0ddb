# Vedette's two commands: `make run` shows it at work, `make test` proves it.

CARGO ?= cargo
.PHONY: run test lint toolchain release figures

# A small lab on loopback (three sites, a DNS server, a webhook receiver) and the real service.
run: toolchain
	$(CARGO) build --locked --workspace --bin lab --bin vedette
	exec ./target/debug/lab

test: toolchain
	$(CARGO) test --locked --workspace

lint: toolchain
	$(CARGO) fmt --all -- --check
	$(CARGO) clippy --locked --workspace --all-targets -- -D warnings

# What an operator installs: target/release/vedette.
release: toolchain
	$(CARGO) build --locked --release -p vedette-server

# How much one node does on this machine.
figures: toolchain
	$(CARGO) build --locked --release --workspace --bins
	./target/release/figures

toolchain:
	@./deploy/toolchain.sh
