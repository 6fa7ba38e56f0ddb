"""Gives every request an address of its own, as the harness's client does."""

import itertools

import schemathesis

NUMBERS = itertools.count(1)


@schemathesis.hook
def before_call(context, case, kwargs):
    number = next(NUMBERS)
    address = f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"
    case.headers = {**(case.headers or {}), "X-Forwarded-For": address}
