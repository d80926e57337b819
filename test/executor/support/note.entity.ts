import { defineEntity, p } from '@mikro-orm/core';

/** The business row of these tests. */
export class Note {
  id!: string;
  text!: string;
}

export const noteSchema = defineEntity({
  class: Note,
  name: 'Note',
  tableName: 'note',
  properties: { id: p.string().primary(), text: p.string() },
});
