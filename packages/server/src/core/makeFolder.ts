import * as fs from "node:fs"
import * as path from "node:path"

/**
 * Creates a folder that only its owner can open, and its parents. Node's `recursive` never ends if
 * the system refuses a new folder with "no parent", as in `/proc`.
 */
export const makeFolder = (folder: string): void => {
  if (isFolder(folder)) return
  const above = path.dirname(path.resolve(folder))
  if (!isFolder(above)) makeFolder(above)
  try {
    fs.mkdirSync(folder, { mode: 0o700 })
  } catch (cause) {
    // Another process may have created the folder at the same time.
    if (!isFolder(folder)) throw cause
  }
}

const isFolder = (file: string): boolean =>
  fs.statSync(file, { throwIfNoEntry: false })?.isDirectory() ?? false
