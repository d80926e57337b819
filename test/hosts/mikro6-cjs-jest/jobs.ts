import { defineJob } from 'mikro-orm-jobs';

export const sendReceipt = defineJob<{ orderId: number }>()({ name: 'receipt.send', onInterrupt: 'requeue' });
