"""The official Python SDK against a running service, over HTTP and over `vedette mcp`.

    client.py TASK

TASK is a JSON object: url, public_url, key, program, domain, site_id, alert_id, foreign_id. One
report per connection, and whatever the SDK warned of, is printed as a JSON object.
"""

import asyncio
import json
import logging
import sys
import uuid

import httpx2
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client


class Warnings(logging.Handler):
    """Keeps what the SDK and Python itself complain about."""

    def __init__(self):
        super().__init__(logging.WARNING)
        self.said = []

    def emit(self, record):
        self.said.append(f"{record.name}: {record.getMessage()}")


def plain(result):
    return {
        "is_error": result.is_error,
        "text": [block.text for block in result.content if block.type == "text"],
        "structured": result.structured_content,
    }


async def failure(call):
    """What a call that must not work is answered: a protocol error or a tool's own."""
    try:
        return plain(await call)
    except MCPError as error:
        return {"code": error.code, "message": error.message, "data": error.data}


async def called(client, calls, name, arguments):
    calls[name] = plain(await client.call_tool(name, arguments))
    return calls[name]["structured"]


async def private(client, task):
    """Every private tool once, on a site of this connection's own."""
    calls = {}
    domain = f"{uuid.uuid4().hex}.example"
    await called(client, calls, "add_site", {"domain": domain, "check_types": ["dns"]})
    listed = await called(client, calls, "list_sites", {})
    site = next(site["id"] for site in listed["sites"] if site["domain"] == domain)
    await called(client, calls, "update_site", {"site_id": site, "alert_days": 30})
    for tool in ("get_site_status", "get_cert_history"):
        await called(client, calls, tool, {"site_id": task["site_id"]})
    await called(client, calls, "list_alerts", {})
    await called(client, calls, "resolve_alert", {"alert_id": task["alert_id"]})
    await called(client, calls, "remove_site", {"site_id": site})
    errors = {
        "missing_argument": await failure(client.call_tool("get_site_status", {})),
        "foreign_id": await failure(
            client.call_tool("get_site_status", {"site_id": task["foreign_id"]})
        ),
        "unknown_id": await failure(
            client.call_tool("get_site_status", {"site_id": str(uuid.uuid4())})
        ),
    }
    return calls, errors


async def talk(name, task, server, mode, public):
    """One connection, from the handshake to its end."""
    async with Client(server, mode=mode, raise_exceptions=True) as client:
        listed = await client.list_tools()
        calls, errors = ({}, {}) if public else await private(client, task)
        for tool in ("check_ssl", "check_dns", "check_domain"):
            await called(client, calls, tool, {"domain": task["domain"]})
        errors["unknown_tool"] = await failure(client.call_tool("no_such_tool", {}))
        errors["bad_value"] = await failure(client.call_tool("check_dns", {"domain": "a b.example"}))
        if mode == "legacy" and not public:
            await client.session.send_ping()
        return {
            "connection": name,
            "public": public,
            "era": mode,
            "version": client.protocol_version,
            "server": client.server_info.name if client.server_info else None,
            "tools": [tool.model_dump(mode="json", by_alias=True) for tool in listed.tools],
            "calls": calls,
            "errors": errors,
        }


async def over_http(name, task, mode, public, number):
    headers = {"X-Forwarded-For": f"10.77.0.{number}"}
    if not public:
        headers["Authorization"] = f"Bearer {task['key']}"
    url = task["public_url" if public else "url"]
    async with httpx2.AsyncClient(headers=headers, timeout=60, trust_env=False) as http:
        return await talk(name, task, streamable_http_client(url, http_client=http), mode, public)


async def over_stdio(name, task, mode, public):
    arguments = ["mcp", "--url", task["url"], *(["--public"] if public else [])]
    environment = {"NO_PROXY": "127.0.0.1"} | ({} if public else {"VEDETTE_KEY": task["key"]})
    server = StdioServerParameters(command=task["program"], args=arguments, env=environment)
    return await talk(name, task, server, mode, public)


async def main(task):
    said = Warnings()
    logging.getLogger().addHandler(said)
    logging.captureWarnings(True)
    reports = []
    for number, (mode, public) in enumerate(
        [("legacy", False), ("auto", False), ("legacy", True), ("auto", True)]
    ):
        whose = "public" if public else "private"
        name = f"python, http, {mode}, {whose}"
        reports.append(await over_http(name, task, mode, public, number))
    for mode, public in [("legacy", False), ("auto", False), ("legacy", True)]:
        whose = "public" if public else "private"
        reports.append(await over_stdio(f"python, stdio, {mode}, {whose}", task, mode, public))
    print(json.dumps({"connections": reports, "warnings": said.said}))


asyncio.run(main(json.loads(sys.argv[1])))
