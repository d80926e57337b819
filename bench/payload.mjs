/** What every job carries, in every system. */
export function payload(n) {
  return { n, userId: 4711, email: 'user@example.com', kind: 'welcome' };
}

export function payloads(count, first = 0) {
  return Array.from({ length: count }, (_, index) => payload(first + index));
}
