import { once } from 'node:events';
import net from 'node:net';
import { postgresUrl } from '../../support/orm.ts';

/** Stands between a process and its PostgreSQL: the network, or the server, that is gone for a while. */
export class PostgresProxy {
  /** Connections that were asked for, had or not. */
  asked = 0;
  readonly #server: net.Server;
  readonly #pairs = new Set<readonly [near: net.Socket, far: net.Socket | null]>();
  #state: 'there' | 'gone' | 'silent' = 'there';

  private constructor() {
    this.#server = net.createServer(near => this.#accept(near));
  }

  static async start(): Promise<PostgresProxy> {
    const proxy = new PostgresProxy();
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');

    return proxy;
  }

  get port(): number {
    return (this.#server.address() as net.AddressInfo).port;
  }

  /** Cuts every connection, and those that are asked for from now on. */
  goAway(): void {
    this.#state = 'gone';
    this.#cutAll();
  }

  /** Lets nothing through any more, in either direction, and tells nobody. */
  fallSilent(): void {
    this.#state = 'silent';
  }

  /** What was sent meanwhile is lost with its connection. */
  comeBack(): void {
    this.#cutAll();
    this.#state = 'there';
  }

  async stop(): Promise<void> {
    this.goAway();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #accept(near: net.Socket): void {
    this.asked++;
    near.on('error', () => {});
    if (this.#state === 'gone') {
      near.destroy();
      return;
    }
    if (this.#state === 'silent') {
      this.#pairs.add([near, null]);
      return;
    }

    const { hostname, port } = new URL(postgresUrl());
    const far = net.connect(Number(port), hostname);
    const pair = [near, far] as const;
    this.#pairs.add(pair);
    far.on('error', () => {});
    near.on('data', data => this.#state === 'there' && far.write(data));
    far.on('data', data => this.#state === 'there' && near.write(data));
    for (const socket of pair) {
      socket.on('close', () => {
        near.destroy();
        far.destroy();
        this.#pairs.delete(pair);
      });
    }
  }

  #cutAll(): void {
    for (const [near, far] of this.#pairs) {
      near.destroy();
      far?.destroy();
    }
    this.#pairs.clear();
  }
}
