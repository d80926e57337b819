import { forEachDriver } from '../support/orm.ts';
import { everyFactHolds } from './every-fact-holds.ts';
import { mikroOrmHarness } from './mikro-orm-harness.ts';

forEachDriver(driver => everyFactHolds(() => mikroOrmHarness(driver)));
