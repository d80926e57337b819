import { InvalidOptionError } from './errors.ts';

/**
 * A misspelt option would be ignored without a word, so there must be no others.
 *
 * @param path what the options belong to, for example `'retry.'`
 * @throws InvalidOptionError naming the option that isn't known
 */
export function checkKnown(options: object, known: readonly string[], path = ''): void {
  for (const [option, value] of Object.entries(options)) {
    if (value !== undefined && !known.includes(option)) {
      throw new InvalidOptionError(path + option, `be one of the options ${known.join(', ')}`, 'an unknown option');
    }
  }
}
