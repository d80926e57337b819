import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Consumed, Message } from '../../src/index.ts';
import { log } from './log.ts';

/** Stands for a broker: delivers a file's messages one after the other, and again what was put back, until none is left. */
export async function deliverAll(file: string, handle: (message: Message) => Promise<Consumed>): Promise<void> {
  let putBack = await deliver(messagesIn(file), handle);

  while (putBack.length > 0) putBack = await deliver(putBack, handle);
}

async function deliver(
  messages: Iterable<Message> | AsyncIterable<Message>,
  handle: (message: Message) => Promise<Consumed>,
): Promise<Message[]> {
  const putBack: Message[] = [];

  for await (const message of messages) {
    const { outcome, reply } = await handle(message);
    log(`${message.id} ${message.name}: ${outcome} → ${reply}`);
    if (reply === 'requeue') putBack.push(message);
  }

  return putBack;
}

/** One message a line. */
async function* messagesIn(file: string): AsyncGenerator<Message> {
  const input = file === '-' ? process.stdin : createReadStream(file);

  for await (const line of createInterface({ input })) {
    if (line.trim() === '') continue;
    const { content, ...message } = JSON.parse(line) as Omit<Message, 'content'> & { content: object };
    yield { ...message, content: JSON.stringify(content) };
  }
}
