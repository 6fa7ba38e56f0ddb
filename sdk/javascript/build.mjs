// From a plugin's folder to the one file that is installed:
//
//   node build.mjs [FOLDER]        the folder with plugin.toml and plugin.mjs; default: this one
//
// plugin.toml → the world that it asks for → plugin.mjs and the engine → component with its manifest
// inside, as FOLDER/ID-VERSION.wasm.

import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

import { componentize } from '@bytecodealliance/componentize-js';
import { parse } from 'smol-toml';

/** The contract, of the checkout that this file lies in. */
const WIT = fileURLToPath(new URL('../../wit', import.meta.url));

/** What a capability of plugin.toml has the component import; log and clock always are. */
const INTERFACES = {
  dns: 'vedette:net/dns',
  http: 'vedette:net/http',
  random: 'vedette:env/random',
  secrets: 'vedette:env/secrets',
  state: 'vedette:env/state',
  tcp: 'vedette:net/tcp',
  tls: 'vedette:net/tls',
  x509: 'vedette:net/x509',
};

/** All that the engine would import from WASI, which no plugin can have. */
const WASI = ['stdio', 'random', 'clocks', 'http', 'fetch-event'];

const folder = resolve(process.argv[2] ?? '.');
const text = await readFile(join(folder, 'plugin.toml'));
const manifest = parse(text.toString());
const { id, version, kind } = manifest.plugin ?? {};
for (const [field, value] of Object.entries({ id, version })) {
  // They become the file's name.
  if (!/^[A-Za-z0-9][A-Za-z0-9.+-]*$/.test(value ?? '')) {
    throw new Error(`plugin.toml: plugin.${field} is missing or cannot be a file's name`);
  }
}

const wit = await mkdtemp(join(tmpdir(), 'vedette-wit-'));
try {
  await cp(WIT, wit, { recursive: true });
  await writeFile(join(wit, 'asked.wit'), world(kind, asked(manifest.capabilities ?? {})));
  const { component } = await componentize({
    sourcePath: join(folder, 'plugin.mjs'),
    witPath: wit,
    worldName: 'asked',
    disableFeatures: WASI,
  });
  const file = join(folder, `${id}-${version}.wasm`);
  await writeFile(file, Buffer.concat([component, section('vedette:manifest', text)]));
  console.log(file);
} finally {
  await rm(wit, { recursive: true });
}

/** The names of what is asked for: `random = false` and `secrets = []` ask for nothing. */
function asked(capabilities) {
  const isNothing = (value) => value === false || (Array.isArray(value) && value.length === 0);
  return Object.keys(capabilities).filter((name) => !isNothing(capabilities[name]));
}

/** The world that imports what is asked for and nothing else: the host refuses more, and less. */
function world(kind, capabilities) {
  const imports = capabilities.map((capability) => {
    const found = INTERFACES[capability];
    if (!found) throw new Error(`plugin.toml: there is no capability ${capability}`);
    return `import ${found}@1.0.0;`;
  });
  const base = kind === 'notifier' ? 'notifier-plugin' : 'check-core';
  return `package vedette:plugin@1.0.0;\nworld asked { include ${base}; ${imports.join(' ')} }\n`;
}

/** A custom section of WebAssembly: 0, its length, its name, its data. */
function section(name, data) {
  const body = Buffer.concat([leb128(name.length), Buffer.from(name), data]);
  return Buffer.concat([Buffer.of(0), leb128(body.length), body]);
}

function leb128(number) {
  const bytes = [];
  for (; number > 0x7f; number >>>= 7) bytes.push((number & 0x7f) | 0x80);
  return Buffer.of(...bytes, number);
}
