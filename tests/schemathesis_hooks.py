"""Gives every request an address of its own, as the harness's client does.

A made-up account is nobody's, so that a request which names one ends in a 404: few do.
"""

import itertools

import schemathesis

NUMBERS = itertools.count(1)
ACCOUNT = "x-vedette-account"


@schemathesis.hook
def before_call(context, case, kwargs):
    number = next(NUMBERS)
    address = f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"
    headers = {**(case.headers or {}), "X-Forwarded-For": address}
    if number % 10:
        headers = {name: value for name, value in headers.items() if name.lower() != ACCOUNT}
    case.headers = headers
