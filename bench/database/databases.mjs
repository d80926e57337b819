import pg from 'pg';

/** Calls `work` with the address of a fresh database, which is dropped afterwards. */
export async function inFreshDatabase(server, name, work) {
  await run(server, 'postgres', `drop database if exists ${name} with (force)`, `create database ${name}`);

  try {
    return await work(`${server}/${name}`);
  } finally {
    await run(server, 'postgres', `drop database if exists ${name} with (force)`);
  }
}

/** Equal footing: fresh statistics, and nothing of the preparation left to write. */
export async function settleDown(server, name) {
  await run(server, name, 'vacuum analyze', 'checkpoint');
}

async function run(server, database, ...statements) {
  const client = new pg.Client({ connectionString: `${server}/${database}` });
  await client.connect();

  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}
