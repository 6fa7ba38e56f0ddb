#!/usr/bin/env bash
# Makes sure that plugins can be built: they need the standard library of wasm32-unknown-unknown.
# Three ways to it, in this order:
#   1. the Rust toolchain has it;
#   2. Debian's rustc-web builds it from rust-web-src, while the plugins are built;
#   3. rustup adds it to the toolchain.
# Says nothing when there is nothing to do. sdk/component/src/toolchain.rs decides in the same way.
set -euo pipefail
cd "$(dirname "$0")/.."

target=wasm32-unknown-unknown
debian=/usr/bin/rustc

main() {
    command -v cargo >/dev/null && command -v rustc >/dev/null ||
        fail "there is no Rust toolchain; install the one that rust-toolchain.toml names"
    has_target && return
    if ! has_sources && may_install; then
        say "installing rustc-web and rust-web-src to build the plugins with"
        install_sources || say "they could not be installed; trying rustup"
    fi
    if has_sources; then
        has_linker || fail "there is neither rust-lld nor wasm-ld to link plugins with; install lld"
        fetch_dependencies
        return
    fi
    if command -v rustup >/dev/null; then
        say "adding $target to the toolchain"
        rustup target add "$target" || true
        has_target && return
    fi
    fail "$target cannot be had here; install it with 'rustup target add $target', or on Debian" \
        "as root with 'apt-get install --no-install-recommends rustc-web rust-web-src'"
}

has_target() {
    local folder
    folder=$(rustc --print target-libdir --target "$target" 2>/dev/null) || return 1
    compgen -G "$folder/libstd-*.rlib" >/dev/null
}

# Debian's compiler, no older than the workspace asks for, with the sources of its library.
has_sources() {
    [ -x "$debian" ] && [ -f "$(library)/std/Cargo.toml" ] || return 1
    local least found
    least=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
    found=$("$debian" --version | cut -d' ' -f2)
    [ "$(printf '%s\n' "$least" "$found" | sort -V | head -n1)" = "$least" ]
}

library() {
    echo "$("$debian" --print sysroot)/lib/rustlib/src/rust/library"
}

has_linker() {
    local host
    host=$(rustc -vV | sed -n 's/^host: //p')
    [ -x "$(rustc --print sysroot)/lib/rustlib/$host/bin/rust-lld" ] ||
        { [ -x "$debian" ] && [ -x "$("$debian" --print sysroot)/lib/rustlib/$host/bin/rust-lld" ]; } ||
        command -v wasm-ld >/dev/null
}

may_install() {
    [ -f /etc/debian_version ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null
}

install_sources() {
    local packages=(rustc-web rust-web-src)
    has_linker || packages+=(lld)
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq && apt-get install -y -qq --no-install-recommends "${packages[@]}"
}

# What the standard library itself depends on, so that the build can do without the network.
fetch_dependencies() {
    local fetch=(cargo fetch --quiet --locked --target "$target" --manifest-path "$(library)/sysroot/Cargo.toml")
    RUSTC=$debian RUSTC_BOOTSTRAP=1 "${fetch[@]}" --offline 2>/dev/null ||
        RUSTC=$debian RUSTC_BOOTSTRAP=1 "${fetch[@]}" ||
        say "the dependencies of the standard library could not be fetched; the build tries again"
}

say() {
    echo "toolchain: $*" >&2
}

fail() {
    say "$@"
    exit 1
}

main
