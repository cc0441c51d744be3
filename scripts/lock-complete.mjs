// Is the lockfile whole? npm writes one without complaint when a registry lacks a tool's build for another system,
// and then `npm ci` fails, there or everywhere. Also refuses download addresses: a lockfile names versions and
// hashes, and where they are fetched from is the reader's own business.
import { readFileSync } from 'node:fs';
import { argv, exit } from 'node:process';

/** @typedef {{ version?: string, resolved?: string, optionalDependencies?: Record<string, string> }} Locked */

const file = argv[2] ?? 'package-lock.json';
/** @type {Record<string, Locked>} */
const locked = JSON.parse(readFileSync(file, 'utf8')).packages;

const faults = [...absentBuilds(), ...downloadAddresses()];
for (const fault of faults) console.error(`${file}: ${fault}`);
console.log(faults.length === 0 ? `${file} is complete` : `${file} has ${faults.length} faults`);
exit(faults.length === 0 ? 0 : 1);

function absentBuilds() {
  return Object.entries(locked).flatMap(([place, { optionalDependencies = {} }]) =>
    Object.entries(optionalDependencies)
      .filter(([name, wanted]) => !isLocked(place, name, wanted))
      .map(([name, wanted]) => `${place || 'the package'} wants ${name}@${wanted}, which is not locked`),
  );
}

/** Looks where Node would: in the package's own node_modules, then in each one above it. */
function isLocked(/** @type {string} */ place, /** @type {string} */ name, /** @type {string} */ wanted) {
  for (let folder = place; ; folder = parentOf(folder)) {
    const found = locked[folder === '' ? `node_modules/${name}` : `${folder}/node_modules/${name}`];
    if (found && (!isExact(wanted) || found.version === wanted)) return true;
    if (folder === '') return false;
  }
}

function parentOf(/** @type {string} */ folder) {
  return folder.slice(0, Math.max(0, folder.lastIndexOf('/node_modules/')));
}

function isExact(/** @type {string} */ wanted) {
  return /^\d+\.\d+\.\d+/.test(wanted);
}

function downloadAddresses() {
  return Object.entries(locked)
    .filter(([, { resolved }]) => resolved && /^https?:/.test(resolved))
    .map(([place]) => `${place} records a download address; .npmrc sets omit-lockfile-registry-resolved`);
}
