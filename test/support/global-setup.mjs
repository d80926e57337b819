import { startPostgres } from './postgres.ts';

export default async function globalSetup() {
  if (process.env.DRIVERS && !process.env.DRIVERS.split(',').includes('postgresql')) return;

  const server = await startPostgres();

  globalThis.__POSTGRES__ = server;
  process.env.TEST_PG_URL = server.url;
}
