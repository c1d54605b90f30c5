import * as fs from "node:fs"
import * as path from "node:path"

/**
 * Creates a folder that only its owner may open, and its parents. Node's `recursive` would try for
 * ever where the system refuses new folders with "no parent", as in `/proc`.
 */
export const makeFolder = (folder: string): void => {
  if (isFolder(folder)) return
  const above = path.dirname(path.resolve(folder))
  if (!isFolder(above)) makeFolder(above)
  try {
    fs.mkdirSync(folder, { mode: 0o700 })
  } catch (cause) {
    // Another process may have created it meanwhile.
    if (!isFolder(folder)) throw cause
  }
}

const isFolder = (file: string): boolean =>
  fs.statSync(file, { throwIfNoEntry: false })?.isDirectory() ?? false
