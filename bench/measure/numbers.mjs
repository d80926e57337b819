export function median(values) {
  const ordered = sorted(values);
  const middle = ordered.length >> 1;

  return ordered.length % 2 === 1 ? ordered[middle] : (ordered[middle - 1] + ordered[middle]) / 2;
}

export function quantile(values, share) {
  const ordered = sorted(values);
  return ordered[Math.min(ordered.length - 1, Math.ceil(share * ordered.length) - 1)];
}

function sorted(values) {
  return [...values].sort((a, b) => a - b);
}
