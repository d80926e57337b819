import { registerHooks } from 'node:module';

// Child processes know no moduleNameMapper: this sends @mikro-orm/* to the second install, as jest.v6.config.mjs does.
const parentURL = new URL('../../compat/mikro-orm-6/package.json', import.meta.url).href;

registerHooks({
  resolve(specifier, context, nextResolve) {
    return nextResolve(specifier, specifier.startsWith('@mikro-orm/') ? { ...context, parentURL } : context);
  },
});
