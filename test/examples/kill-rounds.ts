import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { InboxMessage, Job } from '../../src/index.ts';
import { spawnNode, type Child } from '../support/child.ts';
import { randomNumbers } from '../support/random.ts';
import type { Place } from './place.ts';
import { messagesWith, type ShopMessage } from './shop.ts';

export const program = 'examples/outbox-handler/main.ts';

/** What the killed runs left behind, counted; a run may have left several of them. */
export interface Remains {
  kills: number;
  /** Killed before there were tables. */
  withoutTables: number;
  /** Killed in the middle of a message. */
  withHeldMessage: number;
  /** Killed in the middle of a job. */
  withRunningJob: number;
  /** Killed with jobs still to run. */
  withWaitingJob: number;
  /** Ended by themselves before they could be killed. */
  completed: number;
}

export interface KillOptions {
  readonly rounds: number;
  readonly seed: number;
  /** After every run that ended by itself, with all messages so far: all of them have been handled. */
  readonly onCompleted: (messages: readonly ShopMessage[]) => Promise<void>;
  readonly onKilled?: (kills: number, where: string) => void;
}

/**
 * Runs the example again and again in one place, and kills it at random moments: at first while it starts, then somewhere
 * between two lines of what it does. Each run that gets to its end is checked, and brings new messages for the next ones; all
 * earlier messages are delivered again to every run. The last run is let to its end.
 */
export async function killRounds(place: Place, { rounds, seed, onCompleted, onKilled }: KillOptions): Promise<Remains> {
  const random = randomNumbers(seed);
  const remains: Remains = {
    kills: 0, withoutTables: 0, withHeldMessage: 0, withRunningJob: 0, withWaitingJob: 0, completed: 0,
  }; // prettier-ignore
  let messages = messagesWith('-0');

  while (remains.kills < rounds) {
    const child = run(place, messages);
    const isStarting = remains.kills < 3 || random() < 0.1;
    const moment = isStarting ? `${Math.round(random() * 800)} ms` : `${Math.floor(random() * 25)} lines`;
    // A message takes a few ms, a job some fifty.
    const thenMs = Math.floor(random() * (random() < 0.6 ? 5 : 60));

    if (await killedAt(child, moment, thenMs)) {
      remains.kills++;
      const where = await lookAt(place, remains);
      onKilled?.(remains.kills, `after ${moment}: ${where}`);
    } else {
      await checkEnd(child);
      await onCompleted(messages);
      messages = [...messages, ...messagesWith(`-${++remains.completed}`)];
    }
  }

  await checkEnd(run(place, messages));
  await onCompleted(messages);

  return remains;
}

function run(place: Place, messages: readonly ShopMessage[]): Child {
  const file = path.join(place.folder, 'messages.jsonl');
  fs.writeFileSync(file, messages.map(message => JSON.stringify(message)).join('\n'));

  return spawnNode(program, [...place.args, '--messages', file]);
}

/** False: it ended before. */
async function killedAt(child: Child, moment: string, thenMs: number): Promise<boolean> {
  const [count, unit] = moment.split(' ') as [string, string];
  await Promise.race([child.exited, unit === 'ms' ? wait(Number(count)) : linesOf(child, Number(count))]);
  await Promise.race([child.exited, wait(thenMs)]);
  const { signal } = await child.kill();

  return signal === 'SIGKILL';
}

/** Resolves when it has done so much; what was done by earlier runs doesn't count. */
function linesOf(child: Child, count: number): Promise<void> {
  const isNews = (line: string) => !/already_processed|→ reject/.test(line);

  return new Promise(resolve => {
    const look = () => {
      if (child.stderr().split('\n').slice(0, -1).filter(isNews).length >= count) resolve();
    };
    look();
    child.process.stderr!.on('data', look);
  });
}

async function checkEnd(child: Child): Promise<void> {
  const { code, signal } = await child.exited;
  if (code !== 0) throw new Error(`the example ended with ${signal ?? code}\n${child.stdout()}\n${child.stderr()}`);
}

async function lookAt(place: Place, remains: Remains): Promise<string> {
  return place.look(async orm => {
    const count = async (state: string) => orm.em.fork().count(Job, { state } as object);
    try {
      const held = await orm.em.fork().count(InboxMessage, { state: 'processing' });
      const [running, waiting] = [await count('running'), await count('queued')];
      if (held > 0) remains.withHeldMessage++;
      if (running > 0) remains.withRunningJob++;
      if (waiting > 0) remains.withWaitingJob++;
      return `${held} messages held, ${running} jobs running, ${waiting} waiting`;
    } catch {
      remains.withoutTables++;
      return 'no tables yet';
    }
  });
}
