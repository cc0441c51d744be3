import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/**
 * Runs the benches of this folder one after the other, whether or not the one before kept its promises; or those that
 * are named: `npm run bench:peers -- stream`. The exit code is 1 where one of them failed.
 */
const named = process.argv.slice(2);
const benches = named.length > 0 ? named : ['render', 'stream', 'store'];

const failed = benches.filter((bench) => {
  const file = fileURLToPath(new URL(`${bench}.ts`, import.meta.url));
  return spawnSync(process.execPath, [file], { stdio: 'inherit' }).status !== 0;
});
if (failed.length > 0) console.error(`Failed: ${failed.join(', ')}`);
process.exitCode = failed.length > 0 ? 1 : 0;
