// The plugin as the host meets it: the check, and what it calls of the host.
import { write } from 'vedette:env/log@1.0.0';
import { fetch } from 'vedette:net/http@1.0.0';

import { check } from './check.mjs';

export const checker = Object.fromEntries(Object.entries(check({ fetch })).map(logged));

/** An error that nobody catches ends the call, and says no word but this. */
function logged([name, call]) {
  const calling = (...args) => {
    try {
      return call(...args);
    } catch (thrown) {
      if (thrown instanceof Error) write('error', `${name}: ${thrown}`, []);
      throw thrown;
    }
  };
  return [name, calling];
}
