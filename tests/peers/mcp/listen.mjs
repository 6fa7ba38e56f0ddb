// The second generation of the official TypeScript SDK as a subscriber of what changes
// (`Client.listen`).
//
//     node listen.mjs TASK
//
// TASK is a JSON object: packages (the folder above node_modules), url, key, new_domain, alert_id.
// What it was told, and whatever the SDK warned of, is printed as a JSON object.

import { createRequire } from "node:module";

const task = JSON.parse(process.argv[2]);
const load = createRequire(`${task.packages}/`);
const { Client, StreamableHTTPClientTransport } = load("@modelcontextprotocol/client");

const SITES = "vedette://sites";
const ALERTS = "vedette://alerts";
const PATIENCE = 120_000;

const warnings = [];
for (const level of ["warn", "error"]) {
  console[level] = (...said) => warnings.push(`console.${level}: ${said.join(" ")}`);
}
process.on("warning", (warning) => warnings.push(`${warning.name}: ${warning.message}`));

const headers = { "X-Forwarded-For": "10.79.0.2", Authorization: `Bearer ${task.key}` };
const transport = new StreamableHTTPClientTransport(new URL(task.url), { requestInit: { headers } });
const options = { versionNegotiation: { mode: "auto" } };
const client = new Client({ name: "vedette-tests", version: "1.0.0" }, options);
client.onerror = (error) => warnings.push(error.message);

const events = [];
let wake = () => {};
client.setNotificationHandler("notifications/resources/updated", ({ params }) => {
  events.push(params.uri);
  wake();
});

// The next resource that is told to have changed.
async function next() {
  const late = setTimeout(() => wake(new Error("nothing was told in time")), PATIENCE);
  while (events.length === 0) {
    const failed = await new Promise((resolve) => {
      wake = resolve;
    });
    if (failed) throw failed;
  }
  clearTimeout(late);
  return events.shift();
}

await client.connect(transport);
const subscription = await client.listen({ resourceSubscriptions: [SITES, ALERTS] });
const told = [];
const read = {};
// Each after the change before was told.
for (const [name, args] of [
  ["add_site", { domain: task.new_domain, monitoring_enabled: false }],
  ["resolve_alert", { alert_id: task.alert_id }],
]) {
  const done = await client.callTool({ name, arguments: args });
  if (done.isError) throw new Error(JSON.stringify(done));
  const uri = await next();
  told.push(uri);
  const { contents } = await client.readResource({ uri });
  read[uri] = JSON.parse(contents[0].text);
}
const accepted = subscription.honoredFilter.resourceSubscriptions;
const version = client.getNegotiatedProtocolVersion();
await subscription.close();
await client.close();
console.log(JSON.stringify({ accepted, told, read, version, warnings }));
