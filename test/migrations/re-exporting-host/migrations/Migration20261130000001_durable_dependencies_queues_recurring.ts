export { Migration20261130000001_durable_dependencies_queues_recurring } from '../../../../migrations/index.ts';
