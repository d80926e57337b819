import { createRequire } from 'node:module';
import pg from 'pg';

/** Statements that this process has sent, `begin` and `commit` among them. */
export const sent = { count: 0 };

const original = pg.Client.prototype.query;

/** The system's own questions count, those of the measurement don't: they go through this client. */
export class UncountedClient extends pg.Client {
  query(...args) {
    return original.apply(this, args);
  }
}

/** Counts in every copy of `pg` there is: the peers' and MikroORM's. */
export function countStatements() {
  const root = createRequire(new URL('../../package.json', import.meta.url));
  const copies = new Set([pg, root('pg')]);

  for (const { Client } of copies) {
    const query = Client.prototype.query;
    Client.prototype.query = function (...args) {
      sent.count++;
      return query.apply(this, args);
    };
  }
}
