// Against doubles of the host: no WebAssembly, no network.

import assert from 'node:assert/strict';
import test from 'node:test';

import { check } from './check.mjs';

/** What a run sees of a service that answers this. */
function seen(answer, config = {}) {
  const asked = [];
  const fetch = (request) => {
    asked.push(request);
    if (answer.tag) throw { payload: answer };
    return { body: new TextEncoder().encode(answer), timing: { totalUs: 1500 } };
  };
  const job = { target: 'shop.example', port: undefined, config: JSON.stringify(config) };
  const observation = check({ fetch }).run(job);
  return { ...observation, facts: JSON.parse(observation.result), asked };
}

function judged(facts, config = {}) {
  const evidence = { current: JSON.stringify(facts), config: JSON.stringify(config) };
  const { health, findings } = check({}).assess(evidence);
  return [health, ...findings.map((finding) => finding.event)];
}

test('service that is well is fine', () => {
  const { facts, asked, metrics } = seen('{"status": "UP"}');
  assert.deepEqual(facts, { status: 'UP', error: null });
  assert.equal(asked[0].url, 'https://shop.example/health');
  assert.equal(metrics[0].value, 0.0015);
  assert.deepEqual(judged(facts), ['ok']);
});

test('any other word is a finding', () => {
  const { facts } = seen('{"status": "draining"}');
  assert.deepEqual(judged(facts), ['degraded', 'json_health.unhealthy']);
  assert.deepEqual(judged(facts, { healthy: ['draining'] }), ['ok']);
});

test('service that says nothing is down', () => {
  for (const [answer, error] of [
    ['<html>', 'no_status'],
    ['{"status": 1}', 'no_status'],
    [{ tag: 'refused' }, 'refused'],
    [{ tag: 'timeout', val: 'connect' }, 'timeout'],
    [{ tag: 'other', val: ['dns-failed', 'SERVFAIL'] }, 'dns_failed'],
  ]) {
    const { facts } = seen(answer);
    assert.deepEqual(facts, { status: null, error });
    assert.deepEqual(judged(facts), ['down', 'json_health.silent']);
  }
});

test("trouble of the host is not the service's", () => {
  const failed = { tag: 'failed', val: 'resolver-down: nobody answers' };
  assert.throws(() => seen({ tag: 'other', val: ['resolver-down', 'nobody answers'] }), failed);
});

test('configuration is filled in, or its problem named', () => {
  const { validate } = check({});
  const filled = JSON.parse(validate('shop.example', '{"path": "/up"}'));
  assert.deepEqual([filled.path, filled.scheme, filled.timeout_ms], ['/up', 'https', 5000]);
  assert.throws(
    () => validate('shop.example', '{"path": "/up #1"}'),
    (problems) => problems[0].pointer === '/path',
  );
});
