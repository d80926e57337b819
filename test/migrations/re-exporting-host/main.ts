import path from 'node:path';
import { schemaDiff } from '../../entities/schema-diff.ts';
import { dropOrm, type Driver } from '../../support/orm.ts';
import { hostWithFolder } from '../host.ts';

const folder = path.join(import.meta.dirname, 'migrations');
const migrations = { path: folder, pathTs: folder, glob: '*.ts', snapshot: false, silent: true };

const orm = await hostWithFolder(process.argv[2] as Driver, folder, { migrations });
const ran = await orm.migrator.up();
const diff = await schemaDiff(orm);
console.log(`${ran.map(({ name }) => name).join(', ')} ran, the diff is ${diff || 'empty'}`);
await dropOrm(orm);
