export { Migration20261130000000_durable_jobs } from '../../../../migrations/index.ts';
