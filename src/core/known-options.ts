import { InvalidOptionError } from './errors.ts';

/**
 * The options of a call, which must be an object with no others: a misspelt one would be ignored without a word.
 *
 * @param path what they belong to, with a dot at its end, for example `'retry.'`
 * @throws InvalidOptionError naming the option that isn't known, and those that are
 */
export function checkKnown<T extends object>(options: T, known: readonly string[], path = ''): T {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw new InvalidOptionError(path.slice(0, -1) || 'options', `be an object with ${listed(known)}`, options);
  }
  for (const [option, value] of Object.entries(options)) {
    if (!known.includes(option)) {
      throw new InvalidOptionError(path + option, `be left out: the options are ${listed(known)}`, value);
    }
  }

  return options;
}

function listed(known: readonly string[]): string {
  return known.map(option => `\`${option}\``).join(', ');
}
