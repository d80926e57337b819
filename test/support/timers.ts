/** How many timers keep this process alive. */
export function timers(): number {
  return process.getActiveResourcesInfo().filter(resource => resource === 'Timeout').length;
}
