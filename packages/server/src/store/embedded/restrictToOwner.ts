import * as fs from "node:fs"
import * as path from "node:path"

/**
 * Restricts a directory and everything in it to the owner, because PGlite creates world-writable
 * files.
 */
export const restrictToOwner = (directory: string): void => {
  setMode(directory, 0o700)
  for (const entry of fs.readdirSync(directory, { withFileTypes: true })) {
    const child = path.join(directory, entry.name)
    if (entry.isDirectory()) restrictToOwner(child)
    else if (entry.isFile()) setMode(child, 0o600)
  }
}

/** Restricts one file or directory. Changes nothing if the mode is already correct. */
export const setMode = (target: string, mode: number): void => {
  if ((fs.statSync(target).mode & 0o777) !== mode) fs.chmodSync(target, mode)
}
