"""The official Python SDK as a subscriber of what changes (`Client.listen`).

    listen.py TASK

TASK is a JSON object: url, key, new_domain, alert_id. What it was told, and whatever the SDK warned of,
is printed as a JSON object.
"""

import asyncio
import json
import logging
import sys

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

SITES, ALERTS = "vedette://sites", "vedette://alerts"
PATIENCE = 120


class Warnings(logging.Handler):
    """Keeps what the SDK and Python itself complain about."""

    def __init__(self):
        super().__init__(logging.WARNING)
        self.said = []

    def emit(self, record):
        self.said.append(f"{record.name}: {record.getMessage()}")


async def subscribed(client, task):
    """Changes a site and an alert, each after the change before was told."""
    told, read = [], {}
    changes = [
        ("add_site", {"domain": task["new_domain"], "monitoring_enabled": False}),
        ("resolve_alert", {"alert_id": task["alert_id"]}),
    ]
    async with client.listen(resource_subscriptions=[SITES, ALERTS]) as subscription:
        for tool, arguments in changes:
            done = await client.call_tool(tool, arguments)
            assert not done.is_error, done
            event = await asyncio.wait_for(anext(subscription), PATIENCE)
            told.append(event.uri)
            found = await client.read_resource(event.uri)
            read[event.uri] = json.loads(found.contents[0].text)
        accepted = list(subscription.honored.resource_subscriptions)
    return {"accepted": accepted, "told": told, "read": read}


async def main(task):
    said = Warnings()
    logging.getLogger().addHandler(said)
    logging.captureWarnings(True)
    headers = {"X-Forwarded-For": "10.79.0.1", "Authorization": f"Bearer {task['key']}"}
    async with httpx2.AsyncClient(headers=headers, timeout=60, trust_env=False) as http:
        server = streamable_http_client(task["url"], http_client=http)
        async with Client(server, mode="auto", raise_exceptions=True) as client:
            report = await subscribed(client, task)
            version = client.protocol_version
    print(json.dumps({**report, "version": version, "warnings": said.said}))


asyncio.run(main(json.loads(sys.argv[1])))
