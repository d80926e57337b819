import pg from 'pg';
import { World } from '../../executor/support/world.ts';
import { dbNameOf, postgresUrl, type Driver } from '../../support/orm.ts';
import { PostgresProxy } from './postgres-proxy.ts';

/** A database that is away for a while, as one process sees it. */
export interface Outage {
  readonly world: World;
  begin(): Promise<void>;
  end(): Promise<void>;
  /** After the world is closed. */
  close(): Promise<void>;
}

export interface OutageKind {
  readonly title: string;
  readonly open: (onStatement?: () => void) => Promise<Outage>;
  /** Whether statements hang instead of failing. */
  readonly hangs?: true;
}

export function outagesOf(driver: Driver): OutageKind[] {
  return driver === 'postgresql'
    ? [
        { title: 'refuses connections', open: onStatement => behindProxy('goAway', onStatement) },
        { title: 'says nothing any more', open: onStatement => behindProxy('fallSilent', onStatement), hangs: true },
        { title: 'comes back read-only', open: readOnly },
      ]
    : [
        { title: 'is locked by another process', open: onStatement => locked('wal', onStatement) },
        {
          title: 'is locked by another process, with a rollback journal',
          open: onStatement => locked('delete', onStatement),
        },
        { title: 'has become read-only', open: queryOnly },
      ];
}

async function behindProxy(away: 'goAway' | 'fallSilent', onStatement?: () => void): Promise<Outage> {
  const proxy = await PostgresProxy.start();
  const world = await World.open('postgresql', { ...told(onStatement), port: proxy.port });

  return {
    world,
    begin: async () => proxy[away](),
    end: async () => proxy.comeBack(),
    close: () => proxy.stop(),
  };
}

async function readOnly(onStatement?: () => void): Promise<Outage> {
  const world = await World.open('postgresql', told(onStatement));
  const name = dbNameOf(world.orm);
  const admin = new pg.Client({ connectionString: postgresUrl() });
  await admin.connect();
  const setReadOnly = async (value: 'on' | 'off') => {
    await admin.query(`alter database ${name} set default_transaction_read_only = ${value}`);
    await admin.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [name]);
  };

  return { world, begin: () => setReadOnly('on'), end: () => setReadOnly('off'), close: () => admin.end() };
}

async function locked(journal: 'wal' | 'delete', onStatement?: () => void): Promise<Outage> {
  const world = await World.open('sqlite', { ...told(onStatement), file: true });
  await world.orm.em.fork().execute(`pragma journal_mode = ${journal}`);
  // Who waited as long as the host would, with everything else at a stand, would outlast the test.
  await world.orm.em.fork().execute('pragma busy_timeout = 70000');
  const { MikroORM } = await import('@mikro-orm/sqlite');
  const other = await MikroORM.init({ dbName: dbNameOf(world.orm), entities: world.orm.config.get('entities') as [] });

  return {
    world,
    begin: async () => void (await other.em.fork().execute('begin exclusive')),
    end: async () => void (await other.em.fork().execute('commit')),
    close: () => other.close(true),
  };
}

async function queryOnly(onStatement?: () => void): Promise<Outage> {
  const world = await World.open('sqlite', told(onStatement));
  const set = async (value: 'on' | 'off') => void (await world.orm.em.fork().execute(`pragma query_only = ${value}`));

  return { world, begin: () => set('on'), end: () => set('off'), close: async () => {} };
}

function told(onStatement: (() => void) | undefined): object {
  return onStatement === undefined ? {} : { debug: ['query'], logger: onStatement, colors: false };
}
