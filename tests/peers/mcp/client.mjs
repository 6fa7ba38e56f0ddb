// The official TypeScript SDKs against a running service, over HTTP and over `vedette mcp`: the
// first generation, which speaks the versions with a handshake, and the second, which speaks both
// eras.
//
//     node client.mjs TASK
//
// TASK is a JSON object: packages (the folder above node_modules), url, public_url, key, program,
// domain, site_id, alert_id, foreign_id. One report per connection, and whatever the SDKs warned
// of, is printed as a JSON object.

import { randomUUID } from "node:crypto";
import { createRequire } from "node:module";

const task = JSON.parse(process.argv[2]);
const load = createRequire(`${task.packages}/`);

const warnings = [];
for (const level of ["warn", "error"]) {
  console[level] = (...said) => warnings.push(`console.${level}: ${said.join(" ")}`);
}
process.on("warning", (warning) => warnings.push(`${warning.name}: ${warning.message}`));

const first = {
  name: "typescript 1",
  ...load("@modelcontextprotocol/sdk/client/index.js"),
  ...load("@modelcontextprotocol/sdk/client/streamableHttp.js"),
  ...load("@modelcontextprotocol/sdk/client/stdio.js"),
};
const second = {
  name: "typescript 2",
  ...load("@modelcontextprotocol/client"),
  ...load("@modelcontextprotocol/client/stdio"),
};

const plain = (result) => ({
  is_error: result.isError ?? false,
  text: result.content.filter((block) => block.type === "text").map((block) => block.text),
  structured: result.structuredContent ?? null,
});

// What a call that must not work is answered: a protocol error or a tool's own.
async function failure(call) {
  try {
    return plain(await call);
  } catch (error) {
    return { code: error.code, message: error.message, data: error.data ?? null };
  }
}

// Every private tool once, on a site of this connection's own.
async function privately(call, errors) {
  const domain = `${randomUUID()}.example`;
  await call("add_site", { domain, check_types: ["dns"] });
  const { sites } = await call("list_sites", {});
  const site_id = sites.find((site) => site.domain === domain).id;
  await call("update_site", { site_id, alert_days: 30 });
  for (const tool of ["get_site_status", "get_cert_history"]) {
    await call(tool, { site_id: task.site_id });
  }
  await call("list_alerts", {});
  await call("resolve_alert", { alert_id: task.alert_id });
  await call("remove_site", { site_id });
  await errors("missing_argument", "get_site_status", {});
  await errors("foreign_id", "get_site_status", { site_id: task.foreign_id });
  await errors("unknown_id", "get_site_status", { site_id: randomUUID() });
}

// One connection, from the handshake to its end.
async function talk(sdk, connection, transport, era, isPublic) {
  const options = era === "legacy" ? {} : { versionNegotiation: { mode: era } };
  const client = new sdk.Client({ name: "vedette-tests", version: "1.0.0" }, options);
  client.onerror = (error) => warnings.push(`${connection}: ${error.message}`);
  await client.connect(transport);
  try {
    // Listing first is what makes the SDK hold the answers against the output schemas.
    const { tools } = await client.listTools();
    const calls = {};
    const errors = {};
    const call = async (name, args) => {
      calls[name] = plain(await client.callTool({ name, arguments: args }));
      return calls[name].structured;
    };
    const refused = async (what, name, args) => {
      errors[what] = await failure(client.callTool({ name, arguments: args }));
    };
    if (!isPublic) await privately(call, refused);
    for (const tool of ["check_ssl", "check_dns", "check_domain"]) {
      await call(tool, { domain: task.domain });
    }
    await refused("unknown_tool", "no_such_tool", {});
    await refused("bad_value", "check_dns", { domain: "a b.example" });
    if (era === "legacy" && !isPublic) await client.ping();
    const version = client.getNegotiatedProtocolVersion?.() ?? transport.protocolVersion ?? null;
    const server = client.getServerVersion()?.name ?? null;
    return { connection, public: isPublic, era, version, server, tools, calls, errors };
  } finally {
    await client.close();
  }
}

let address = 0;

function overHttp(sdk, era, isPublic) {
  address += 1;
  const headers = { "X-Forwarded-For": `10.78.0.${address}` };
  if (!isPublic) headers.Authorization = `Bearer ${task.key}`;
  const url = new URL(isPublic ? task.public_url : task.url);
  const transport = new sdk.StreamableHTTPClientTransport(url, { requestInit: { headers } });
  const name = `${sdk.name}, http, ${era}, ${isPublic ? "public" : "private"}`;
  return talk(sdk, name, transport, era, isPublic);
}

function overStdio(sdk, era) {
  const args = ["mcp", "--url", task.url];
  const env = { VEDETTE_KEY: task.key, NO_PROXY: "127.0.0.1" };
  const transport = new sdk.StdioClientTransport({ command: task.program, args, env });
  return talk(sdk, `${sdk.name}, stdio, ${era}, private`, transport, era, false);
}

const connections = [];
// No more of them: together they stay below what a plan admits in ten seconds.
for (const [sdk, era] of [[first, "legacy"], [second, "auto"]]) {
  for (const isPublic of [false, true]) connections.push(await overHttp(sdk, era, isPublic));
  connections.push(await overStdio(sdk, era));
}
console.log(JSON.stringify({ connections, warnings }));
