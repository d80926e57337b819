/** A table in Markdown; the first `texts` columns hold words, the others numbers. */
export function table(head, rows, texts) {
  const rule = head.map((_, index) => (index < texts ? '---' : '--:'));
  return [head, rule, ...rows].map(cells => `| ${cells.join(' | ')} |`).join('\n');
}

/** As many digits as say something. */
export function format(value) {
  if (value >= 1000) return Math.round(value).toLocaleString('en');
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}
