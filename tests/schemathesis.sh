#!/usr/bin/env bash
# Made-up requests against a running service, judged by its own description:
#
#   tests/schemathesis.sh BASE KEY PROGRAM [OPTION…]
#
# BASE ends in the version prefix (http://127.0.0.1:8080/v1), KEY is an API key of an account that
# may be written to, PROGRAM is schemathesis 4. Further options go to `schemathesis run`.
#
# Requests come slower than a plan's QPS, each from an address of its own: a service that believes
# X-Forwarded-For of this machine then refuses none for its address. One that does not answers
# 429, which is a described answer too.
#
# The requests are the same each time, so that a failure can be repeated; SEED makes up others.
set -euo pipefail

if [ "$#" -lt 3 ]; then
    echo "usage: $0 BASE KEY PROGRAM [OPTION…]" >&2
    exit 2
fi
base=${1%/} key=$2 program=$3
shift 3

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
export PYTHONPATH="$here${PYTHONPATH:+:$PYTHONPATH}"
export PYTHONDONTWRITEBYTECODE=1
export SCHEMATHESIS_HOOKS=schemathesis_hooks

exec "$program" run "$base/openapi.json" \
    --url "$base" \
    --header "Authorization: Bearer $key" \
    --checks not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance \
    --phases examples,fuzzing \
    --max-examples "${EXAMPLES:-20}" \
    --seed "${SEED:-20261122}" \
    --rate-limit "${RATE:-9/s}" \
    --request-timeout 60 \
    --exclude-path /events \
    --suppress-health-check all \
    --generation-database none \
    --continue-on-failure \
    --no-color \
    "$@"
