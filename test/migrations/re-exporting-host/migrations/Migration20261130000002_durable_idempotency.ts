export { Migration20261130000002_durable_idempotency } from '../../../../migrations/index.ts';
