#!/usr/bin/env bash
# The programs of others that some tests compare with, on Debian:
#
#   tests/peers/install.sh FOLDER
#
# Servers, scanners and a browser come from Debian's packages, the rest, pinned, from PyPI into a
# Python environment at FOLDER and from npm beside it. The tests find all of it with
# VEDETTE_PEERS=FOLDER, and pass over what is not there with a line that says so. What comes from
# npm wants Node 20.
set -euo pipefail

if [ "$#" -ne 1 ]; then
    echo "usage: $0 FOLDER" >&2
    exit 2
fi
folder=$1

packages=(bind9 bind9-dnsutils chromium faketime gdb nginx openssl pebble prometheus python3-venv sslscan testssl.sh)
command -v npm >/dev/null || packages+=(nodejs npm)
missing=()
for package in "${packages[@]}"; do
    dpkg-query --show --showformat '${Status}' "$package" 2>/dev/null | grep -q "ok installed" ||
        missing+=("$package")
done
if [ "${#missing[@]}" -gt 0 ]; then
    export DEBIAN_FRONTEND=noninteractive
    # The tests start what they need themselves: no server of the system's own beside them.
    if [ ! -e /usr/sbin/policy-rc.d ]; then
        printf '#!/bin/sh\nexit 101\n' >/usr/sbin/policy-rc.d
        chmod +x /usr/sbin/policy-rc.d
        trap 'rm -f /usr/sbin/policy-rc.d' EXIT
    fi
    apt-get update -qq
    apt-get install --yes --quiet --no-install-recommends "${missing[@]}"
fi

[ -x "$folder/bin/python" ] || python3 -m venv "$folder"
"$folder/bin/pip" install --quiet --disable-pip-version-check \
    'aiosmtpd==1.4.6' 'mcp==2.3.0' 'schemathesis==4.32.5' 'sslyze==6.3.1' 'tlslite-ng==0.8.2'

# Of the inspector only its command line is used, which needs none of what its scripts install.
npm install --prefix "$folder" --ignore-scripts --no-audit --no-fund --loglevel=error \
    '@modelcontextprotocol/sdk@1.32.2' '@modelcontextprotocol/client@2.4.0' \
    '@modelcontextprotocol/inspector@2.12.0' 'axe-core@4.14.1' 'puppeteer-core@25.16.0'

# What builds plugins in JavaScript, as its own package.json says: those versions stand there alone.
mkdir -p "$folder/javascript"
cp "$(dirname "$0")/../../sdk/javascript/package.json" "$folder/javascript/"
npm install --prefix "$folder/javascript" --ignore-scripts --no-audit --no-fund --loglevel=error
