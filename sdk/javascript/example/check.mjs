// The check `json_health`: what a service says of itself at an address like `/health`, as JSON with
// a member `status`.
//
// `run` meets the world through `host`, and only there. `validate` and `assess` are pure: the host
// gives them no network, and the same arguments must give the same answer.

/** As in plugin.toml. */
const ID = 'acme.json-health';
const VERSION = '0.1.0';

/** What a site may set for this check. Everything has a default. */
const CONFIG = {
  type: 'object',
  additionalProperties: false,
  properties: {
    scheme: { enum: ['https', 'http'], default: 'https' },
    path: { type: 'string', pattern: '^/', maxLength: 500, default: '/health' },
    healthy: {
      description: 'Values of `status` that are well; case does not matter.',
      type: 'array',
      items: { type: 'string', maxLength: 50 },
      minItems: 1,
      maxItems: 20,
      default: ['ok', 'pass', 'up'],
    },
    timeout_ms: { type: 'integer', minimum: 100, maximum: 10000, default: 5000 },
  },
};

/** What a run saw: stored, answered by the API, and judged by `assess`. */
const RESULT = {
  type: 'object',
  required: ['status', 'error'],
  properties: {
    status: { type: ['string', 'null'], description: 'What the service says of itself.' },
    error: {
      type: ['string', 'null'],
      description: 'Why it says nothing: `refused`, `timeout`, `no_status`, …',
    },
  },
};

const UNHEALTHY = event('unhealthy', 'warning', 'Service is not well');
const SILENT = event('silent', 'critical', 'No health to be had');
const RESPONSE = 'json_health_response_seconds';

/** `host` has what plugin.mjs imports; in tests, doubles. */
export function check(host) {
  return { describe, validate, run: (job) => run(host, job), assess };
}

function describe() {
  return {
    id: ID,
    version: VERSION,
    title: 'JSON health',
    description: 'Asks a service for its health and compares what it says with what is well.',
    configSchema: JSON.stringify(CONFIG),
    resultSchema: JSON.stringify(RESULT),
    summaryFields: ['status', 'error'],
    events: [UNHEALTHY, SILENT],
    metrics: [{ name: RESPONSE, unit: 'seconds', help: 'From the request to its answer' }],
  };
}

/** A problem is thrown: so the `error` of a WIT result leaves a function. */
function validate(_target, config) {
  const settings = withDefaults(config);
  // By hand what a schema says badly; a pointer tells the author of the configuration where.
  if (/[\s#]/.test(settings.path)) {
    throw [{ pointer: '/path', message: 'must be a path, with a query at most' }];
  }
  return JSON.stringify(settings);
}

function run(host, job) {
  const settings = withDefaults(job.config);
  const name = job.target.includes(':') ? `[${job.target}]` : job.target;
  const port = job.port === undefined ? '' : `:${job.port}`;
  let response;
  try {
    response = host.fetch({
      method: 'GET',
      url: `${settings.scheme}://${name}${port}${settings.path}`,
      headers: [['accept', 'application/json']],
      secretHeaders: [],
      body: undefined,
      timeoutMs: settings.timeout_ms,
      maxRedirects: 3,
      maxBody: 64 * 1024,
      verifyTls: true,
      connectTo: job.connectTo,
    });
  } catch (error) {
    return observation({ status: null, error: token(error) });
  }
  const status = said(response.body);
  const seconds = response.timing.totalUs / 1e6;
  const facts = { status, error: status === null ? 'no_status' : null };
  return observation(facts, [{ name: RESPONSE, value: seconds }]);
}

function assess(evidence) {
  const { status, error } = JSON.parse(evidence.current);
  const { healthy } = withDefaults(evidence.config);
  if (status === null) {
    // Neither: a result that a client sent in, and that says nothing.
    if (error === null) return verdict('unknown');
    return verdict('down', SILENT, `it does not tell its health: ${error.slice(0, 100)}`);
  }
  const well = healthy.some((word) => word.toLowerCase() === status.toLowerCase());
  if (well) return verdict('ok');
  return verdict('degraded', UNHEALTHY, `it says that it is ${JSON.stringify(status.slice(0, 100))}`);
}

function withDefaults(config) {
  const defaults = Object.entries(CONFIG.properties).map(([name, of]) => [name, of.default]);
  return { ...Object.fromEntries(defaults), ...JSON.parse(config) };
}

/** The member `status` of what should be a JSON object. */
function said(body) {
  try {
    const { status } = JSON.parse(new TextDecoder().decode(body));
    return typeof status === 'string' ? status.slice(0, 200) : null;
  } catch {
    return null;
  }
}

/** What went wrong at the target; where it was on our side, the run says nothing of the target. */
function token(error) {
  // Of an imported function the `error` comes as the payload of what it throws.
  const failure = error.payload;
  if (failure === undefined) throw error;
  const [code, message] = failure.tag === 'other' ? failure.val : [failure.tag, ''];
  if (['budget-exhausted', 'resolver-down', 'no-route', 'exhausted'].includes(code)) {
    throw { tag: 'failed', val: `${code}: ${message}` };
  }
  return code.replaceAll('-', '_');
}

function observation(facts, metrics = []) {
  const summary = facts.error ?? `says ${facts.status}`;
  return { result: JSON.stringify(facts), summary, metrics, nextRunInS: undefined };
}

/** With one finding at most: `key` is what makes findings of two runs the same. */
function verdict(health, event, message) {
  const finding = (found) => ({
    event: found.name,
    severity: undefined,
    dedupKey: 'health',
    message,
    suggestion: undefined,
    details: undefined,
    confirmations: undefined,
  });
  return { health, findings: event ? [finding(event)] : [], memory: undefined };
}

function event(what, severity, title) {
  return {
    name: `json_health.${what}`,
    alertType: 'json_health',
    severity,
    title,
    selfResolving: true,
    confirmations: 2,
    clears: 1,
  };
}
