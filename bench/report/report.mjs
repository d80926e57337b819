import os from 'node:os';
import { measurements } from './measurements.mjs';
import { ratios } from './ratios.mjs';

export function report(rows) {
  const loads = rows.map(({ load }) => load);

  return [
    `Node ${process.version}, ${os.cpus().length} × ${os.cpus()[0].model}`,
    `load average (1 min) while measuring: ${Math.min(...loads).toFixed(1)}–${Math.max(...loads).toFixed(1)}`,
    '',
    measurements(rows),
    '### Ratios, pair by pair: median (min–max)',
    '',
    ratios(rows),
  ].join('\n');
}
